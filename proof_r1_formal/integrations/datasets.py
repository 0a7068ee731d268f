"""Problems, completions and verdicts as data sets of Hugging Face's ``datasets``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from proof_r1_formal.data.completions import Completion
from proof_r1_formal.data.native import from_json, to_json
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.integrations.scoring import Row
from proof_r1_formal.models.prompts import messages
from proof_r1_formal.proof.report import TraceReport, encode
from proof_r1_formal.rules.catalogue import RuleSystem, catalogue

if TYPE_CHECKING:
    from datasets import Dataset


def problems_dataset(problems: Iterable[Problem], *, rules: RuleSystem = "train") -> Dataset:
    """A row per problem: ``id``, ``difficulty``, ``answer``, ``problem`` (its record in JSON) and ``prompt`` (a chat).

    Args:
        problems: at least one.
        rules: name of the rule catalogue in the prompt.
    """
    from datasets import Dataset

    known = catalogue(rules)
    return Dataset.from_list(
        [
            {
                "id": problem.id,
                "difficulty": problem.difficulty,
                "answer": problem.answer,
                "problem": to_json(problem),
                "prompt": messages(problem, rules=known),
            }
            for problem in problems
        ]
    )


def dataset_problems(dataset: Dataset) -> dict[str, Problem]:
    """The problems of a data set that :func:`problems_dataset` made, by id.

    Raises:
        DataError: a row does not contain a problem.
    """
    problems = [from_json(text) for text in dataset["problem"]]
    return {problem.id: problem for problem in problems}


def completions_dataset(completions: Iterable[Completion], reports: Iterable[TraceReport] | None = None) -> Dataset:
    """A row per completion: ``problem_id``, ``sample``, ``completion``, and with ``reports`` the columns below.

    Args:
        completions: at least one.
        reports: on the completions, in order. They add ``answer``, ``right``, ``verified``, the ``signals`` of the
            actions and the whole ``report`` in JSON.

    Raises:
        ValueError: the numbers of completions and reports differ.
    """
    from datasets import Dataset

    rows: list[Row] = [
        {"problem_id": c.problem_id, "sample": c.sample, "completion": c.completion} for c in completions
    ]
    if reports is None:
        return Dataset.from_list(rows)
    return Dataset.from_list([{**row, **_said(report)} for row, report in zip(rows, reports, strict=True)])


def _said(report: TraceReport) -> Row:
    return {
        "answer": report.answer,
        "right": report.answer_correct,
        "verified": report.verified,
        "signals": [step.signal for step in report.actions],
        "report": encode(report).decode(),
    }
