"""Answers from memory: the same as fresh ones whatever was asked before, in the names of who asks, bounded."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof_r1_formal.evidence.confirm import confirm
from proof_r1_formal.evidence.embedded import EmbeddedSolver
from proof_r1_formal.logic.parse import parse_formula
from proof_r1_formal.logic.show import show
from proof_r1_formal.logic.syntax import Formula, Not, atom, const
from proof_r1_formal.solvers import get_solver
from proof_r1_formal.solvers.base import Answer, Entailed, Query, Reason, Refuted, Unknown
from proof_r1_formal.solvers.cache import AnswerCache
from proof_r1_formal.solvers.finite import FiniteSolver
from proof_r1_formal.testing import strategies

FRESH = EmbeddedSolver(cache=0)
Z3 = get_solver("z3")


def ask(*texts: str) -> Query:
    """The query whose last formula is the conclusion."""
    *dependencies, conclusion = [parse_formula(text) for text in texts]
    return Query(tuple(dependencies), conclusion)


class Counting:
    """Answers as the finite engine does, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Query] = []

    def __call__(self, query: Query) -> Answer:
        self.asked.append(query)
        return FiniteSolver().decide(query)


# -- the same answers -------------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(data=st.data())
def test_answers_do_not_depend_on_what_was_asked_before(data: st.DataObject) -> None:
    signature = data.draw(strategies.signatures(symbols=strategies.names()))
    queries = data.draw(st.lists(strategies.queries(signature, max_size=5), min_size=2, max_size=6))
    order = data.draw(st.permutations(queries + queries))
    fresh = [FRESH.decide(query) for query in order]
    assert [EmbeddedSolver(cache=0).decide(query) for query in order] == fresh
    for cache in (1, 3, 1 << 14):
        solver = EmbeddedSolver(cache=cache)
        assert [solver.decide(query) for query in order] == fresh


# Alike but for names and order; alike but for one thing that matters.
RELATED = [
    ask("∀x (cat(x) → pet(x))", "cat(tom)", "pet(tom)"),
    ask("dog(rex)", "∀y (dog(y) → loud(y))", "loud(rex)"),
    ask("∀x (cat(x) → pet(x))", "cat(tom)", "pet(rex)"),
    ask("∀x (cat(x) → pet(x))", "pet(tom)", "cat(tom)"),
    ask("∀x (pet(x) → cat(x))", "pet(tom)", "cat(tom)"),
    ask("∀x (cat(x) → pet(x))", "cat(tom)", "cat(tom)", "pet(tom)"),
    ask("p ∨ q", "¬p", "q"),
    ask("q ∨ p", "¬p", "q"),
    ask("p ∨ q", "¬q", "q"),
    ask("r(a, b)", "r(b, a)"),
    ask("r(a, b)", "r(a, b)"),
]


@pytest.mark.parametrize("start", range(len(RELATED)))
def test_related_queries_in_every_rotation(start: int) -> None:
    solver = EmbeddedSolver()
    for query in RELATED[start:] + RELATED[:start]:
        assert solver.decide(query) == FRESH.decide(query)
        assert confirm(query, solver.decide(query)).checked


@given(strategies.signatures(symbols=strategies.names()).flatmap(strategies.queries))
def test_evidence_in_the_names_of_the_query_holds(query: Query) -> None:
    answer = FRESH.decide(query)
    has_evidence = getattr(answer, "proof", None) is not None or getattr(answer, "model", None) is not None
    assert confirm(query, answer).checked == has_evidence


# -- what is solved, and how often ------------------------------------------------------------------------------------


def test_queries_that_differ_in_names_and_order_are_solved_once() -> None:
    solve = Counting()
    cache = AnswerCache(solve)
    for query in (*RELATED[:2], ask("p ∨ q", "¬p", "q"), ask("¬q", "q ∨ p", "p")):
        cache.decide(query)
    assert len(solve.asked) == 2
    for query in solve.asked:
        assert not any(name in show(formula) for formula in query.assertions for name in ("cat", "tom", "dog", "rex"))


@pytest.mark.parametrize(("size", "solved"), [(0, 6), (1, 6), (2, 4), (3, 3)])
def test_the_last_answers_are_remembered(size: int, solved: int) -> None:
    solve = Counting()
    cache = AnswerCache(solve, size=size)
    one, two, three = ask("p", "q"), ask("p", "p"), ask("p", "¬p")
    for query in (one, two, one, three, one, two):
        cache.decide(query)
    assert len(solve.asked) == solved


def test_any_answer_is_handed_on() -> None:
    for answer in (Entailed(), Refuted(), Unknown(Reason.TIMEOUT, "the clock")):
        cache = AnswerCache(lambda query, answer=answer: answer)  # type: ignore[misc]
        assert [cache.decide(RELATED[0]), cache.decide(RELATED[1])] == [answer, answer]


# -- names that are the package's own ---------------------------------------------------------------------------------

OWN = ("␣", "␣0", "␣1", "␣c", "␣c0", "␣c1", "␣c2", "␣c3", "␣w0", "␣w1", "␣eEntity", "␣e␣", "p0", "p1", "f0", "f1", "q")


@settings(max_examples=150)
@given(data=st.data())
def test_names_as_the_engine_gives_them(data: st.DataObject) -> None:
    """Proofs bring in constants, groundings witnesses, canonical forms letters: none is taken for one of the query."""
    signature = data.draw(strategies.signatures(symbols=st.sampled_from(OWN)))
    formula = strategies.formulas(signature, max_size=7, variables=st.sampled_from(OWN))
    query = Query(tuple(data.draw(st.lists(formula, max_size=3))), data.draw(formula))
    answer, expected = EmbeddedSolver().decide(query), Z3.decide(query)
    assert type(answer) is type(expected)
    assert confirm(query, answer).answer == answer
    assert answer == FRESH.decide(query)


def new_constants(name: str) -> list[tuple[Query, type[Answer]]]:
    """Queries whose proofs or countermodels need a new constant, and that have one of a name like it."""
    known: Formula = atom("big", const(name))
    return [
        (Query((known, parse_formula("∃x old(x)")), parse_formula("∃x (big(x) ∧ old(x))")), Refuted),
        (Query((known,), parse_formula("∀x big(x)")), Refuted),
        (Query((parse_formula("∃x big(x)"),), known), Refuted),
        (Query((known, parse_formula("∀x (big(x) → old(x))")), parse_formula("∃x old(x)")), Entailed),
        (Query((Not(known), parse_formula("∀x (old(x) → big(x))")), parse_formula("∃x ¬old(x)")), Entailed),
        (Query((parse_formula("∀x (big(x) ∧ old(x))"), known), parse_formula("∀x old(x)")), Entailed),
        (Query((parse_formula("∃x (big(x) ∧ old(x))"), Not(known)), parse_formula("∃x (old(x) ∧ big(x))")), Entailed),
    ]


@pytest.mark.parametrize("name", OWN)
def test_a_new_constant_is_new(name: str) -> None:
    for query, expected in new_constants(name):
        answer = EmbeddedSolver().decide(query)
        assert isinstance(answer, expected)
        assert confirm(query, answer).checked


def test_a_query_with_such_names_is_solved_as_it_is() -> None:
    solve = Counting()
    cache = AnswerCache(solve)
    query = Query((atom("p", const("␣c1")),), atom("p", const("␣c1")))
    assert [cache.decide(query), cache.decide(query)] == [Entailed(), Entailed()]
    assert solve.asked == [query, query]
