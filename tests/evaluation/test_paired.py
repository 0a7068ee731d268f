"""Paired tests: p-values by enumeration, error rates, Holm's order, symmetry, and systems that share little."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof_r1_formal.evaluation import paired
from proof_r1_formal.evaluation.measures import Measure, Part, Row, Sample
from proof_r1_formal.evaluation.paired import (
    Answers,
    compare_answers,
    compare_rates,
    flip_signs,
    holm,
    mcnemar,
    too_close,
)

MEASURES = (Measure.FVR, Measure.RVR)


def rows(*outputs: tuple[str, int, bool, tuple[int, int]]) -> dict[Sample, Row]:
    """Of each output: its problem and sample, whether it is right, and its verified and eligible steps."""
    return {
        (problem, sample): {Measure.AVG: (right, 1), Measure.FVR: steps, Measure.RVR: (0, steps[1])}
        for problem, sample, right, steps in outputs
    }


SAMPLES = st.tuples(st.sampled_from("abcde"), st.integers(0, 2))
OUTPUTS = st.dictionaries(SAMPLES, st.tuples(st.booleans(), st.integers(0, 3), st.integers(0, 3)), max_size=12).map(
    lambda found: rows(*[(*sample, right, (over, over + more)) for sample, (right, over, more) in found.items()])
)


# -- McNemar ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tosses", range(11))
def test_p_of_mcnemar_counts_splits_as_uneven(tosses: int) -> None:
    heads = [sum(of) for of in product((0, 1), repeat=tosses)]
    for first in range(tosses + 1):
        uneven = sum(abs(2 * of - tosses) >= abs(2 * first - tosses) for of in heads)
        assert mcnemar(first, tosses - first) == uneven / 2**tosses
    assert mcnemar(tosses, 5000) == mcnemar(5000, tosses) == 0.0  # below every float


def test_answers_are_compared_pair_by_pair() -> None:
    steps = (0, 1)
    first = rows(*[("a", n, n < 7, steps) for n in range(9)], ("only first", 0, True, steps))
    second = rows(*[("a", n, n in (0, 8), steps) for n in range(9)], ("only second", 0, True, steps))
    # Both have 0; the first alone 1 to 6; the second alone 8; neither has 7: 2 · (1 + 7) / 128
    assert compare_answers(first, second, Measure.AVG) == Answers(9, 6, 1, 0.125)


def test_an_output_without_a_reference_answer_is_no_pair() -> None:
    given_rows = rows(("a", 0, True, (1, 1)))
    bare: dict[Sample, Row] = {("a", 0): {Measure.FVR: (1, 1)}}
    assert compare_answers(given_rows, bare, Measure.AVG) == Answers(0, 0, 0, 1.0)


# -- rates ------------------------------------------------------------------------------------------------------------


def count_swaps(first: Sequence[Part], second: Sequence[Part]) -> float:
    """The p-value in plain loops."""
    pairs = list(zip(first, second, strict=True))
    differences = []
    for swapped in product((False, True), repeat=len(pairs)):
        sides = [pair[::-1] if swap else pair for pair, swap in zip(pairs, swapped, strict=True)]
        rates = []
        for parts in zip(*sides, strict=True):
            under = sum(part[1] for part in parts)
            rates.append(sum(part[0] for part in parts) / under if under else 0.0)
        differences.append(abs(rates[0] - rates[1]))
    return len([one for one in differences if one >= differences[0] - 1e-12]) / len(differences)


PARTS = st.tuples(st.integers(0, 4), st.integers(0, 3)).map(lambda of: (of[0], of[0] + of[1]))


@given(st.lists(st.tuples(PARTS, PARTS), min_size=1, max_size=8))
def test_all_swaps_are_counted(pairs: list[tuple[Part, Part]]) -> None:
    first, second = [of[0] for of in pairs], [of[1] for of in pairs]
    shares: list[list[Part]] = [[(part[0], 4) for part in side] for side in (first, second)]
    for one, other in ((first, second), (shares[0], shares[1])):
        p, error = flip_signs(one, other, rng=random.Random(0))
        assert p == pytest.approx(count_swaps(one, other))
        assert error == 0


def test_p_of_shares_is_exact_for_many_problems() -> None:
    """All signs of 60 equal differences are tosses of a coin; no seed is in it."""
    right = [(1, 1)] * 38 + [(0, 1)] * 22
    wrong = [(1 - over, 1) for over, _ in right]
    p, error = flip_signs([*right, (1, 1)], [*wrong, (1, 1)], rng=random.Random(0))
    assert p == pytest.approx(mcnemar(38, 22))
    assert error == 0


def test_drawn_swaps_agree_with_counted_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    drawer = random.Random(3)
    first, second = ([(drawer.randint(least, 5), drawer.randint(5, 9)) for _ in range(13)] for least in (1, 0))
    exact, none = flip_signs(first, second, rng=random.Random(0))
    assert none == 0
    monkeypatch.setattr(paired, "_ENUMERATED", 12)
    drawn, error = flip_signs(first, second, rng=random.Random(0))
    assert 0 < abs(drawn - exact) < 4 * error
    assert not too_close(drawn, error)


def test_a_p_value_that_another_seed_may_move_is_too_close(monkeypatch: pytest.MonkeyPatch) -> None:
    assert too_close(0.052, 0.0003)
    assert too_close(0.06, 0.00105)  # ten times the error
    assert not too_close(0.052, 0.0001)
    assert not too_close(0.0501, 0.0)
    assert too_close(0.026, 0.0003, family=2)  # Holm's bound for the smaller of two
    assert not too_close(0.026, 0.0003)
    monkeypatch.setattr(paired, "_MOST_DRAWS", 8000)
    monkeypatch.setattr(paired, "LEVEL", 0.5)
    drawer = random.Random(4)
    sides = [[(drawer.randint(0, 5), drawer.randint(5, 9)) for _ in range(20)] for _ in range(2)]
    p, error = flip_signs(sides[0], sides[1], rng=random.Random(0))
    monkeypatch.setattr(paired, "LEVEL", p)  # as close as can be: all draws are made
    p, error = flip_signs(sides[0], sides[1], rng=random.Random(0))
    assert error == pytest.approx((p * (1 - p) / 8000) ** 0.5)


@pytest.mark.parametrize("problems", [1, 2, 3, 5, 8])
def test_equal_systems_differ_rarely(problems: int) -> None:
    """Under the null hypothesis at most one of 20 p-values is below 0.05, for any number of problems."""
    drawer, found = random.Random(problems), []
    for _ in range(400):
        sides = [[(drawer.randint(0, 4), drawer.randint(4, 6)) for _ in range(problems)] for _ in range(2)]
        found.append(flip_signs(sides[0], sides[1], rng=drawer)[0])
    assert min(found) >= 2 / 2**problems
    assert sum(p < 0.05 for p in found) <= 32  # 20 expected; 32 or fewer in 99.7 %


def test_the_interval_draws_problems_with_the_outputs_of_both() -> None:
    """The interval against plain loops."""
    parts = {"a": ((3, 4), (1, 4)), "b": ((1, 2), (2, 2)), "c": ((5, 5), (2, 3)), "d": ((2, 6), (1, 5))}
    first, second = [rows(*[(name, 0, True, of[side]) for name, of in parts.items()]) for side in (0, 1)]
    found = compare_rates(first, second, MEASURES, resamples=400, seed=7)[Measure.FVR]
    rng, names, drawn = random.Random(7), list(parts), []
    for _ in range(400):
        chosen = [names[n] for n in rng.choices(range(4), k=4)]
        one, other = [
            sum(parts[name][side][0] for name in chosen) / sum(parts[name][side][1] for name in chosen)
            for side in (0, 1)
        ]
        drawn.append(one - other)
    assert found.problems == 4
    assert found.p == count_swaps([of[0] for of in parts.values()], [of[1] for of in parts.values()])
    assert found.of.value == pytest.approx(11 / 17 - 6 / 14)
    assert found.of.interval == pytest.approx((sorted(drawn)[10], sorted(drawn)[-11]))


def test_a_difference_on_every_problem_has_the_least_p() -> None:
    first, second = [rows(*[(f"p{n}", 0, True, (over, 4)) for n in range(9)]) for over in (3, 1)]
    found = compare_rates(first, second, MEASURES, resamples=99)
    assert (found[Measure.FVR].of.value, found[Measure.FVR].of.interval) == (0.5, (0.5, 0.5))
    assert (found[Measure.FVR].p, found[Measure.RVR].p) == (2 / 2**9, 1.0)


def test_only_common_outputs_are_compared() -> None:
    common = ("a", 0, True, (1, 2))
    first = rows(common, ("a", 1, True, (9, 9)), ("b", 0, True, (9, 9)))
    second = rows(common, ("c", 0, False, (0, 9)))
    found = compare_rates(first, second, MEASURES, resamples=40)[Measure.FVR]
    assert (found.problems, found.of.value, found.p) == (1, 0.0, 1.0)
    assert compare_rates(first, rows(("c", 0, False, (0, 9))), MEASURES) == {}
    assert compare_rates({}, {}, MEASURES) == {}


@given(OUTPUTS, OUTPUTS)
def test_paired_tests_do_not_depend_on_who_is_first(first: dict[Sample, Row], second: dict[Sample, Row]) -> None:
    there, back = compare_answers(first, second, Measure.AVG), compare_answers(second, first, Measure.AVG)
    assert there == Answers(back.pairs, back.second_only, back.first_only, back.p)
    rates, mirrored = [compare_rates(*of, MEASURES, resamples=40) for of in ((first, second), (second, first))]
    assert {name: (-one.of.value, one.p) for name, one in rates.items()} == {
        name: (one.of.value, one.p) for name, one in mirrored.items()
    }


@given(OUTPUTS)
def test_a_system_does_not_differ_from_itself(outputs: dict[Sample, Row]) -> None:
    assert compare_answers(outputs, outputs, Measure.AVG) == Answers(len(outputs), 0, 0, 1.0)
    for found in compare_rates(outputs, outputs, MEASURES, resamples=40).values():
        assert (found.of.value, found.of.interval, found.p) == (0, (0, 0), 1.0)


@given(OUTPUTS, OUTPUTS, st.integers(0, 5), st.randoms(use_true_random=False))
def test_paired_rates_depend_on_the_seed_alone(
    first: dict[Sample, Row], second: dict[Sample, Row], seed: int, rng: random.Random
) -> None:
    shuffled = dict(rng.sample(list(first.items()), len(first)))
    once, again = [compare_rates(of, second, MEASURES, resamples=40, seed=seed) for of in (first, shuffled)]
    assert once == again


# -- Holm -------------------------------------------------------------------------------------------------------------


def test_holm_multiplies_in_order_and_never_falls() -> None:
    # 0.005 · 4, 0.01 · 3, 0.03 · 2; 0.04 · 1 is less than the one before it
    by_value = {0.005: 0.02, 0.01: 0.03, 0.03: 0.06, 0.04: 0.06}
    for order in permutations(by_value):
        assert holm(order) == pytest.approx([by_value[p] for p in order])
    assert holm([0.5, 0.7]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_is_between_each_p_and_bonferroni(p_values: list[float]) -> None:
    corrected = holm(p_values)
    bounds = [(p, min(1.0, len(p_values) * p)) for p in p_values]
    assert all(low <= new <= high for (low, high), new in zip(bounds, corrected, strict=True))
    pairs = sorted(zip(p_values, corrected, strict=True))
    assert [new for _, new in pairs] == sorted(corrected)
    assert len(p_values) != 1 or corrected == p_values


@pytest.mark.parametrize("wrong", [float("nan"), -0.1, 1.5])
def test_what_is_no_p_value_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="is not a p-value"):
        holm([0.5, wrong])
