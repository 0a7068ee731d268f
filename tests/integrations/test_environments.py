"""A problem in several turns: what the model is told, the report, and which tokens belong to which step."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec
import pytest

from proof_r1_formal import Problem, ProofR1Error, Verifier
from proof_r1_formal.data.native import to_json
from proof_r1_formal.errors import CatalogueError
from proof_r1_formal.integrations.environments import (
    ProofEnvironment,
    align_turns,
    environment_factory,
    submit_text,
)
from proof_r1_formal.proof.report import answer_reward
from tests.build import completion, problem

PROBLEM = problem("∀x (P(x) → Q(x))", "P(a)", goal="Q(a)", id="question/1")
WRONG = ("s1", ["h1"], "Q(a)", "UNIVERSAL_INSTANTIATION")
STEP = ("s2", ["h1", "h2"], "Q(a)", "IMPLICATION_ELIMINATION")
LAST = ("h_goal_true", ["s2"], "Q(a)", "GOAL_BINDING")


def played(*steps: tuple[str, list[str], str, str], **options: Any) -> ProofEnvironment:
    environment = environment_factory(**options)()
    environment.reset(problem=to_json(PROBLEM), prompt="ignored")
    for step in steps:
        environment.submit_step(*step)
    return environment


def test_the_model_is_asked_and_told() -> None:
    environment = ProofEnvironment()
    asked = environment.reset(problem=to_json(PROBLEM))
    assert "h1: [∀x (P(x) → Q(x))]" in asked
    assert "- IMPLICATION_ELIMINATION: " in asked
    wrong = environment.submit_step(*WRONG)
    assert wrong.splitlines()[0] == "s1: fails entailment, rule"
    assert "countermodel: " in wrong
    assert wrong.splitlines()[-1] == "Submit another step under another id."
    assert environment.submit_step(*STEP) == "s2: accepted"
    assert environment.get_reward() == 0.1
    last = environment.submit_step(*LAST)
    assert last == "h_goal_true: accepted\nThe proof answers True: rule-verified. Call no tool any more."
    assert environment.get_reward() == 1.0
    assert environment.replies == (wrong, "s2: accepted", last)


def test_the_report_is_that_of_a_completion_with_these_steps() -> None:
    steps = (WRONG, STEP, LAST)
    expected = Verifier(evaluation=False).verify(PROBLEM, completion(*steps))
    found = played(*steps).report

    def without_places(report: Any) -> Any:
        return msgspec.structs.replace(
            report, actions=[msgspec.structs.replace(step, span=(0, 0)) for step in report.actions]
        )

    assert without_places(found) == without_places(expected)
    assert [step.signal for step in found.actions] == [0.1, 1.0, 1.0]


def test_a_refuted_step_cannot_be_used() -> None:
    environment = played(WRONG, ("h_goal_true", ["s1"], "Q(a)", "GOAL_BINDING"))
    assert environment.get_reward() == 0.0
    assert "UNTRUSTED_DEPENDENCY" in environment.replies[-1]


def test_each_problem_begins_anew() -> None:
    environment = played(STEP, LAST)
    environment.reset(problem=to_json(PROBLEM))
    assert (environment.get_reward(), environment.replies, environment.report.actions) == (0.0, (), ())
    assert not environment.report.parsed


def test_later_steps_are_not_checked() -> None:
    environment = played(STEP, LAST, max_steps=1)
    assert len(environment.report.actions) == 1
    assert environment.submit_step(*LAST).startswith("No more than 1 steps are checked")


@pytest.mark.parametrize(
    "given",
    [
        ("s1", "h1", None, 7),
        (None, [[1]], {"a": "\ud800"}, "R"),
        ("", [], "", ""),
        (math.nan, ["h1"], "p(a)", "R"),
        ("s1", [-math.inf], {"a": [math.inf]}, "R"),
    ],
)
def test_arguments_of_any_type_are_findings(given: tuple[Any, ...]) -> None:
    environment = played()
    assert "fails form" in environment.submit_step(*given)
    assert environment.get_reward() == 0.0


def test_other_rewards_and_rules() -> None:
    assert played(WRONG, reward=answer_reward).get_reward() == 0.1
    folio = ("s1", ["h2"], "∃x P(x)", "EXISTENTIAL_INTRODUCTION")
    assert [played(folio, rules=rules).report.actions[0].signal for rules in ("train", "folio")] == [0.3, 1.0]
    with pytest.raises(CatalogueError):
        environment_factory(rules="none such")  # type: ignore[arg-type]


def test_steps_before_the_first_problem_are_an_error() -> None:
    with pytest.raises(ProofR1Error, match=r"call reset\(\) first"):
        ProofEnvironment().submit_step(*STEP)


def written(step: tuple[str, list[str], str, str]) -> str:
    return json.dumps(dict(zip(("id", "dependencies", "conclusion", "rule"), step, strict=True)))


@pytest.mark.parametrize(
    ("text", "signals"),
    [
        (f"Now {written(STEP)}, I think.", [1.0]),
        (f"<think>{written(WRONG)}</think>The set {{a}}: {written(STEP)} and {written(LAST)}", [1.0]),
        (f"<summary>[{written(WRONG)}, {written(STEP)}, {written(LAST)}]</summary>", [0.1, 1.0, 1.0]),
        (f"[THINK]{written(WRONG)}[/THINK]{written(STEP)}", [1.0]),
        (f"<|channel|>analysis<|message|>{written(WRONG)}<|channel|>final<|message|>{written(STEP)}", [1.0]),
        (f"<|channel|>analysis<|message|>{written(STEP)}", []),
        ('{"id": "s1"}', [0.0]),
        ("no step {", []),
        ("{" * 10_000, []),
    ],
)
def test_steps_are_read_from_a_text(text: str, signals: list[float]) -> None:
    environment = played()
    reply = submit_text(environment, text)
    assert [step.signal for step in environment.report.actions] == signals
    assert reply == "\n".join(environment.replies) or reply.startswith("No step was found")


# -- credit -----------------------------------------------------------------------------------------------------------


def said(role: str, content: str = "") -> dict[str, str]:
    return {"role": role, "content": content}


TURN = said("assistant")


@pytest.mark.parametrize(
    ("mask", "messages", "replies", "owners"),
    [
        ("110110", [TURN, said("tool", "a"), TURN], ["a"], [0, 0, -1, -1, -1, -1]),
        ("110111", [TURN, said("tool", "a"), TURN, said("tool", "b")], ["a", "b"], [0, 0, -1, 1, 1, 1]),
        ("1111100", [TURN, said("tool", "a"), said("tool", "b")], ["a", "b"], [0, 0, 0, 1, 1, -1, -1]),
        ("1101", [TURN, said("tool", "{'error': '…'}"), TURN, said("tool", "a")], ["a"], [-1, -1, -1, 0]),
        ("11011", [TURN, said("tool", "a"), TURN], ["a", "too long"], [0, 0, -1, 1, 1]),
        ("11011", [TURN, said("tool", "a"), TURN, said("tool", "a")], ["a", "a"], [0, 0, -1, 1, 1]),
        ("1", [TURN, said("tool", "a"), said("tool", "b")], ["a", "b"], [0]),
        ("11", [TURN], [], [-1, -1]),
        ("11", [TURN, said("tool", "a"), TURN], ["a"], [0, 0]),  # the last turn did not fit into the rollout
    ],
)
def test_the_tokens_of_a_turn_belong_to_its_steps(
    mask: str, messages: list[dict[str, str]], replies: list[str], owners: list[int]
) -> None:
    found = align_turns(list(map(int, mask)), messages, replies)
    assert list(found.owners) == owners
    assert found.sizes == tuple([owners.count(step) for step in range(len(replies))])


def test_a_reference_proof_is_played_to_its_end(proved: Problem) -> None:
    environment = ProofEnvironment()
    environment.reset(problem=to_json(proved))
    for step in proved.proofs[0]:
        environment.submit_step(step.id, list(step.dependencies), step.conclusion, step.rule)
    assert environment.get_reward() == 1.0
    assert environment.report.rule_verified


@pytest.fixture
def proved() -> Problem:
    from proof_r1_formal.generate import GeneratorSettings
    from proof_r1_formal.generate.problems import draw_problem

    return draw_problem(GeneratorSettings(seed=5, difficulty="medium", answers=("False",)), 0).problem


def test_no_later_step_undoes_a_verified_answer() -> None:
    """An answer is the last step of a report, so that a further one would take the reward away."""
    environment = played(STEP, LAST)
    before = environment.report
    said = environment.submit_step("s3", ["h2"], "P(a)", "UNIVERSAL_INSTANTIATION")
    assert said == "The proof has its answer, which is verified. This step is not checked. Call no tool any more."
    assert environment.report == before
    assert environment.get_reward() == 1.0
    environment.reset(problem=to_json(PROBLEM))
    assert environment.submit_step(*STEP) == "s2: accepted"


def test_a_guess_that_nothing_follows_earns_nothing() -> None:
    """It is verified, by the verifier's own countermodels."""
    given = problem("P(a) ∨ R(a)", goal="Q(a)", answer="h_goal_uncertain", id="question/2")
    environment = ProofEnvironment()
    environment.reset(problem=to_json(given))
    environment.submit_step("h_goal_uncertain", ["h1"], "Q(a)", "GOAL_BINDING")
    report = environment.report
    assert (report.uncertain, report.answer_correct, report.verified) == ("verified", True, True)
    assert (environment.get_reward(), report.reward("sound"), report.reward("answer")) == (0.0, 0.3, 1.0)


def test_an_answer_without_a_proof_may_be_corrected() -> None:
    unproved = ("h_goal_false", ["h1"], "¬Q(a)", "GOAL_BINDING")
    assert played(unproved, STEP, LAST).get_reward() == 1.0
