"""An answer is verified by checked evidence alone: an answer without evidence verifies nothing."""

from __future__ import annotations

import pytest

from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.kernel.answer import Answer, Entailed, Query, Refuted
from proof_r1_formal.kernel.model import Structure
from proof_r1_formal.kernel.syntax import BOTTOM, ENTITY, Iff
from proof_r1_formal.proof.report import Code, TraceReport
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.text.parse import parse_formula
from proof_r1_formal.text.show import show
from tests.build import INFINITE, completion, problem
from tests.solvers import Told

GB = "GOAL_BINDING"
VALID = "∀x (F(x) → F(x))"


class Proofless(EmbeddedSolver):
    """An engine without proofs for questions about a predicate."""

    def __init__(self, predicate: str) -> None:
        super().__init__()
        self._predicate = predicate

    def decide(self, query: Query) -> Answer:
        answer = super().decide(query)
        asked = self._predicate in show(query.conclusion)
        return Entailed(None, answer.steps, "z3") if asked and isinstance(answer, Entailed) else answer


def bind(premise: str, goal: str, verifier: Verifier | None = None, *, option: str = "h_goal_true") -> TraceReport:
    """The report on the proof that binds the goal from the premise at once."""
    case = problem(*premise.split("; "), goal=goal)
    names = [each.id for each in case.premises]
    return (verifier or Verifier()).verify(case, completion((option, names, goal, GB)))


def test_a_step_on_a_solvers_word_is_not_verified() -> None:
    report = bind("P(a)", f"P(a) ∧ ({VALID})", Verifier(Proofless("F")))
    (step,) = report.actions
    assert (step.semantic, step.rule, step.signal) == (True, False, 0.3)
    assert (step.evidence, step.engine) == ("unsupported", "z3")
    assert (report.verified, report.rule_verified, report.unsupported) == (False, False, 1)
    (finding,) = report.findings
    assert (finding.code, finding.dependencies) == (Code.UNSUPPORTED_STEP, ("h_goal_true",))


def test_an_instance_without_a_proof_has_no_full_signal() -> None:
    """The rule alone would match, but the step is entailed without evidence, so the rule gives no verdict."""
    case = problem("P(a) → F(a)", "P(a)", goal="F(a)")
    verifier = Verifier(Proofless("F"))
    (step,) = verifier.verify(case, completion(("s1", ["h1", "h2"], "F(a)", "IMPLICATION_ELIMINATION"))).actions
    assert (step.semantic, step.rule, step.signal, step.evidence) == (True, False, 0.3, "unsupported")
    assert Code.RULE_UNDECIDED in {finding.code for finding in step.findings}


def test_a_binding_on_a_solvers_word_binds_nothing() -> None:
    case = problem("P(a)", goal=f"P(a) ∧ ({VALID})")
    report = Verifier(Proofless("F")).verify(case, completion(("h_goal_true", ["h1"], "P(a)", GB)))
    assert (report.verified, report.rule_verified) == (False, False)
    assert report.findings[0].code is Code.BINDING_UNDECIDED
    assert "only z3 says yes" in " ".join([finding.message for finding in report.actions[0].findings])


def test_a_faulty_proof_of_an_equivalence_binds_nothing() -> None:
    goal, said = parse_formula("P(a) ∧ (Q(a) ∨ ∀x P(x))"), parse_formula("P(a)")
    verifier = Verifier(Told({show(Iff(said, goal)): Entailed()}))
    report = verifier.verify(problem("P(a)", goal=show(goal)), completion(("h_goal_true", ["h1"], "P(a)", GB)))
    assert not report.verified


def test_a_faulty_structure_is_not_a_model_of_the_premises() -> None:
    wrong = Structure({ENTITY: 1}, {"P": frozenset()}, {"a": {(): 0}})
    report = bind("P(a); ¬P(a)", "P(a)", Verifier(Told({show(BOTTOM): Refuted(wrong)})))
    assert (report.consistency, report.verified) == ("undecided", False)


def test_premises_are_not_contradictory_on_a_solvers_word() -> None:
    report = bind("P(a)", "P(a)", Verifier(Told({show(BOTTOM): Entailed()})))
    assert (report.consistency, report.verified) == ("undecided", False)


def test_faulty_structures_do_not_leave_a_goal_open() -> None:
    wrong = Structure({ENTITY: 1}, {"P": frozenset()}, {"a": {(): 0}})
    verifier = Verifier(Told({"P(a)": Refuted(wrong), "¬P(a)": Refuted(wrong)}))
    report = bind("P(a)", "P(a)", verifier, option="h_goal_uncertain")
    assert (report.uncertain, report.verified) == ("undecided", False)


def test_premises_without_a_finite_model_stay_undecided() -> None:
    report = bind("; ".join(map(show, INFINITE.dependencies)), "∃y r(a, y)")
    assert report.actions[0].semantic
    assert (report.consistency, report.verified) == ("undecided", False)


@pytest.mark.parametrize(
    ("level", "words"), [("checked", "rule-verified"), ("none", "rule-verified (no evidence checked)")]
)
def test_reports_say_where_no_evidence_was_checked(level: str, words: str) -> None:
    verifier = Verifier(evidence="none" if level == "none" else "checked")
    report = bind("P(a)", "P(a)", verifier)
    assert (report.rule_verified, report.evidence) == (True, level)
    assert report.level == words
    assert words in report.explain()


def test_a_question_that_is_asked_twice_is_charged_once() -> None:
    metered = Verifier().oracle.with_budget(10_000, "test")
    question = ((parse_formula("∀x P(x)"),), parse_formula("P(a)"))
    first = metered.decide(*question)
    price = metered.charged
    assert metered.decide(*question) == first
    assert isinstance(metered.entails(*question), Entailed)
    assert metered.charged == price > 0
