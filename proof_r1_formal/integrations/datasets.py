"""Problems, demonstrations, completions and verdicts as data sets of Hugging Face's ``datasets``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, TypeAlias, assert_never

from proof_r1_formal.data.completions import Completion
from proof_r1_formal.data.native import from_json, to_json
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.integrations.scoring import Row
from proof_r1_formal.models.prompts import Message, messages, text_prompt
from proof_r1_formal.proof.report import TraceReport, encode
from proof_r1_formal.proof.trajectory import completion, summary
from proof_r1_formal.rules.catalogue import RuleSystem, catalogue

if TYPE_CHECKING:
    from datasets import Dataset


PromptName: TypeAlias = Literal["full", "paper", "question", "short"]
"""The kinds of prompts: a chat with the contract; the same in the paper's words; English and formulas; or formulas
only. The last two are texts."""


def problems_dataset(
    problems: Iterable[Problem], *, rules: RuleSystem = "train", prompt: PromptName = "full"
) -> Dataset:
    """A row per problem: ``id``, ``difficulty``, ``answer``, ``problem`` (its record in JSON) and ``prompt``.

    Args:
        problems: at least one.
        rules: name of the rule catalogue in the prompt.
        prompt: which prompt.
    """
    from datasets import Dataset

    rows: list[Row] = []
    for problem in problems:
        row = {"id": problem.id, "difficulty": problem.difficulty, "answer": problem.answer}
        rows.append({**row, "problem": to_json(problem), "prompt": _prompt(problem, prompt, rules)})
    return Dataset.from_list(rows)


def demonstrations_dataset(
    problems: Iterable[Problem], *, rules: RuleSystem = "train", prompt: PromptName = "full"
) -> Dataset:
    """A row per reference proof: ``prompt``, and ``completion``, the answer with that proof; for a supervised warm-up.

    Args:
        problems: with proofs; those without have no row.
        rules, prompt: see :func:`problems_dataset`.

    Raises:
        ProofR1Error: no problem has a proof.
    """
    from datasets import Dataset

    rows: list[Row] = []
    for problem in problems:
        asked = _prompt(problem, prompt, rules)
        for proof in problem.proofs:
            answer = completion(problem, proof) if prompt in ("full", "paper") else summary(proof)
            as_asked = answer if isinstance(asked, str) else [{"role": "assistant", "content": answer}]
            rows.append({"prompt": asked, "completion": as_asked})
    if not rows:
        raise ProofR1Error("no problem has a reference proof: there is nothing to imitate")
    return Dataset.from_list(rows)


def _prompt(problem: Problem, name: PromptName, rules: RuleSystem) -> str | list[Message]:
    match name:
        case "full":
            return messages(problem, rules=catalogue(rules))
        case "paper":
            return messages(problem, rules=catalogue(rules), prompts="paper")
        case "question" | "short":
            return text_prompt(problem, english=name == "question")
    assert_never(name)


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
    for row, report in zip(rows, reports, strict=True):
        row |= {"answer": report.answer, "right": report.answer_correct, "verified": report.verified}
        row |= {"signals": [step.signal for step in report.actions], "report": encode(report).decode()}
    return Dataset.from_list(rows)
