"""The named presets of credit: a group of verified rollouts to the credit of every action.

In: a :class:`Group`, the rollouts of one problem with the baselines and the constants. Out: a
:class:`~proof_r1_formal.credit.terms.Credit` for each rollout. ``PRESETS`` holds the presets by name.

* ``paper``: each action earns its own verification term. If the rollout is eligible, actions of the declared closure
  also earn the outcome term.
* ``shared``: the inferences of the used closure share one unit of both terms, and a rollout that breaks the contract or
  selects no option counts as wrong.
* ``hardened``: a rollout has a total for each term, which its actions divide. The outcome R^o is 1 if the right answer
  is verified.
* ``strict``: as ``hardened``, but R^o is 1 only if all actions of the closure pass all checks as well.

Under the last two the sum of a rollout's advantages depends only on the standings of the group's rollouts, so an edit
of a rollout earns more only if it raises its standing. ``docs/training.md`` gives the formulas.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from math import fsum
from types import MappingProxyType
from typing import Protocol

from proof_r1_formal import INVALID_RULE, TraceReport
from proof_r1_formal.credit.terms import (
    Baselines,
    Credit,
    CreditSettings,
    PresetName,
    declared_closure,
    group_relative,
    is_eligible,
    is_right,
    mean,
    used_closure,
    verification_term,
)


@dataclass(frozen=True, slots=True)
class Group:
    """The rollouts of one problem, with the inputs of their credit.

    Attributes:
        reports: on the rollouts.
        mapped: for each rollout, which of its actions have tokens. Where no action has a token of its own and the
            preset credits the text, all tokens belong to the first action, or to one flag for the whole text.
        baselines: after the earlier batches.
        settings: the constants.
        verification: whether actions earn a verification term; without it, only the outcome counts.
        closure: whether only actions of the closure earn the outcome term.
    """

    reports: Sequence[TraceReport]
    mapped: Sequence[Sequence[bool]]
    baselines: Baselines
    settings: CreditSettings
    verification: bool = True
    closure: bool = True

    def terms(self, weight: float, *, text: bool) -> list[list[float]]:
        """w λ_v A^v of each action of each rollout, for the weight w.

        With ``text`` a rollout without actions has one term, that of an action with signal 0 and without a rule.
        """
        if not self.verification:
            return [[0.0] * len(flags) for flags in self.mapped]
        none = -self.settings.verification_weight * self.baselines.value(INVALID_RULE, self.settings)
        return [
            [weight * verification_term(step, self.baselines, self.settings) for step in report.actions]
            or [weight * none] * text
            for report in self.reports
        ]


class Preset(Protocol):
    """Credits the rollouts of one problem."""

    @property
    def credits_text(self) -> bool:
        """Whether the whole text of a rollout is credited as if it were one action, where no action has tokens."""

    def credit(self, group: Group) -> tuple[Credit, ...]:
        """The credit of the actions of each rollout."""


@dataclass(frozen=True, slots=True)
class Paper:
    """The paper's credit."""

    credits_text: bool = False

    def credit(self, group: Group) -> tuple[Credit, ...]:
        """See :class:`Preset`."""
        terms = scale(group.terms(_paper_weight(group), text=False), group)
        outcomes = [group.settings.outcome_weight * one for one in eligible_outcomes(group.reports, group.settings)]
        found = []
        for report, outcome, row, flags in zip(group.reports, outcomes, terms, group.mapped, strict=True):
            inside = declared_closure(report) if group.closure else (True,) * len(report.actions)
            found.append(Credit(tuple(row), tuple([outcome if one else 0.0 for one in inside]), sum(flags)))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Shared:
    """Credit along the used closure, whose inferences share one unit. A rollout that breaks the contract is wrong."""

    credits_text: bool = True

    def credit(self, group: Group) -> tuple[Credit, ...]:
        """See :class:`Preset`."""
        settings = group.settings
        terms = scale(group.terms(_paper_weight(group), text=True), group)
        outcomes = group_relative([float(is_right(report)) for report in group.reports], settings.epsilon)
        return tuple(
            self._rollout(report, row, settings.outcome_weight * outcome, flags, closure=group.closure)
            for report, row, outcome, flags in zip(group.reports, terms, outcomes, group.mapped, strict=True)
        )

    @staticmethod
    def _rollout(
        report: TraceReport, terms: Sequence[float], outcome: float, mapped: Sequence[bool], *, closure: bool
    ) -> Credit:
        if not report.actions:
            return Credit(tuple(terms), (outcome,) * len(mapped), int(any(mapped)))
        inside = used_closure(report)
        answers = report.answer is not None and is_eligible(report)
        credited = inside if closure and answers else (True,) * len(inside)
        inferences = sum([m and i and not s.terminal for s, i, m in zip(report.actions, inside, mapped, strict=True)])
        parts = [1 if step.terminal else max(1, inferences) for step in report.actions]  # the binding stands alone
        return Credit(
            tuple([(t if i else min(t, 0.0)) / part for t, i, part in zip(terms, inside, parts, strict=True)]),
            tuple([(outcome if one else 0.0) / part for one, part in zip(credited, parts, strict=True)]),
            int(any(mapped)),
        )


UNPROVED = 0.1
"""The standing of a rollout that keeps the contract and proves nothing."""
FLAWED = 0.3
"""The standing under ``hardened`` of a proof that rests on an action with a failed check."""


@dataclass(frozen=True, slots=True)
class Hardened:
    """Credit by the standing of a rollout; the verdicts on its actions only divide it among them.

    Attributes:
        flawed: standing of a right and verified answer that rests on an action with a failed check.
    """

    flawed: float = FLAWED
    credits_text: bool = True

    def credit(self, group: Group) -> tuple[Credit, ...]:
        """See :class:`Preset`."""
        if not group.reports:
            return ()
        settings, standings = group.settings, [standing(report, self.flawed) for report in group.reports]
        proved = [own > UNPROVED for own in standings]
        weight = 1.0 if any(proved) else settings.unsolved_weight
        outcomes = group_relative([float(one) for one in proved], settings.epsilon)
        average, scale = mean(standings), weight * settings.verification_weight * group.verification
        found = []
        rows = zip(group.reports, standings, outcomes, group.terms(weight, text=True), group.mapped, strict=True)
        for report, own, outcome, terms, flags in rows:
            inside = used_closure(report) if group.closure and report.actions else (True,) * len(flags)
            found.append(_divide(scale * (own - average), settings.outcome_weight * outcome, terms, inside, flags))
        return tuple(found)


PRESETS: Mapping[PresetName, Preset] = MappingProxyType(
    {"paper": Paper(), "shared": Shared(), "hardened": Hardened(), "strict": Hardened(flawed=UNPROVED)}
)
"""The presets by name."""


# -- paper and shared -------------------------------------------------------------------------------------------------


def _paper_weight(group: Group) -> float:
    """w: lower where no eligible rollout is right."""
    return 1.0 if any(map(is_right, group.reports)) else group.settings.unsolved_weight


def eligible_outcomes(reports: Sequence[TraceReport], settings: CreditSettings) -> tuple[float, ...]:
    """The paper's Â^o of each rollout: 0 if it is not eligible; all 0 if the eligible ones have equal rewards."""
    rewards = [float(is_right(report)) for report in reports if is_eligible(report)]
    relative = iter(group_relative(rewards, settings.epsilon))
    return tuple([next(relative) if is_eligible(report) else 0.0 for report in reports])


def scale(terms: Sequence[Sequence[float]], group: Group) -> list[list[float]]:
    """The terms, with the negative ones scaled down so they do not outweigh the positive ones."""
    counted = [term for row, flags in zip(terms, group.mapped, strict=True) for term in compress(row, flags)]
    positive = fsum([term for term in counted if term > 0.0])
    negative = -fsum([term for term in counted if term < 0.0])
    scale = 1.0
    if positive == 0.0:
        scale = group.settings.no_positive_weight
    elif negative > positive:
        scale = positive / negative
    return [[term * scale if term < 0.0 else term for term in row] for row in terms]


# -- hardened ---------------------------------------------------------------------------------------------------------


def standing(report: TraceReport, flawed: float = FLAWED) -> float:
    """The standing s_k of a whole rollout, on the scale of signals.

    Returns:
        0.0 if it breaks the contract or has no action, 0.1 if its answer is not right or not verified, ``flawed`` if an
        action of the closure of its right and verified answer does not pass all four checks, else 1.0.
    """
    if not report.actions or not is_eligible(report):
        return 0.0
    if not (report.answer_correct and report.verified):
        return UNPROVED
    return 1.0 if all(step.signal == 1.0 for step in report.actions if step.in_closure) else flawed


def _divide(
    verification: float, outcome: float, terms: Sequence[float], inside: Sequence[bool], mapped: Sequence[bool]
) -> Credit:
    """Two totals, divided among the actions that have tokens; the parts of each add up to the total.

    Actions outside the used closure get the negative part of their own term. Those inside share the remainder in equal
    parts, plus or minus how far their own term is from the mean of theirs. ``mapped``: which of them have tokens.
    """
    bearing = [i and m for i, m in zip(inside, mapped, strict=True)]
    if not any(bearing):
        bearing = list(mapped)
    count, size = sum(bearing), sum(mapped)
    if not count:
        return Credit((0.0,) * len(terms), (0.0,) * len(terms), 0)
    beside = [0.0 if b or not m else min(t, 0.0) / size for t, b, m in zip(terms, bearing, mapped, strict=True)]
    remainder, average = verification - fsum(beside), mean(list(compress(terms, bearing)))
    rows = zip(terms, bearing, beside, strict=True)
    divided = tuple([(remainder + term - average) / count if bears else own for term, bears, own in rows])
    return Credit(divided, tuple([outcome / count if bears else 0.0 for bears in bearing]), 1)
