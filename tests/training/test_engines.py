"""The two engines share ``training.common`` and the algorithm; neither imports the other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TRAINING = Path(__file__).resolve().parents[2] / "training"


def imported(text: str) -> set[str]:
    """The folders of ``training`` that a source imports from."""
    return set(re.findall(r"^ *(?:from|import) training\.(common|local|openrlhf)\b", text, re.MULTILINE))


@pytest.mark.parametrize(
    ("folder", "allowed"),
    [("common", {"common"}), ("local", {"common", "local"}), ("openrlhf", {"common", "openrlhf"})],
)
def test_an_engine_does_not_import_the_other(folder: str, allowed: set[str]) -> None:
    found = {path.name: imported(path.read_text()) for path in (TRAINING / folder).glob("*.py")}
    assert any(found.values())
    assert {name: extra for name, folders in found.items() if (extra := folders - allowed)} == {}


def test_an_import_inside_a_function_counts() -> None:
    assert imported("def f():\n    from training.local.update import update\n") == {"local"}
    assert imported("# from training.local import update\nimport proof_r1_formal.credit.terms\n") == set()
