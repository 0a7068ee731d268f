"""The four case studies of the method, good and bad traces, with exact verdicts.

Formulas are written here from the paper's description of the cases.
"""

from __future__ import annotations

import pytest

from proof_r1_formal.data.problem import Problem
from proof_r1_formal.proof.report import Code, StepReport, TraceReport
from proof_r1_formal.proof.verify import Verifier
from tests import build
from tests.build import completion, verdicts

IE, CI = "IMPLICATION_ELIMINATION", "CONJUNCTION_INTRODUCTION"
XOI, XOE = "EXCLUSIVE_DISJUNCTION_INTRODUCTION", "EXCLUSIVE_DISJUNCTION_ELIMINATION"
DS, GB = "DISJUNCTIVE_SYLLOGISM", "GOAL_BINDING"

Step = tuple[str, str, str, str]  # id, dependencies, conclusion, rule

VERIFIER = Verifier()


def problem(goal: str, answer: str, *premises: str) -> Problem:
    return build.problem(*premises, goal=goal, answer=answer)


def verified(case: Problem, *steps: Step) -> TraceReport:
    text = completion(*[(name, names.split(), conclusion, rule) for name, names, conclusion, rule in steps])
    return VERIFIER.verify(case, f"<think>Let me see.</think>{text}")


ALL = (True, True, True, True, 1.0)


def codes(step: StepReport) -> list[Code]:
    return [finding.code for finding in step.findings]


ALONZO = problem(
    "harms_animals(Alonzo)",
    "h_goal_false",
    "helps_animals(Alonzo) ⊕ harms_animals(Alonzo)",
    "has_compassion(Alonzo)",
    "loves_wildlife(Alonzo)",
    "∀x (loves_wildlife(x) ∧ provides_care(x) → helps_animals(x))",
    "∀x (feels_empathy(x) ∨ has_compassion(x) → provides_care(x))",
)


def test_alonzo_every_action_passes() -> None:
    report = verified(
        ALONZO,
        ("s1", "h2 h5", "provides_care Alonzo", IE),
        ("s2", "h3 s1", "loves_wildlife Alonzo ∧ provides_care Alonzo", CI),
        ("s3", "h4 s2", "helps_animals Alonzo", IE),
        ("s4", "h1 s3", "¬harms_animals Alonzo", XOE),
        ("h_goal_false", "s4", "¬harms_animals Alonzo", GB),
    )
    assert [verdicts(step) for step in report.actions] == [ALL] * 5
    assert report.answer == "h_goal_false"
    assert report.answer_correct is True
    assert report.closure == ("h1", "h2", "h3", "h4", "h5", "s1", "s2", "s3", "s4", "h_goal_false")
    assert report.consistency == "consistent"
    assert report.uncertain is None


def test_alonzo_a_skipped_inference_breaks_the_chain() -> None:
    report = verified(
        ALONZO,
        ("s1", "h3 h4", "helps_animals Alonzo", IE),
        ("s2", "h1 s1", "¬harms_animals Alonzo", XOE),
        ("h_goal_false", "s2", "¬harms_animals Alonzo", GB),
    )
    first, second, last = report.actions
    assert verdicts(first) == (True, False, False, True, 0.1)
    assert codes(first) == [Code.NOT_ENTAILED, Code.NO_RULE_MATCH]
    assert first.countermodel is not None
    assert codes(second) == [Code.UNTRUSTED_DEPENDENCY]
    assert codes(last) == [Code.UNTRUSTED_DEPENDENCY]
    assert report.answer_correct is True  # the answer is right, the proof is not


JAYCEON = problem(
    "humble(Jayceon)",
    "h_goal_false",
    "¬raw_talent(Jayceon)",
    "dedicated(Jayceon) → (success(Jayceon) ⊕ humble(Jayceon))",
    "raw_talent(Jayceon) ⊕ dedicated(Jayceon)",
    "∀x (sets_goals(x) ∨ works_hard(x) → dedicated(x))",
    "success(Jayceon)",
    "success(Superstar)",
)


def test_jayceon_bad_a_wrong_exclusive_choice() -> None:
    report = verified(
        JAYCEON,
        ("s1", "h1 h3", "¬dedicated Jayceon", XOI),
        ("s2", "s1 h2 h5", "¬humble Jayceon", XOE),
        ("h_goal_false", "s2", "¬humble Jayceon", GB),
    )
    assert [verdicts(step)[:3] for step in report.actions] == [(True, False, False)] * 3
    assert codes(report.actions[0]) == [Code.NOT_ENTAILED, Code.NO_RULE_MATCH]
    assert codes(report.actions[1]) == [Code.UNTRUSTED_DEPENDENCY]
    assert report.actions[1].findings[0].dependencies == ("s1",)
    assert [step.signal for step in report.actions] == [0.1, 0.1, 0.1]


def test_jayceon_good() -> None:
    report = verified(
        JAYCEON,
        ("s1", "h1 h3", "dedicated Jayceon", XOE),
        ("s2", "s1 h2 h5", "¬humble Jayceon", XOE),
        ("h_goal_false", "s2", "¬humble Jayceon", GB),
    )
    assert [verdicts(step) for step in report.actions] == [ALL] * 3
    assert report.closure == ("h1", "h2", "h3", "h5", "s1", "s2", "h_goal_false")


CLAY = problem(
    "powerful_mage(Clay)",
    "h_goal_true",
    "magic_theory(Clay) ∨ ancient_tomes(Clay)",
    "casts_spells(Clay)",
    "ancient_tomes(Clay) ∧ casts_spells(Clay) → powerful_mage(Clay)",
    "ancient_tomes(Mitchell) ∧ casts_spells(Mitchell) → powerful_mage(Mitchell)",
    "¬magic_theory(Clay)",
    "casts_spells(Mitchell)",
)


def test_clay_bad_weakening_is_no_disjunctive_syllogism() -> None:
    report = verified(
        CLAY,
        ("s1", "h1 h5", "ancient_tomes Clay ∨ ancient_tomes Mitchell", DS),
        ("h_goal_true", "s1", "powerful_mage Clay", GB),
    )
    first, last = report.actions
    assert verdicts(first) == (True, True, False, True, 0.3)
    assert codes(first) == [Code.NO_RULE_MATCH]
    assert verdicts(last)[:3] == (True, False, False)


def test_clay_good_and_its_closure() -> None:
    report = verified(
        CLAY,
        ("s1", "h1 h5", "ancient_tomes Clay", DS),
        ("s2", "s1 h2", "ancient_tomes Clay ∧ casts_spells Clay", CI),
        ("s3", "h3 s2", "powerful_mage Clay", IE),
        ("h_goal_true", "s3", "powerful_mage Clay", GB),
    )
    assert [verdicts(step) for step in report.actions] == [ALL] * 4
    assert report.closure == ("h1", "h2", "h3", "h5", "s1", "s2", "s3", "h_goal_true")


VANCE = problem(
    "inspires_students(Vance)",
    "h_goal_false",
    "does_research(Vance) → discovers(Vance)",
    "studies(Ivan) → (discovers(Ivan) ⊕ inspires_students(Ivan))",
    "does_research(Vance)",
    "studies(Vance)",
    "studies(Vance) → (discovers(Vance) ⊕ inspires_students(Vance))",
)


def test_vance_bad_a_misnamed_choice() -> None:
    report = verified(
        VANCE,
        ("s1", "h4 h5", "discovers Vance ⊕ inspires_students Vance", IE),
        ("s2", "h1 h3 h4 h5", "¬inspires_students Vance", XOI),
        ("h_goal_false", "s2", "¬inspires_students Vance", GB),
    )
    first, second, last = report.actions
    assert verdicts(first) == ALL
    assert not first.in_closure
    assert verdicts(second) == (True, True, False, True, 0.3)
    assert codes(second) == [Code.NO_RULE_MATCH]
    assert verdicts(last) == (True, True, False, True, 0.3)
    assert codes(last) == [Code.RULE_UNTRUSTED_DEPENDENCY]


def test_vance_good() -> None:
    report = verified(
        VANCE,
        ("s1", "h1 h3", "discovers Vance", IE),
        ("s2", "h4 h5", "discovers Vance ⊕ inspires_students Vance", IE),
        ("s3", "s1 s2", "¬inspires_students Vance", XOE),
        ("h_goal_false", "s3", "¬inspires_students Vance", GB),
    )
    assert [verdicts(step) for step in report.actions] == [ALL] * 4
    assert report.closure == ("h1", "h3", "h4", "h5", "s1", "s2", "s3", "h_goal_false")


@pytest.mark.parametrize(
    ("option", "conclusion", "code"),
    [
        ("h_goal_true", "¬harms_animals Alonzo", Code.BINDING_MISMATCH),
        ("h_goal_maybe", "¬harms_animals Alonzo", Code.BINDING_MISMATCH),
        ("h_goal_false", "harms_animals Alonzo", Code.NOT_ENTAILED),
    ],
)
def test_a_binding_needs_an_options_id_and_formula(option: str, conclusion: str, code: Code) -> None:
    report = verified(
        ALONZO,
        ("s1", "h2 h5", "provides_care Alonzo", IE),
        ("s2", "h3 s1 h4", "helps_animals Alonzo", IE),
        ("s3", "h1 s2", "¬harms_animals Alonzo", XOE),
        (option, "s3", conclusion, GB),
    )
    last = report.actions[-1]
    assert code in codes(last)
    assert not last.progress
    assert last.signal < 1.0
