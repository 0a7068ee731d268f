"""Patterns: formulas read as schemes, and the instances they have.

A pattern is an ordinary formula whose predicates stand for formulas (``A``, or ``A(x)`` for a formula in which x may
occur) and whose constants stand for terms. ``∀x (A(x) → B(x))`` and ``A(t)`` are patterns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from proof_r1_formal.errors import CatalogueError
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
from proof_r1_formal.logic.transform import substitute


@dataclass(frozen=True, slots=True)
class Lambda:
    """A formula with holes: what a pattern variable with arguments stands for."""

    variables: tuple[Var, ...]
    body: Formula


Substitution: TypeAlias = Mapping[str, Lambda | Term]
"""Pattern variable -> what it stands for: a formula with holes (none for ``A``), or a term.

Names of bound variables may stand for other variables.
"""


def instance(pattern: Formula, substitution: Substitution) -> Formula:
    """The formula that the pattern is under the substitution.

    Raises:
        CatalogueError: the pattern has a variable that the substitution does not bind.
    """
    return _instance(pattern, substitution, {})


def _instance(pattern: Formula, substitution: Substitution, bound: Mapping[Var, Var]) -> Formula:
    match pattern:
        case Atom(name, arguments):
            function = substitution.get(name)
            if not isinstance(function, Lambda) or len(function.variables) != len(arguments):
                raise CatalogueError(f"the substitution does not bind pattern variable {name!r}")
            values = [_instance_term(argument, substitution, bound) for argument in arguments]
            return substitute(function.body, dict(zip(function.variables, values, strict=True)))
        case Not(body):
            return Not(_instance(body, substitution, bound))
        case And(left, right) | Or(left, right) | Xor(left, right) | Implies(left, right) | Iff(left, right):
            return type(pattern)(_instance(left, substitution, bound), _instance(right, substitution, bound))
        case ForAll(variable, body) | Exists(variable, body):
            named = substitution.get(variable.name)
            actual = named if isinstance(named, Var) else variable
            return type(pattern)(actual, _instance(body, substitution, {**bound, variable: actual}))
        case Top() | Bottom() | Eq():
            raise CatalogueError(f"a pattern cannot contain {type(pattern).__name__}")
    assert_never(pattern)


def _instance_term(term: Term, substitution: Substitution, bound: Mapping[Var, Var]) -> Term:
    match term:
        case Var():
            return bound[term]
        case App(name, ()):
            value = substitution.get(name)
            if value is None or isinstance(value, Lambda):
                raise CatalogueError(f"the substitution does not bind pattern variable {name!r}")
            return value
        case App(name, _):
            raise CatalogueError(f"a pattern cannot apply a function ({name!r})")
    assert_never(term)
