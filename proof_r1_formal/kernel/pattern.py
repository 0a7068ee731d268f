"""Patterns: formulas read as schemes, and the instances they have.

A pattern is an ordinary formula whose predicates stand for formulas (``A``, or ``A(x)`` for a formula in which x may
occur) and whose constants stand for terms. ``∀x (A(x) → B(x))`` and ``A(t)`` are patterns. One substitution serves
several patterns, so each name has one use in all of them: predicate of one arity, constant or bound variable.
:func:`require_letters` checks this.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias, assert_never

import msgspec

from proof_r1_formal.kernel.errors import CatalogueError
from proof_r1_formal.kernel.signature import Use, symbols
from proof_r1_formal.kernel.syntax import (
    App,
    Atom,
    Binary,
    Binder,
    Eq,
    Formula,
    Not,
    Term,
    Var,
)
from proof_r1_formal.kernel.transform import fresh_variable, subformulas, substitute, subterms


class Lambda(msgspec.Struct, frozen=True, gc=False):
    """A formula with holes: what a pattern variable with arguments stands for.

    A variable that is there twice names the last of its holes, as in ``λx. λx. body``.
    """

    variables: tuple[Var, ...]
    body: Formula

    @property
    def free(self) -> frozenset[Var]:
        """The variables that occur free and are not holes."""
        return self.body.free.difference(self.variables)


Substitution: TypeAlias = Mapping[str, Lambda | Term]
"""Pattern variable -> what it stands for: a formula with holes (none for ``A``), or a term.

Names of bound variables may stand for other variables.
"""


def require_letters(patterns: Iterable[Formula]) -> None:
    """Refuse patterns that use a name in two ways, as one substitution could not tell the uses apart.

    Raises:
        CatalogueError: a name is two of: predicate, constant, function, bound variable; or has two arities.
    """
    uses: dict[str, Use | None] = {}  # None for a bound variable
    for pattern in patterns:
        bound = [part.variable.name for part in subformulas(pattern) if isinstance(part, Binder)]
        for name, use in (*symbols(pattern).uses, *[(name, None) for name in bound]):
            if uses.setdefault(name, use) != use:
                raise CatalogueError(f"patterns use {name!r} in two ways; give each use a name of its own")


def instance(pattern: Formula, substitution: Substitution) -> Formula:
    """The formula that the pattern is under the substitution.

    No variable is captured: a quantifier of the pattern binds the places where the pattern has its variable, and
    nothing inside what the substitution brings in. A quantifier whose name is free in a value, or is taken by a
    quantifier around it, gets a fresh name. So the instance is closed if the pattern and all values are, and in every
    structure it has the truth value of the pattern in which predicates and constants mean what they stand for.

    Raises:
        CatalogueError: the pattern has a variable that the substitution does not bind.
    """
    taken = _free(pattern, substitution) if pattern.quantifiers else frozenset()
    return _instance(pattern, substitution, {}, taken)


def _free(pattern: Formula, substitution: Substitution) -> frozenset[Var]:
    """The variables that are free in what the pattern's predicates and constants stand for."""
    free = frozenset[Var]()
    for name, (kind, _) in symbols(pattern).uses:
        match substitution.get(name):
            case Lambda() as function if kind == "predicate":
                free |= function.free
            case (Var() | App()) as term if kind == "constant":
                free = free.union([part for part in subterms(term) if isinstance(part, Var)])
            case _:
                pass  # not bound, or of another kind: _instance says so
    return free


def _instance(pattern: Formula, substitution: Substitution, bound: Mapping[Var, Var], taken: frozenset[Var]) -> Formula:
    """An instance of a part of a pattern.

    Args:
        pattern: the part.
        substitution: as given.
        bound: variables that the pattern binds around the part -> their names in the instance, all different.
        taken: these names, and the variables that are free in the values.
    """
    if isinstance(pattern, Atom):
        function = substitution.get(pattern.predicate)
        if not isinstance(function, Lambda) or len(function.variables) != len(pattern.arguments):
            raise CatalogueError(f"the substitution does not bind pattern variable {pattern.predicate!r}")
        if not pattern.arguments:
            return function.body
        values = [_instance_term(argument, substitution, bound) for argument in pattern.arguments]
        return substitute(function.body, dict(zip(function.variables, values, strict=True)))
    if isinstance(pattern, Eq):
        first = _instance_term(pattern.left, substitution, bound)
        return Eq(first, _instance_term(pattern.right, substitution, bound))
    if isinstance(pattern, Not):
        return Not(_instance(pattern.body, substitution, bound, taken))
    if isinstance(pattern, Binary):
        left = _instance(pattern.left, substitution, bound, taken)
        return type(pattern)(left, _instance(pattern.right, substitution, bound, taken))
    if isinstance(pattern, Binder):
        variable = pattern.variable
        named = substitution.get(variable.name)
        actual = fresh_variable(named if isinstance(named, Var) else variable, taken)
        body = _instance(pattern.body, substitution, {**bound, variable: actual}, taken | {actual})
        return type(pattern)(actual, body)
    raise CatalogueError(f"a pattern cannot contain {type(pattern).__name__}")


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
