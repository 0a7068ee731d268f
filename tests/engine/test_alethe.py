"""Proofs of cvc5 in Alethe: the checker accepts the terms that are read from them, and other texts give no term."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof_r1_formal.engine.alethe import BUDGET, AletheError, proof_of
from proof_r1_formal.engine.cvc5 import Cvc5Solver
from proof_r1_formal.engine.solver import Budget
from proof_r1_formal.errors import ProofError
from proof_r1_formal.kernel.answer import Entailed, Query, confirm
from proof_r1_formal.kernel.checker import check
from proof_r1_formal.testing import strategies
from studies.pelletier import sequents
from tests.build import sequent

QUERY = sequent("∀x (cat(x) → tame(x)); cat(tom) ⊢ tame(tom)")
TEXT = """(
(assume a0 (forall ((v_x.s_Entity s_Entity)) (=> (p_cat v_x.s_Entity) (p_tame v_x.s_Entity))))
(assume a1 (! (p_cat f_tom) :named @p_1))
(assume a2 (! (not (! (p_tame f_tom) :named @p_2)) :named @p_3))
(anchor :step t1)
(assume t1.a0 (forall ((v_x.s_Entity s_Entity)) (=> (p_cat v_x.s_Entity) (p_tame v_x.s_Entity))))
(step t1.t0 (cl (=> @p_1 @p_2)) :rule resolution :premises (t1.a0))
(step t1 (cl (not (forall ((y s_Entity)) (=> (p_cat y) (p_tame y)))) (=> @p_1 @p_2)) :rule subproof :discharge (t1.a0))
(step t2 (cl (=> @p_1 @p_2)) :rule resolution :premises (t1 a0))
(step t3 (cl (not @p_1) @p_2) :rule implies :premises (t2))
(step t4 (cl) :rule resolution :premises (t3 a1 a2))
)"""
"""As cvc5 writes proofs; the first step of the subproof is an instance, under a name that says nothing."""

ENTAILED = (
    "p; p → q ⊢ q",
    "p ↔ q; ¬q ⊢ ¬p",
    "⊢ p ∨ ¬p",
    "a = b; f(a) = c; r(c) ⊢ r(f(b))",
    "f(a) = a ⊢ f(f(f(a))) = a",
    "∃x cat(x); ∀x (cat(x) → tame(x) ∧ calm(x)) ⊢ ∃x (tame(x) ∧ calm(x))",
    "¬∀x ∃y r(x,y) ⊢ ∃x ∀y ¬r(x,y)",
    "⊢ ∃y ∀x (F(y) → F(x))",
    "∀x:Cat ∃y:Dog fears(x,y); ∀x:Cat ∀y:Dog (fears(x,y) → runs(x)) ⊢ ∀x:Cat runs(x)",
    "∀x:Cat x = tom; ∃x:Cat hungry(x) ⊢ hungry(tom)",
)


def proof_holds(query: Query, text: str) -> bool:
    try:
        check(proof_of(query, text, Budget(BUDGET)), query.dependencies, query.conclusion)
    except (AletheError, ProofError):
        return False
    return True


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("(cl (not @p_1) @p_2)", "(cl (not @p_1))", r"no proof was found of the step t3 \(implies\)"),
        (":premises (t3 a1 a2)", ":premises (t3 a1)", r"no proof was found of the step t4 \(resolution\)"),
        ("(step t1.t0 (cl (=> @p_1 @p_2))", "(step t1.t0 (cl @p_2)", r"the step t1\.t0"),
        ("(assume a1 (! (p_cat f_tom)", "(assume a1 (! (p_tame f_tom)", "not read as a proof"),
        ("(p_tame y)", "(p_wild y)", "the symbol p_wild is not read"),
        ("(p_tame y)", "(p_tame (choice ((z s_Entity)) (= z y)))", "a choice term depends on a variable"),
        ("(p_cat y)", "f_tom", "a term stands in place of a formula"),
        ("(p_cat f_tom)", "(p_cat @p_2)", "not read"),
        ("(anchor :step t1)", "(anchor)", "no such command"),
        ("s_Entity)) (=> (p_cat y)", "s_Cat)) (=> (p_cat y)", "not read as a proof"),
        ("(p_tame f_tom)", "(choice ((z s_Entity)) (p_cat z))", "a term stands"),
        ("(p_cat f_tom)", "(p_cat (choice ((z s_Entity)) (= z y)))", "is not read"),
    ],
)
def test_a_text_that_proves_nothing_is_named(old: str, new: str, why: str) -> None:
    assert old in TEXT
    with pytest.raises(AletheError, match=why):
        proof_of(QUERY, TEXT.replace(old, new), Budget(BUDGET))


@pytest.mark.parametrize("text", ["", "(", ")", "()()", "unsat", "(step)", "(" * 10_000, "(" * 5_000 + ")" * 5_000])
def test_other_texts_are_no_proofs(text: str) -> None:
    with pytest.raises(AletheError):
        proof_of(QUERY, text, Budget(BUDGET))


def test_a_proof_ends_in_the_empty_clause() -> None:
    assert not proof_holds(QUERY, TEXT.replace("(step t4 (cl) :rule resolution :premises (t3 a1 a2))\n", ""))


WORDS = re.findall(r"[()]|[^\s()]+", TEXT)


@settings(max_examples=300)
@given(st.lists(st.tuples(st.integers(0, len(WORDS) - 1), st.sampled_from(WORDS)), min_size=1, max_size=3))
def test_no_text_proves_what_is_not_entailed(changes: list[tuple[int, str]]) -> None:
    words = list(WORDS)
    for place, word in changes:
        words[place] = word
    for open_question in (
        Query(QUERY.dependencies[:1], QUERY.conclusion),
        Query(QUERY.dependencies, sequent("wild(tom)").conclusion),
    ):
        assert not proof_holds(open_question, " ".join(words))


def test_the_searches_share_a_budget() -> None:
    enough = Budget(BUDGET)
    proof_of(QUERY, TEXT, enough)
    assert 20 < enough.spent < 1000
    assert check(proof_of(QUERY, TEXT, Budget(enough.spent)), QUERY.dependencies, QUERY.conclusion) == {0, 1}
    small = Budget(20)
    with pytest.raises(AletheError, match="no proof was found"):
        proof_of(QUERY, TEXT, small)
    assert 0 < small.spent <= 20


# -- cvc5's own proofs ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def solver() -> Cvc5Solver:
    pytest.importorskip("cvc5", reason="cvc5 is not installed (the extra [solvers])")
    return Cvc5Solver()


@pytest.mark.parametrize("text", ENTAILED)
def test_what_cvc5_proves_is_checked(solver: Cvc5Solver, text: str) -> None:
    answer = solver.decide(sequent(text))
    assert isinstance(answer, Entailed)
    assert confirm(sequent(text), answer).evidence == "checked"


def test_cvc5_proves_problems_of_pelletier(solver: Cvc5Solver) -> None:
    """Equivalences of quantified formulas; of 58, a step about an equation under ∀ has no proof here."""
    queries = {sequent.number: sequent.query for sequent in sequents() if sequent.number in (26, 44, 58)}
    answers = {number: solver.decide(query) for number, query in queries.items()}
    assert all(isinstance(answer, Entailed) and answer.steps > 0 for answer in answers.values())  # 58 is paid, too
    found = {number: confirm(queries[number], answer).evidence for number, answer in answers.items()}
    assert found == {26: "checked", 44: "checked", 58: "unsupported"}


@settings(max_examples=40)
@given(strategies.signatures(symbols=strategies.names()).flatmap(strategies.queries))
def test_a_proof_of_cvc5_is_never_a_wrong_one(solver: Cvc5Solver, query: Query) -> None:
    """Every proof that is read holds: where a step is missing, the answer comes without one."""
    answer = solver.decide(query)
    assert not isinstance(answer, Entailed) or confirm(query, answer).answer is answer
