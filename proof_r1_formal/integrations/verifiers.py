"""Problems as an environment of ``verifiers``: one task per problem, which rewards the model's answer.

``proof_r1_formal.integrations.verifiers`` is the id of the taskset on the library's command line. Importing this module
requires the library.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import verifiers.v1 as vf

from proof_r1_formal.data import read_problems
from proof_r1_formal.data.native import to_json
from proof_r1_formal.integrations.scoring import Scorer
from proof_r1_formal.models.prompts import contract, question
from proof_r1_formal.proof.rewards import RewardName
from proof_r1_formal.rules.catalogue import RuleSystem, catalogue

__all__ = ["ProofTaskset"]


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
        scorer = _scorer(self.config.reward, self.config.rules)
        [scored] = await asyncio.to_thread(scorer, [self.data.problem], [trace.last_reply])  # others go on meanwhile
        trace.record_metric("right", float(scored.right))
        return scored.reward


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


@cache
def _scorer(reward: RewardName, rules: RuleSystem) -> Scorer:
    return Scorer(reward, rules=rules)
