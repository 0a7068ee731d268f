"""The answer of a trace is verified exactly where the terminal action states its option and the closure shows it.

Each case is asked of every consumer that says "verified": the report, the reward, the metrics, the certificate and the
bundle, which ``check_bundle.py`` checks again.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from proof_r1_formal.assistants.certify import certify
from proof_r1_formal.data.completions import Completion
from proof_r1_formal.data.problem import GOAL_FALSE, GOAL_TRUE, GOAL_UNCERTAIN, Problem
from proof_r1_formal.evaluation.assessment import examine
from proof_r1_formal.evaluation.measures import Measure
from proof_r1_formal.evaluation.metrics import evaluate_metrics
from proof_r1_formal.proof.report import Code, TraceReport, answer_reward, sound_answer_reward
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.report.bundle import write_bundle
from tests.build import ROOT, completion, problem

GB, MP, XE, CE = (
    "GOAL_BINDING",
    "IMPLICATION_ELIMINATION",
    "EXCLUSIVE_DISJUNCTION_ELIMINATION",
    "CONJUNCTION_ELIMINATION",
)
PREMISES = ("∀x (student(x) → reads(x))", "student(ann)", "reads(ann) → (clever(ann) ⊕ tired(ann))", "¬tired(ann)")
OPEN = ("student(ann)", "clever(ann) ∨ tired(ann)")
CONTRARY = (*PREMISES, "tired(ann)")

READS = ("s1", ["h1", "h2"], "reads(ann)", MP)
EITHER = ("s2", ["h3", "s1"], "clever(ann) ⊕ tired(ann)", MP)
CLEVER = ("s3", ["s2", "h4"], "clever(ann)", XE)
HONEST = (READS, EITHER, CLEVER, (GOAL_TRUE, ["s3"], "clever(ann)", GB))

Action = tuple[str, list[str], str, str]


@dataclass(frozen=True)
class Case:
    """A trace, and why its answer is not verified or not rule-verified.

    Attributes:
        actions: of the trace.
        codes: of the report's findings.
        premises, goal, answer: of the problem.
        terminal: codes of the terminal action's findings that must be there.
    """

    actions: tuple[Action, ...]
    codes: tuple[Code, ...] = ()
    premises: tuple[str, ...] = PREMISES
    goal: str = "clever(ann)"
    answer: str = GOAL_TRUE
    terminal: tuple[Code, ...] = ()

    @property
    def problem(self) -> Problem:
        return problem(*self.premises, goal=self.goal, answer=self.answer)

    @property
    def completion(self) -> str:
        return completion(*self.actions)

    @property
    def verified(self) -> bool:
        return set(self.codes) <= {Code.UNRULED_STEP}

    @property
    def rule_verified(self) -> bool:
        return not self.codes and self.actions[-1][0] != GOAL_UNCERTAIN


MISMATCH = (Code.BINDING_MISMATCH,)
VERIFIED = {
    "the honest proof": Case(HONEST),
    "the last inference has the id of the option": Case((READS, EITHER, (GOAL_TRUE, *CLEVER[1:]))),
    "the formula of the option, written in another way": Case((*HONEST[:3], (GOAL_TRUE, ["s3"], "¬¬clever(ann)", GB))),
    "a false step that the answer does not rest on": Case((("s0", ["h2"], "tired(ann)", MP), *HONEST)),
    "a step under the wrong rule": Case((READS, (*EITHER[:3], CE), *HONEST[2:]), (Code.UNRULED_STEP,)),
    "a valid goal from nothing": Case(
        ((GOAL_TRUE, [], "p(a) ∨ ¬p(a)", CE),), (Code.UNRULED_STEP,), goal="p(a) ∨ ¬p(a)"
    ),
    "an open question": Case(((GOAL_UNCERTAIN, ["h1"], "clever(ann)", GB),), (), OPEN, answer=GOAL_UNCERTAIN),
}
UNVERIFIED = {
    "a true step has the id of the option": Case(((GOAL_TRUE, *READS[1:]),), MISMATCH, terminal=MISMATCH),
    "a true step has the id of the refuted option": Case(((GOAL_FALSE, *READS[1:]),), MISMATCH, terminal=MISMATCH),
    "a true step beside the honest proof has the id of the option": Case(
        (*HONEST[:3], (GOAL_TRUE, ["h2", "s3"], "student(ann) ∧ clever(ann)", "CONJUNCTION_INTRODUCTION")),
        MISMATCH,
        terminal=MISMATCH,
    ),
    "⊤ is bound, from nothing": Case(((GOAL_TRUE, [], "⊤", GB),), (*MISMATCH, Code.UNRULED_STEP), terminal=MISMATCH),
    "a premise is bound": Case(
        ((GOAL_TRUE, ["h2"], "student(ann)", GB),), (*MISMATCH, Code.UNRULED_STEP), terminal=MISMATCH
    ),
    "the goal is bound from nothing": Case(
        ((GOAL_TRUE, [], "clever(ann)", GB),), (Code.UNVERIFIED_STEP,), terminal=(Code.NOT_ENTAILED,)
    ),
    "the binding is not well formed": Case(
        (*HONEST[:3], ("s3", ["s3"], "clever(ann)", GB)), (Code.NO_BINDING,), terminal=(Code.DUPLICATE_ID,)
    ),
    "the terminal action has the id of an earlier one": Case(
        (*HONEST, HONEST[-1]), (*MISMATCH, Code.UNVERIFIED_STEP), terminal=(Code.DUPLICATE_ID,)
    ),
    "the terminal conclusion is no formula": Case(
        (*HONEST[:3], (GOAL_TRUE, ["s3"], "clever(ann", GB)),
        (*MISMATCH, Code.UNVERIFIED_STEP),
        terminal=(Code.UNPARSABLE_CONCLUSION,),
    ),
    "the option is selected by its formula, in a binding": Case(
        (*HONEST[:3], ("goal", ["s3"], "clever(ann)", GB)), (Code.NO_BINDING,), terminal=MISMATCH
    ),
    "the option is selected by its formula, without a terminal action": Case(HONEST[:3], (Code.NO_BINDING,)),
    "no option is selected": Case((READS,), (Code.NO_BINDING,)),
    "the closure has a false step": Case(
        (READS, EITHER, ("s3", ["s2"], "clever(ann)", XE), HONEST[-1]), (Code.UNVERIFIED_STEP,)
    ),
    "the closure names what is not there": Case(
        (*HONEST[:3], (GOAL_TRUE, ["s3", "s9"], "clever(ann)", GB)), (Code.UNVERIFIED_STEP,)
    ),
    "the premises contradict each other": Case(HONEST, (Code.INCONSISTENT_PREMISES,), CONTRARY),
    "Uncertain is bound with a premise": Case(
        ((GOAL_UNCERTAIN, ["h1"], "student(ann)", GB),), MISMATCH, OPEN, answer=GOAL_UNCERTAIN, terminal=MISMATCH
    ),
    "Uncertain, where the goal follows": Case(
        (*HONEST[:3], (GOAL_UNCERTAIN, ["s3"], "clever(ann)", GB)), (Code.NOT_UNCERTAIN,), answer=GOAL_UNCERTAIN
    ),
    "Uncertain, where the premises contradict each other": Case(
        ((GOAL_UNCERTAIN, ["h4"], "clever(ann)", GB),),
        (Code.INCONSISTENT_PREMISES, Code.NOT_UNCERTAIN),
        CONTRARY,
        answer=GOAL_UNCERTAIN,
    ),
}
CASES = VERIFIED | UNVERIFIED

VERIFIER = Verifier()


def verify(case: Case) -> TraceReport:
    return VERIFIER.verify(case.problem, case.completion)


@pytest.mark.parametrize("name", CASES)
def test_the_report_says_whether_and_why(name: str) -> None:
    case = CASES[name]
    report = verify(case)
    assert tuple([finding.code for finding in report.findings]) == case.codes
    assert (report.verified, report.rule_verified) == (case.verified, case.rule_verified)
    assert report.verified == (name in VERIFIED)
    last = report.actions[-1]
    assert {finding.code for finding in last.findings} >= set(case.terminal)
    if Code.BINDING_MISMATCH in case.terminal:
        assert not last.progress
        assert last.signal <= 0.3


@pytest.mark.parametrize("name", CASES)
def test_training_and_evaluation_verify_the_same_answers(name: str) -> None:
    case = CASES[name]
    trained = Verifier(evaluation=False).verify(case.problem, case.completion)
    report = verify(case)
    assert (trained.verified, trained.rule_verified) == (report.verified, report.rule_verified)


@pytest.mark.parametrize("name", CASES)
def test_rewards_metrics_and_certificates_agree_with_the_report(name: str) -> None:
    case = CASES[name]
    report = verify(case)
    expected = sound_answer_reward(report)
    faultless = all(step.semantic for step in report.actions if not step.terminal)
    proved = case.verified and case.answer != GOAL_UNCERTAIN
    assert (expected == 1.0) == (proved and faultless and bool(report.answer_correct))
    assert expected <= answer_reward(report)
    overall = evaluate_metrics({case.problem.id: case.problem}, [report]).overall
    scores = overall.scores
    if report.consistency == "inconsistent":
        assert not overall.outputs and not overall.uncertain.outputs
    elif case.answer == GOAL_UNCERTAIN:
        assert overall.uncertain.verified == case.verified
    else:
        assert scores[Measure.AVG].numerator == bool(report.answer_correct)
        assert scores[Measure.VERIFIED].numerator == case.verified
        assert scores[Measure.RULE_VERIFIED].numerator == case.rule_verified
    assert (certify(VERIFIER, case.problem, case.completion).certificate is not None) == case.verified
    given = Completion(problem_id=case.problem.id, completion=case.completion)
    assert examine(VERIFIER, case.problem, given).candidate().certified == case.verified


@pytest.mark.parametrize("name", CASES)
def test_the_bundle_says_it_and_its_checker_finds_it_again(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    path = tmp_path / "bundle.json"
    given = Completion(problem_id=case.problem.id, completion=case.completion)
    write_bundle(path, VERIFIER, {case.problem.id: case.problem}, [(given, verify(case))])
    assert checked(path) == (0, "")
    bundle = json.loads(path.read_text(encoding="utf-8"))
    (trace,) = bundle["traces"]
    assert (trace["verified"], trace["rule_verified"]) == (case.verified, case.rule_verified)
    for claim in ("verified", "rule_verified"):
        path.write_text(json.dumps(bundle | {"traces": [trace | {claim: not trace[claim]}]}), encoding="utf-8")
        status, said = checked(path)
        assert status == 1
        assert f".{claim}: {trace[claim]} is expected" in said


def checked(path: Path) -> tuple[int, str]:
    command = [sys.executable, "-I", "-S", str(ROOT / "check_bundle.py"), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout if done.returncode else ""
