"""A run that learns nothing in its first batches says so once, and why."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

import pytest
from msgspec import structs

from proof_r1_formal import Problem
from proof_r1_formal.credit.align import Alignment
from proof_r1_formal.credit.assigner import CreditAssigner
from proof_r1_formal.credit.corrections import CorrectedRollout
from proof_r1_formal.credit.methods import Rollout
from proof_r1_formal.credit.silence import FIRST_BATCHES, SilenceWatch
from proof_r1_formal.generate import Prover
from proof_r1_formal.generate.synthesize import Proved
from proof_r1_formal.proof.trajectory import completion
from tests.build import TRACE, byte_ids

Answers = list[tuple[Problem, str]]
WARNING = f"the first {FIRST_BATCHES} batches (10 completions) taught the model nothing: "


@pytest.fixture
def said(caplog: pytest.LogCaptureFixture, byte_tokenizer: str) -> Callable[..., list[str]]:
    """What is logged of batches of two completions each, all of one problem."""

    def run(problem: Problem, *batches: tuple[str, str], method: str = "grpo") -> list[str]:
        caplog.set_level(logging.WARNING)
        assigner = CreditAssigner(byte_tokenizer, method=method, workers=0)
        for texts in batches:
            assigner.credit([problem] * 2, [byte_ids(text) for text in texts], 2)
        return [record.getMessage() for record in caplog.records if "batches" in record.getMessage()]

    return run


def right(problem: Problem) -> str:
    found = Prover().prove(problem)
    assert isinstance(found, Proved)
    return completion(problem, found.steps)


def wrong(problem: Problem) -> str:
    other = next(o for o in problem.options if o.id != problem.answer and not o.label.startswith("Uncertain"))
    return right(problem).replace(f'"{problem.answer}"', f'"{other.id}"')


def test_texts_without_a_summary_are_the_reason(answers: Answers, said: Callable[..., list[str]]) -> None:
    problem = answers[0][0]
    silent = [("no", "proof")] * FIRST_BATCHES
    assert said(problem, *silent[1:]) == []
    (message,) = said(problem, *silent, *silent)
    assert message.startswith(WARNING)
    assert "no completion has a summary that parses. Warm the model up" in message


def test_groups_that_agree_are_the_reason(answers: Answers, said: Callable[..., list[str]]) -> None:
    problem = answers[0][0]
    both = [(right(problem), right(problem)), (wrong(problem), wrong(problem))]
    (message,) = said(problem, *(both * FIRST_BATCHES)[:FIRST_BATCHES])
    assert "the completions of each group earn the same" in message


def test_one_batch_that_teaches_ends_the_watch(answers: Answers, said: Callable[..., list[str]]) -> None:
    problem = answers[0][0]
    silent = [("no", "proof")] * FIRST_BATCHES
    assert said(problem, *silent[1:], (right(problem), wrong(problem)), *silent) == []


RIGHT = Rollout(TRACE, Alignment((), ()))
WRONG = replace(RIGHT, report=structs.replace(TRACE, answer_correct=False))
FLAWED = replace(RIGHT, report=structs.replace(TRACE, rule_verified=False))
CORRECTED = replace(WRONG, corrected=CorrectedRollout((1,), 0, 0, TRACE, Alignment((0,), (1,))))


@pytest.mark.parametrize(
    ("rollouts", "corrects", "reason"),
    [
        ([replace(WRONG, verified=False)], False, "no worker process starts"),
        ([RIGHT], True, "every completion is right and rule-verified. Give harder problems"),
        ([WRONG], True, "the prover corrected no completion"),
        ([WRONG], False, "none selects the right option"),
        ([CORRECTED, WRONG], True, "2 of them parse, but none selects the right option"),
        ([CORRECTED, FLAWED], True, "the completions of each group earn the same"),
        ([FLAWED, RIGHT], False, "the completions of each group earn the same"),
    ],
)
def test_the_reason_is_that_of_what_was_seen(rollouts: list[Rollout], corrects: bool, reason: str) -> None:
    watch = SilenceWatch(corrects=corrects, batches=2)
    assert watch.notice(rollouts[:1], silent=True) is None
    message = watch.notice(rollouts[1:] or rollouts, silent=True)
    assert message is not None
    assert reason in message
    assert watch.notice(rollouts, silent=True) is None
