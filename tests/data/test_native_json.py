"""A problem as one text, as services and trainers carry it: it reads back equal; no text makes reading fail oddly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof_r1_formal.data.native import from_json, to_json
from proof_r1_formal.errors import DataError
from tests.build import example_problems


def test_a_problem_reads_back_equal() -> None:
    for problem in example_problems().values():
        assert from_json(to_json(problem)) == problem


@given(st.text())
def test_any_text_is_a_problem_or_says_why_not(text: str) -> None:
    with pytest.raises(DataError):
        from_json(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[]", "a record must be an object, not an array"),
        ('{"id": "a", "premises": [], "options": []', "^a problem: .*not JSON: "),
        ('{"id": "a", "premises": [], "options": [], "size": 1}', "size"),
        ('{"id": "a", "premises": [{"id": "h1", "formula": "cat("}], "options": []}', "premise h1"),
        ('{"id": "\\ud800", "premises": [], "options": []}', "half of a surrogate pair"),
        ('{"id":' + "[" * 100 + "]" * 100 + "}", "nested deeper"),
        ('{"id":' * 100_000, "nested too deeply"),
    ],
)
def test_the_reason_is_said(text: str, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        from_json(text)
