"""The two-level test of runs: exact values of Student's t, error rates, what counts as a unit, and what is refused."""

from __future__ import annotations

import random
from statistics import fmean, stdev

import pytest

from proof_r1_formal.evaluation.measures import Measure
from proof_r1_formal.evaluation.paired import Rows
from proof_r1_formal.evaluation.runs import compare_runs, t_quantile, t_tails

RIGHT = Measure.RULE_VERIFIED


def run(rates: list[float], rng: random.Random, samples: int = 4) -> Rows:
    """Answers to a problem for each rate, right with this probability."""
    return {
        (f"p{n:02}", sample): {RIGHT: (rng.random() < rate, 1)}
        for n, rate in enumerate(rates)
        for sample in range(samples)
    }


def arm(seeds: int, rng: random.Random, *, mean: float = 0.5, between: float = 0.1) -> dict[int, Rows]:
    """Runs whose rates vary from seed to seed and from problem to problem."""
    hardness = random.Random(0)
    problems = [hardness.uniform(-0.2, 0.2) for _ in range(20)]
    return {seed: run([mean + shift + of for of in problems], rng) for seed in range(seeds)
            for shift in [rng.gauss(0, between)]}  # fmt: skip


@pytest.mark.parametrize(("freedom", "t"), [(1, 12.7062), (2, 4.30265), (3, 3.18245), (4, 2.77645), (9, 2.26216)])
def test_tails_of_t_are_those_of_the_tables(freedom: int, t: float) -> None:
    assert t_tails(t, freedom) == pytest.approx(0.05, abs=1e-6)
    assert t_tails(-t, freedom) == t_tails(t, freedom)
    assert t_quantile(0.05, freedom) == pytest.approx(t, rel=1e-5)
    assert t_tails(0, freedom) == 1


@pytest.mark.parametrize("freedom", [1, 2, 5, 8])
@pytest.mark.parametrize("t", [0.1, 0.9, 1.0, 3.5, 40.0])
def test_a_quantile_of_t_has_its_tails(freedom: int, t: float) -> None:
    assert t_quantile(t_tails(t, freedom), freedom) == pytest.approx(t, rel=1e-6)


@pytest.mark.parametrize("by_seed", [True, False])
def test_without_spread_of_problems_it_is_the_t_test_of_runs(by_seed: bool) -> None:
    """Every problem has the rate of its run, so that only the draw of runs makes a difference."""
    first, second = [0.9, 0.6, 0.7], [0.5, 0.4, 0.6]
    arms: list[dict[int, Rows]] = [
        {seed: {(name, 0): {RIGHT: (rate, 1)} for name in "abc"} for seed, rate in enumerate(of)}
        for of in (first, second)
    ]
    found = compare_runs(arms[0], arms[1], RIGHT, by_seed=by_seed, resamples=20_000)
    gaps = [one - other for one, other in zip(first, second, strict=True)]
    exact = stdev(gaps) / 3**0.5 if by_seed else ((stdev(first) ** 2 + stdev(second) ** 2) / 3) ** 0.5
    assert found.of.value == pytest.approx(fmean(gaps))
    assert found.of.spread == pytest.approx(exact, rel=0.03)
    assert found.p == pytest.approx(t_tails(fmean(gaps) / exact, 2), abs=0.01)
    assert found.of.spread is not None
    reach = t_quantile(0.05, 2) * found.of.spread
    assert found.of.interval == pytest.approx((fmean(gaps) - reach, fmean(gaps) + reach))
    assert (found.runs, found.problems) == ((3, 3), 3)


def test_problems_vary_although_runs_agree() -> None:
    """All runs of an arm are alike: the deviation is that of a bootstrap over problems."""
    sides: list[Rows] = [
        {(f"p{n}", 0): {RIGHT: (over, 1)} for n, over in enumerate(of)}
        for of in ((1, 1, 0, 1, 1, 0), (0, 1, 0, 0, 1, 0))
    ]
    first, second = (dict.fromkeys(range(4), side) for side in sides)
    found = compare_runs(first, second, RIGHT, by_seed=True)
    gaps = [1, 0, 0, 1, 0, 0]
    assert found.of.spread == pytest.approx(
        (fmean([gap**2 for gap in gaps]) - fmean(gaps) ** 2) ** 0.5 / 6**0.5, rel=0.03
    )


@pytest.mark.parametrize("by_seed", [True, False])
@pytest.mark.parametrize("seeds", [2, 3, 5])
def test_equal_arms_differ_rarely(seeds: int, by_seed: bool) -> None:
    """Of 200 tests of arms that differ by their seeds only, 10 may be below 0.05; a test of problems has over 40."""
    rng, below = random.Random(seeds), 0
    for _ in range(200):
        found = compare_runs(arm(seeds, rng), arm(seeds, rng), RIGHT, by_seed=by_seed, resamples=120)
        below += found.p < 0.05
    assert below <= 18


def test_a_large_difference_is_found() -> None:
    rng = random.Random(1)
    found = compare_runs(
        arm(5, rng, mean=0.75, between=0.02), arm(5, rng, mean=0.35, between=0.02), RIGHT, by_seed=False
    )
    assert found.p < 0.01
    assert found.of.interval is not None
    assert found.of.interval[0] < 0.4 < found.of.interval[1]
    assert found.error < 0.001


def test_pairing_by_warm_up_removes_what_arms_share() -> None:
    rng = random.Random(2)
    shifts = [-0.2, 0.0, 0.2, 0.1]
    arms = [
        {seed: run([0.4 + shift + gain] * 20, rng, samples=40) for seed, shift in enumerate(shifts)}
        for gain in (0.15, 0.0)
    ]
    paired, unpaired = (
        compare_runs(arms[0], arms[1], RIGHT, by_seed=by_seed, resamples=1000) for by_seed in (True, False)
    )
    assert paired.of.value == unpaired.of.value
    assert paired.p < 0.05 < unpaired.p


def test_only_the_seed_of_the_draws_matters() -> None:
    rng = random.Random(5)
    first, second = arm(3, rng), arm(4, rng)
    turned = {seed: dict(reversed(list(rows.items()))) for seed, rows in reversed(first.items())}
    once, again, back = (
        compare_runs(one, other, RIGHT, by_seed=False, resamples=50)
        for one, other in ((first, second), (turned, second), (second, first))
    )
    assert once == again
    assert back.of.value == -once.of.value
    here = compare_runs(first, second, RIGHT, by_seed=False, resamples=4000)
    more = compare_runs(first, second, RIGHT, by_seed=False, resamples=4000, seed=1)
    assert 0 < abs(here.p - more.p) < 6 * here.error


def test_arms_without_any_variation() -> None:
    sides: list[Rows] = [{(name, 0): {RIGHT: (over, 1)} for name in "ab"} for over in (1, 0)]
    first, second = (dict.fromkeys(range(4), side) for side in sides)
    assert compare_runs(first, second, RIGHT, by_seed=True).p == 2 / 2**4
    assert compare_runs(first, second, RIGHT, by_seed=False).p == 2 / 70
    assert compare_runs(first, first, RIGHT, by_seed=True).p == 1


def test_what_cannot_be_compared_is_refused() -> None:
    rng = random.Random(0)
    one, two, three = (arm(seeds, rng) for seeds in (1, 2, 3))
    with pytest.raises(ValueError, match="1 and 3 runs; train each with at least two seeds"):
        compare_runs(one, three, RIGHT, by_seed=False)
    with pytest.raises(ValueError, match=r"only one arm has a run of \[2\]"):
        compare_runs(two, three, RIGHT, by_seed=True)
    few: dict[int, Rows] = {
        seed: {sample: row for sample, row in rows.items() if sample[0] == "p00"} for seed, rows in two.items()
    }
    with pytest.raises(ValueError, match="1 problems are in all runs"):
        compare_runs(few, three, RIGHT, by_seed=False)


def test_the_error_of_p_is_how_far_other_seeds_move_it() -> None:
    rng = random.Random(7)
    first, second = arm(4, rng, mean=0.6), arm(4, rng)
    found = [compare_runs(first, second, RIGHT, by_seed=False, resamples=100, seed=seed) for seed in range(40)]
    assert stdev([one.p for one in found]) == pytest.approx(fmean([one.error for one in found]), rel=0.35)
