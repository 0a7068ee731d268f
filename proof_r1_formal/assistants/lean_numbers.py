"""Steps of a trace as numbers, for the reader in ``theories/lean/ProofR1/Checker/Numbers.lean``.

In: the text of a step as ``assistants.lean_data`` writes it, with numbers for symbols. Out: the digits of its number.
Lean reads a number at once, but some seventy constructors of a step one by one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

Tree: TypeAlias = "str | list[Tree]"
"""A word, or a constructor (a structure has none) with its arguments."""

_TOKEN: Final = re.compile(r"[()⟨⟩]|[^\s()⟨⟩,]+")
_CONNECTIVES: Final = (".implies", ".and", ".or", ".xor", ".iff")
_KINDS: Final = (
    *(".done", ".again", ".eliminate", ".eliminate", ".introduce", ".instantiate", ".generalise", ".contradiction"),
    *(".truth", ".reflexivity", ".leibniz", ".apply", ".witness", ".arbitrary", ".suppose", ".absurd"),
)
_LINE: Final = {kind: number for number, kind in enumerate(_KINDS)}
"""The number of a line; that of ``eliminate`` to the right."""


def trace_text(lemmas: str, steps: Sequence[str], first: int) -> str:
    """The trace of steps as numbers.

    Args:
        lemmas: the theorems that they apply, as data.
        steps: as data, without their ids: the dependencies as a list of numbers, the conclusion and the derivation.
        first: the number of the first step; the next ones follow.
    """
    digits = [step_digits(step, number) for number, step in enumerate(steps, first)]
    base = 1 << max([16, *[digit for each in digits for digit in each]]).bit_length()
    most = max(map(len, digits))
    numbers = "".join([f"(.cons {number_of(each, base)} " for each in digits]) + ".nil" + ")" * len(digits)
    return f"ProofR1.Checker.Trace.ofNumbers {lemmas} {base} {most} {first + len(steps) - 1} {numbers}"


def number_of(digits: Sequence[int], base: int) -> int:
    """The number with these digits, of which the first is the last one that people write; the base is a power of 2."""
    width = base.bit_length() - 1
    return sum([digit << (width * place) for place, digit in enumerate(digits)])


def step_digits(step: str, number: int) -> list[int]:
    """The digits of a step with a number as its id."""
    dependencies, conclusion, derivation = _parts(_tree(step))
    constants, lines = _parts(derivation)
    writer = _Digits()
    writer.number(str(number))
    writer.numbers(dependencies)
    writer.formula(conclusion)
    writer.many(constants, writer.pair(writer.number))
    writer.lines(lines)
    return writer.digits


def _tree(text: str) -> Tree:
    """The constructors of a text as a tree."""
    stack: list[list[Tree]] = [[]]
    for token in _TOKEN.findall(text):
        if token in "(⟨":
            stack.append([])
        elif token in ")⟩":
            inner = stack.pop()
            stack[-1].append(inner)
        else:
            stack[-1].append(token)
    (tree,) = stack[0]
    return tree


def _parts(tree: Tree) -> list[Tree]:
    """The parts of a structure."""
    assert isinstance(tree, list)
    return tree


def _links(tree: Tree) -> list[list[Tree]]:
    """The constructors of a list or of a block, each without the rest, which is its last argument."""
    links: list[list[Tree]] = []
    while not isinstance(tree, str):
        *link, tree = tree
        links.append(link)
    return links


class _Digits:
    """Writes digits. A constructor is its number plus 16 times its argument plus 1; a number, plus 1, is a digit."""

    def __init__(self) -> None:
        self.digits: list[int] = []

    def constructor(self, number: int, argument: Tree = "0") -> None:
        assert isinstance(argument, str)
        self.digits.append(number + 16 * (int(argument) + 1))

    def number(self, tree: Tree) -> None:
        assert isinstance(tree, str)
        self.digits.append(int(tree) + 1)

    def many(self, tree: Tree, write: Callable[[Tree], None]) -> None:
        """A list: how many there are, and each."""
        links = _links(tree)
        self.digits.append(len(links))
        for _, item in links:
            write(item)

    def numbers(self, tree: Tree) -> None:
        self.many(tree, self.number)

    def pair(self, write: Callable[[Tree], None]) -> Callable[[Tree], None]:
        """The writer of a number with something else."""

        def both(tree: Tree) -> None:
            number, other = _parts(tree)
            self.number(number)
            write(other)

        return both

    def terms(self, tree: Tree) -> None:
        links = _links(tree)
        for place, (_, item) in enumerate(links, 1):
            kind, symbol, *arguments = _parts(item)
            if kind == ".var":
                self.constructor(3, symbol)
            elif arguments != [".nil"]:
                self.constructor(4, symbol)
                self.terms(arguments[0])
            elif place < len(links):
                self.constructor(1, symbol)
            else:
                self.constructor(0, symbol)  # and nothing after it
                return
        self.constructor(2)

    def term(self, tree: Tree) -> None:
        self.terms([".cons", tree, ".nil"])

    def formula(self, tree: Tree) -> None:
        match tree:
            case [".atom", predicate, arguments]:
                self.constructor(0, predicate)
                self.terms(arguments)
            case [".not", body]:
                self.constructor(1)
                self.formula(body)
            case [".binary", str(connective), left, right]:
                self.constructor(2 + _CONNECTIVES.index(connective))
                self.formula(left)
                self.formula(right)
            case [".forAll" | ".exist" as kind, sort, body]:
                self.constructor(7 if kind == ".forAll" else 8, sort)
                self.formula(body)
            case [".equal", left, right]:
                self.constructor(9)
                self.term(left)
                self.term(right)
            case _:
                self.constructor(10 if tree == ".top" else 11)

    def lines(self, tree: Tree) -> None:
        for line in _links(tree):
            self._line(line[1] if line[0] == ".line" else line)
        self.constructor(_LINE[".done"])

    def _line(self, line: Tree) -> None:
        kind = line[0]
        assert isinstance(kind, str)
        number = _LINE[kind]
        match line:
            case [".again", main]:
                self.constructor(number, main)
            case [".eliminate", main, left, other]:
                self.constructor(number - 1 if left == "true" else number, main)
                self.numbers(other)
            case [".introduce", formula, premises]:
                self.constructor(number)
                self.formula(formula)
                self.numbers(premises)
            case [".instantiate", main, term]:
                self.constructor(number, main)
                self.term(term)
            case [".generalise", formula, premise, term]:
                self.constructor(number, premise)
                self.formula(formula)
                self.term(term)
            case [".contradiction" | ".witness", first, second]:
                self.constructor(number, first)
                self.number(second)
            case [".truth" | ".leibniz", formula]:
                self.constructor(number)
                self.formula(formula)
            case [".reflexivity", term]:
                self.constructor(number)
                self.term(term)
            case [".apply", ago, [sort, predicates, constants], premises]:
                self.constructor(number, ago)
                self.number(sort)
                self.many(predicates, self.pair(self.formula))
                self.many(constants, self.pair(self.term))
                self.numbers(premises)
            case [".arbitrary", formula, constant, block]:
                self.constructor(number, constant)
                self.formula(formula)
                self.lines(block)
            case [_, formula, block]:
                self.constructor(number)
                self.formula(formula)
                self.lines(block)
