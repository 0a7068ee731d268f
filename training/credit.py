"""What each action of a rollout earns: the verifier's reports on one group to advantages, in pure Python.

In: the reports on the rollouts of one problem, which of their actions map to tokens, and the baselines of the rules.
Out: for every action t of every rollout k a verification term and an outcome term, whose sum is its advantage:

    A^v_kt = R^v_kt - clip(EMA_rule, b_min, b_max)
    Â^o_k  = (R^o_k - mean) / (population standard deviation + ε)     over the eligible rollouts
    A_kt   = w λ_v A^v_kt + λ_o m_kt Â^o_k

R^v is the signal of the action, R^o whether the rollout selects the right option, m the mask of the closure. Negative
verification terms are scaled down where they outweigh the positive ones of the group. ``docs/training.md`` says why.
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


class CreditSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, gc=False):
    """The constants of the formulas; the defaults are the paper's.

    The last three are switches. Their other values close ways of earning more for the same proof.

    Attributes:
        verification_weight: λ_v.
        outcome_weight: λ_o.
        binding_weight: in place of λ_v for the terminal GOAL_BINDING that binds.
        epsilon: ε, beside the standard deviation.
        unsolved_weight: w where no eligible rollout of the group is right; 1 elsewhere.
        no_positive_weight: factor of the negative verification terms of a group that has no positive one.
        baseline_start, baseline_decay: where the moving average of a rule's signals starts, how much of it is kept.
        baseline_min, baseline_max: b_min and b_max.
        closure: whether the mask follows the dependencies that actions declare or those that their proofs use.
        total: whether all credits of a rollout add up, or (``mean``) the inferences that its answer rests on share one
            unit and those beside them earn nothing, so that the number of actions earns nothing.
        unanswered: whether a rollout that breaks the contract, or chooses no option, escapes the outcome or counts as
            a wrong one with all its actions.
    """

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
    closure: Literal["declared", "used"] = "declared"
    total: Literal["sum", "mean"] = "sum"
    unanswered: Literal["exempt", "wrong"] = "exempt"

    def __post_init__(self) -> None:
        if self.baseline_min > self.baseline_max:
            raise ValueError(f"baseline_min {self.baseline_min} is above baseline_max {self.baseline_max}")


# -- baselines --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Baselines:
    """For each rule the moving average of the signals that its actions had in the batches so far.

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

    def after(self, reports: Iterable[TraceReport], settings: CreditSettings) -> Baselines:
        """The baselines once a batch has been credited: each moves towards the mean signal of its rule's actions."""
        signals: defaultdict[str, list[float]] = defaultdict(list)
        for report in reports:
            for step in report.actions:
                signals[self.bucket(step.declared_rule)].append(step.signal)
        keep = settings.baseline_decay
        moved = {rule: keep * self.averages[rule] + (1 - keep) * _mean(values) for rule, values in signals.items()}
        return Baselines(MappingProxyType({**self.averages, **moved}))


# -- one group --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Credit:
    """What the actions of one rollout earn.

    Attributes:
        verification, outcome: the two terms of each action's advantage, weights included.
        units: what the rollout adds to the number by which the loss of its mini-batch is divided.
    """

    verification: tuple[float, ...]
    outcome: tuple[float, ...]
    units: int

    @property
    def advantages(self) -> tuple[float, ...]:
        """A_kt of each action."""
        return tuple([v + o for v, o in zip(self.verification, self.outcome, strict=True)])


def group_credit(
    reports: Sequence[TraceReport],
    mapped: Sequence[Sequence[bool]],
    baselines: Baselines,
    settings: CreditSettings,
    *,
    verification: bool = True,
    closure: bool = True,
) -> tuple[Credit, ...]:
    """The credit of all rollouts of one problem.

    Args:
        reports: on the rollouts.
        mapped: for each rollout, which of its actions have tokens.
        baselines: from the batches before this one.
        settings: the constants.
        verification: whether actions earn a verification term; without it, only the outcome counts.
        closure: whether the outcome is credited inside of the closure only.
    """
    outcomes = group_outcomes(reports, settings)
    unsolved = not any(report.answer_correct and is_eligible(report) for report in reports)
    weight = settings.unsolved_weight if unsolved else 1.0
    terms = [
        [weight * _verification_term(step, baselines, settings) if verification else 0.0 for step in report.actions]
        for report in reports
    ]
    scale = _negative_scale(terms, mapped, settings)
    return tuple(
        [
            _rollout_credit(
                report, outcome, [t * scale if t < 0.0 else t for t in row], flags, settings, closure=closure
            )
            for report, outcome, row, flags in zip(reports, outcomes, terms, mapped, strict=True)
        ]
    )


def _rollout_credit(
    report: TraceReport,
    outcome: float,
    terms: Sequence[float],
    mapped: Sequence[bool],
    settings: CreditSettings,
    *,
    closure: bool,
) -> Credit:
    rests = closure_mask(report, settings)
    evades = settings.unanswered == "wrong" and (report.answer is None or not is_eligible(report))
    credited = rests if closure and not evades else (True,) * len(report.actions)
    shared = [settings.outcome_weight * outcome if inside else 0.0 for inside in credited]
    if settings.total == "sum":
        return Credit(tuple(terms), tuple(shared), sum(mapped))
    inferences = sum([r and m and not s.terminal for s, r, m in zip(report.actions, rests, mapped, strict=True)])
    parts = [1 if step.terminal else max(1, inferences) for step in report.actions]  # the binding stands alone
    return Credit(
        tuple([(t if r else min(t, 0.0)) / part for t, r, part in zip(terms, rests, parts, strict=True)]),
        tuple([term / part for term, part in zip(shared, parts, strict=True)]),
        int(any(mapped)),
    )


def is_eligible(report: TraceReport) -> bool:
    """Whether a rollout takes part in the outcome: its summary is read, and every action is well formed."""
    return report.parsed and all(step.schema for step in report.actions)


def group_outcomes(reports: Sequence[TraceReport], settings: CreditSettings) -> tuple[float, ...]:
    """Â^o of each rollout; 0 for those that are left out, and for all if they agree."""
    counted = [settings.unanswered == "wrong" or is_eligible(report) for report in reports]
    rewards = [1.0 if report.answer_correct and is_eligible(report) else 0.0 for report in reports]
    relative = iter(group_relative([r for r, counts in zip(rewards, counted, strict=True) if counts], settings.epsilon))
    return tuple([next(relative) if counts else 0.0 for counts in counted])


def group_relative(rewards: Sequence[float], epsilon: float) -> tuple[float, ...]:
    """How far each reward is from their mean, in (population) standard deviations; 0 for all if they agree."""
    if len(set(rewards)) < 2:
        return (0.0,) * len(rewards)
    mean = _mean(rewards)
    deviation = sqrt(_mean([(reward - mean) ** 2 for reward in rewards]))
    return tuple([(reward - mean) / (deviation + epsilon) for reward in rewards])


def closure_mask(report: TraceReport, settings: CreditSettings) -> tuple[bool, ...]:
    """m: which actions the answer rests on."""
    if settings.closure == "declared":
        return tuple([step.in_closure for step in report.actions])
    used = frozenset(report.used_closure)
    return tuple([step.in_closure and step.id in used for step in report.actions])


def binds(step: StepReport) -> bool:
    """Whether the action is the terminal GOAL_BINDING and binds the formula of the option that it names."""
    return step.terminal and step.declared_rule == GOAL_BINDING and step.progress


def _verification_term(step: StepReport, baselines: Baselines, settings: CreditSettings) -> float:
    average = baselines.averages[baselines.bucket(step.declared_rule)]
    baseline = min(max(average, settings.baseline_min), settings.baseline_max)
    weight = settings.binding_weight if binds(step) else settings.verification_weight
    return weight * (step.signal - baseline)


def _negative_scale(
    terms: Sequence[Sequence[float]], mapped: Sequence[Sequence[bool]], settings: CreditSettings
) -> float:
    """By what negative verification terms are multiplied, so that a group does not learn only what to avoid."""
    counted = [t for row, flags in zip(terms, mapped, strict=True) for t, flag in zip(row, flags, strict=True) if flag]
    positive = fsum([term for term in counted if term > 0.0])
    negative = -fsum([term for term in counted if term < 0.0])
    if positive == 0.0:
        return settings.no_positive_weight
    return positive / negative if negative > positive else 1.0


def _mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values)  # exact, so that the order of rollouts cannot show
