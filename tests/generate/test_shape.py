"""Shapes: one for formulas that differ in names only, different ones for all others.

The formulas are queries as implications, so that several parts share names.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from itertools import permutations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from proof_r1_formal.generate.shape import shape
from proof_r1_formal.kernel.query import Query
from proof_r1_formal.kernel.syntax import (
    ENTITY,
    App,
    Atom,
    Eq,
    Exists,
    ForAll,
    Formula,
    Implies,
    Not,
    Var,
    atom,
    const,
)
from proof_r1_formal.kernel.transform import alpha_normal, rename, subformulas, substitute, terms
from proof_r1_formal.testing import strategies
from tests.builders import ask

SIGNATURES = strategies.signatures(symbols=strategies.names())
QUERIES = SIGNATURES.flatmap(strategies.queries)


def key(query: Query) -> str:
    return shape(reduce(lambda body, dependency: Implies(dependency, body), query.dependencies, query.conclusion)).text


def predicates(query: Query) -> set[str]:
    parts = [part for formula in query.assertions for part in subformulas(formula)]
    return {part.predicate for part in parts if isinstance(part, Atom)}


def functions(query: Query) -> set[str]:
    found = [term for formula in query.assertions for term in terms(formula)]
    return {term.function for term in found if isinstance(term, App)}


def renamed(query: Query, predicates: Mapping[str, str], functions: Mapping[str, str]) -> Query:
    dependencies, conclusion = query.dependencies, query.conclusion
    return Query(
        tuple(rename(formula, predicates, functions) for formula in dependencies),
        rename(conclusion, predicates, functions),
    )


def with_other_variables(formula: Formula, depth: int = 0) -> Formula:
    """The formula with a new name for each bound variable, by its depth."""
    match formula:
        case Not(body):
            return Not(with_other_variables(body, depth))
        case ForAll(variable, body) | Exists(variable, body):
            other = Var(f"variable{depth}", variable.sort)
            return type(formula)(other, with_other_variables(substitute(body, {variable: other}), depth + 1))
        case Atom() | Eq():
            return formula
        case _ if formula.__match_args__:
            return type(formula)(*[with_other_variables(getattr(formula, side), depth) for side in ("left", "right")])
        case _:
            return formula


# -- one shape --------------------------------------------------------------------------------------------------------


@settings(max_examples=150)
@given(data=st.data())
def test_names_do_not_matter(data: st.DataObject) -> None:
    query = data.draw(QUERIES)
    symbols = [sorted(predicates(query)), sorted(functions(query))]
    count = len(symbols[0]) + len(symbols[1])
    names = iter(data.draw(st.lists(strategies.names(), min_size=count, max_size=count, unique=True)))
    other = renamed(query, *[{symbol: next(names) for symbol in each} for each in symbols])
    formulas = [with_other_variables(formula) for formula in (*other.dependencies, other.conclusion)]
    assert key(query) == key(Query(tuple(formulas[:-1]), formulas[-1]))


def test_a_predicate_and_a_constant_of_one_name_are_two_symbols() -> None:
    query = Query((atom("s", const("s")),), atom("t"))
    assert key(query) == key(ask("p(c)", "t"))


# -- different shapes -------------------------------------------------------------------------------------------------


def isomorphic(one: Query, other: Query) -> bool:
    """Whether names can be exchanged so that the queries are the same, by trying all."""
    names = [(sorted(predicates(query)), sorted(functions(query))) for query in (one, other)]
    if [len(each) for each in names[0]] != [len(each) for each in names[1]]:
        return False

    def normal(query: Query) -> list[Formula]:
        return [*map(alpha_normal, (query.conclusion, *query.dependencies))]

    wanted = normal(other)
    return any(
        normal(renamed(one, dict(zip(names[0][0], p, strict=True)), dict(zip(names[0][1], f, strict=True)))) == wanted
        for p in permutations(names[1][0])
        for f in permutations(names[1][1])
    )


FEW = strategies.signatures(max_sorts=1, max_predicates=2, max_constants=2, max_functions=1)
PAIRS = FEW.flatmap(lambda signature: st.tuples(*[strategies.queries(signature, max_dependencies=2, max_size=3)] * 2))


@settings(max_examples=300)
@given(PAIRS)
@example((ask("p(a)", "p(b)", "q"), ask("p(b)", "p(a)", "q")))
@example((ask("r(a, b)", "r(b, a)", "r(a, a)"), ask("r(b, a)", "r(a, b)", "r(b, b)")))
def test_one_shape_exactly_for_isomorphic_queries(pair: tuple[Query, Query]) -> None:
    one, other = pair
    assert (key(one) == key(other)) == isomorphic(one, other)


def of_sort(sort: str, body: Formula) -> Query:
    return Query((ForAll(Var("x", sort), body),), atom("q"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # arguments, sides, order of quantifiers
        (ask("r(a, b)", "r(a, b)"), ask("r(a, b)", "r(b, a)")),
        (ask("∀x ∀y r(x, y)"), ask("∀x ∀y r(y, x)")),
        (ask("∀x ∃y r(x, y)"), ask("∃x ∀y r(x, y)")),
        (ask("∀x ∃y r(x, y)"), ask("∀x ∃y r(y, x)")),
        (ask("p → q", "q"), ask("q → p", "q")),
        (ask("a = b", "p(a)"), ask("b = a", "p(a)")),  # equivalent, but not in names only
        (ask("p", "q"), ask("q", "q")),
        (ask("p ∨ q", "p"), ask("p ∨ q", "r")),
        (ask("p"), ask("¬p")),
        (ask("⊤"), ask("⊥")),
        (ask("p ⊕ q"), ask("p ↔ q")),
        # how symbols are shared
        (ask("p(a)", "p(a)"), ask("p(a)", "p(b)")),
        (ask("p(a)", "p(a)"), ask("p(a)", "q(a)")),
        (ask("p(a)", "q(a)", "s"), ask("p(a)", "q(b)", "s")),
        (ask("r(a, b)", "r(b, c)", "s"), ask("r(a, b)", "r(a, c)", "s")),
        (ask("p(a) ∨ q(a)", "p(b) ∨ q(b)", "s"), ask("p(a) ∨ q(a)", "p(b) ∨ q(a)", "s")),
        (ask("p(a) ∨ q(a)", "p(b) ∨ t(b)", "s"), ask("p(a) ∨ q(a)", "q(b) ∨ t(b)", "s")),
        # how often
        (ask("p", "q"), ask("p", "p", "q")),
        (ask("p", "q", "p ∧ q"), ask("p", "p ∧ q")),
        # a name for two things, and two names
        (ask("p(q)", "q"), ask("p(q)", "p(q)")),
        (ask("f(f(a)) = a"), ask("f(g(a)) = a")),
        (ask("s ∨ p(s)", "q"), ask("p(s) ∨ s", "q")),
        (ask("p(a) ∧ a", "q"), ask("p(a) ∧ p(b)", "q")),
        # arities
        (ask("p(a, b)", "q"), ask("p(a(b))", "q")),
        (ask("p(f(a), b)", "q"), ask("p(f(a, b))", "q")),
        # bound and free of a quantifier, and which one
        (ask("∀x (p(x) ∧ ∀x q(x))"), ask('∀x (p(x) ∧ ∀"y" q(x))')),
        (ask("∀x ∀y (p(x) ∨ p(y))"), ask('∀x ∀"y" (p(x) ∨ p(x))')),
        # sorts
        (of_sort("A", atom("p", Var("x", "A"))), of_sort("B", atom("p", Var("x", "B")))),
        (of_sort("A", atom("q")), of_sort(ENTITY, atom("q"))),
        (
            Query((ForAll(Var("x", "A"), ForAll(Var("y", "B"), atom("q"))),), atom("q")),
            Query((ForAll(Var("x", "B"), ForAll(Var("y", "A"), atom("q"))),), atom("q")),
        ),
        (of_sort("A", Eq(Var("x", "A"), const("c"))), of_sort("A", Eq(const("c"), Var("x", "A")))),
        # sorts that look like what follows them
        (of_sort("A0(", atom("q")), of_sort("A", atom("q"))),
        (of_sort("A¬", atom("q")), of_sort("A", Not(atom("q")))),
        (of_sort("A∀␣0:1B", atom("q")), of_sort("A", ForAll(Var("x", "B"), atom("q")))),
        (of_sort("1A", atom("q")), of_sort("A", atom("q"))),
        (of_sort("A␣", atom("q")), of_sort("A", atom("q"))),
    ],
)
def test_queries_that_look_similar_have_different_shapes(one: Query, other: Query) -> None:
    assert key(one) != key(other)


def test_the_length_of_a_sort_is_told_from_the_name_of_a_sort() -> None:
    """``1`` and ``1`` is not ``11``: a sort named ``1`` before eleven ¬, and a sort named by eleven ¬."""
    negated: Formula = atom("q")
    for _ in range(11):
        negated = Not(negated)
    one, other = Query((), ForAll(Var("x", "1"), negated)), Query((), ForAll(Var("x", "¬" * 11), atom("q")))
    assert key(one) != key(other)


HOSTILE_NAMES = (
    *("0", "1", "10", "0(", "0()", "(", ")", ":", "x:6Entity"),
    *("␣0", "␣0:6Entity", "p0", "f0", "∀", "¬", "=", "é", "e\u0301", "\0"),
)


@pytest.mark.parametrize("name", HOSTILE_NAMES, ids=ascii)
def test_names_are_names_whatever_they_look_like(name: str) -> None:
    """The name of a predicate, of a constant, of a variable or of a sort never shows in the form of another part."""
    plain = key(ask("p(a)", "∀x p(x)"))
    for second in HOSTILE_NAMES:
        query = Query((atom(name, const(second)),), ForAll(Var(second, ENTITY), atom(name, Var(second, ENTITY))))
        assert key(query) == plain
        forms = [key(of_sort(sort, atom("p", Var("x", sort)))) for sort in (name, second)]
        assert (forms[0] == forms[1]) == (name == second)
