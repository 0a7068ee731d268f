"""One reward per completion, computed from its report, for trainers without credit per action.

``proof_r1_formal.credit.terms`` instead gives every action its own credit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import fsum
from types import MappingProxyType
from typing import Literal, TypeAlias

import msgspec

from proof_r1_formal.proof.report import TraceReport

Reward: TypeAlias = Callable[[TraceReport], float]
RewardName: TypeAlias = Literal["answer", "sound", "signals"]


def answer_reward(report: TraceReport) -> float:
    """1.0 for the right answer in a summary that parses, 0.1 for a summary that parses, else 0."""
    if not report.parsed:
        return 0.0
    return 1.0 if report.answer_correct else 0.1


def sound_answer_reward(report: TraceReport) -> float:
    """1.0 for a right and verified answer without a false step, 0.3 for a right answer, 0.1 for a summary that parses.

    Every action must be entailed, including those outside the closure; the definition of a verified answer
    covers the terminal action, which is not entailed where the answer is Uncertain.
    """
    if not report.parsed:
        return 0.0
    if not report.answer_correct:
        return 0.1
    sound = report.verified and all(step.semantic for step in report.actions if not step.terminal)
    return 1.0 if sound else 0.3


def mean_signal(report: TraceReport) -> float:
    """The mean signal of the actions; 0 without an action. It ignores the answer."""
    signals = [step.signal for step in report.actions]
    return fsum(signals) / len(signals) if signals else 0.0


REWARDS: Mapping[RewardName, Reward] = MappingProxyType(
    {"answer": answer_reward, "sound": sound_answer_reward, "signals": mean_signal}
)
"""The rewards by name."""


def reward_named(name: str) -> Reward:
    """The reward of that name.

    Raises:
        ValueError: no reward has this name.
    """
    found = {str(known): reward for known, reward in REWARDS.items()}.get(name)
    if found is None:
        raise ValueError(f"unknown reward {name!r}; available: {', '.join(REWARDS)}")
    return found


class Scored(msgspec.Struct, frozen=True):
    """A reward, with values for logs.

    Attributes:
        reward: of the completion.
        parsed: whether its summary parses.
        right: whether it selects the right option.
        verified: whether its answer is verified, see :class:`~proof_r1_formal.proof.report.TraceReport`.
    """

    reward: float
    parsed: bool
    right: bool
    verified: bool


def score(report: TraceReport, reward: RewardName) -> Scored:
    """The reward of that name for a completion."""
    return Scored(reward_named(reward)(report), report.parsed, bool(report.answer_correct), report.verified)
