"""What an oracle answers without its solver is what the solver would answer, and has its price."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.engine.oracle import Answers, Oracle
from proof_r1_formal.engine.truth_table import fingerprint_price
from proof_r1_formal.kernel.answer import Answer, Entailed, Query, Refuted, Unknown
from proof_r1_formal.kernel.syntax import Not
from proof_r1_formal.testing.strategies import queries
from proof_r1_formal.text.parse import parse_formula
from tests.build import sequent
from tests.solvers import SILENT

SOLVER = EmbeddedSolver()
TABLES = Oracle(Answers(SOLVER, tables=True))


@settings(max_examples=400)
@given(query=queries())
def test_what_follows_is_what_the_solver_says(query: Query) -> None:
    expected = SOLVER.decide(query)
    for fingerprints in (False, True):
        answer = TABLES.follows(query.dependencies, query.conclusion, fingerprints=fingerprints)
        assert Unknown in (type(answer), type(expected)) or type(answer) is type(expected)


@settings(max_examples=400)
@given(query=queries())
def test_what_is_constant_is_what_the_solver_says(query: Query) -> None:
    formula = query.conclusion
    either = [type(SOLVER.decide(Query((), side))) for side in (formula, Not(formula))]
    answer = TABLES.constant(formula)
    assert Unknown in (type(answer), *either) or isinstance(answer, Entailed) == (Entailed in either)


@pytest.mark.parametrize(
    ("text", "answer"),
    [("P(a); P(a) → Q(a) ⊢ Q(a)", Entailed), ("P(a) ∨ Q(a) ⊢ Q(a)", Refuted), ("P(a); ¬P(a) ⊢ Q(b)", Entailed)],
)
def test_small_questions_without_quantifiers_need_no_solver(text: str, answer: type[Answer]) -> None:
    query = sequent(text)
    silent = Oracle(Answers(SILENT, tables=True))
    assert isinstance(silent.follows(query.dependencies, query.conclusion), answer)
    assert isinstance(
        Oracle(Answers(SILENT)).follows(query.dependencies, query.conclusion), Unknown
    )  # no tables, no answer


def test_a_question_that_a_fingerprint_refutes_needs_no_solver() -> None:
    query = sequent("∀x ∃y R(x, y) ⊢ ∃y ∀x R(x, y)")
    silent = Oracle(Answers(SILENT, tables=True), 100, "test")
    assert isinstance(silent.follows(query.dependencies, query.conclusion, fingerprints=True), Refuted)
    assert silent.charged == 4
    assert isinstance(silent.follows(query.dependencies, query.conclusion), Unknown)


def test_what_a_fingerprint_may_be_is_paid() -> None:
    true, swapped = parse_formula("∀x ∃y (x = y)"), parse_formula("∃y ∀x (x = y)")
    price, both = fingerprint_price(true), fingerprint_price(true) + fingerprint_price(swapped)
    oracle = TABLES.with_budget(2 * both - 1, "test")
    assert (oracle.may_be_constant(true), oracle.charged) == (True, price)
    assert not oracle.may_be_constant(swapped)
    assert not oracle.may_be_equivalent(true, swapped)
    assert oracle.spent is not None
    assert (oracle.may_be_constant(swapped), oracle.may_be_equivalent(true, swapped)) == (True, True)
    assert oracle.charged == 2 * both


def test_a_question_for_a_table_is_paid_by_its_size() -> None:
    query = sequent("P(a) ∧ Q(a); R(a) ⊢ Q(a)")  # 3 + 1 + 1 subformulas
    metered = TABLES.with_budget(3, "test")
    assert [type(metered.follows(query.dependencies, query.conclusion)) for _ in range(3)] == [
        Entailed,
        Entailed,
        Unknown,
    ]
    assert metered.charged == 4
