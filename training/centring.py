"""How well a baseline predicts the signals of actions on other problems: one for all rules, and one per rule.

In: the rule and the signal of every action, problem by problem. Out: a :class:`Centring` per rule and for all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from math import fsum, sqrt
from statistics import fmean
from typing import TypeAlias

Signal: TypeAlias = tuple[str, float]
"""The declared rule and the signal of an action."""


@dataclass(frozen=True, slots=True)
class Centring:
    """The error of a baseline of signals that was estimated on other problems.

    Attributes:
        actions: how many.
        by_global: error of one baseline, the mean of all signals.
        by_rule: error of one baseline per rule, the mean of the rule's signals.
    """

    actions: int
    by_global: float
    by_rule: float


def centring(groups: Sequence[Sequence[Signal]], *, folds: int = 5) -> dict[str, Centring]:
    """The cross-validated error of both baselines, for each rule and (``all``) over all rules.

    Problems are split into folds. The error of a rule in a fold is its mean signal there minus the baseline from the
    other folds. Squared errors are averaged, weighted by actions. A rule that is absent from the other folds gets the
    global baseline.

    Args:
        groups: the actions of each problem's rollouts.
        folds: at least 2.
    """
    errors: dict[str, list[tuple[int, float, float]]] = defaultdict(list)
    for fold in range(folds):
        known = _by_rule(chain.from_iterable([g for i, g in enumerate(groups) if i % folds != fold]))
        if not known:
            continue
        value = fmean(chain.from_iterable(known.values()))
        for rule, signals in _by_rule(chain.from_iterable(groups[fold::folds])).items():
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
    by_global, by_rule = (sqrt(fsum([part[0] * part[i] for part in parts]) / max(1, actions)) for i in (1, 2))
    return Centring(actions, by_global, by_rule)
