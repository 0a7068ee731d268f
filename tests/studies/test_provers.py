"""The comparison of provers: what counts as proved, the files, and the rows of the page."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from studies.pelletier import PAGE
from studies.provers import HEAD, PROVED, Attempt, Contestant, attempt, contestants, decide, rows, write_files
from tests.studies.test_pelletier import ALL, NOT_PROVED


@pytest.mark.parametrize(
    ("said", "proved"),
    [
        ("# SZS status Theorem\n", True),
        ("\n# SZS status ContradictoryAxioms\n", True),
        ("# SZS status CounterSatisfiable", False),
        ("unsat\n", True),
        ("sat\n", False),
        ("unknown\n", False),
        ("(error: unsat)\n", False),
        ("proved\n", True),
        ("not proved\n", False),
        ("", False),
    ],
)
def test_what_counts_as_proved(said: str, proved: bool) -> None:
    assert (PROVED.search(said) is not None) == proved


def test_all_provers_prove_what_is_easy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert write_files(tmp_path) == list(ALL)
    for each in contestants()[1:]:  # those that are installed
        found = attempt(each, tmp_path / "18")
        assert found.proved
        assert 0 < found.seconds < 20
    for number, says in ((18, "proved\n"), (69, "not proved\n")):
        decide(tmp_path / f"{number}.p")
        assert capsys.readouterr().out == says


def test_an_attempt_ends_with_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studies.provers.LIMIT", 1)
    (tmp_path / "1.p").write_text("", encoding="utf-8")
    endless = Contestant("endless", (sys.executable, "-S", "-c", "while True: pass"), ".p")
    assert not attempt(endless, tmp_path / "1").proved


def test_a_row_names_what_is_not_proved() -> None:
    attempts = {1: Attempt(True, 0.5), 2: Attempt(False, 20.0), 3: Attempt(True, 1.04), 5: Attempt(False, 0.1)}
    assert list(rows({"E": attempts})) == ["| E | 2 | 0.77 s | 1.0 s | 2, 5 |"]


def test_the_page_has_a_row_of_the_engine() -> None:
    table = PAGE.read_text(encoding="utf-8").partition(HEAD)[2].partition("\n\n")[0].splitlines()
    cells = {line.split("|")[1].strip(): line.split("|") for line in table}
    assert len(cells) == 4
    assert int(cells["the engine"][2]) == len(ALL) - len(NOT_PROVED)
    assert {int(number) for number in cells["the engine"][5].split(",")} == NOT_PROVED
