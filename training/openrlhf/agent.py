"""Verification of completions in OpenRLHF's rollout actors, before each completion leaves its actor.

In: a prompt with its label (``data.PromptLabel``), and the exact token ids that the engine sampled. Out: OpenRLHF's
response. Its label is now a :class:`VerifiedLabel`. Other processes verify, so the engine goes on meanwhile. If a
completion cannot be verified, only that completion is lost.
"""

from __future__ import annotations

import asyncio
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import msgspec
from openrlhf.utils.agent import SingleTurnAgentExecutor
from transformers import AutoConfig

from proof_r1_formal import Settings, TraceReport
from proof_r1_formal.credit.pieces import TokenPieces
from proof_r1_formal.credit.verification import Checked, Workers
from proof_r1_formal.data.native import from_json
from training.common.tokenizer import load_tokenizer
from training.config import Config
from training.openrlhf.cpu import ENGINE
from training.openrlhf.data import PromptLabel
from training.openrlhf.seams import class_behind

if TYPE_CHECKING:
    from vllm import SamplingParams

NEVER = -100.0
"""The lowest bias that an engine adds to a logit."""


class VerifiedLabel(msgspec.Struct, frozen=True):
    """The label of a completion.

    Attributes:
        problem: as JSON.
        report: on the completion.
        seconds: of processor time that it took.
        failure: why there is no real report, if there is none.
    """

    problem: str
    report: TraceReport
    seconds: float
    failure: str | None

    @property
    def checked(self) -> Checked:
        """The same as the local engine has it."""
        return Checked(self.report, self.seconds, self.failure)


class Response(TypedDict):
    """What OpenRLHF's agents return, as far as it is of use here; there is more in it.

    Attributes:
        label: of the prompt, then of the completion.
        observation_tokens: of prompt and completion.
        action_ranges: where in these the completion is.
        reward, scores: for OpenRLHF's own statistics.
    """

    label: str
    observation_tokens: list[int]
    action_ranges: list[tuple[int, int]]
    reward: float
    scores: float


class AgentExecutor(SingleTurnAgentExecutor):
    """Samples a completion and has it verified.

    Args:
        config: of the run.
        model: folder of the policy, for its tokenizer.
    """

    def __init__(self, config: Config, model: Path) -> None:
        super().__init__()
        settings = Settings(rules=config.data.rules, evaluation=False)
        self._workers = Workers(settings, count=config.rollout.workers, timeout=config.rollout.timeout)
        self._workers.__enter__()  # for as long as the actor lives: its processes end when it is gone
        self._tokenizer = load_tokenizer(model)
        self._outputs: int = AutoConfig.from_pretrained(model).vocab_size

    @cached_property
    def _pieces(self) -> TokenPieces:
        return TokenPieces(self._tokenizer.backend_tokenizer.to_str())

    @cached_property
    def _unspoken(self) -> dict[int, float]:
        """A bias against outputs of the model that are not tokens: some models have more rows than words."""
        words = self._tokenizer.get_vocab().values()
        return dict.fromkeys(set(range(self._outputs)).difference(words), NEVER)

    async def execute(
        self,
        prompt: str,
        label: str,
        sampling_params: SamplingParams,
        max_length: int,
        hf_tokenizer: object,
        llm_engine: object,
        images: object = None,
    ) -> Response:
        """Sample a completion and verify it; see OpenRLHF for the arguments.

        The tokenizer is the one of the model's ``tokenizer.json``: a class for a kind of model may read it otherwise.
        """
        del hf_tokenizer
        sampling_params.logit_bias = self._unspoken or None
        response: Response = await super().execute(
            prompt, label, sampling_params, max_length, self._tokenizer, llm_engine, images
        )
        ((start, end),) = response["action_ranges"]
        asked = msgspec.json.decode(label, type=PromptLabel)
        text = self._pieces.read(response["observation_tokens"][start:end]).text
        verdict = self._workers.verify(from_json(asked.problem), text, evaluation=asked.evaluation)
        checked = await asyncio.wrap_future(verdict)
        judged = VerifiedLabel(asked.problem, checked.report, checked.seconds, checked.failure)
        right = float(checked.report.answer_correct is True)  # tokens are credited by the experience maker
        return {**response, "label": msgspec.json.encode(judged).decode(), "reward": right, "scores": right}


def rollout_actor(config: Config, model: Path, *, cpu: bool) -> type:
    """The class of the actors that sample, with this agent in it.

    It is made here, and travels to its processes whole, as OpenRLHF hands nothing of a configuration to them.

    Args:
        config: of the run.
        model: folder of the policy.
        cpu: whether engines run without a GPU.
    """
    base = class_behind("openrlhf.trainer.ray.vllm_engine.RolloutRayActor")

    class RolloutActor(base):  # type: ignore[misc, valid-type]
        async def __init__(self, *args: object, **options: object) -> None:  # type: ignore[misc]  # Ray waits for it
            # as near as engines come to those of the policy, which has its temperature but no top-p
            mode = "raw_logprobs" if config.rollout.learning_temperature == 1.0 else "processed_logprobs"
            options |= {"logprobs_mode": mode, "max_num_seqs": config.rollout.parallel}
            if cpu:
                options |= {"worker_extension_cls": ENGINE}
            await super().__init__(*args, **options)
            self.executor = AgentExecutor(config, model)

    return RolloutActor
