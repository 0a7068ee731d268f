"""How systems write formulas: the text around and between their parts, and one writer for all of them.

In: a formula and a :class:`Notation`. Out: its text. Every part stands in parentheses or the like, so no notation needs
precedences.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, assert_never

from proof_r1_formal.kernel.signature import mangle
from proof_r1_formal.kernel.syntax import (
    App,
    Atom,
    Binary,
    Binder,
    Bottom,
    Connective,
    Eq,
    ForAll,
    Formula,
    Not,
    Term,
    Top,
    Var,
)

Around: TypeAlias = tuple[str, str]
"""The text before and after a part."""
Between: TypeAlias = tuple[str, str, str]
"""The text before the first of several parts, between two, and after the last."""


@dataclass(frozen=True, slots=True)
class Notation:
    """How a system writes formulas.

    Attributes:
        top, bottom: the truth values.
        predicate, function, variable: the names of symbols and variables.
        applied: the text around the arguments of a symbol that has some, given its name.
        equation: the text around the sides of ``=``.
        unequal: the same for a negated equation; as any other negation if None.
        negation: the text around what is negated.
        connectives: the text around the sides of each.
        universal, existential: the text around the body, given the variable.
    """

    top: str
    bottom: str
    predicate: Callable[[str], str]
    function: Callable[[str], str]
    variable: Callable[[Var], str]
    applied: Callable[[str], Between]
    equation: Between
    negation: Around
    connectives: Mapping[type[Connective], Between]
    universal: Callable[[Var], Around]
    existential: Callable[[Var], Around]
    unequal: Between | None = None


def _shorten(name: str, prefix: str, own: re.Pattern[str]) -> str:
    made = own.fullmatch(name)
    return f"z{made[1]}" if made else mangle(name, prefix)


short_variable = partial(_shorten, own=re.compile(r"␣([0-9]+)"))
short_constant = partial(_shorten, own=re.compile(r"␣([0-9]*[a-z][a-z0-9]*)"))
"""Names that the package makes, as ``z0`` for ``␣0`` and ``zc1`` for ``␣c1``; other names are mangled with a prefix."""


def lisp(symbol: str) -> Between:
    """``(symbol first second)``."""
    return f"({symbol} ", " ", ")"


def infix(operators: Mapping[type[Connective], str]) -> dict[type[Connective], Between]:
    """``(left operator right)``."""
    return {kind: ("(", f" {operator} ", ")") for kind, operator in operators.items()}


def text_of(shown: Formula | Term, notation: Notation) -> str:
    """The text of a formula or term, written without recursion: no nesting is too deep."""
    pieces: list[str] = []
    stack: list[Formula | Term | str] = [shown]

    def push(between: Between, *parts: Formula | Term) -> None:
        stack.append(between[2])
        for part in reversed(parts[1:]):
            stack.extend((part, between[1]))
        stack.extend((parts[0], between[0]))

    while stack:
        match stack.pop():
            case str() as text:
                pieces.append(text)
            case Top():
                pieces.append(notation.top)
            case Bottom():
                pieces.append(notation.bottom)
            case Var() as variable:
                pieces.append(notation.variable(variable))
            case Atom(name, ()):
                pieces.append(notation.predicate(name))
            case App(name, ()):
                pieces.append(notation.function(name))
            case Atom(name, arguments):
                push(notation.applied(notation.predicate(name)), *arguments)
            case App(name, arguments):
                push(notation.applied(notation.function(name)), *arguments)
            case Eq(left, right):
                push(notation.equation, left, right)
            case Not(Eq(left, right)) if notation.unequal is not None:
                push(notation.unequal, left, right)
            case Not(body):
                stack += (notation.negation[1], body, notation.negation[0])
            case Binary() as pair:
                push(notation.connectives[type(pair)], pair.left, pair.right)
            case Binder() as quantified:
                around = notation.universal if isinstance(quantified, ForAll) else notation.existential
                before, after = around(quantified.variable)
                stack += (after, quantified.body, before)
            case unreachable:
                assert_never(unreachable)
    return "".join(pieces)
