"""Scores from rows of parts: spreads and intervals with exact values, and what the seed changes."""

from __future__ import annotations

import math
import random

import pytest

from proof_r1_formal.evaluation.estimates import draws, estimates, interval, resample
from proof_r1_formal.evaluation.measures import LEAST_RESAMPLES, Estimate, Measure, Rate, Row, Sample


def answers(**right: str) -> dict[Sample, Row]:
    """Rows of parsed outputs: for each problem, a digit per sample says whether its answer is right."""
    return {
        (name, sample): {Measure.PARSED: (1, 1), Measure.AVG: (int(digit), 1)}
        for name, digits in right.items()
        for sample, digit in enumerate(digits)
    }


def test_the_spread_is_over_samples() -> None:
    """Sample 0 is right on both problems, and sample 1 on one of two."""
    found = estimates(answers(a="11", b="10"))[Measure.AVG]
    assert (found.numerator, found.denominator, found.value) == (3, 4, 0.75)
    assert found.spread == pytest.approx(0.5 / math.sqrt(2))
    assert estimates(answers(a="1", b="0"))[Measure.AVG].spread is None
    assert estimates(answers(a="101", b="000"))[Measure.AVG].spread == pytest.approx(math.sqrt(1 / 12))


def test_the_spread_of_pass_is_that_of_a_share() -> None:
    found = estimates(answers(a="01", b="00", c="11", d="00"))[Measure.PASS]
    assert (found.numerator, found.denominator) == (2, 4)
    assert found.spread == pytest.approx(math.sqrt(0.5 * 0.5 / 4))
    assert estimates(answers(a="11"))[Measure.PASS].spread == 0
    assert estimates({})[Measure.PASS].spread is None


def test_rates_are_defined_where_there_are_outputs() -> None:
    found = estimates(answers(a="1"))
    assert isinstance(found[Measure.FVR], Rate)
    assert found[Measure.FVR].is_defined
    assert type(found[Measure.AVG]) is Estimate
    assert not estimates({})[Measure.FVR].is_defined
    assert not found[Measure.RGD].is_defined


def test_only_the_measures_asked_for_are_there() -> None:
    assert list(estimates(answers(a="1"), measures=(Measure.AVG,), resamples=50)) == [Measure.AVG]


@pytest.mark.parametrize(("count", "cut"), [(40, 1), (79, 1), (80, 2), (1000, 25)])
def test_an_interval_cuts_equal_tails(count: int, cut: int) -> None:
    values = [float(number) for number in range(count)]
    random.Random(0).shuffle(values)
    assert interval(values) == (cut, count - 1 - cut)


def test_few_resamples_have_no_interval() -> None:
    assert interval([0.0] * (LEAST_RESAMPLES - 1)) is None
    assert interval([0.0] * LEAST_RESAMPLES) == (0, 0)
    assert estimates(answers(a="10"), resamples=LEAST_RESAMPLES - 1)[Measure.AVG].interval is None
    assert estimates(answers(a="10"), resamples=LEAST_RESAMPLES)[Measure.AVG].interval == (0.5, 0.5)
    assert estimates(answers(a="10"))[Measure.AVG].interval is None
    assert estimates({}, resamples=50)[Measure.AVG].interval is None


def test_a_score_without_parts_has_no_interval_unless_it_is_a_rate() -> None:
    found = estimates(answers(a="10"), resamples=50)
    assert found[Measure.RGD].interval is None
    assert found[Measure.FVR].interval == (0, 0)


def test_problems_are_drawn_with_all_their_samples() -> None:
    """A problem that is right in all samples, and one that is right in none: a resample has the share k/2."""
    columns = [[(3, 3), (0, 3)], [(1, 1), (0, 1)]]
    drawn = list(resample(columns, draws(len(columns[0]), 200, random.Random(0))))
    assert len(drawn) == 200
    assert {tuple(sums) for sums in drawn} == {((k * 3, 6), (k, 2)) for k in range(3)}


def test_intervals_depend_on_the_seed_alone() -> None:
    rows = answers(**{f"p{n}": f"{n % 2}{n % 3 % 2}" for n in range(9)})
    turned = dict(reversed(rows.items()))

    def ends(rows: dict[Sample, Row], seed: int) -> tuple[float, float] | None:
        return estimates(rows, resamples=60, rng=random.Random(seed))[Measure.AVG].interval

    assert ends(rows, 1) == ends(turned, 1)
    assert len({ends(rows, seed) for seed in range(9)}) > 1
    assert estimates(rows, resamples=60)[Measure.AVG].interval == ends(rows, 0)
