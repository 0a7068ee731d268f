"""What a model learns of its faults: what the checks found, and nothing of whether the answer is right."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proof_r1_formal import Completion, verify
from proof_r1_formal.models.repair import complaint, needs_repair
from tests.build import example_completions, example_problems

PROBLEMS = example_problems()
COMPLETIONS = example_completions()


@pytest.mark.parametrize("completion", COMPLETIONS, ids=lambda one: f"{one.problem_id}-{one.sample}")
def test_the_complaint_says_every_fault(completion: Completion) -> None:
    problem = PROBLEMS[completion.problem_id]
    texts = set()
    for answer in (*[option.id for option in problem.options], None):
        report = verify(replace(problem, answer=answer), completion.completion)
        texts.add(complaint(report))
    [text] = texts
    failed = [step for step in report.actions if step.signal < 1.0]
    for step in failed:
        assert f"- {step.id}: " in text or step.id is None
    assert text.count("It does not follow") == sum(step.countermodel is not None for step in failed)
    assert needs_repair(report) == ("\n- " in text)
