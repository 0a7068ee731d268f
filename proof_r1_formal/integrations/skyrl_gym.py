"""A problem as an environment of SkyRL-gym: in each turn the model writes steps, and gets the findings on them.

In: the record of a problem in ``extras["problem"]``, then texts of the model. Out: observations, and at the end the
reward of :class:`~proof_r1_formal.integrations.environments.ProofEnvironment`. A text holds one step as a JSON object,
or several as an array between ``<summary>`` and ``</summary>``, as a completion does. Importing this module registers
the environment ``proof_r1``, and requires the library.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput
from skyrl_gym.envs.registration import register

from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.integrations.environments import MAX_STEPS, ProofEnvironment, submit_text
from proof_r1_formal.proof.action import FIELDS

NAME: Final = "proof_r1"
"""The id of the environment in SkyRL-gym."""
MAX_TURNS: Final = 16
"""The most turns, unless ``extras["max_turns"]`` says otherwise."""
_FORM: Final = (
    f"Write one step in each message, as a JSON object with the fields {', '.join(FIELDS)}. You see the findings on it "
    "before you write the next."
)


class ProofEnv(BaseTextEnv):
    """One problem.

    Args:
        env_config: ``rules`` and ``max_steps``, as of ``ProofEnvironment``; other settings have no effect.
        extras: ``problem``, its record in JSON; and perhaps ``max_turns``.

    Raises:
        ProofR1Error: ``extras`` names no problem.
    """

    def __init__(self, env_config: Mapping[str, Any] | None = None, extras: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        settings, given = dict(env_config or {}), dict(extras or {})
        if "problem" not in given:
            raise ProofR1Error("extras has no 'problem': a row of the dataset names its problem there, as JSON")
        self.max_turns = int(given.get("max_turns", MAX_TURNS))
        self._environment = ProofEnvironment(
            rules=settings.get("rules", "train"), max_steps=settings.get("max_steps", MAX_STEPS)
        )
        self._question = self._environment.reset(problem=given["problem"])

    def init(self, prompt: list[dict[str, str]]) -> tuple[list[dict[str, str]], dict[str, Any]]:
        """The prompt with the instructions and the question after its last message."""
        asked = f"{self._question}\n\n{_FORM}"
        *before, last = prompt or [{"role": "user", "content": ""}]
        content = f"{last['content']}\n\n{asked}" if last["content"] else asked
        return [*before, {**last, "content": content}], {}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Check the steps of a text. The episode ends when a step states an answer, or turns or steps are used up."""
        self.turns += 1
        reply = submit_text(self._environment, action)
        report = self._environment.report
        ended = report.answer is not None or self._environment.is_full
        done = ended or self.turns >= self.max_turns
        return BaseTextEnvStepOutput(
            observations=[] if done else [{"role": "user", "content": reply}],
            reward=self._environment.get_reward() if done else 0.0,
            done=done,
            metadata={"signals": [step.signal for step in report.actions], "verified": report.verified},
        )

    def get_metrics(self) -> dict[str, Any]:
        """Scores of the episode: right, verified, the mean signal of the steps, and their number."""
        report = self._environment.report
        signals = [step.signal for step in report.actions]
        return {
            "right": float(report.answer_correct is True),
            "verified": float(report.answer_correct is True and report.verified),
            "signal": sum(signals) / max(1, len(signals)),
            "steps": float(len(signals)),
        }


register(id=NAME, entry_point="proof_r1_formal.integrations.skyrl_gym:ProofEnv")
