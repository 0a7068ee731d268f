"""The shapes of formulas and of questions: what is left of them without their names."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, groupby, permutations, product
from math import factorial, prod
from typing import Final, NamedTuple, TypeAlias

from proof_r1_formal.kernel.syntax import (
    App,
    Atom,
    Binary,
    Bottom,
    Eq,
    Exists,
    ForAll,
    Formula,
    Not,
    Term,
    Top,
    Var,
    once,
)
from proof_r1_formal.kernel.transform import alpha_normal
from proof_r1_formal.text.show import SYMBOLS

MAX_ORDERS: Final = 24
"""How many orders of dependencies that look alike are tried."""

Symbol: TypeAlias = tuple[bool, str]
"""Whether it is a predicate, and its name."""


class Shape(NamedTuple):
    """A formula without its names: numbers stand for symbols in the text, and the symbols come in that order."""

    text: str
    symbols: tuple[Symbol, ...]


@once
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
        parts.append(SYMBOLS.get(type(part), ""))
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
            case Binary():
                write(part.left)
                write(part.right)

    write(alpha_normal(formula))
    return Shape("".join(parts), tuple(numbers))


def isomorphism_key(dependencies: Sequence[Formula], conclusion: Formula) -> tuple[object, ...]:
    """A key of a question; questions with equal keys differ in names and in the order of dependencies only.

    Almost all such questions have equal keys: many dependencies that nothing tells apart may come in another order.

    Args:
        dependencies, conclusion: closed formulas.
    """
    goal = shape(conclusion)
    shapes = [shape(formula) for formula in dependencies]
    known = {symbol: number for number, symbol in enumerate(goal.symbols)}

    # what tells a dependency from others before it is known what comes first
    looks = [(s.text, tuple([known.get(symbol, len(known)) for symbol in s.symbols])) for s in shapes]
    ordered = sorted(range(len(shapes)), key=looks.__getitem__)
    orders = [tuple(ordered)]
    if len(set(looks)) < len(looks):
        alike = [tuple(group) for _, group in groupby(ordered, key=looks.__getitem__)]
        if prod(factorial(len(group)) for group in alike) <= MAX_ORDERS:
            orders = [tuple(chain(*choice)) for choice in product(*[permutations(group) for group in alike])]
    numbers, order = min([(_numbers(goal, shapes, order), order) for order in orders])
    return (goal.text, *[shapes[index].text for index in order], numbers)


def _numbers(goal: Shape, shapes: Sequence[Shape], order: tuple[int, ...]) -> tuple[int, ...]:
    """The symbol at each place, numbered by first use."""
    numbers = {symbol: number for number, symbol in enumerate(goal.symbols)}
    return tuple([numbers.setdefault(symbol, len(numbers)) for index in order for symbol in shapes[index].symbols])
