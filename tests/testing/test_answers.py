"""No answer is called verified that Z3 refutes; and each way of calling too much or too little verified is found."""

from __future__ import annotations

import pytest

from proof_r1_formal.proof import session
from proof_r1_formal.proof.answer import answer_findings
from proof_r1_formal.proof.report import Code, Finding, TraceReport
from proof_r1_formal.rules.catalogue import FOLIO
from proof_r1_formal.testing import answers
from proof_r1_formal.testing.answers import AnswerFindings, AnswerHarness
from proof_r1_formal.testing.search import total

FALSE = "the answer is verified, and does not follow"
CONTRADICTORY = "the answer is verified, and the premises contradict each other"
OTHER = "the answer is verified, and the last conclusion is another formula"
DECIDED = "the answer Uncertain is verified, and the premises decide the goal"
UNNAMED = "the answer is verified, and the last action does not name it"
REFUSED = "an honest answer is not verified"
OVERPAID = "the reward of an answer that is not verified is that of a verified one"


def test_z3_confirms_every_verified_answer() -> None:
    found = total(AnswerFindings(), AnswerHarness(FOLIO, seed=5).run(300))
    assert found.failures == []
    assert found.outcomes.keys() <= {"confirmed", "unknown"}
    assert found.outcomes["confirmed"] > 80
    assert found.outcomes.get("unknown", 0) < 10
    assert found.examples.keys() == found.accepted.keys() == {"honest", "corrupted", "adversarial"}
    assert found.accepted["honest"] > 0.8 * found.examples["honest"]
    assert min(found.accepted.values()) > 5
    assert found.reasons.keys() >= {
        Code.NO_BINDING,
        Code.BINDING_MISMATCH,
        Code.INCONSISTENT_PREMISES,
        Code.NOT_UNCERTAIN,
        Code.UNVERIFIED_STEP,
        Code.UNRULED_STEP,
    }


CONDITIONS = {
    "any formula may be stated": Code.BINDING_MISMATCH,
    "steps need not be entailed": Code.UNVERIFIED_STEP,
    "premises may contradict each other": Code.INCONSISTENT_PREMISES,
    "Uncertain needs no countermodel": Code.NOT_UNCERTAIN,
    "the id may be any": Code.NO_BINDING,
}
"""Faults that leave out a condition of a verified answer."""


def plant(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    """Break what the fault names, in this process."""

    def without(*arguments: object) -> tuple[Finding, ...]:
        found = answer_findings(*arguments)  # type: ignore[arg-type]
        return tuple([finding for finding in found if finding.code is not CONDITIONS[fault]])

    def steps_entailed(report: TraceReport) -> float:
        return 1.0 if report.answer_correct and all(step.semantic for step in report.actions) else 0.3

    if fault in CONDITIONS:
        monkeypatch.setattr(session, "answer_findings", without)
    elif fault == "nothing is verified":
        monkeypatch.setattr(session, "answer_findings", lambda *_: (Finding(Code.NO_BINDING, ""),))
    else:
        monkeypatch.setattr(answers, "sound_answer_reward", steps_entailed)


@pytest.mark.parametrize(
    ("fault", "found"),
    [
        ("any formula may be stated", {OTHER, FALSE}),
        ("steps need not be entailed", {FALSE}),
        ("premises may contradict each other", {CONTRADICTORY}),
        ("Uncertain needs no countermodel", {DECIDED}),
        ("the id may be any", {UNNAMED}),
        ("nothing is verified", {REFUSED}),
        ("the reward asks for entailed steps only", {OVERPAID}),
    ],
)
def test_a_planted_fault_is_found(monkeypatch: pytest.MonkeyPatch, fault: str, found: set[str]) -> None:
    plant(monkeypatch, fault)
    chunks = AnswerHarness(FOLIO).run(10 * AnswerHarness.size)
    assert any({failure.fault for failure in some.failures} >= found for some in chunks)
