"""Problems as an environment of ``verifiers``: one task per problem, which rewards the model's last answer.

With several turns, the model gets the findings on its proof, and answers again. On the library's command line,
``proof_r1_formal.integrations.verifiers`` is the id of the taskset and of the environment. Importing this module
requires the library.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import verifiers.v1 as vf
from pydantic import Field

from proof_r1_formal.data import read_problems
from proof_r1_formal.data.native import to_json
from proof_r1_formal.integrations.scoring import Scorer
from proof_r1_formal.models.prompts import contract, question
from proof_r1_formal.models.repair import complaint, needs_repair
from proof_r1_formal.proof.report import RewardName
from proof_r1_formal.rules.catalogue import RuleSystem, catalogue

__all__ = ["ProofEnv", "ProofTaskset"]

_scorer = cache(Scorer)


class ProofData(vf.TaskData):
    """A problem, as its record in JSON."""

    problem: str


class ProofTaskConfig(vf.TaskConfig):
    """Names of the reward and of the rule catalogue."""

    reward: RewardName = "sound"
    rules: RuleSystem = "train"


class ProofTask(vf.Task[ProofData, vf.State, ProofTaskConfig]):
    """Prove the right option."""

    @vf.reward
    async def proof(self, trace: vf.Trace) -> float:
        """The reward of the last reply. The metric ``right`` records whether it selects the right option."""
        scorer = _scorer(self.config.reward, rules=self.config.rules)
        [scored] = await asyncio.to_thread(scorer, [self.data.problem], [trace.last_reply])  # others go on meanwhile
        trace.record_metric("right", float(scored.right))
        return scored.reward

    def complaint(self, answer: str) -> str | None:
        """The findings on an answer, for the model; None if all checks pass. It is silent on the right option."""
        report = _scorer(self.config.reward, rules=self.config.rules).report(self.data.problem, answer)
        return complaint(report) if needs_repair(report) else None


class ProofTasksetConfig(vf.TasksetConfig):
    """The file of problems, in any format of ``read_problems``."""

    problems: Path = Path("problems.jsonl")
    task: ProofTaskConfig = ProofTaskConfig()


class ProofTaskset(vf.Taskset[ProofTask, ProofTasksetConfig]):
    """The problems of a file."""

    def load(self) -> Iterator[ProofTask]:
        """One task per problem, in order."""
        system = contract(catalogue(self.config.task.rules))
        for problem in read_problems(self.config.problems).values():
            data = ProofData(id=problem.id, prompt=question(problem), system_prompt=system, problem=to_json(problem))
            yield ProofTask(data, self.config.task)


class ProofEnvConfig(vf.SingleAgentEnvConfig):
    """The agent, and how many answers it may give to a problem at most."""

    turns: int = Field(1, ge=1)


class ProofEnv(vf.Env[ProofEnvConfig]):
    """One agent, which answers again until all checks pass or its turns are used up."""

    async def run(self, task: ProofTask, agents: vf.Agents) -> None:
        """One episode. The library retries a failed run only if there is a single turn."""
        if self.config.turns == 1:
            await agents.agent.run(task)
            return
        async with agents.agent.interaction(task) as exchange:
            answer = await exchange.turn()
            for _ in range(1, self.config.turns):
                if answer.terminated:  # a limit of the agent, or an error: it takes no further turn
                    return
                told = await asyncio.to_thread(task.complaint, answer.last_reply)
                if told is None:
                    return
                answer = await exchange.turn(told)
