"""Canonical forms of queries: the same for queries that differ in names and in the order of dependencies only.

In: a query. Out: a key, the canonical query, and the names to go back by. Equal keys mean isomorphic queries; almost
all isomorphic queries have equal keys (many dependencies that nothing tells apart may end up in different orders).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain, groupby, permutations, product
from math import factorial, prod
from typing import NamedTuple, TypeAlias

from proof_r1_formal.logic.syntax import (
    And,
    App,
    Atom,
    Bottom,
    Eq,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Term,
    Top,
    Var,
    Xor,
)
from proof_r1_formal.logic.transform import alpha_normal, rename
from proof_r1_formal.solvers.base import Query

_LETTERS: Mapping[type[Formula], str] = {
    Top: "⊤",
    Bottom: "⊥",
    Atom: "",
    Eq: "=",
    Not: "¬",
    And: "∧",
    Or: "∨",
    Xor: "⊕",
    Implies: "→",
    Iff: "↔",
    ForAll: "∀",
    Exists: "∃",
}

MAX_ORDERS = 24
"""How many orders of dependencies that look alike are tried."""

Symbol: TypeAlias = tuple[bool, str]
"""Whether it is a predicate, and its name."""


class Shape(NamedTuple):
    """A formula without its names: numbers stand for symbols in the text, and the symbols come in that order."""

    text: str
    symbols: tuple[Symbol, ...]


@lru_cache(maxsize=1 << 16)
def shape(formula: Formula) -> Shape:
    """The shape of a closed formula, up to the names of bound variables."""
    numbers: dict[Symbol, int] = {}
    parts: list[str] = []

    def name(symbol: Symbol) -> str:
        return str(numbers.setdefault(symbol, len(numbers)))

    def write_term(term: Term) -> None:
        match term:
            case Var(variable, sort):
                parts.append(f"{variable}:{len(sort)}:{sort}")
            case App(function, arguments):
                named = "" if term.sort is None else f":{len(term.sort)}:{term.sort}"
                parts.append(f"{name((False, function))}{named}(")
                for argument in arguments:
                    write_term(argument)
                parts.append(")")

    def write(part: Formula) -> None:
        parts.append(_LETTERS[type(part)])
        match part:
            case Top() | Bottom():
                pass
            case Atom(predicate, arguments):
                parts.append(f"{name((True, predicate))}(")
                for argument in arguments:
                    write_term(argument)
                parts.append(")")
            case Eq(left, right):
                write_term(left)
                write_term(right)
            case Not(body):
                write(body)
            case ForAll(variable, body) | Exists(variable, body):
                write_term(variable)
                write(body)
            case _:
                write(part.left)
                write(part.right)

    write(alpha_normal(formula))
    return Shape("".join(parts), tuple(numbers))


@dataclass(frozen=True)
class Canonical:
    """A query in canonical form; equal to another only if the queries are isomorphic.

    Attributes:
        key: what tells it from others.
        order: the dependency of the query that comes at each place.
        symbols: the symbol of the query that each number stands for.
    """

    key: tuple[object, ...]
    original: Query = field(compare=False)
    order: tuple[int, ...] = field(compare=False)
    symbols: tuple[Symbol, ...] = field(compare=False)

    @cached_property
    def query(self) -> Query:
        """The canonical query: what is solved."""
        predicates = {name: f"p{number}" for number, (is_predicate, name) in enumerate(self.symbols) if is_predicate}
        functions = {name: f"f{number}" for number, (is_predicate, name) in enumerate(self.symbols) if not is_predicate}

        def renamed(formula: Formula) -> Formula:
            return rename(alpha_normal(formula), predicates, functions)

        dependencies = tuple([renamed(self.original.dependencies[index]) for index in self.order])
        return Query(dependencies, renamed(self.original.conclusion))

    @property
    def predicates(self) -> Mapping[str, str]:
        """Canonical name of a predicate -> its name in the query."""
        return {f"p{number}": name for number, (is_predicate, name) in enumerate(self.symbols) if is_predicate}

    @property
    def functions(self) -> Mapping[str, str]:
        """Canonical name of a function -> its name in the query."""
        return {f"f{number}": name for number, (is_predicate, name) in enumerate(self.symbols) if not is_predicate}


def canonical(query: Query) -> Canonical:
    """The canonical form of a query of closed formulas."""
    goal = shape(query.conclusion)
    shapes = [shape(formula) for formula in query.dependencies]
    known = {symbol: number for number, symbol in enumerate(goal.symbols)}

    # what tells a dependency from others before it is known what comes first
    looks = [(s.text, tuple([known.get(symbol, len(known)) for symbol in s.symbols])) for s in shapes]
    ordered = sorted(range(len(shapes)), key=looks.__getitem__)
    orders = [tuple(ordered)]
    if len(set(looks)) < len(looks):
        alike = [tuple(group) for _, group in groupby(ordered, key=looks.__getitem__)]
        if prod(factorial(len(group)) for group in alike) <= MAX_ORDERS:
            orders = [tuple(chain(*choice)) for choice in product(*[permutations(group) for group in alike])]
    numbers, order, symbols = min([_numbered(goal, shapes, order) for order in orders])
    return Canonical((goal.text, *[shapes[index].text for index in order], numbers), query, order, symbols)


def _numbered(
    goal: Shape, shapes: list[Shape], order: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[Symbol, ...]]:
    """The symbols numbered by first use: the number at each place, the order itself, and the symbols by number."""
    numbers = {symbol: number for number, symbol in enumerate(goal.symbols)}
    places = [numbers.setdefault(symbol, len(numbers)) for index in order for symbol in shapes[index].symbols]
    return tuple(places), order, tuple(numbers)
