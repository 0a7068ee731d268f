"""A reward function for TRL's ``GRPOTrainer`` and similar trainers.

In: the columns of a data set that holds each problem as a text (``datasets.problems_dataset`` makes one), and
completions as text or as messages. Out: one reward per completion; None, which TRL leaves out, for a row of another
task: one without a problem, or with another ``data_source``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias

from proof_r1_formal.data.layouts import THOUGHTS
from proof_r1_formal.errors import require_equal_lengths
from proof_r1_formal.integrations.scoring import DATA_SOURCE, Scorer
from proof_r1_formal.proof.report import RewardName
from proof_r1_formal.rules.catalogue import RuleSystem
from proof_r1_formal.serve.client import Client

Content: TypeAlias = str | Sequence[Mapping[str, object]] | None
"""The content of a message: a text, parts, or nothing (calls of tools)."""
Completion: TypeAlias = str | Sequence[Mapping[str, Content]]
"""A completion in TRL: a text, or messages. Only those of the assistant are the model's own."""


class RewardFunction(Protocol):
    """The reward function that TRL calls."""

    __name__: str

    def __call__(
        self,
        *,
        completions: Sequence[Completion],
        problem: Sequence[str | None] | None = None,
        data_source: Sequence[str | None] | None = None,
        **columns: object,
    ) -> list[float | None]:
        """One reward per completion; None for a row of another task."""


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

    def rewards(
        *,
        completions: Sequence[Completion],
        problem: Sequence[str | None] | None = None,
        data_source: Sequence[str | None] | None = None,
        **_: object,
    ) -> list[float | None]:
        nothing = [None] * len(completions)
        problems, sources = problem or nothing, data_source or nothing
        require_equal_lengths(problems=problems, completions=completions, sources=sources)
        own = [
            number
            for number, (record, source) in enumerate(zip(problems, sources, strict=True))
            if record and source in (None, DATA_SOURCE)
        ]
        found = scorer([problems[number] or "" for number in own], [_text(completions[number]) for number in own])
        earned = dict(zip(own, [scored.reward for scored in found], strict=True))
        return [earned.get(number) for number in range(len(completions))]

    rewards.__name__ = f"proof_r1_{reward}"  # the name in TRL's logs
    return rewards


def _text(completion: Completion) -> str:
    """The text that the model wrote: neither replies of tools nor hints of an environment."""
    if isinstance(completion, str):
        return completion
    return "".join([_content(message.get("content")) for message in completion if message.get("role") == "assistant"])


def _content(content: Content) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    said = [part for part in content if part.get("type") not in THOUGHTS]
    return "".join([text for part in said if isinstance(text := part.get("text"), str)])
