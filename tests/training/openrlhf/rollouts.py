"""Fixed token ids on the way of a rollout through OpenRLHF's own parts: agent, samples generator, experience maker."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import torch
from openrlhf.trainer.ppo_utils.kl_controller import FixedKLController
from openrlhf.trainer.ppo_utils.samples_generator import SamplesGenerator
from transformers import AutoTokenizer

from proof_r1_formal import Problem, read_problems
from proof_r1_formal.data.native import to_json
from proof_r1_formal.generate import summary
from proof_r1_formal.models.prompts import text_prompt
from training.openrlhf.agent import AgentExecutor
from training.openrlhf.controller import ProofExperienceMaker
from training.openrlhf.task import Task

SAMPLES = 4


class FixedEngine:
    """Returns the given token ids, with arbitrary log-probabilities."""

    def __init__(self, answers: Sequence[Sequence[int]]) -> None:
        self._answers = iter(answers)

    async def generate(self, prompt: list[int], *_: object, **__: object) -> SimpleNamespace:
        del prompt
        ids = list(next(self._answers))
        chances = [{token: SimpleNamespace(logprob=-0.5)} for token in ids]
        return SimpleNamespace(outputs=[SimpleNamespace(token_ids=ids, logprobs=chances, finish_reason="stop")])


@dataclass(frozen=True)
class Case:
    """For each of two problems four answers: a proof, one with a fault, a truncated one, and other text."""

    args: Any
    tokenizer: Any
    problems: list[Problem]
    answers: list[list[int]]  # all samples of the first problem, then of the second

    @property
    def asked(self) -> list[Problem]:
        """The problem of each answer."""
        return [problem for problem in self.problems for _ in range(SAMPLES)]

    def responses(self, task: Task | None = None) -> list[dict[str, Any]]:
        """What the agent returns."""
        agent, engine = AgentExecutor(), FixedEngine(self.answers)
        agent._assigner = None

        async def all_of_them() -> list[dict[str, Any]]:
            found = []
            for problem in self.asked:
                given = msgspec.structs.replace(task or Task("", workers=0), problem=to_json(problem))
                label = msgspec.json.encode(given).decode()
                sampling = SimpleNamespace(max_tokens=64, logprobs=1)
                question = text_prompt(problem, english=False)
                found.append(await agent.execute(question, label, sampling, 256, self.tokenizer, engine))
            return found

        return asyncio.run(all_of_them())

    def maker(self) -> ProofExperienceMaker:
        """A new one, as the controller makes it."""
        strategy = SimpleNamespace(args=self.args)
        kl = FixedKLController(self.args.algo.kl.init_coef)
        return ProofExperienceMaker(None, None, None, None, kl, strategy, self.tokenizer)

    def experiences(self, maker: ProofExperienceMaker, responses: Sequence[dict[str, Any]] | None = None) -> list[Any]:
        """The batch with its advantages."""
        generator = SamplesGenerator(SimpleNamespace(args=self.args), None, None, None, None)
        sampled = [
            generator._process_response_into_experience(one, max_len=256) for one in responses or self.responses()
        ]
        split = maker.split_rollout_samples(sampled)
        for one in split:  # the policy and the reference would fill these
            one.action_log_probs = torch.zeros(one.action_mask.shape)
            one.base_action_log_probs = torch.zeros(one.action_mask.shape)
        return maker.compute_advantages_and_returns(split)


def make_case(args: Any, problems: Path, model: Path) -> Case:
    """The case for these arguments of OpenRLHF."""
    chosen = list(read_problems(problems).values())[:2]
    tokenizer = AutoTokenizer.from_pretrained(model)
    answers: list[list[int]] = []
    for problem in chosen:
        first, *others = problem.proofs[0]
        broken = replace(first, rule="NO_RULE") if answers else replace(first, dependencies=first.dependencies[1:])
        good = tokenizer.encode(summary((first, *others)), add_special_tokens=False)
        wrong = tokenizer.encode(summary((broken, *others)), add_special_tokens=False)
        end = [tokenizer.eos_token_id]
        answers += [good + end, wrong + end, good[: len(good) // 2], tokenizer.encode("Ada is") + end]
    return Case(args, tokenizer, chosen, answers)
