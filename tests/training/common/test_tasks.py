"""Tasks: what is asked in which words, and what is left out."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from msgspec import structs
from rich.console import Console

from proof_r1_formal import TRAIN, Completion, Problem, ProofR1Error, Settings
from proof_r1_formal.credit.terms import is_flawless
from proof_r1_formal.data.completions import write_completions
from proof_r1_formal.models.paper_prompt import paper_contract, paper_question
from proof_r1_formal.models.prompts import contract, question, short_question
from training.common.display import Display
from training.common.tasks import (
    Task,
    answer_text,
    demonstrations,
    make_tasks,
    prompt_text,
    read_files,
    sample_texts,
    trainable,
)
from training.config import Config
from training.local.model import Policy


def plain(chat: object) -> str:
    """A chat as one text."""
    assert isinstance(chat, list)
    return "\n\n".join(message["content"] for message in chat)


def test_prompts(config: Config, problems: list[Problem]) -> None:
    short, full = config.data, structs.replace(config.data, prompt="full")
    for problem in problems:
        assert prompt_text(problem, short, plain) == short_question(problem)
        asked = prompt_text(problem, structs.replace(config.data, prompt="question"), plain)
        assert asked == f"{question(problem)}\n\n"
        text = prompt_text(problem, full, plain)
        assert contract() in text and question(problem) in text
        paper = prompt_text(problem, structs.replace(config.data, prompt="paper"), plain)
        assert paper.endswith(paper_question(problem)) and paper_contract(problem, TRAIN) in paper
        named = [line.partition(": ")[0] for line in short_question(problem).splitlines()]
        ids = [*[premise.id for premise in problem.premises], *[option.id for option in problem.options]]
        assert named == [*ids, ""]


@pytest.mark.parametrize("prompt", ["short", "question", "full", "paper"])
@pytest.mark.parametrize("thinking", ["explicit", "native"])
def test_answers_are_verified_and_fit_their_prompt(
    config: Config, problems: list[Problem], prompt: str, thinking: str
) -> None:
    data = structs.replace(config.data, prompt=prompt, thinking=thinking)
    verifier = Settings(evaluation=False).verifier()
    for problem in problems:
        for number in range(len(problem.proofs)):
            opened, plain_prompt = "…<think>\n", "…"
            answer = answer_text(problem, number, data, plain_prompt)
            assert answer.startswith("<summary>" if prompt in ("short", "question") else "<think>\n")
            assert is_flawless(verifier.verify(problem, answer))
            after = answer_text(problem, number, data, opened)
            assert after.startswith("<think>") == (prompt in ("full", "paper") and thinking == "explicit")


def test_what_cannot_be_trained_on_is_counted(config: Config, problems: list[Problem]) -> None:
    some = [*problems, replace(problems[0], id="open", answer=None)]
    kept, left_out = trainable(some, config.data)
    labels = [option.label for problem in kept if (option := problem.option(problem.answer)) is not None]
    assert set(labels) == {"True", "False"}
    assert left_out["without an answer"] == 1
    assert len(kept) + left_out.total() == len(some)
    uncertain = structs.replace(config.data, uncertain=True)
    assert len(trainable(some, uncertain)[0]) == len(kept) + left_out["Uncertain"]


def test_long_prompts_are_counted(policy: Policy, config: Config, problems: list[Problem]) -> None:
    lengths = sorted(
        len(task.prompt) for task in make_tasks(problems, policy.tokenizer, config.data, max_prompt_tokens=9999).tasks
    )
    made = make_tasks(problems, policy.tokenizer, config.data, max_prompt_tokens=lengths[2])
    assert [len(task.prompt) <= lengths[2] for task in made.tasks] == [True] * sum(n <= lengths[2] for n in lengths)
    assert made.left_out["prompt too long"] == sum(n > lengths[2] for n in lengths)


def test_demonstrations_are_the_reference_proofs(
    policy: Policy, config: Config, tasks: tuple[Task, ...], display: Display
) -> None:
    given = demonstrations(tasks, policy.tokenizer, config, display)
    assert len(given) == sum(len(task.problem.proofs) for task in tasks)
    texts = set(sample_texts([task.problem for task in tasks], config.data))
    assert {one.answer for one in given} <= texts


def test_unusable_problems_are_named_and_may_be_an_error(config: Config, tmp_path: Path) -> None:
    good = Path(config.data.train[0]).read_text("utf-8").splitlines()[0]
    file = tmp_path / "problems.jsonl"
    file.write_text(f'{good}\n{{"id": "bad/1"}}\n', "utf-8")
    said = Console(file=StringIO())
    assert len(read_files([str(file)], config.data, Display(said))) == 1
    shown = said.file.getvalue()  # type: ignore[attr-defined]
    assert f"{file}, record 2: problem bad/1 is unusable: " in shown
    assert f"{file}: 1 of 2 problems left out" in shown
    with pytest.raises(ProofR1Error, match=r"1 problems cannot be used, and data\.strict is set"):
        read_files([str(file)], structs.replace(config.data, strict=True), Display(said))


def test_demonstrations_of_other_problems_are_counted(
    policy: Policy, config: Config, tasks: tuple[Task, ...], tmp_path: Path
) -> None:
    file = tmp_path / "answers.jsonl"
    write_completions(file, [Completion(problem_id=name, completion="") for name in (tasks[0].problem.id, "x", "y")])
    said = Console(file=StringIO())
    data = structs.replace(config.data, demonstrations=(str(file),))
    given = demonstrations(tasks, policy.tokenizer, structs.replace(config, data=data), Display(said))
    assert len(given) == 1
    assert "demonstrations: 2 left out" in said.file.getvalue()  # type: ignore[attr-defined]
