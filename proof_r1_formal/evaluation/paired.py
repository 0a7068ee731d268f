"""Two systems on the same outputs: an exact test of answers, a sign-flip test of rates, and Holm's correction.

In: the rows of two systems, by problem and sample. Out: differences with their p-values, all two-sided. A pair is a
problem and sample of which both systems have an output that counts; the others are in no test. These tests generalise
to other problems, not to other runs of a training: :mod:`proof_r1_formal.evaluation.runs` tests that.
"""

from __future__ import annotations

import math
import random
from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from proof_r1_formal.evaluation.estimates import draws, interval, quotient, resample, sum_parts, total
from proof_r1_formal.evaluation.measures import Estimate, Measure, Part, Row, Sample

RESAMPLES = 2000
"""Default number of bootstrap resamples for the interval of a difference."""
LEVEL = 0.05
"""A difference is called one if its corrected p-value is below."""
_ENUMERATED = 13
"""Up to this number of problems that differ, a test of quotients counts all flips."""
_DRAWS = 2000
_MOST_DRAWS = 1 << 18
_BLOCK = 8
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
        error: the standard error of p; 0 if p is exact.
    """

    problems: int
    of: Estimate
    p: float
    error: float = 0.0


def compare_rates(
    first: Rows,
    second: Rows,
    measures: Sequence[Measure],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    family: int = 1,
) -> dict[Measure, Difference]:
    """The sign-flip test of rates: under the null hypothesis the two systems may be swapped on every problem.

    The p-value is the share of all ways to swap in which the difference is at least as far from 0 as the observed one
    (Fisher 1935). With n problems that differ it is at least 2 / 2^n. It is exact for rates whose denominators do not
    depend on the system, such as shares of answers, and for at most 13 problems. Otherwise swaps are drawn, the
    observed one counted among them, until :func:`too_close` is false or 262,144 are drawn. The interval is a
    percentile bootstrap over problems.

    Args:
        first, second: the rows of the systems.
        measures: the rates; as in every table, the rate of no steps is 0.
        resamples: how often the problems are drawn for the interval.
        seed: of the draws, which are the same for all measures.
        family: number of tests that Holm's method corrects for.
    """
    problems: defaultdict[str, list[Sample]] = defaultdict(list)
    for sample in _common(first, second):
        problems[sample[0]].append(sample)
    if not problems:
        return {}
    sides = [[total([rows[sample] for sample in of], measures) for of in problems.values()] for rows in (first, second)]
    parts = [[row[measure] for row in side] for measure in measures for side in sides]
    observed = _differences(list(map(sum_parts, parts)))
    drawn = [_differences(sums) for sums in resample(parts, _draws(len(problems), resamples, seed))]
    found = {}
    for place, (measure, difference) in enumerate(zip(measures, observed, strict=True)):
        estimate = Estimate(difference, difference, 1, interval=interval([values[place] for values in drawn]))
        p, error = flip_signs(*parts[2 * place : 2 * place + 2], family=family, rng=random.Random(seed))
        found[measure] = Difference(len(problems), estimate, p, error)
    return found


@lru_cache(maxsize=2)
def _draws(count: int, resamples: int, seed: int) -> list[array[int]]:
    """The draws for the intervals. A study compares many pairs of systems on the same problems, with the same draws."""
    return [array("I", drawn) for drawn in draws(count, resamples, random.Random(seed))]


def flip_signs(
    first: Sequence[Part], second: Sequence[Part], *, family: int = 1, rng: random.Random
) -> tuple[float, float]:
    """The two-sided p-value of the sign-flip test of two quotients of sums, and its standard error.

    Args:
        first, second: the parts of each problem, in the same order.
        family: see :func:`compare_rates`.
        rng: for the draws, if there are any.

    >>> flip_signs([(1, 1)] * 6, [(0, 1)] * 6, rng=random.Random(0))
    (0.03125, 0.0)
    """
    pairs = list(zip(first, second, strict=True))
    differ = [(one, other) for one, other in pairs if one != other]
    same = sum_parts([one for one, other in pairs if one == other])
    whole = [one[0] - other[0] for one, other in differ]
    if all(one[1] == other[1] and one[0] == int(one[0]) and other[0] == int(other[0]) for one, other in differ):
        return _count_flips(list(map(int, whole))), 0.0
    swaps = _Swaps(same, differ)
    if len(differ) <= _ENUMERATED:
        hits = sum(map(swaps.is_far, range(1 << len(differ))))
        return hits / (1 << len(differ)), 0.0
    far = draws = 0
    while draws < _MOST_DRAWS:
        more = draws or _DRAWS
        far += sum([swaps.is_far(rng.getrandbits(len(differ))) for _ in range(more)])
        draws += more
        p = (1 + far) / (1 + draws)
        error = math.sqrt(p * (1 - p) / draws)
        if not too_close(p, error, family=family):
            break
    return p, error


def too_close(p: float, error: float, *, family: int = 1) -> bool:
    """Whether another seed may decide otherwise: p is nearer to a bound than ten times its error.

    The bounds are those of Holm's method for ``family`` tests: ``LEVEL`` / 1, / 2, …, / ``family``.
    """
    return any(10 * error > abs(p - LEVEL / rank) for rank in range(1, family + 1))


def _count_flips(differences: Sequence[int]) -> float:
    """The share of signs for which the sum is at least as far from 0: an exact count over all 2^n of them.

    The counts of all sums are the coefficients of a product of (1 + x^2d). One integer holds them, n + 1 bits each.
    """
    unit = math.gcd(*differences) or 1
    steps = [abs(one) // unit for one in differences]
    observed, most, width = abs(sum(differences)) // unit, sum(steps), len(steps) + 1
    ways = 1
    for step in steps:
        ways += ways << (step * width)
    # A sum of signs s is at the coefficient (most + s) / 2, and as frequent as -s.
    least = (most + observed) // 2
    tail, mask, far = ways >> (least * width), (1 << width) - 1, 0
    for place in range(most - least + 1):
        far += (tail >> (place * width)) & mask
    return min(1.0, (2 * far if observed else 1 << len(steps)) / (1 << len(steps)))


class _Swaps:
    """Which ways to swap two systems give a difference as far from 0 as the observed one, a bit for each problem."""

    def __init__(self, same: Part, differ: Sequence[tuple[Part, Part]]) -> None:
        blocks = [differ[start : start + _BLOCK] for start in range(0, len(differ), _BLOCK)]
        self._tables = [_sums_of_block(block) for block in blocks]
        self._bytes = len(blocks)
        self._all = [of + 2 * part for of, part in zip(_add_pairs(differ), same, strict=True)]
        self._same = same
        self._bound = abs(self._difference(0)) - _ROUNDING

    def is_far(self, swapped: int) -> bool:
        return abs(self._difference(swapped)) >= self._bound

    def _difference(self, swapped: int) -> float:
        over, under = self._same
        for table, byte in zip(self._tables, swapped.to_bytes(self._bytes, "little"), strict=True):
            more = table[byte]
            over += more[0]
            under += more[1]
        return quotient((over, under)) - quotient((self._all[0] - over, self._all[1] - under))


def _sums_of_block(block: Sequence[tuple[Part, Part]]) -> list[Part]:
    """The sums of the first system, for every way to swap the problems of a block."""
    sums: list[Part] = [(0, 0)]
    for pair in block:
        sums = [(over + part[0], under + part[1]) for part in pair for over, under in sums]
    return sums


def _add_pairs(pairs: Sequence[tuple[Part, Part]]) -> Part:
    return sum_parts([part for pair in pairs for part in pair])


def _differences(sums: Sequence[Part]) -> list[float]:
    """For each measure: the rate of the first system, less that of the second."""
    return [quotient(one) - quotient(other) for one, other in zip(sums[::2], sums[1::2], strict=True)]


def _common(first: Rows, second: Rows) -> list[Sample]:
    """The pairs, in an order that does not depend on that of the rows."""
    return sorted(first.keys() & second.keys())


def holm(p_values: Iterable[float]) -> list[float]:
    """The p-values of several tests corrected for their number (Holm, Scand. J. Statist. 6, 1979), in the same order.

    Raises:
        ValueError: a value is not between 0 and 1.

    >>> holm([0.25, 0.0625, 0.125])
    [0.25, 0.1875, 0.25]
    """
    given = list(p_values)
    if wrong := [p for p in given if not 0 <= p <= 1]:
        raise ValueError(f"{wrong[0]!r} is not a p-value: it is a number from 0 to 1")
    corrected = [0.0] * len(given)
    least = 0.0
    for rank, index in enumerate(sorted(range(len(given)), key=given.__getitem__)):
        least = max(least, min(1.0, (len(given) - rank) * given[index]))
        corrected[index] = least
    return corrected
