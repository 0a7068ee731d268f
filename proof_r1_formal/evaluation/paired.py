"""Two systems on the same outputs: an exact test of answers, a bootstrap test of rates, and Holm's correction.

In: the rows of two systems, by problem and sample. Out: differences with their p-values, all two-sided. A pair is a
problem and sample of which both systems have an output that counts; the others are in no test.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from proof_r1_formal.evaluation.estimates import interval, quotient, resample, sum_parts, total
from proof_r1_formal.evaluation.measures import Estimate, Measure, Part, Row, Sample

RESAMPLES = 2000
"""Default number of bootstrap resamples of a test: no p-value is below 1 / 2001."""
_ROUNDING = 1e-12

Rows = Mapping[Sample, Row]


@dataclass(frozen=True, slots=True)
class Answers:
    """How the answers of two systems differ.

    Attributes:
        pairs: outputs that both systems have.
        first_only, second_only: pairs in which only one of the two has what is tested, such as a right answer.
        p: the probability of a split at least as uneven if each of these pairs is a toss of a fair coin.
    """

    pairs: int
    first_only: int
    second_only: int
    p: float


def compare_answers(first: Rows, second: Rows, measure: Measure) -> Answers:
    """McNemar's exact test of a measure that is 0 or 1 for an output, over all pairs.

    It takes pairs as independent, also those of one problem.
    """
    pairs = [
        (bool(first[sample][measure][0]), bool(second[sample][measure][0]))
        for sample in _common(first, second)
        if measure in first[sample] and measure in second[sample]
    ]
    only = pairs.count((True, False)), pairs.count((False, True))
    return Answers(len(pairs), *only, p=mcnemar(*only))


def mcnemar(first_only: int, second_only: int) -> float:
    """The exact two-sided p-value of McNemar's test (Psychometrika 12, 1947), from the pairs that differ.

    >>> mcnemar(6, 0), mcnemar(1, 4), mcnemar(0, 0)
    (0.03125, 0.375, 1.0)
    """
    tosses = first_only + second_only
    ways = tail = 1  # of 0 heads
    for heads in range(1, min(first_only, second_only) + 1):
        ways = ways * (tosses - heads + 1) // heads
        tail += ways
    return min(1.0, 2 * tail / (1 << tosses))


@dataclass(frozen=True, slots=True)
class Difference:
    """How a rate of two systems differs.

    Attributes:
        problems: with at least one pair.
        of: the first system's rate less the second's, over pairs, with a bootstrap interval.
        p: see :func:`compare_rates`.
    """

    problems: int
    of: Estimate
    p: float


def compare_rates(
    first: Rows, second: Rows, measures: Sequence[Measure], *, resamples: int = RESAMPLES, seed: int = 0
) -> dict[Measure, Difference]:
    """The paired bootstrap test of rates: a draw of a problem takes the pairs of both systems.

    The p-value is the share of resamples in which the difference is at least as far from the observed one as that is
    from 0, with the observed one counted among the resamples (Efron and Tibshirani 1993, chapter 16).

    Args:
        first, second: the rows of the systems.
        measures: the rates; as in every table, the rate of no steps is 0.
        resamples: how often the problems are drawn.
        seed: of the draws, which are the same for all measures.
    """
    problems: defaultdict[str, list[Sample]] = defaultdict(list)
    for sample in _common(first, second):
        problems[sample[0]].append(sample)
    if not problems:
        return {}
    sides = [[total([rows[sample] for sample in of]) for of in problems.values()] for rows in (first, second)]
    parts = [[row[measure] for row in side] for measure in measures for side in sides]
    observed = _differences(list(map(sum_parts, parts)))
    drawn = [_differences(sums) for sums in resample(parts, resamples, random.Random(seed))]
    found = {}
    for measure, difference, others in zip(measures, observed, zip(*drawn, strict=True), strict=True):
        far = sum([abs(other - difference) >= abs(difference) - _ROUNDING for other in others])
        estimate = Estimate(difference, difference, 1, interval=interval(others))
        found[measure] = Difference(len(problems), estimate, (1 + far) / (1 + resamples))
    return found


def _differences(sums: Sequence[Part]) -> list[float]:
    """For each measure: the rate of the first system, less that of the second."""
    return [quotient(one) - quotient(other) for one, other in zip(sums[::2], sums[1::2], strict=True)]


def _common(first: Rows, second: Rows) -> list[Sample]:
    """The pairs, in an order that does not depend on that of the rows."""
    return sorted(first.keys() & second.keys())


def holm(p_values: Iterable[float]) -> list[float]:
    """The p-values of several tests corrected for their number (Holm, Scand. J. Statist. 6, 1979), in the same order.

    >>> holm([0.25, 0.0625, 0.125])
    [0.25, 0.1875, 0.25]
    """
    given = list(p_values)
    corrected = [0.0] * len(given)
    least = 0.0
    for rank, index in enumerate(sorted(range(len(given)), key=given.__getitem__)):
        least = max(least, min(1.0, (len(given) - rank) * given[index]))
        corrected[index] = least
    return corrected
