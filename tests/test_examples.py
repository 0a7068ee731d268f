"""Hypothesis here: its examples do not depend on the modules that are loaded, nor its verdicts on a clock."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
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


def test_no_clock_decides_whether_a_test_passes() -> None:
    """A test that suppresses other checks of Hypothesis suppresses that of the time that its data takes, too."""
    assert settings().deadline is None
    own = re.compile(r"suppress_health_check=(\[[^\]]*\]|list\(HealthCheck\))")
    lists = [found for path in Path(__file__).parent.rglob("*.py") for found in own.findall(path.read_text("utf-8"))]
    assert len(lists) >= 4
    assert [found for found in lists if "too_slow" not in found and found != "list(HealthCheck)"] == []
