"""Minimization of a query that has a property, for the reproducer of a disagreement.

In: a query that has the property. Out: one that has it too, and of which no single step below makes a smaller one that
has it: leaving out a dependency, putting ⊤, ⊥ or a part of it in place of a subformula, a constant in place of a bound
variable, one constant in place of another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import assert_never

from proof_r1_formal.kernel.query import Query
from proof_r1_formal.kernel.syntax import (
    BOTTOM,
    TOP,
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
    Top,
    Xor,
)
from proof_r1_formal.kernel.transform import constants, instantiate, rename

MAX_TRIES = 5_000
"""Maximum number of tested queries; the result is then the smallest one so far."""


def shrink(query: Query, keeps: Callable[[Query], bool], *, tries: int = MAX_TRIES) -> Query:
    """A smaller query with the same property.

    Args:
        query: has the property.
        keeps: whether a query has it; it must say the same of the same query, and need not be fast.
        tries: how often it is asked.

    >>> from proof_r1_formal.text.parse import parse_formula
    >>> from proof_r1_formal.text.show import show
    >>> long = Query((parse_formula("p ∧ (q ∨ r)"), parse_formula("s")), parse_formula("∀x (cat(x) → q)"))
    >>> small = shrink(long, lambda query: any(isinstance(f, ForAll) for f in query.formulas))
    >>> len(small.dependencies), show(small.conclusion)
    (0, '∀"x" ⊤')
    """
    refused: set[Query] = set()
    while True:
        for candidate in smaller(query):
            if candidate in refused:
                continue
            if not tries:
                return query
            tries -= 1
            if keeps(candidate):
                query = candidate
                break
            refused.add(candidate)
        else:
            return query


def smaller(query: Query) -> Iterator[Query]:
    """The queries that are one step smaller, the largest steps first."""
    dependencies = query.dependencies
    for index in range(len(dependencies)):
        yield Query((*dependencies[:index], *dependencies[index + 1 :]), query.conclusion)
    formulas = (query.conclusion, *dependencies)
    names = sorted({constant.function for formula in formulas for constant in constants(formula)})
    witnesses = tuple([App(name, ()) for name in names or ["c"]])
    for index, formula in enumerate(formulas):
        for variant in _variants(formula, witnesses):
            yield _query([*formulas[:index], variant, *formulas[index + 1 :]])
    for index, name in enumerate(names):
        for other in names[:index]:
            yield _query([rename(formula, {}, {name: other}) for formula in formulas])


def _query(formulas: list[Formula]) -> Query:
    """The query of its conclusion and its dependencies."""
    return Query(tuple(formulas[1:]), formulas[0])


def _variants(formula: Formula, witnesses: tuple[App, ...]) -> Iterator[Formula]:
    """The formulas with one subformula, the outermost first, made smaller."""
    match formula:
        case Top() | Bottom():
            return
        case Atom() | Eq():
            yield from (TOP, BOTTOM)
        case Not(body):
            yield from (TOP, BOTTOM, body)
            yield from map(Not, _variants(body, witnesses))
        case And(left, right) | Or(left, right) | Xor(left, right) | Implies(left, right) | Iff(left, right):
            yield from (TOP, BOTTOM, left, right)
            for variant in _variants(left, witnesses):
                yield type(formula)(variant, right)
            for variant in _variants(right, witnesses):
                yield type(formula)(left, variant)
        case ForAll(variable, body) | Exists(variable, body):
            yield from (TOP, BOTTOM)
            for witness in witnesses:
                yield instantiate(formula, witness)
            for variant in _variants(body, witnesses):
                yield type(formula)(variable, variant)
        case _:
            assert_never(formula)
