"""Terms and formulas as plain JSON values, and back.

A variable is ``["var", name, sort]``, a function applied to terms ``["app", name, argument, …]``, and if it names its
sort ``["sorted", sort, ["app", …]]``. An atom is ``["atom", predicate, argument, …]``; anything else begins with the
name of its connective: ``["not", A]``, ``["implies", A, B]``, ``["forall", ["var", "x", "Entity"], A]``. Unlike text,
this needs no grammar to be read.
"""

from __future__ import annotations

from typing import TypeAlias, assert_never

from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.logic.syntax import (
    BOTTOM,
    TOP,
    And,
    App,
    Atom,
    Bottom,
    Connective,
    Eq,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Quantified,
    Term,
    Top,
    Var,
    Xor,
)

Data: TypeAlias = "str | int | list[Data] | dict[str, Data] | None"

_CONNECTIVES: dict[str, type[Connective]] = {"and": And, "or": Or, "xor": Xor, "implies": Implies, "iff": Iff}
_QUANTIFIERS: dict[str, type[Quantified]] = {"forall": ForAll, "exists": Exists}
_NAMES: dict[type[Formula], str] = {kind: name for name, kind in (*_CONNECTIVES.items(), *_QUANTIFIERS.items())}


def term_to_data(term: Term) -> Data:
    """The term as a JSON value."""
    if isinstance(term, Var):
        return ["var", term.name, term.sort]
    applied: Data = ["app", term.function, *[term_to_data(argument) for argument in term.arguments]]
    return applied if term.sort is None else ["sorted", term.sort, applied]


def to_data(formula: Formula) -> Data:
    """The formula as a JSON value."""
    match formula:
        case Top():
            return ["top"]
        case Bottom():
            return ["bottom"]
        case Atom(predicate, arguments):
            return ["atom", predicate, *[term_to_data(argument) for argument in arguments]]
        case Eq(left, right):
            return ["equal", term_to_data(left), term_to_data(right)]
        case Not(body):
            return ["not", to_data(body)]
        case And() | Or() | Xor() | Implies() | Iff():
            return [_NAMES[type(formula)], to_data(formula.left), to_data(formula.right)]
        case ForAll(variable, body) | Exists(variable, body):
            return [_NAMES[type(formula)], term_to_data(variable), to_data(body)]
    assert_never(formula)


def term_from_data(data: Data) -> Term:
    """The term of a JSON value.

    Raises:
        ProofR1Error: it is none.
    """
    match data:
        case ["var", str(name), str(sort)]:
            return Var(name, sort)
        case ["app", str(function), *arguments]:
            return App(function, tuple([term_from_data(argument) for argument in arguments]))
        case ["sorted", str(sort), ["app", str(function), *arguments]]:
            return App(function, tuple([term_from_data(argument) for argument in arguments]), sort)
    raise ProofR1Error(f"no term: {str(data)[:80]}")


def from_data(data: Data) -> Formula:
    """The formula of a JSON value.

    Raises:
        ProofR1Error: it is none.
    """
    match data:
        case ["top"]:
            return TOP
        case ["bottom"]:
            return BOTTOM
        case ["atom", str(predicate), *arguments]:
            return Atom(predicate, tuple([term_from_data(argument) for argument in arguments]))
        case ["equal", left, right]:
            return Eq(term_from_data(left), term_from_data(right))
        case ["not", body]:
            return Not(from_data(body))
        case [str(name), left, right] if name in _CONNECTIVES:
            return _CONNECTIVES[name](from_data(left), from_data(right))
        case [str(name), binder, body] if name in _QUANTIFIERS:
            variable = term_from_data(binder)
            if isinstance(variable, Var):
                return _QUANTIFIERS[name](variable, from_data(body))
    raise ProofR1Error(f"no formula: {str(data)[:80]}")
