"""Shapes: one for formulas that differ in names only, different ones for all others."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from proof_r1_formal.generate.shape import shape
from proof_r1_formal.kernel.signature import symbols
from proof_r1_formal.kernel.syntax import ENTITY, ForAll, Formula, Implies, Not, Var, atom, const
from proof_r1_formal.kernel.transform import alpha_normal, rename
from proof_r1_formal.testing import strategies
from proof_r1_formal.text.parse import parse_formula

SIGNATURES = strategies.signatures(symbols=strategies.names())


def key(formula: Formula) -> str:
    return shape(formula).text


def names_of(formula: Formula) -> tuple[list[str], list[str]]:
    """The names of predicates, and those of functions."""
    uses = sorted({(kind == "predicate", name) for name, (kind, _) in symbols(formula).uses})
    return [name for is_predicate, name in uses if is_predicate], [
        name for is_predicate, name in uses if not is_predicate
    ]


def renamed(formula: Formula, *new: tuple[str, ...]) -> Formula:
    return rename(
        formula, *[dict(zip(old, names, strict=True)) for old, names in zip(names_of(formula), new, strict=True)]
    )


# -- one shape --------------------------------------------------------------------------------------------------------


@settings(max_examples=150)
@given(data=st.data())
def test_names_do_not_matter(data: st.DataObject) -> None:
    formula = data.draw(SIGNATURES.flatmap(strategies.formulas))
    predicates, functions = names_of(formula)
    count = len(predicates) + len(functions)
    names = tuple(data.draw(st.lists(strategies.names(), min_size=count, max_size=count, unique=True)))
    other = alpha_normal(renamed(formula, names[: len(predicates)], names[len(predicates) :]))
    assert key(formula) == key(other)


def isomorphic(one: Formula, other: Formula) -> bool:
    """Whether names can be exchanged so that the formulas are the same, by trying all."""
    predicates, functions = names_of(other)
    if [len(predicates), len(functions)] != [*map(len, names_of(one))]:
        return False
    return any(
        alpha_normal(renamed(one, p, f)) is alpha_normal(other)
        for p in permutations(predicates)
        for f in permutations(functions)
    )


FEW = strategies.signatures(max_sorts=1, max_predicates=2, max_constants=2, max_functions=1)


def read(text: str) -> Formula:
    """Formulas that share names, as one; they are separated by ``;``."""
    *others, last = map(parse_formula, text.split(";"))
    for other in reversed(others):
        last = Implies(other, last)
    return last


@settings(max_examples=300)
@given(FEW.flatmap(lambda signature: st.tuples(*[strategies.formulas(signature, max_size=5)] * 2)))
@example((Implies(atom("s", const("s")), atom("t")), read("p(c); t")))
@example((read("p(a); p(b); q"), read("p(b); p(a); q")))
@example((read("r(a, b); r(b, a); r(a, a)"), read("r(b, a); r(a, b); r(b, b)")))
def test_one_shape_exactly_for_isomorphic_formulas(pair: tuple[Formula, Formula]) -> None:
    one, other = pair
    assert (key(one) == key(other)) == isomorphic(one, other)


# -- different shapes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pair",
    [
        "∀x ∃y r(x, y) | ∃x ∀y r(x, y)",
        "a = b; p(a) | b = a; p(a)",  # equivalent, but not in names only
        "p ⊕ q | p ↔ q",
        "p(a) ∨ q(a); p(b) ∨ q(b); s | p(a) ∨ q(a); p(b) ∨ q(a); s",
        # a name for two things, and two names
        "p(q); q | p(q); p(q)",
        # arities
        "p(a, b); q | p(a(b)); q",
        "p(f(a), b); q | p(f(a, b)); q",
        # which quantifier binds
        '∀x (p(x) ∧ ∀x q(x)) | ∀x (p(x) ∧ ∀"y" q(x))',
        '∀x ∀y (p(x) ∨ p(y)) | ∀x ∀"y" (p(x) ∨ p(x))',
    ],
)
def test_formulas_that_look_similar_have_different_shapes(pair: str) -> None:
    one, other = map(read, pair.split("|"))
    assert key(one) != key(other)


def of_sort(sort: str, body: Formula) -> Formula:
    return ForAll(Var("x", sort), body)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (of_sort("A", atom("q")), of_sort(ENTITY, atom("q"))),
        (of_sort("A", of_sort("B", atom("q"))), of_sort("B", of_sort("A", atom("q")))),
        # sorts that look like what follows them
        (of_sort("A¬", atom("q")), of_sort("A", Not(atom("q")))),
        (of_sort("A'), Not(", atom("q")), of_sort("A", Not(atom("q")))),
        (of_sort("A∀␣0:1B", atom("q")), of_sort("A", of_sort("B", atom("q")))),
    ],
)
def test_sorts_are_part_of_a_shape(one: Formula, other: Formula) -> None:
    assert key(one) != key(other)
