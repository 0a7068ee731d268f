"""The scores of the decoding experiment."""

from __future__ import annotations

import pytest

from studies.decoding import Drawn, Line, Score, gain, within


def score(*solved: bool) -> Score:
    return Score(measures={}, solved=solved, schema=1.0, tokens=0.0, read=0.0)


def test_a_completion_that_exceeds_the_budget_does_not_count() -> None:
    first, second = (Drawn("", tokens, whole=True, taken_back=0, read=0) for tokens in (60, 50))
    line = Line("1", (first, second))
    assert [within(line, budget) for budget in (59, 60, 109, 110)] == [(), (first,), (first,), (first, second)]


def test_a_gain_and_its_interval() -> None:
    none, all_of_them, half = score(False, False), score(True, True), score(True, False)
    assert gain([none, half], [none, half]) == (0.0, 0.0, 0.0)
    assert gain([all_of_them] * 2, [none] * 2) == (1.0, 1.0, 1.0)
    assert gain([half] * 2, [none] * 2) == (0.5, 0.0, 1.0)  # each resample has the solved problem 0 to 2 times
    assert gain([none], [half])[0] == pytest.approx(-0.5)
