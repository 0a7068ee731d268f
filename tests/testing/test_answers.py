"""No answer is called verified that Z3 refutes; and each way of calling too much or too little verified is found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import proof_r1_formal.proof.session
import proof_r1_formal.testing.answers
from proof_r1_formal.data import read_problems
from proof_r1_formal.data.completions import Completion, read_completions
from proof_r1_formal.proof.answer import answer_findings
from proof_r1_formal.proof.report import Code, Finding, TraceReport
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.catalogue import FOLIO, TRAIN
from proof_r1_formal.testing.answers import AnswerFindings, AnswerHarness
from proof_r1_formal.testing.search import total
from proof_r1_formal.testing.soundness import write_reproducers

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
    assert found.rechecked.keys() <= {"confirmed", "unknown"}
    assert found.rechecked["confirmed"] > 80
    assert found.rechecked.get("unknown", 0) < 10
    assert found.examples.keys() == found.verified.keys() == {"honest", "corrupted", "adversarial"}
    assert found.verified["honest"] > 0.8 * found.examples["honest"]
    assert min(found.verified.values()) > 5
    assert found.reasons.keys() >= {
        Code.NO_BINDING,
        Code.BINDING_MISMATCH,
        Code.INCONSISTENT_PREMISES,
        Code.NOT_UNCERTAIN,
        Code.UNVERIFIED_STEP,
        Code.UNRULED_STEP,
    }


def test_what_is_tried_depends_on_the_seed_only() -> None:
    one, same, other = (
        list(AnswerHarness(TRAIN, seed=seed).run(AnswerHarness.size + 20, workers=workers))
        for seed, workers in ((3, 1), (3, 2), (4, 1))
    )
    assert one == same
    assert one != other


def without(*codes: Code) -> Callable[..., tuple[Finding, ...]]:
    """The definition of a verified answer without one of its conditions."""

    def findings(*arguments: object) -> tuple[Finding, ...]:
        return tuple([one for one in answer_findings(*arguments) if one.code not in codes])  # type: ignore[arg-type]

    return findings


def all_steps_entailed(report: TraceReport) -> float:
    return 1.0 if report.answer_correct and all(step.semantic for step in report.actions) else 0.3


def planted(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    """Break what the fault names, in this process."""
    session, answers = proof_r1_formal.proof.session, proof_r1_formal.testing.answers
    codes = {
        "any formula may be stated": (Code.BINDING_MISMATCH,),
        "steps need not be entailed": (Code.UNVERIFIED_STEP,),
        "premises may contradict each other": (Code.INCONSISTENT_PREMISES,),
        "Uncertain needs no countermodel": (Code.NOT_UNCERTAIN,),
        "the id may be any": (Code.NO_BINDING,),
    }
    if fault in codes:
        monkeypatch.setattr(session, "answer_findings", without(*codes[fault]))
    elif fault == "nothing is verified":
        monkeypatch.setattr(session, "answer_findings", lambda *_: (Finding(Code.NO_BINDING, ""),))
    else:
        monkeypatch.setattr(answers, "sound_answer_reward", all_steps_entailed)


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
    planted(monkeypatch, fault)
    failures = Counter(one.fault for one in AnswerHarness(FOLIO).chunk(range(AnswerHarness.size)).failures)
    assert failures.keys() >= found


def test_a_failure_can_be_seen_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    planted(monkeypatch, "steps need not be entailed")
    failures = AnswerHarness(FOLIO).chunk(range(AnswerHarness.size)).failures
    problems, completions = write_reproducers(tmp_path / "report.json", failures)
    known = read_problems(problems)
    again = [one for one in read_completions(completions) if isinstance(one, Completion)]
    assert len(again) == len(failures) == len(known) > 0
    verifier = Verifier(rules=FOLIO)
    assert all(verifier.verify(known[one.problem_id], one.completion).verified for one in again)
