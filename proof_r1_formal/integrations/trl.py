"""A reward function for TRL's ``GRPOTrainer`` and similar trainers.

In: the columns of a data set that holds each problem as a text (``datasets.problems_dataset`` makes one), and
completions as text or as messages. Out: one reward per completion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias

from proof_r1_formal.integrations.scoring import Scorer
from proof_r1_formal.proof.rewards import RewardName
from proof_r1_formal.rules.catalogue import RuleSystem
from proof_r1_formal.serve.client import Client

Completion: TypeAlias = str | Sequence[Mapping[str, str | None]]
"""A completion in TRL: a text, or messages, whose content may be empty or missing (calls of tools)."""


class RewardFunction(Protocol):
    """The reward function that TRL calls."""

    __name__: str

    def __call__(self, *, completions: Sequence[Completion], problem: Sequence[str], **columns: object) -> list[float]:
        """One reward per completion."""


def reward_function(
    reward: RewardName = "sound", *, rules: RuleSystem = "train", client: Client | None = None
) -> RewardFunction:
    """A reward function that reads the column ``problem``.

    Args:
        reward, rules, client: see :class:`~proof_r1_formal.integrations.scoring.Scorer`.

    Raises:
        ValueError: no reward has this name.
        CatalogueError: no rule catalogue has this name.
    """
    scorer = Scorer(reward, rules=rules, client=client)

    def rewards(*, completions: Sequence[Completion], problem: Sequence[str], **_: object) -> list[float]:
        return [scored.reward for scored in scorer(problem, [_text(completion) for completion in completions])]

    rewards.__name__ = f"proof_r1_{reward}"  # the name in TRL's logs
    return rewards


def _text(completion: Completion) -> str:
    return (
        completion if isinstance(completion, str) else "".join([message.get("content") or "" for message in completion])
    )
