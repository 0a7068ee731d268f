"""Problems, completions and verdicts in the real ``datasets``: what goes in comes out again, from its files too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proof_r1_formal import Completion, verify
from proof_r1_formal.integrations.datasets import completions_dataset, dataset_problems, problems_dataset
from proof_r1_formal.proof.report import decode

datasets = pytest.importorskip("datasets", reason="datasets is not installed: make test-integrations")
pytestmark = pytest.mark.integration


def test_problems_come_back_equal(known: list[Any], tmp_path: Path) -> None:
    problems = {one.problem.id: one.problem for one in known}
    made = problems_dataset(problems.values())
    assert dataset_problems(made) == problems
    made.save_to_disk(str(tmp_path / "saved"))
    saved = datasets.load_from_disk(str(tmp_path / "saved"))
    assert dataset_problems(saved) == problems
    assert saved["answer"][:] == [one.problem.answer for one in known]
    assert [message["role"] for message in saved["prompt"][0]] == ["system", "user"]


def test_completions_and_what_is_said_of_them(known: list[Any]) -> None:
    texts = (known[0].right, known[0].right.replace("h_goal_true", "h_goal_false"), "no idea")
    completions = [
        Completion(problem_id=known[0].problem.id, sample=sample, completion=text) for sample, text in enumerate(texts)
    ]
    reports = [verify(known[0].problem, c.completion, sample=c.sample) for c in completions]
    assert completions_dataset(completions)["completion"][:] == [c.completion for c in completions]
    made = completions_dataset(completions, reports)
    assert made["right"][:] == [True, False, False]
    assert made["signals"][0] == [step.signal for step in reports[0].actions]
    assert [decode(line) for line in made["report"]] == reports
    with pytest.raises(ValueError, match="shorter"):
        completions_dataset(completions, reports[:2])
