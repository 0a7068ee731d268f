"""Diagnosis: other rules and fewer dependencies that would have passed, and where traces first go wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof_r1_formal.data.completions import Completion
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.evaluation.assessment import examine, examine_many
from proof_r1_formal.evaluation.diagnosis import (
    Alternative,
    Diagnosis,
    Misnamed,
    Remedy,
    first_error,
    misnamed_record,
    misnamed_steps,
)
from proof_r1_formal.kernel.answer import Answer, Entailed, Query
from proof_r1_formal.kernel.syntax import Iff
from proof_r1_formal.proof.report import Code, TraceReport
from proof_r1_formal.proof.verify import INQUIRY_STEPS, Verifier
from proof_r1_formal.rules.catalogue import FOLIO, TRAIN
from proof_r1_formal.rules.schema import GOAL_BINDING, INVALID_RULE
from proof_r1_formal.testing.attempts import Attempt, completion_of, valid_attempts
from tests import build
from tests.build import GROUPS, action, completion
from tests.solvers import Metering

VERIFIER = Verifier()
RULE = "IMPLICATION_ELIMINATION"
FOLIO_VERIFIER = Verifier(rules=FOLIO)
PREMISES = ("wet(lawn) → slow(race)", "wet(lawn)", "slow(race) → late(cup)", "cold(lawn)", "glad(tom) ∨ late(cup)")
PROBLEM = build.problem(*PREMISES, goal="late(cup)")


def diagnosed(*actions: dict[str, object], problem: Problem = PROBLEM) -> tuple[TraceReport, tuple[Misnamed, ...]]:
    report = VERIFIER.verify(problem, completion(*actions))
    return report, misnamed_steps(VERIFIER, problem, completion(*actions), report)


def test_a_misnamed_step_is_told_what_it_is() -> None:
    report, (one,) = diagnosed(action("s1", "slow(race)", "h1", "h2", "h4", rule="BECAUSE"))
    assert one == Misnamed(
        action=0,
        declared=INVALID_RULE,
        reason=Code.UNKNOWN_RULE,
        alternatives=(Alternative(RULE, ("h1", "h2")),),
        actual=RULE,
        remedy=Remedy.ANOTHER_RULE,
    )
    of_action = {"id": "s1", "declared_rule": "BECAUSE", "dependencies": ("h1", "h2", "h4"), "conclusion": "slow(race)"}
    alternatives = [{"rule": RULE, "dependencies": ("h1", "h2")}]
    found = {"reason": "UNKNOWN_RULE", "alternatives": alternatives, "actual_rule": RULE, "remedy": "another rule"}
    assert misnamed_record(report, one) == {"problem_id": "test/1", "sample": 0, "action": 0, **of_action, **found}


def test_every_remedy() -> None:
    _, found = diagnosed(
        action("s1", "slow(race)", "h1", "h2", rule="BECAUSE"),
        action("s2", "late(cup)", "s1", "h3"),  # its own rule, but s1 does not stand as an instance of one
        action("s3", "late(cup) ∧ slow(race)", "h1", "h2", "h3"),  # two steps in one
        action("h_goal_true", "late(cup)", "s2", rule="GOAL_BINDING"),
    )
    assert [(one.declared, one.reason, one.actual, one.remedy) for one in found] == [
        (INVALID_RULE, Code.UNKNOWN_RULE, RULE, Remedy.ANOTHER_RULE),
        (RULE, Code.RULE_UNTRUSTED_DEPENDENCY, RULE, Remedy.DEPENDENCIES_VERIFIED),
        (RULE, Code.NO_RULE_MATCH, None, Remedy.SEVERAL_STEPS),
        ("GOAL_BINDING", Code.RULE_UNTRUSTED_DEPENDENCY, "GOAL_BINDING", Remedy.DEPENDENCIES_VERIFIED),
    ]


@pytest.mark.slow
def test_a_dependency_may_make_a_check_too_expensive() -> None:
    parts = [" ∧ ".join(f"(p{n} → q{n})" for n in range(start, start + 25)) for start in range(0, 475, 25)]
    sprawling = " ∧ ".join(f"({part})" for part in parts)  # more parts than a check can ask about
    problem = build.problem("wet(a) → slow(a)", "wet(a)", sprawling, goal="slow(a)")
    report, (one,) = diagnosed(action("s1", "slow(a)", "h3", "h1", "h2"), problem=problem)
    assert report.actions[0].semantic
    assert (one.reason, one.remedy) == (Code.RULE_UNDECIDED, Remedy.FEWER_DEPENDENCIES)
    assert one.alternatives == (Alternative(RULE, ("h1", "h2")),)


def test_one_budget_pays_for_the_diagnosis_of_a_trace() -> None:
    """Each step follows from h2 at once; whether it follows from the axioms of groups is a hard question."""
    problem = build.problem(GROUPS, "P(e)", "Q(e)", "R(e)", goal="P(e)")
    law = "∀x ∀y m(x, y) = m(y, x)"
    hard = [f"{law} ∨ P(e) ∨ S{number}(e)" for number in range(3)]
    steps = [action("s", "P(e) ∧ Q(e)", "h2", "h3", rule="MODUS_TOLLENS")]
    steps += [action(f"s{n}", said, "h1", "h2", "h3", "h4", rule="MODUS_TOLLENS") for n, said in enumerate(hard)]
    solver = Metering()
    verifier = Verifier(solver)
    report = verifier.verify(problem, completion(*steps))
    assert all(step.semantic and not step.rule for step in report.actions)
    verified = solver.steps
    found = misnamed_steps(verifier, problem, completion(*steps), report)
    assert solver.steps - verified < 2 * INQUIRY_STEPS
    assert len(found) == len(steps)
    assert (found[0].remedy, found[0].actual) == (Remedy.ANOTHER_RULE, "CONJUNCTION_INTRODUCTION")
    assert (found[-1].remedy, found[-1].actual, found[-1].alternatives) == (Remedy.UNDECIDED, None, ())


def test_the_rule_with_most_dependencies_is_meant() -> None:
    problem = build.problem("p(a) ∧ q(a)", "r(a) → p(a)", "r(a)", goal="p(a)")
    _, (one,) = diagnosed(action("s1", "p(a)", "h1", "h2", "h3", rule="DISJUNCTIVE_SYLLOGISM"), problem=problem)
    assert set(one.alternatives) == {Alternative("CONJUNCTION_ELIMINATION", ("h1",)), Alternative(RULE, ("h2", "h3"))}
    assert one.actual == RULE


@pytest.mark.slow
@settings(max_examples=25)
@given(valid_attempts(FOLIO), st.data())
def test_a_renamed_step_is_an_instance_of_the_rule_that_it_was(attempt: Attempt, data: st.DataObject) -> None:
    """Take a valid step's name away: the diagnosis finds its rule again, with dependencies that it had."""
    index = data.draw(st.integers(0, len(attempt.steps) - 1))
    records = [step.record() for step in attempt.steps]
    completion = completion_of(
        [{**record, **({"rule": "BECAUSE"} if n == index else {})} for n, record in enumerate(records)]
    )
    report = FOLIO_VERIFIER.verify(attempt.problem, completion)
    found = {one.action: one for one in misnamed_steps(FOLIO_VERIFIER, attempt.problem, completion, report)}
    step = attempt.steps[index]
    assert step.rule in {one.rule for one in found[index].alternatives}
    for one in found.values():
        for alternative in one.alternatives:
            assert set(alternative.dependencies) <= set(attempt.steps[one.action].dependencies)
        if one.action != index:  # all others failed only because what they rest on did
            assert one.remedy is Remedy.DEPENDENCIES_VERIFIED


def test_the_first_error_is_the_first_failing_step() -> None:
    right = action("s1", "slow(race)", "h1", "h2")
    cases = {
        completion(right, action("s2", "wet(lawn", "h2")): (1, Code.UNPARSABLE_CONCLUSION),
        completion(action("s1", "glad(tom)", "h5"), action("s2", "late(cup)", "s1", "h3")): (0, Code.NOT_ENTAILED),
        completion(action("s1", "slow(race)", "h1", "h2", "h4", rule="BECAUSE")): (0, Code.UNKNOWN_RULE),
        completion(*[action(name, "slow(race)", "h1", "h2") for name in ("s1", "s2")]): (1, Code.REPEATS_CONCLUSION),
        completion(right): None,
        "I do not know.": (0, Code.MALFORMED),
    }
    assert {of: first_error(VERIFIER.verify(PROBLEM, of)) for of in cases} == cases


def test_diagnoses_add_up_and_keep_a_few_examples() -> None:
    whole, halves = Diagnosis(), [Diagnosis(), Diagnosis()]
    wrong = completion(action("s1", "slow(race)", "h1", "h2", rule="MODUS_TOLLENS"), action("s2", "glad(tom)", "h5"))
    right = completion(action("s1", "slow(race)", "h1", "h2"))
    completions = [
        Completion(problem_id=PROBLEM.id, sample=n, completion=of) for n, of in enumerate([wrong, right, wrong] * 3)
    ]
    for number, one in enumerate(examine_many({PROBLEM.id: PROBLEM}, completions)):
        whole.add(one.report, one.misnamed, TRAIN)
        halves[number >= 4].add(one.report, one.misnamed, TRAIN)
    assert (whole.outputs, whole.flawless) == (9, 3)
    assert whole.confusion == {("MODUS_TOLLENS", "IMPLICATION_ELIMINATION"): 6}
    assert whole.first_errors == {(Code.NO_RULE_MATCH, "MODUS_TOLLENS"): 6}
    examples = whole.examples[Code.NO_RULE_MATCH, "MODUS_TOLLENS"]
    assert [one.place for one in examples] == [f"test/1, sample {n}, step 1" for n in (0, 2, 3)]
    assert examples[0].step == "slow(race) from h1, h2"
    halves[0].merge(halves[1])
    assert halves[0] == whole


def test_rules_of_formless_steps_are_one_error() -> None:
    diagnosis = Diagnosis()
    for rule in ("BECAUSE_I_SAY_SO", "ANOTHER", "MODUS_TOLLENS"):
        report, misnamed = diagnosed(action("s1", "wet(lawn", "h1", rule=rule))
        diagnosis.add(report, misnamed, TRAIN)
    assert diagnosis.first_errors == {
        (Code.UNPARSABLE_CONCLUSION, INVALID_RULE): 2,
        (Code.UNPARSABLE_CONCLUSION, "MODUS_TOLLENS"): 1,
    }


@pytest.mark.parametrize("workers", [1, 2])
def test_examining_many_is_examining_each(workers: int) -> None:
    actions = [action("s1", "slow(race)", "h1", "h2"), action("s2", "late(cup)", "s1", "h3", rule="MODUS_TOLLENS")]
    binding = action("h_goal_true", "late(cup)", "s2", rule="GOAL_BINDING")
    texts = [completion(*actions, binding), completion(*actions), completion(binding), "nothing"] * 6
    completions = [Completion(problem_id=PROBLEM.id, sample=n, completion=of) for n, of in enumerate(texts)]
    found = list(examine_many({PROBLEM.id: PROBLEM}, completions, workers=workers))
    assert found == [examine(Verifier(rules=TRAIN), PROBLEM, completion) for completion in completions]
    assert [one.certified for one in found] == [True, False, False, False] * 6


class Proofless(EmbeddedSolver):
    """An engine that proves nothing: its every "yes" is without evidence."""

    def decide(self, query: Query) -> Answer:
        answer = super().decide(query)
        return replace(answer, proof=None) if isinstance(answer, Entailed) else answer


@pytest.mark.parametrize("conclusion", ["glad(tom) ∨ late(cup)", "late(cup)"])
def test_no_rule_is_the_remedy_for_a_step_without_evidence(conclusion: str) -> None:
    verifier = Verifier(Proofless())
    names = [premise.id for premise in PROBLEM.premises]
    content = completion(action("s1", conclusion, *names[:3], *names[4:], rule="MODUS_TOLLENS"))
    (one,) = misnamed_steps(verifier, PROBLEM, content, verifier.verify(PROBLEM, content))
    assert (one.reason, one.remedy, one.alternatives) == (Code.RULE_UNDECIDED, Remedy.UNDECIDED, ())


def test_a_binding_that_is_undecided_has_a_reason() -> None:
    class Hesitant(EmbeddedSolver):
        def decide(self, query: Query) -> Answer:
            answer = super().decide(query)
            asked = isinstance(query.conclusion, Iff) and isinstance(answer, Entailed)
            return Entailed() if asked else answer

    verifier, case = Verifier(Hesitant()), build.problem("G(b) → G(a)", "G(b)", goal="G(a) ∧ ∀x (G(x) → G(x))")
    content = completion(action("s1", "G(a)", "h1", "h2"), action("h_goal_true", "G(a)", "s1", rule=GOAL_BINDING))
    (one,) = misnamed_steps(verifier, case, content, verifier.verify(case, content))
    assert one.reason is Code.BINDING_UNDECIDED
