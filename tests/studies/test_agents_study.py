"""The small study of docs/evaluation.md: its tables and figures are those that the command makes of its records."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from proof_r1_formal import Completion, read_completions, read_problems
from tests.build import ROOT
from tests.patience import PATIENCE

FOLDER = ROOT / "docs" / "experiments" / "agents"
TEXT = re.compile(r"<!-- (.*?) -->|>([^<>]+)</text>")
SHOWN = ("Main results", "Answers and proofs", "Cost of a response")
"""Tables on the page."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the command of the page writes."""
    folder = tmp_path_factory.mktemp("study")
    files = ("--markdown", str(folder / "tables.md"), "--plots", str(folder / "plots"))
    command = [sys.executable, "-m", "proof_r1_formal", "evaluate", "--study", str(FOLDER / "study.toml"), *files]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_the_page_has_the_tables_of_the_study(made: Path) -> None:
    page = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")
    tables = {
        title: table.strip()
        for title, table in re.findall(r"\*\*(.+?)\*\*\n\n((?:\|.*\n)+)", (made / "tables.md").read_text("utf-8"))
    }
    shown = [name for name in tables if name.startswith(SHOWN)]
    assert len(shown) == 2 * len(SHOWN)
    for name in shown:
        assert tables[name] in page, name


def test_the_pictures_of_the_page_are_those_of_the_study(made: Path) -> None:
    drawn = {path.name for path in (made / "plots").glob("*.svg")}
    kept = {path.name for path in (FOLDER / "plots").glob("*.svg")}
    assert kept and kept <= drawn
    for name in kept:
        new, old = [(folder / name).read_text("utf-8") for folder in (made / "plots", FOLDER / "plots")]
        assert TEXT.findall(new) == TEXT.findall(old), name


@pytest.mark.parametrize("name", ["same-names", "other-names"])
def test_every_system_answered_every_problem_and_says_its_cost(name: str) -> None:
    problems = read_problems(FOLDER / f"{name}.jsonl")
    assert len(problems) == 20
    for system, samples in (("early", 3), ("direct", 3), ("agent", 1)):
        lines = list(read_completions(FOLDER / f"{system}-{name}.jsonl"))
        answers = [one for one in lines if isinstance(one, Completion)]
        assert answers == lines
        assert {one.problem_id for one in answers} == set(problems)
        assert len(answers) == 20 * samples
        costs = [one.cost for one in answers if one.cost is not None]
        assert len(costs) == len(answers)
        calls = {one.calls for one in costs}
        assert calls == {1} if system != "agent" else min(one.calls or 0 for one in costs) >= 3
