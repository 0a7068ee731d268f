"""Problems, completions and verdicts in the real ``datasets``: what goes in comes out again, from its files too."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest

from proof_r1_formal import Completion, verify
from proof_r1_formal.generate import completion
from proof_r1_formal.integrations.datasets import (
    PromptName,
    completions_dataset,
    dataset_problems,
    demonstrations_dataset,
    problems_dataset,
)
from proof_r1_formal.models.prompts import messages, text_prompt
from proof_r1_formal.proof.report import decode
from proof_r1_formal.proof.trajectory import summary
from proof_r1_formal.rules.catalogue import RuleSystem, catalogue

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


@pytest.mark.parametrize("rules", get_args(RuleSystem))
@pytest.mark.parametrize("prompt", get_args(PromptName))
def test_demonstrations_ask_as_the_model_is_asked(known: list[Any], prompt: PromptName, rules: RuleSystem) -> None:
    """In the words of the rules that will verify, and with thoughts only after prompts that ask for them."""
    asked, proof = known[0].problem, known[0].problem.proofs[0]
    expected: Any = {
        "full": messages(asked, rules=catalogue(rules)),
        "paper": messages(asked, rules=catalogue(rules), prompts="paper"),
        "question": text_prompt(asked, english=True),
        "short": text_prompt(asked, english=False),
    }[prompt]
    chat = prompt in ("full", "paper")
    answer = completion(asked, proof) if chat else summary(proof)
    row = demonstrations_dataset([asked], rules=rules, prompt=prompt)[0]
    assert row["prompt"] == problems_dataset([asked], rules=rules, prompt=prompt)[0]["prompt"] == expected
    assert row["completion"] == ([{"role": "assistant", "content": answer}] if chat else answer)


GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""How byte-level tokenizers split a text before they merge: SmolLM2 as GPT-2, Qwen as Llama 3 but for digits."""


@pytest.mark.parametrize("pattern", [GPT2, LLAMA3], ids=["gpt-2", "llama-3"])
@pytest.mark.parametrize("prompt", ["question", "short"])
def test_prompts_end_between_two_tokens(known: list[Any], prompt: PromptName, pattern: str) -> None:
    """Else the model imitates proofs after other tokens than those after which it will write its own."""
    tokenizers = pytest.importorskip("tokenizers")
    split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated")
    row = demonstrations_dataset([known[0].problem], prompt=prompt)[0]
    alone = split.pre_tokenize_str(row["prompt"])
    assert split.pre_tokenize_str(row["prompt"] + row["completion"])[: len(alone)] == alone
