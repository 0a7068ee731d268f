"""Data of ``theories/lean/ProofR1/Checker`` as trees, which are written as constructors or as numbers.

In: a tree. Out: a term of Lean; or digits, of which ``Checker/Numbers.lean`` makes the same data. People can read the
constructors. Lean reads a number at once, but some seventy constructors of a step one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, assert_never


@dataclass(frozen=True, slots=True)
class Symbol:
    """The number of a symbol or of a sort, with its name if constructors are to show that."""

    number: int
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Word:
    """A constructor without parts: of a truth value or of a connective."""

    text: str


@dataclass(frozen=True, slots=True)
class Node:
    """A constructor with its parts. The kind is its name."""

    kind: str
    parts: tuple[Tree, ...] = ()


@dataclass(frozen=True, slots=True)
class Terms:
    """A list of terms, for which Lean has a type of its own."""

    items: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """The lines of a block. Each is a constructor of ``Lines`` without the rest of the block, or a rule."""

    lines: tuple[Node, ...] = ()


Tree: TypeAlias = "int | Symbol | Word | Node | Terms | Block | list[Tree] | tuple[Tree, ...]"
"""A number, a constructor, a list, or a structure with its fields (a tuple)."""

TRUE: Final = Word("true")
FALSE: Final = Word("false")
_OFFSETS: Final = {"true": 0, "false": 1, ".implies": 0, ".and": 1, ".or": 2, ".xor": 3, ".iff": 4}
"""What a word adds to the number of its constructor."""
_FORMULAS: Final = {"atom": 0, "not": 1, "binary": 2, "forAll": 7, "exist": 8, "equal": 9, "top": 10, "bottom": 11}
_LINES: Final = {"again": 1, "eliminate": 2, "introduce": 4, "instantiate": 5, "generalise": 6, "contradiction": 7}
_LINES.update({"truth": 8, "reflexivity": 9, "leibniz": 10, "apply": 11})
_BLOCKS: Final = {"witness": 12, "arbitrary": 13, "suppose": 14, "absurd": 15}
_NUMBERS: Final = _FORMULAS | _LINES | _BLOCKS
"""The number of each constructor in the tables of ``Numbers.lean``."""
_LAST_CONSTANT, _CONSTANT, _NO_TERM, _VARIABLE, _TERM = range(5)
"""Those of terms: a constant, with or without others after it; the end of a list; a variable; any other term."""
_DONE: Final = 0


# -- constructors -----------------------------------------------------------------------------------------------------


def text_of(tree: Tree) -> str:
    """The term of Lean with constructors."""
    match tree:
        case int():
            return str(tree)
        case Symbol(number, name):
            return str(number) if name is None else name
        case Word(text):
            return text
        case Node(kind, parts):
            return f"({' '.join([f'.{kind}', *map(text_of, parts)])})" if parts else f".{kind}"
        case Terms(items):
            return list_text([text_of(item) for item in items])
        case Block(lines):
            shown = [text_of(line) if line.kind in _BLOCKS else f"(.line {text_of(line)})" for line in lines]
            return "".join([f"{line.removesuffix(')')} " for line in shown]) + ".done" + ")" * len(shown)
        case list():
            return list_text([text_of(item) for item in tree])
        case tuple():
            return f"⟨{', '.join([text_of(part) for part in tree])}⟩"
        case _:
            assert_never(tree)


def list_text(items: Sequence[str]) -> str:
    """The list of the items."""
    return "".join([f"(.cons {item} " for item in items]) + ".nil" + ")" * len(items)


# -- numbers ----------------------------------------------------------------------------------------------------------


def numbers_text(steps: Sequence[Tree]) -> str:
    """The last arguments of ``Trace.ofNumbers``: the base, the most digits that a step has, and the numbers."""
    digits = [[*digits_of(step)] for step in steps]
    base = 1 << max([16, *[digit for each in digits for digit in each]]).bit_length()
    numbers = list_text([str(number_of(each, base)) for each in digits])
    return f"{base} {max(map(len, digits))} {numbers}"


def number_of(digits: Sequence[int], base: int) -> int:
    """The number with these digits, of which the first is the last one that people write; the base is a power of 2."""
    width = base.bit_length() - 1
    return sum([digit << (width * place) for place, digit in enumerate(digits)])


def digits_of(tree: Tree) -> Iterator[int]:
    """The digits of the data.

    A number is a digit, plus 1. A list is its length and its items. A constructor is a digit: its number, plus 16 times
    its argument plus 1. The argument is the first number among its parts; the other parts follow.
    """
    match tree:
        case int():
            yield tree + 1
        case Symbol(number):
            yield number + 1
        case Word():
            raise ValueError("a word is a part of a constructor")
        case Node("var" | "app"):
            yield from digits_of(Terms((tree,)))
        case Node(kind, parts):
            yield from _constructor(_NUMBERS[kind], parts)
        case Terms(items):
            yield from _terms_digits(items)
        case Block(lines):
            for line in lines:
                yield from digits_of(line)
            yield from _constructor(_DONE)
        case list():
            yield len(tree)
            for item in tree:
                yield from digits_of(item)
        case tuple():
            for part in tree:
                yield from digits_of(part)
        case _:
            assert_never(tree)


def _constructor(number: int, parts: Sequence[Tree] = ()) -> Iterator[int]:
    place = next((place for place, part in enumerate(parts) if isinstance(part, int | Symbol)), None)
    argument = 0 if place is None else _value(parts[place])
    yield number + sum([_OFFSETS[part.text] for part in parts if isinstance(part, Word)]) + 16 * (argument + 1)
    for other, part in enumerate(parts):
        if other != place and not isinstance(part, Word):
            yield from digits_of(part)


def _value(tree: Tree) -> int:
    """The number that a number or a symbol is."""
    assert isinstance(tree, int | Symbol)
    return tree if isinstance(tree, int) else tree.number


def _terms_digits(items: Sequence[Node]) -> Iterator[int]:
    for place, item in enumerate(items, 1):
        match item.parts:
            case (symbol,):
                yield from _constructor(_VARIABLE, (symbol,))
            case symbol, Terms(()):
                last = place == len(items)
                yield from _constructor(_LAST_CONSTANT if last else _CONSTANT, (symbol,))
                if last:
                    return  # the end needs no digit
            case symbol, arguments:
                yield from _constructor(_TERM, (symbol,))
                yield from digits_of(arguments)
    yield from _constructor(_NO_TERM)
