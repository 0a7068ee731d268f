"""The shapes of formulas and of problems: what is left of them without their names.

In: formulas or a problem. Out: shapes, patterns and keys that renaming does not change.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, NamedTuple, TypeAlias, TypeVar

from proof_r1_formal.data.problem import Problem
from proof_r1_formal.kernel.signature import symbols
from proof_r1_formal.kernel.syntax import Atom, Formula, Var, once
from proof_r1_formal.kernel.transform import alpha_normal, rename, subformulas
from proof_r1_formal.text.show import show

_KEY_BYTES = 16

Symbol: TypeAlias = tuple[bool, str]
"""Whether it is a predicate, and its name."""
_Look = TypeVar("_Look", bound=tuple[Any, ...])


class Shape(NamedTuple):
    """A formula without its names: numbers stand for symbols in the text, and the symbols come in that order."""

    text: str
    symbols: tuple[Symbol, ...]


@once
def shape(formula: Formula) -> Shape:
    """The shape of a closed formula, up to the names of bound variables."""
    found = tuple(dict.fromkeys((kind == "predicate", name) for name, (kind, _) in symbols(formula).uses))
    return Shape(repr(alpha_normal(_renamed(formula, found, [str(number) for number in range(len(found))]))), found)


def pattern(formula: Formula) -> str:
    """The formula with A, B, … for its predicates and a, b, … for its constants: ``A(a) → B(a)``."""
    found = sorted(shape(formula).symbols, key=lambda symbol: symbol[0])
    constants = sum(not is_predicate for is_predicate, _ in found)
    places = [*[("a", n) for n in range(constants)], *[("A", n) for n in range(len(found) - constants)]]
    letters = [chr(ord(first) + number) if number < 26 else f"{first}{number}" for first, number in places]
    return show(_renamed(formula, found, letters))


def _renamed(formula: Formula, symbols: Iterable[Symbol], names: Iterable[str]) -> Formula:
    new = dict(zip(symbols, names, strict=True))
    return rename(formula, *[{name: new[role, name] for role, name in new if role is kind} for kind in (True, False)])


def structural_key(goal: Formula, premises: Iterable[Formula]) -> bytes:
    """A key of 16 bytes that is equal for problems that differ in names and in the order of premises only.

    Symbols are distinguished by their positions, repeatedly, until no more of them can be distinguished (colour
    refinement: Weisfeiler and Leman, 1968). Different symmetric problems may share a key. They are rare here, and
    dropping one as a duplicate is harmless.
    """
    shapes = [("goal", shape(goal)), *[("premise", shape(premise)) for premise in premises]]
    colours: dict[Symbol, int] = {symbol: int(symbol[0]) for _, each in shapes for symbol in each.symbols}
    while True:
        looks = [(role, each.text, tuple([colours[symbol] for symbol in each.symbols])) for role, each in shapes]
        places: dict[Symbol, list[tuple[int, int]]] = {symbol: [] for symbol in colours}
        ranks = _ranks(looks)
        for look, (_, each) in zip(looks, shapes, strict=True):
            for position, symbol in enumerate(each.symbols):
                places[symbol].append((ranks[look], position))
        seen = {symbol: (colour, tuple(sorted(places[symbol]))) for symbol, colour in colours.items()}
        finer = _ranks(seen.values())
        if len(finer) == len(set(colours.values())):
            return blake2b(repr(sorted(looks)).encode(), digest_size=_KEY_BYTES).digest()
        colours = {symbol: finer[look] for symbol, look in seen.items()}


def _ranks(items: Iterable[_Look]) -> dict[_Look, int]:
    """The place of each different item among them in order."""
    return {item: rank for rank, item in enumerate(sorted(set(items)))}


def is_shallow(problem: Problem) -> bool:
    """Whether a predicate of the goal occurs in plain facts only.

    Only a premise with several atoms counts as more, if one of its atoms is the goal's or matches it with variables.
    """
    goal = problem.options[0].formula
    linking = [parts for premise in problem.premises if len(parts := _atoms(premise.formula)) > 1]
    return not all(any(_meets(part, atom) for parts in linking for part in parts) for atom in _atoms(goal))


def _atoms(formula: Formula) -> list[Atom]:
    return [part for part in subformulas(formula) if isinstance(part, Atom)]


def _meets(part: Atom, atom: Atom) -> bool:
    return part.predicate == atom.predicate and all(
        mine is theirs or isinstance(mine, Var) or isinstance(theirs, Var)
        for mine, theirs in zip(part.arguments, atom.arguments, strict=True)
    )
