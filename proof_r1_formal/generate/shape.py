"""The shapes of formulas: what is left of them without their names."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

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
