"""Diagnostics of credit: means of a batch, how well baselines predict signals, and the two terms of each token.

In: reports, or verified rollouts, of a batch of a ``credit.CreditAssigner``. Out: numbers for the paper's figures over
training. ``integrations.gradients`` turns the terms into the gradients of a model.

A *centring value* is what the verification term subtracts from a signal. The paper compares one for all rules with one
for each rule, both estimated on other problems than those whose signals they predict.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import fsum, sqrt
from statistics import fmean
from types import MappingProxyType
from typing import TypeAlias

from proof_r1_formal import INVALID_RULE, Catalogue, TraceReport
from proof_r1_formal.credit.methods import METHODS, Rollout, credit_batch, divisor
from proof_r1_formal.credit.terms import Baselines, CreditSettings, is_eligible, useless
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.evaluation.estimates import quotient, total
from proof_r1_formal.evaluation.measures import Measure
from proof_r1_formal.evaluation.outcomes import output_row

_SIGNALS = (0.0, 0.1, 0.3, 1.0)
"""The signals of an action."""

Signal: TypeAlias = tuple[str, float]
"""The declared rule and the signal of an action."""


def signal_shares(reports: Iterable[TraceReport]) -> dict[str, float]:
    """The share of each signal among all actions: ``signal_0``, ``signal_0.1``, ``signal_0.3``, ``signal_1``."""
    counts = Counter([step.signal for report in reports for step in report.actions])
    return {f"signal_{signal:g}": counts[signal] / max(1, counts.total()) for signal in _SIGNALS}


def batch_metrics(reports: Sequence[TraceReport]) -> dict[str, float]:
    """Means over a batch for a log: scores of ``evaluation.measures``, and what else to watch in a run.

    Returns:
        ``signal`` (mean over actions), ``signal_0``, ``signal_0.1``, ``signal_0.3``, ``signal_1`` (shares of actions),
        ``FVR``, ``RVR``, ``right``, ``verified`` (right and verified), ``rule_verified`` (right and rule-verified),
        ``parsed``, ``eligible``, ``actions`` and ``useless`` (both per completion). A mean of nothing is absent: all
        without a report, those of actions without an action, FVR and RVR without an eligible one.
    """
    if not reports:
        return {}
    count = len(reports)
    steps = [step for report in reports for step in report.actions]
    sums = total([output_row(report, None, None) for report in reports])
    signals = {"signal": fmean([step.signal for step in steps]), **signal_shares(reports)} if steps else {}
    return signals | {
        **{of.value: quotient(sums[of]) for of in (Measure.FVR, Measure.RVR) if sums[of][1]},
        "right": sum([report.answer_correct is True for report in reports]) / count,
        "verified": sum([report.answer_correct is True and report.verified for report in reports]) / count,
        "rule_verified": sum([report.answer_correct is True and report.rule_verified for report in reports]) / count,
        "parsed": sum([report.parsed for report in reports]) / count,
        "eligible": sum(map(is_eligible, reports)) / count,
        "actions": len(steps) / count,
        "useless": sum(map(useless, reports)) / count,
    }


# -- centring ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Centring:
    """The errors of two centring values that were estimated on other problems.

    Attributes:
        actions: how many.
        one: root mean square error of one value, the mean of all signals.
        per_rule: that of one value per rule, the mean of the rule's signals.
    """

    actions: int
    one: float
    per_rule: float


def signals_by_problem(reports: Iterable[TraceReport], rules: Catalogue) -> list[list[Signal]]:
    """The signals of the actions of each problem's rollouts; an action of an unknown rule has ``INVALID_RULE``."""
    found: defaultdict[str, list[Signal]] = defaultdict(list)
    for report in reports:
        for step in report.actions:
            rule = None if step.declared_rule is None else rules.find(step.declared_rule)
            found[report.problem_id].append((INVALID_RULE if rule is None else rule.name, step.signal))
    return list(found.values())


def centring(problems: Sequence[Sequence[Signal]], *, folds: int = 5) -> dict[str, Centring]:
    """The cross-validated error of both values, for each rule and (``all``) over all rules.

    Problems are split into folds. The error of a rule in a fold is its mean signal there minus the value from the other
    folds. Squared errors are averaged, weighted by actions. A rule that is absent from the other folds gets the mean of
    all signals there.

    Args:
        problems: the signals of each problem's rollouts.
        folds: at least 2, and no more than there are problems.

    Raises:
        ValueError: there are too few folds or problems.
    """
    if not 2 <= folds <= len(problems):
        raise ValueError(f"{folds} folds of {len(problems)} problems: there must be at least 2, and a problem in each")
    errors: dict[str, list[tuple[int, float, float]]] = defaultdict(list)
    for fold in range(folds):
        known = _by_rule(chain.from_iterable([one for i, one in enumerate(problems) if i % folds != fold]))
        if not known:
            continue
        value = fmean(chain.from_iterable(known.values()))
        for rule, signals in _by_rule(chain.from_iterable(problems[fold::folds])).items():
            mean = fmean(signals)
            own = fmean(known[rule]) if rule in known else value
            errors[rule].append((len(signals), (mean - value) ** 2, (mean - own) ** 2))
    found = {rule: _centring(parts) for rule, parts in sorted(errors.items())}
    return {**found, "all": _centring(list(chain.from_iterable(errors.values())))}


def _by_rule(signals: Iterable[Signal]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = defaultdict(list)
    for rule, signal in signals:
        found[rule].append(signal)
    return found


def _centring(parts: Sequence[tuple[int, float, float]]) -> Centring:
    actions = sum([count for count, _, _ in parts])
    one, per_rule = (sqrt(fsum([part[0] * part[i] for part in parts]) / max(1, actions)) for i in (1, 2))
    return Centring(actions, one, per_rule)


# -- terms ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TokenTerms:
    """The two terms of the advantages of a batch of B completions, weights included.

    Attributes:
        verification, outcome: B tuples, each with a number for every token of its completion, or of the row that
            replaces it; the two add up to the token's advantage.
        divisor: N_B.
    """

    verification: tuple[tuple[float, ...], ...]
    outcome: tuple[tuple[float, ...], ...]
    divisor: int


def token_terms(
    rollouts: Sequence[Rollout],
    group_size: int,
    averages: Mapping[str, float],
    *,
    method: str = "proof_r1",
    settings: CreditSettings | None = None,
) -> TokenTerms:
    """The terms that a ``CreditAssigner`` adds up, for rollouts of its method ``verify``.

    Args:
        rollouts: of the whole batch, group by group.
        group_size: K.
        averages: its ``state_dict`` before it assigns them.
        method: its method, one with credit per action.
        settings: its constants; the paper's if None.

    Raises:
        ProofR1Error: the method does not credit actions.
    """
    groups = [rollouts[start : start + group_size] for start in range(0, len(rollouts), group_size)]
    baselines = Baselines(MappingProxyType(dict(averages)))
    earned = credit_batch(METHODS[method], groups, baselines, settings or CreditSettings())
    verification, outcome = [], []
    for rollout, credit in zip(rollouts, chain.from_iterable(earned.groups), strict=True):
        if credit.actions is None and any(credit.advantages):
            raise ProofR1Error(f"method {method!r} does not credit actions, so it has no terms")
        silent = (0.0,) * len(credit.advantages)
        corrected = rollout.corrected if credit.replaced is not None else None  # whose row it is then
        project = (rollout if corrected is None else corrected).alignment.project
        verification.append(silent if credit.actions is None else project(credit.actions.verification))
        outcome.append(silent if credit.actions is None else project(credit.actions.outcome))
    return TokenTerms(tuple(verification), tuple(outcome), divisor(list(chain.from_iterable(earned.groups))))
