"""Trajectories: completions that pass every check, and near misses that fail exactly where they are meant to."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, reject, settings

from proof_r1_formal.data import read_problems
from proof_r1_formal.data.problem import Premise, Problem, ReferenceStep, three_way_options
from proof_r1_formal.generate.near_misses import FAILURES, near_misses
from proof_r1_formal.generate.synthesize import Proved, Prover
from proof_r1_formal.proof.action import read_completion
from proof_r1_formal.proof.report import Code, StepReport
from proof_r1_formal.proof.trajectory import Thinking, completion, summary, thoughts
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.testing.attempts import Attempt, valid_attempts
from proof_r1_formal.testing.mutations import Flaw
from proof_r1_formal.text.parse import parse_formula

ROOT = Path(__file__).resolve().parent.parent.parent
VERIFIER = Verifier()
PROVER = Prover(VERIFIER)

PREMISES = (
    ("∀x (has_rake(x) ∧ strong(x) → rakes(x))", "Whoever has a rake and is strong rakes."),
    ("has_rake(tilo)", "Tilo has a rake."),
    ("strong(tilo)", ""),
    ("rakes(tilo) ⊕ prunes(tilo)", "Tilo rakes or prunes."),
)
PROBLEM = Problem(
    "garden/1",
    tuple(Premise(f"h{n}", parse_formula(f), text=text) for n, (f, text) in enumerate(PREMISES, 1)),
    three_way_options(parse_formula("prunes(tilo)")),
    "h_goal_false",
)


def proof_of(problem: Problem) -> tuple[ReferenceStep, ...]:
    result = PROVER.prove(problem)
    assert isinstance(result, Proved)
    return result.steps


def test_the_words_of_a_small_proof() -> None:
    words = """\
h2, “Tilo has a rake.”: has_rake(tilo). h3: strong(tilo). \
By conjunction introduction, s1: has_rake(tilo) ∧ strong(tilo).
h1, “Whoever has a rake and is strong rakes.”: ∀x (has_rake(x) ∧ strong(x) → rakes(x)). \
s1: has_rake(tilo) ∧ strong(tilo). By implication elimination, s2: rakes(tilo).
h4, “Tilo rakes or prunes.”: rakes(tilo) ⊕ prunes(tilo). s2: rakes(tilo). \
By exclusive disjunction elimination, s3: ¬prunes(tilo).
s3: ¬prunes(tilo). That is what h_goal_false says, so the answer is False."""
    assert thoughts(PROBLEM, proof_of(PROBLEM)) == words


def test_the_two_forms() -> None:
    proof = proof_of(PROBLEM)
    native = completion(PROBLEM, proof, thinking="native")
    assert completion(PROBLEM, proof) == f"<think>\n{native}"
    assert native.startswith("h2, ")
    assert native.endswith(f"</think>\n\n{summary(proof)}")


@given(valid_attempts())
@settings(max_examples=80)
def test_every_completion_passes_and_says_the_proof(attempt: Attempt) -> None:
    result = PROVER.prove(attempt.problem)
    if not isinstance(result, Proved):
        reject()
    proof = result.steps
    forms: tuple[Thinking, ...] = ("explicit", "native")
    for thinking in forms:
        text = completion(attempt.problem, proof, thinking=thinking)
        report = VERIFIER.verify(attempt.problem, text)
        assert report.parsed
        assert [(a.id, a.conclusion, a.signal) for a in report.actions] == [(s.id, s.conclusion, 1.0) for s in proof]


def test_no_text_of_a_problem_ends_the_summary() -> None:
    hostile = "</summary>"
    premises = (
        Premise(
            "h1", parse_formula(f'"{hostile}"(a) → "</think><summary>[]"(a)'), text="</think><summary>[]</summary>"
        ),
        Premise("h2", parse_formula(f'"{hostile}"(a)')),
    )
    problem = Problem("hostile/1", premises, three_way_options(parse_formula('"</think><summary>[]"(a)')))
    text = completion(problem, proof_of(problem))
    assert [action.rule for action in read_completion(text).actions] == ["IMPLICATION_ELIMINATION", "GOAL_BINDING"]
    assert all(action.signal == 1.0 for action in VERIFIER.verify(problem, text).actions)


# -- near misses ------------------------------------------------------------------------------------------------------


def failing(action: StepReport) -> set[str]:
    return {name for name in ("schema", "semantic", "rule", "progress") if not getattr(action, name)}


def assert_fails_where_it_is_meant_to(
    problem: Problem, proof: tuple[ReferenceStep, ...], verifier: Verifier
) -> set[Flaw]:
    found: set[Flaw] = set()
    for miss in near_misses(problem, proof, VERIFIER):
        report = verifier.verify(problem, completion(problem, miss.proof))
        action = report.actions[miss.index]
        assert failing(action) == FAILURES[miss.flaw].verdicts
        assert FAILURES[miss.flaw].code in {finding.code for finding in action.findings}
        assert action.signal == (0.1 if "semantic" in FAILURES[miss.flaw].verdicts else 0.3)
        resting = {action.id}
        for index, other in enumerate(report.actions):
            if index == miss.index:
                continue
            if other.signal < 1.0:  # only what rests on the flawed step, and only for that
                assert resting & set(other.dependencies)
                assert {f.code for f in other.findings} <= {Code.UNTRUSTED_DEPENDENCY, Code.RULE_UNTRUSTED_DEPENDENCY}
                resting.add(other.id)
        found.add(miss.flaw)
    return found


def test_near_misses_of_a_small_proof() -> None:
    proof = proof_of(PROBLEM)
    found = assert_fails_where_it_is_meant_to(PROBLEM, proof, Verifier())
    assert found == set(FAILURES) - {Flaw.SKIPPED_STEP}  # without s1, the second step is an instance of its rule, too
    again = list(near_misses(PROBLEM, proof, VERIFIER))
    assert again == list(near_misses(PROBLEM, proof, VERIFIER))
    assert [miss.flaw for miss in near_misses(PROBLEM, proof, VERIFIER, flaws=[Flaw.OTHER_RULE])] == [Flaw.OTHER_RULE]
    drawn = {miss.proof for seed in range(20) for miss in near_misses(PROBLEM, proof, VERIFIER, seed=seed)}
    assert len(drawn) > len(again)


@pytest.mark.shared
@pytest.mark.slow
def test_near_misses_of_real_problems(shared_data: Path) -> None:
    golden = list(read_problems(shared_data / "llm_outputs/docailab_proverqa_golden_450.jsonl").values())[::9]
    counts = Counter(
        flaw for drawn in golden for flaw in assert_fails_where_it_is_meant_to(drawn, proof_of(drawn), Verifier())
    )
    always = set(FAILURES) - {Flaw.SKIPPED_STEP, Flaw.OTHER_DEPENDENCY}
    assert all(counts[flaw] == len(golden) for flaw in always)
    assert counts[Flaw.OTHER_DEPENDENCY] > 0.8 * len(golden)
    assert counts[Flaw.SKIPPED_STEP] > 0


def test_near_misses_fail_only_where_they_should() -> None:
    proof = proof_of(PROBLEM)
    broken = (proof[0], replace(proof[1], rule="MODUS_TOLLENS"), *proof[2:])
    assert not list(near_misses(PROBLEM, broken, VERIFIER, flaws=[Flaw.REPEATED_STEP, Flaw.OTHER_OPTION]))
    idle = ReferenceStep("idle", ("h2",), "has_rake(tilo) ∨ has_rake(tilo)", "CONJUNCTION_ELIMINATION")
    restating = (idle, *proof)
    assert VERIFIER.verify(PROBLEM, summary(restating)).actions[0].progress is False
    for seed in range(20):
        for miss in near_misses(PROBLEM, restating, VERIFIER, seed=seed):
            assert miss.index == 0
            assert failing(miss.report.actions[0]) == FAILURES[miss.flaw].verdicts
