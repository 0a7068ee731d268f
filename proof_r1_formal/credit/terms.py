"""Credit of the actions of a rollout: settings, baselines of rules, and the formulas that all presets share.

For every action t of every rollout k of a problem, ``credit.presets`` computes a verification term and an outcome term
from them. Their sum is the action's advantage. ``docs/training.md`` explains the formulas.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from types import MappingProxyType
from typing import Annotated, Literal, TypeAlias

import msgspec

from proof_r1_formal import GOAL_BINDING, INVALID_RULE, Catalogue, StepReport, TraceReport

Weight: TypeAlias = Annotated[float, msgspec.Meta(ge=0.0)]
Share: TypeAlias = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
PresetName: TypeAlias = Literal["paper", "shared", "hardened", "strict"]


class CreditSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, gc=False):
    """The preset and the constants of the formulas; the defaults are the paper's.

    Attributes:
        preset: how the two terms of a group are computed, see ``proof_r1_formal.credit.presets``.
        verification_weight: λ_v.
        outcome_weight: λ_o.
        binding_weight: in place of λ_v for the terminal GOAL_BINDING that binds.
        epsilon: ε, beside the standard deviation.
        unsolved_weight: w of a group without a right rollout (``hardened``, ``strict``: without a proved one); 1
            elsewhere.
        no_positive_weight: factor of the negative verification terms of a group that has no positive one; ``hardened``
            and ``strict`` do not use it.
        baseline_start, baseline_decay: initial value and decay of the moving average of a rule's signals.
        baseline_min, baseline_max: b_min and b_max.
        uncertain: condition under which binding the answer Uncertain has signal 1: ``entailed`` as for any other action
            (never where that answer is right), or ``verified`` by two countermodels. The paper leaves out problems with
            this answer.
    """

    preset: PresetName = "paper"
    verification_weight: Weight = 3.0
    outcome_weight: Weight = 1.0
    binding_weight: Weight = 1.0
    epsilon: Annotated[float, msgspec.Meta(gt=0.0)] = 1e-6
    unsolved_weight: Weight = 0.25
    no_positive_weight: Share = 0.1
    baseline_start: Share = 0.5
    baseline_decay: Share = 0.9
    baseline_min: Share = 0.3
    baseline_max: Share = 0.7
    uncertain: Literal["entailed", "verified"] = "entailed"

    def __post_init__(self) -> None:
        if self.baseline_min > self.baseline_max:
            raise ValueError(f"baseline_min {self.baseline_min} is above baseline_max {self.baseline_max}")


# -- baselines --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Baselines:
    """For each rule, the moving average of the signals of its actions in earlier batches.

    Attributes:
        averages: rule -> average; its keys are the rules of the catalogue and ``INVALID_RULE``, for all other names.
    """

    averages: Mapping[str, float]

    @classmethod
    def start(cls, rules: Catalogue, settings: CreditSettings) -> Baselines:
        """The baselines before the first batch."""
        names = [*[rule.name for rule in rules.rules], INVALID_RULE]
        return cls(MappingProxyType(dict.fromkeys(names, settings.baseline_start)))

    def bucket(self, rule: str | None) -> str:
        """The key of the average that actions of this declared rule share."""
        return rule if rule is not None and rule in self.averages else INVALID_RULE

    def value(self, rule: str | None, settings: CreditSettings) -> float:
        """The clipped average of the bucket of a declared rule."""
        return min(max(self.averages[self.bucket(rule)], settings.baseline_min), settings.baseline_max)

    def after(self, reports: Iterable[TraceReport], settings: CreditSettings) -> Baselines:
        """The baselines after a batch: each moves towards the mean signal of its rule's actions."""
        signals: defaultdict[str, list[float]] = defaultdict(list)
        for report in reports:
            for step in report.actions:
                signals[self.bucket(step.declared_rule)].append(step.signal)
        keep = settings.baseline_decay
        moved = {rule: keep * self.averages[rule] + (1 - keep) * mean(values) for rule, values in signals.items()}
        return Baselines(MappingProxyType({**self.averages, **moved}))


# -- formulas ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Credit:
    """The credit of the actions of one rollout.

    Attributes:
        verification, outcome: the two terms of each action's advantage, weights included.
        units: of the rollout in the divisor of the loss of its mini-batch.
    """

    verification: tuple[float, ...]
    outcome: tuple[float, ...]
    units: int

    @property
    def advantages(self) -> tuple[float, ...]:
        """A_kt of each action."""
        return tuple([v + o for v, o in zip(self.verification, self.outcome, strict=True)])


def is_eligible(report: TraceReport) -> bool:
    """Whether a rollout keeps the contract: its summary parses, and every action is well formed."""
    return report.parsed and all(step.schema for step in report.actions)


def with_uncertain(report: TraceReport, settings: CreditSettings) -> TraceReport:
    """The report for credit. Under ``uncertain: verified``, binding a verified answer Uncertain passes all checks."""
    if settings.uncertain == "entailed" or report.uncertain != "verified" or not report.verified:
        return report
    *steps, last = report.actions  # a verified answer has a terminal action
    if last.declared_rule != GOAL_BINDING:  # under another rule it would earn λ_v
        return report
    bound = msgspec.structs.replace(last, semantic=True, rule=True, progress=True, signal=1.0)
    return msgspec.structs.replace(report, actions=(*steps, bound))


def is_right(report: TraceReport) -> bool:
    """R^o of the paper: whether an eligible rollout selects the right option."""
    return bool(report.answer_correct) and is_eligible(report)


def group_relative(rewards: Sequence[float], epsilon: float) -> tuple[float, ...]:
    """The distance of each reward from the mean, in population standard deviations; all 0 if the rewards are equal."""
    if len(set(rewards)) < 2:
        return (0.0,) * len(rewards)
    center = mean(rewards)
    deviation = sqrt(mean([(reward - center) ** 2 for reward in rewards]))
    return tuple([(reward - center) / (deviation + epsilon) for reward in rewards])


def declared_closure(report: TraceReport) -> tuple[bool, ...]:
    """m of the paper: which actions are in the closure along declared dependencies."""
    return tuple([step.in_closure for step in report.actions])


def used_closure(report: TraceReport) -> tuple[bool, ...]:
    """Which actions are in the closure along the dependencies that checked proofs use."""
    used = frozenset(report.used_closure)
    return tuple([step.in_closure and step.id in used for step in report.actions])


def useless(report: TraceReport) -> int:
    """The number of actions outside the used closure that pass all four checks: each one alone earns the full signal.

    The answer is proved without them.
    """
    inside = used_closure(report)
    return sum([step.signal == 1.0 and not used for step, used in zip(report.actions, inside, strict=True)])


def binds(step: StepReport) -> bool:
    """Whether the action is the terminal GOAL_BINDING and binds the formula of the option that it names."""
    return step.terminal and step.declared_rule == GOAL_BINDING and step.progress


def verification_term(step: StepReport, baselines: Baselines, settings: CreditSettings) -> float:
    """λ_v A^v of an action: its signal less the clipped baseline of its rule."""
    weight = settings.binding_weight if binds(step) else settings.verification_weight
    return weight * (step.signal - baselines.value(step.declared_rule, settings))


def mean(values: Sequence[float]) -> float:
    """The mean, from an exact sum, so the order of the rollouts has no effect."""
    return fsum(values) / len(values)
