"""Two arms of a training study, several runs each: the difference of their means, tested over runs and problems.

In: for each arm the rows of its runs, by seed or warm-up. Out: the difference with a 95 % interval and a p-value. The
unit is the run: the result generalises to other seeds *and* other problems. For two fixed systems use
:func:`proof_r1_formal.evaluation.paired.compare_rates`, which generalises to other problems only.

The difference is d = mean of the first arm's rates − mean of the second's, each run counting alike. A resample draws
the problems with replacement, the same ones for all runs, since all runs answer the same problems. Then it draws runs
with replacement: with ``by_seed`` R − 1 of the R seeds, each with its run in both arms, otherwise one fewer than its
number in each arm by itself. Drawing R − 1 makes the variance of a mean over few runs unbiased (McCarthy and Snowden
1985). With s, the standard deviation of the resampled differences, and Student's t of R − 1 degrees of freedom (R of
the smaller arm), p is the probability of |t| ≥ |d| / s, and the interval is d ± t(0.975) s.

Not to be used:

* with one run in an arm, which is refused: nothing says how far another seed would be from it;
* for runs that share more than problems, such as two arms from common warm-ups, without ``by_seed``;
* for rates chosen as the best of several checkpoints or learning rates on the same problems.

With two runs, t has one degree of freedom: only a difference of 12.7 standard errors is below 0.05.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from proof_r1_formal.evaluation.estimates import draws, quotient, resample, total
from proof_r1_formal.evaluation.measures import CONFIDENCE, Estimate, Measure, Part
from proof_r1_formal.evaluation.paired import Rows

RESAMPLES = 10_000
"""Default number of resamples: the standard deviation of their differences is known to about 0.7 %."""


@dataclass(frozen=True, slots=True)
class RunDifference:
    """How a rate of two arms differs.

    Attributes:
        runs: of the first arm and of the second.
        problems: that every run has.
        of: the mean of the first arm less that of the second, with its interval; ``spread`` is its standard error.
        p: two-sided.
        error: how far p may be off because the resamples are finite in number: one standard error.
    """

    runs: tuple[int, int]
    problems: int
    of: Estimate
    p: float
    error: float


def compare_runs(
    first: Mapping[int, Rows],
    second: Mapping[int, Rows],
    measure: Measure,
    *,
    by_seed: bool,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> RunDifference:
    """The two-level bootstrap test of one rate; correct the p-values of several by :func:`.paired.holm`.

    Args:
        first, second: the rows of each run of an arm, by its seed or warm-up.
        measure: the rate; the rate of no steps is 0.
        by_seed: whether runs with the same number belong together, as runs from one warm-up do.
        resamples: at least 2.
        seed: of the draws.

    Raises:
        ValueError: an arm has fewer than two runs, the arms have different seeds though ``by_seed``, or fewer than
            two problems are in all runs.
    """
    arms = [dict(sorted(arm.items())) for arm in (first, second)]
    if any(len(arm) < 2 for arm in arms):
        counts = " and ".join([f"{len(arm)}" for arm in arms])
        raise ValueError(f"the arms have {counts} runs; train each with at least two seeds")
    if by_seed and arms[0].keys() != arms[1].keys():
        alone = sorted(arms[0].keys() ^ arms[1].keys())
        raise ValueError(f"only one arm has a run of {alone}; leave it out, or compare without by_seed")
    runs = [rows for arm in arms for rows in arm.values()]
    problems = sorted(set.intersection(*[{name for name, _ in rows} for rows in runs]))
    if len(problems) < 2:
        raise ValueError(f"{len(problems)} problems are in all runs; score all runs on the same problems")
    columns = [_parts(rows, measure, problems) for rows in runs]
    split, rng = len(arms[0]), random.Random(seed)

    def rates(sums: Iterable[Part]) -> tuple[list[float], list[float]]:
        values = list(map(quotient, sums))
        return values[:split], values[split:]

    sums_of_draws = resample(columns, draws(len(problems), resamples, rng))
    drawn = [_draw(*rates(sums), by_seed=by_seed, rng=rng) for sums in sums_of_draws]
    one, other = rates([(sum(over), sum(under)) for over, under in (zip(*column, strict=True) for column in columns)])
    difference, deviation = fmean(one) - fmean(other), stdev(drawn)
    freedom = min(map(len, arms)) - 1
    p, error = _p_value(difference, deviation, freedom, resamples)
    if not deviation and difference:  # nothing varies: no smaller than that of a permutation of the runs
        p, error = 2 / (2 ** len(one) if by_seed else math.comb(len(runs), split)), 0.0
    reach = t_quantile(1 - CONFIDENCE, freedom) * deviation
    estimate = Estimate(difference, difference, 1, deviation, (difference - reach, difference + reach))
    return RunDifference((len(one), len(other)), len(problems), estimate, p, error)


def _parts(rows: Rows, measure: Measure, problems: Sequence[str]) -> list[Part]:
    """The sums of each problem over its samples."""
    by_problem: dict[str, list[tuple[int, str]]] = {name: [] for name in problems}
    for name, sample in sorted(rows):
        if name in by_problem:
            by_problem[name].append((sample, name))
    return [total([rows[name, sample] for sample, name in of], [measure])[measure] for of in by_problem.values()]


def _draw(first: Sequence[float], second: Sequence[float], *, by_seed: bool, rng: random.Random) -> float:
    if by_seed:
        gaps = [one - other for one, other in zip(first, second, strict=True)]
        return fmean(rng.choices(gaps, k=len(gaps) - 1))
    one, other = (fmean(rng.choices(arm, k=len(arm) - 1)) for arm in (first, second))
    return one - other


def _p_value(difference: float, deviation: float, freedom: int, resamples: int) -> tuple[float, float]:
    """The p-value, and its error, which is that of a deviation from this number of normal draws."""
    if not deviation:
        return (0.0 if difference else 1.0), 0.0
    off = 1 / math.sqrt(2 * resamples)
    low, p, high = (t_tails(difference / (deviation * scale), freedom) for scale in (1 - off, 1, 1 + off))
    return p, (high - low) / 2


def t_tails(t: float, freedom: int) -> float:
    """The probability that Student's t is at least as far from 0 (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4).

    >>> round(t_tails(12.706, 1), 4), round(t_tails(-2.776, 4), 3)
    (0.05, 0.05)
    """
    angle = math.atan(abs(t) / math.sqrt(freedom))
    square = math.cos(angle) ** 2
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    series = 0.0
    for count in range(freedom // 2):
        series += term
        term *= square * (2 * count + 1 + odd) / (2 * count + 2 + odd)
    inside = 2 / math.pi * (angle + math.sin(angle) * series) if odd else math.sin(angle) * series
    return max(0.0, 1 - inside)


def t_quantile(tails: float, freedom: int) -> float:
    """The t with these tails, both together, by bisection."""
    low, high = 0.0, 1.0
    while t_tails(high, freedom) > tails:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if t_tails(middle, freedom) > tails else (low, middle)
    return high
