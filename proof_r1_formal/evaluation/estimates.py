"""From rows of parts to scores: quotients of sums, their spread, and bootstrap intervals.

In: the row of every output, by problem and sample. Out: an :class:`Estimate` for every measure. Of the resamples
those count in which a score is defined; there is no interval of fewer than ``LEAST_RESAMPLES``. Where there are
outputs, the rates of steps are always defined: of no steps they are 0.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from statistics import stdev

from proof_r1_formal.evaluation.measures import (
    CONFIDENCE,
    LEAST_RESAMPLES,
    RATES,
    Estimate,
    Measure,
    Part,
    Rate,
    Row,
    Sample,
)


def estimates(
    rows: Mapping[Sample, Row],
    *,
    measures: Collection[Measure] = tuple(Measure),
    resamples: int = 0,
    rng: random.Random | None = None,
) -> dict[Measure, Estimate]:
    """The scores of a group of outputs.

    Args:
        rows: in any order, which does not show in the result.
        measures: which scores.
        resamples: number of bootstrap resamples of the problems; 0 for no intervals.
        rng: for the bootstrap.
    """
    by_problem: defaultdict[str, list[Row]] = defaultdict(list)
    by_sample: defaultdict[int, list[Row]] = defaultdict(list)
    for problem_id, sample in sorted(rows):  # sorted: the order of the reports must not show in sums of floats
        row = rows[problem_id, sample]
        by_problem[problem_id].append(row)
        by_sample[sample].append(row)
    problem_rows, sample_rows = list(map(total, by_problem.values())), list(map(total, by_sample.values()))
    for row in problem_rows:
        right, judged = row[Measure.AVG]
        row[Measure.PASS] = (right > 0, judged > 0)
    sums = total(problem_rows)
    rates = RATES if sums[Measure.PARSED][1] else ()
    intervals = _intervals(problem_rows, measures, rates, resamples, rng or random.Random(0))
    return {
        measure: (Rate if measure in rates else Estimate)(
            value=quotient(part),
            numerator=part[0],
            denominator=part[1],
            spread=_spread(measure, part, sample_rows, rates),
            interval=intervals.get(measure),
        )
        for measure, part in sums.items()
        if measure in measures
    }


def total(rows: Sequence[Row], measures: Collection[Measure] = tuple(Measure)) -> Row:
    """The sums over all rows, for each of the scores."""
    return {measure: sum_parts([row[measure] for row in rows if measure in row]) for measure in measures}


def sum_parts(parts: Sequence[Part]) -> Part:
    """The sums of numerators and of denominators."""
    return sum([over for over, _ in parts]), sum([under for _, under in parts])


def quotient(part: Part) -> float:
    """The score of two sums; 0 if nothing was counted."""
    numerator, denominator = part
    return numerator / denominator if denominator else 0.0


def _spread(measure: Measure, part: Part, sample_rows: Sequence[Row], rates: Collection[Measure]) -> float | None:
    if measure is Measure.PASS:
        share, (_, problems) = quotient(part), part
        return math.sqrt(share * (1 - share) / problems) if problems else None
    values = [quotient(row[measure]) for row in sample_rows if row[measure][1] or measure in rates]
    return stdev(values) if len(values) > 1 else None


def _intervals(
    problem_rows: Sequence[Row],
    measures: Collection[Measure],
    rates: Collection[Measure],
    resamples: int,
    rng: random.Random,
) -> dict[Measure, tuple[float, float]]:
    """Percentile bootstrap: problems are drawn with replacement, all samples of a problem together."""
    if not problem_rows:
        return {}
    values: dict[Measure, list[float]] = {measure: [] for measure in measures}
    for sums in resample([[row[measure] for row in problem_rows] for measure in measures], resamples, rng):
        for (measure, found), part in zip(values.items(), sums, strict=True):
            if part[1] or measure in rates:
                found.append(quotient(part))
    return {measure: ends for measure, of in values.items() if (ends := interval(of)) is not None}


def resample(columns: Sequence[Sequence[Part]], resamples: int, rng: random.Random) -> Iterator[list[Part]]:
    """For each resample the sums of every column, over items drawn with replacement: the same in all columns."""
    terms = [tuple(term) for column in columns for term in zip(*column, strict=True)]  # numerators, denominators, …
    places = {term: place for place, term in enumerate(dict.fromkeys(terms))}  # many columns have the same denominators
    items, order = list(zip(*places, strict=True)), [places[term] for term in terms]
    for _ in range(resamples):
        sums = list(map(sum, zip(*rng.choices(items, k=len(items)), strict=True)))
        found = [sums[place] for place in order]
        yield list(zip(found[::2], found[1::2], strict=True))


def interval(values: Sequence[float]) -> tuple[float, float] | None:
    """The percentile interval of resampled values; None of fewer than ``LEAST_RESAMPLES``."""
    if len(values) < LEAST_RESAMPLES:
        return None
    ordered = sorted(values)
    tail = math.floor(len(ordered) * (1 - CONFIDENCE) / 2)  # values cut off at each end
    return ordered[tail], ordered[-1 - tail]
