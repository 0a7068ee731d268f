"""The examples that Hypothesis gives a test do not depend on the numbers and words of the modules that are loaded."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st


def examples() -> list[tuple[int, str]]:
    drawn: list[tuple[int, str]] = []

    @given(st.integers(), st.text())
    def draw(number: int, text: str) -> None:
        drawn.append((number, text))

    draw()
    return drawn


def test_they_do_not_depend_on_the_modules_that_are_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = examples()
    (tmp_path / "just_loaded.py").write_text('NUMBERS, WORDS = (31_415, 92_653), ("strange", "words")\n')
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("just_loaded")
    assert examples() == before
