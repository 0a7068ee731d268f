"""Verification in OpenRLHF's rollout actors: the file for ``--train.agent_func_path``, OpenRLHF's plug-in for agents.

In: a prompt with its label, a ``task.Task`` as JSON, and the token ids that the engine sampled. Out: OpenRLHF's
response, whose label is now the ``credit.methods.Rollout`` of these ids. Other processes verify, so the engine goes on
meanwhile.
"""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from openrlhf.utils.agent import SingleTurnAgentExecutor

from proof_r1_formal.credit.assigner import CreditAssigner
from proof_r1_formal.data.native import from_json
from training.openrlhf.task import Task


class AgentExecutor(SingleTurnAgentExecutor):
    """Samples a completion and has it verified; OpenRLHF finds the class by its name."""

    _assigner: CreditAssigner | None = None

    async def execute(
        self,
        prompt: str,
        label: str,
        sampling_params: Any,
        max_length: int,
        hf_tokenizer: Any,
        llm_engine: Any,
        images: Any = None,
    ) -> dict[str, Any]:
        """Sample a completion and verify it; see OpenRLHF for the arguments."""
        response: dict[str, Any] = await super().execute(
            prompt, label, sampling_params, max_length, hf_tokenizer, llm_engine, images
        )
        task = msgspec.json.decode(label, type=Task)
        if self._assigner is None:
            self._assigner = task.assigner(hf_tokenizer)
        ((start, end),) = response["action_ranges"]
        ids = response["observation_tokens"][start:end]
        (rollout,) = await asyncio.to_thread(self._assigner.verify, [from_json(task.problem)], [ids])
        right = float(rollout.report.answer_correct is True)  # for OpenRLHF's statistics; tokens are credited later
        return {**response, "label": rollout, "reward": right, "scores": right}
