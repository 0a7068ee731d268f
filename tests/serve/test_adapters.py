"""Adapters for trainers that have a service verify: they give what they give without one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proof_r1_formal import Completion, read_completions, read_problems
from proof_r1_formal.data.native import to_json
from proof_r1_formal.integrations import openrlhf, verl
from proof_r1_formal.integrations.scoring import Scorer
from proof_r1_formal.integrations.trl import reward_function

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PROBLEMS = read_problems(EXAMPLES / "problems.jsonl")
COMPLETIONS = [c for c in read_completions(EXAMPLES / "completions.jsonl") if isinstance(c, Completion)]
RECORDS = [to_json(PROBLEMS[c.problem_id]) for c in COMPLETIONS]
TEXTS = [c.completion for c in COMPLETIONS]


def test_scores_are_those_of_this_process(service: Any) -> None:
    here = Scorer("answer")(RECORDS, TEXTS)
    assert len({one.reward for one in here}) > 1
    assert Scorer("answer", client=service.client)(RECORDS, TEXTS) == here
    assert Scorer("answer", client=service.client)([c.problem_id for c in COMPLETIONS], TEXTS) == here


def test_arguments_of_unequal_lengths_are_named() -> None:
    with pytest.raises(ValueError, match="equally many entries, but problems has 1, completions has 2"):
        reward_function("sound")(completions=TEXTS[:2], problem=RECORDS[:1])
    with pytest.raises(ValueError, match="equally many entries, but queries has 1, prompts has 2, labels has 1"):
        openrlhf.reward_func(TEXTS[:1], ["", ""], RECORDS[:1])


def test_trl_and_verl_are_given_the_scores(service: Any) -> None:
    here = Scorer()(RECORDS, TEXTS)
    rewards = [one.reward for one in here]
    chats: list[list[dict[str, str | None]]] = [[{"content": None}, {}, {"content": text}] for text in TEXTS]
    for client in (None, service.client):
        function = reward_function("sound", client=client)
        assert function(completions=TEXTS, problem=RECORDS) == rewards
        assert function(completions=chats, problem=RECORDS) == rewards
    for url in (None, service.url):
        given = [verl.compute_score("", text, record, service=url) for text, record in zip(TEXTS, RECORDS, strict=True)]
        assert [one["score"] for one in given] == rewards
        assert [one["right"] for one in given] == [float(one.right) for one in here]
    client = verl._scorer("sound", "train", service.url)._client  # which verl's workers keep to their end
    assert client is not None
    client.close()
