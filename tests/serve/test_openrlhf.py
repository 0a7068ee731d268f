"""OpenRLHF's own client of reward models, against the service and against the module that it can load in its place."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from proof_r1_formal import Completion
from proof_r1_formal.data.native import to_json
from proof_r1_formal.integrations import openrlhf
from proof_r1_formal.models.prompts import question
from tests.serve.asking import COMPLETIONS, PROBLEMS

pytest.importorskip("openrlhf.utils.agent", reason="OpenRLHF is not installed: make test-integrations")
pytestmark = pytest.mark.integration


class Characters:
    """A tokenizer whose tokens are characters; the last one ends a text, and is shown."""

    def __call__(self, *, text: str, add_special_tokens: bool, return_tensors: str) -> Any:
        import torch

        return {"input_ids": torch.tensor([[ord(c) for c in text]])}

    def decode(self, tokens: list[int], *, skip_special_tokens: bool) -> str:
        return "".join(map(chr, tokens))


class Engine:
    """Answers with one completion."""

    def __init__(self, completion: str) -> None:
        self._completion = completion

    async def generate(self, prompt: list[int], parameters: Any, *, multi_modal_data: Any) -> Any:
        tokens = [ord(c) for c in self._completion + "\0"]
        return SimpleNamespace(outputs=[SimpleNamespace(token_ids=tokens, finish_reason="stop", logprobs=None)])


def rollouts(remote: str, completions: list[Completion], *, named: bool) -> list[dict[str, Any]]:
    """What OpenRLHF's executor makes of completions."""
    from openrlhf.utils.agent import SingleTurnAgentExecutor

    executor = SingleTurnAgentExecutor(remote)
    parameters = SimpleNamespace(max_tokens=10_000, logprobs=None)

    async def run() -> list[dict[str, Any]]:
        waiting = []
        for c in completions:
            problem = PROBLEMS[c.problem_id]
            label = problem.id if named else to_json(problem)
            arguments = (question(problem), label, parameters, 20_000, Characters(), Engine(c.completion))
            waiting.append(executor.execute(*arguments))
        return list(await asyncio.gather(*waiting))

    return asyncio.run(run())


def test_rewards_come_from_the_service_and_from_the_file(service: Any) -> None:
    problems = [to_json(PROBLEMS[c.problem_id]) for c in COMPLETIONS]
    expected = service.client.score(problems, [c.completion for c in COMPLETIONS])
    assert len({one.reward for one in expected}) > 2
    url = f"{service.url}/get_reward"
    for remote, named in ((url, True), (url, False), (openrlhf.__file__, False)):
        got = rollouts(remote, COMPLETIONS, named=named)
        assert [one["reward"] for one in got] == [[one.reward] for one in expected]
        assert [one["scores"] for one in got] == [[one.reward] for one in expected]
        assert [one["extra_logs"]["right"] for one in got] == [[float(one.right)] for one in expected]


def test_rows_hold_the_chat_and_the_problem() -> None:
    [row] = openrlhf.rows([PROBLEMS["garden/1"]])
    assert row["label"] == to_json(PROBLEMS["garden/1"])
    assert [message["role"] for message in row["input"]] == ["system", "user"]  # type: ignore[attr-defined]
