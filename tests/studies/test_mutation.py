"""Mutants of the trusted modules: which tests a fault meets, what is recorded, and what the page says of that."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from studies.bench import mutation
from studies.bench.lines import Lines
from studies.bench.mutants import Mutant, mutants
from studies.bench.mutation import (
    FAILED,
    PAGE,
    PASSED,
    ROOT,
    SAMPLE,
    TESTS,
    Outcome,
    Record,
    Sandbox,
    gaps,
    page,
    plant,
    read_records,
    record,
    survivors,
    write_records,
)

CLOSURE = "proof_r1_formal/proof/closure.py"
MODEL = "proof_r1_formal/kernel/model.py"
FAULT = next(mutants((ROOT / CLOSURE).read_text("utf-8")))


class Runs(Sandbox):
    """In place of a copy of the project: the tests that were run, all of which pass but the named one."""

    def __init__(self, notices: str = "") -> None:
        self.notices, self.runs = notices, list[Sequence[str]]()

    def run(self, module: str, text: str, tests: Sequence[str], **limits: Any) -> int:
        del module, text, limits
        self.runs.append(tests)
        return FAILED if self.notices in tests else PASSED


@pytest.mark.parametrize(
    ("notices", "rounds", "fate", "runs"),
    [
        ("", None, "survived", 3),
        ("", 2, "survived", 2),
        ("far", None, "failed", 3),
        ("far", 2, "survived", 2),
        ("own", None, "failed", 2),
        ("near1", None, "failed", 1),
    ],
)
def test_the_nearest_tests_come_first_and_a_listed_fault_meets_no_others(
    notices: str, rounds: int | None, fate: str, runs: int
) -> None:
    near = [f"near{number}" for number in range(40)]
    seconds = {f"tests/{name}": float(number) for number, name in enumerate([*near, "far"])}
    lines = Lines(seconds, frozenset(), {CLOSURE: {FAULT.line: frozenset(seconds)}})
    sandbox = Runs(notices)
    found = plant(sandbox, CLOSURE, FAULT, ["own"], lines, rounds=rounds)
    assert (found.fate, len(sandbox.runs)) == (fate, runs)
    assert sandbox.runs[0][0] == "near0"
    assert sandbox.runs[1:2] in ([], [["own"]])


def outcomes(*fates: str) -> list[Outcome]:
    made = Mutant("swap", 7, "a < b", "a > b", "")
    return [Outcome(CLOSURE, made, fate) for fate in fates]


def test_records_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "records.json"
    assert read_records(path) == {}
    made = record(CLOSURE, outcomes("failed", "survived", "survived", "broken"))
    assert made.fates == {"broken": 1, "failed": 1, "survived": 2}
    assert made.survivors == [("a < b", "a > b")]
    write_records({CLOSURE: made, MODEL: Record("x", {"failed": 3}, [])}, path)
    assert read_records(path) == {CLOSURE: made, MODEL: Record("x", {"failed": 3}, [])}
    assert list(read_records(path)) == [MODEL, CLOSURE]  # in the order of TESTS
    assert survivors(read_records(path)) == {(CLOSURE, "a < b", "a > b")}


def test_a_digest_is_that_of_the_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(mutation, "ROOT", tmp_path)
    digests = []
    for text in ('"""One text."""\nx = 1', '"""Another text."""\nx = 1  # one', 'x = "one"', "x = 2"):
        (tmp_path / "m.py").write_text(text, encoding="utf-8")
        digests.append(mutation.digest("m.py"))
    assert [digests[0] == other for other in digests] == [True, True, False, False]


def test_the_page_marks_what_has_changed_since_its_run() -> None:
    now = record(CLOSURE, outcomes(*["failed"] * 3, "survived"))
    assert "| `proof/closure.py` | 4 | 3 | 0 | 0 | 1 | 75.0% |\n| all | 4 |" in page({CLOSURE: now})
    assert "has changed" not in page({CLOSURE: now})
    assert "The campaign has still to run `kernel/model.py`, " in page({CLOSURE: now})
    assert "still to run" not in page(dict.fromkeys(TESTS, now))
    before = page({MODEL: now._replace(code="other"), CLOSURE: now})
    assert "| `kernel/model.py` \\* | 4 | 3 | 0 | 0 | 1 | 75.0% |" in before
    assert "| all | 8 | 6 | 0 | 0 | 2 | 75.0% |\n\n\\* The module has changed since this run.\n" in before


def rows(text: str) -> list[str]:
    """The rows of the tables without the mark of a change."""
    return [line.replace(" \\*", "") for line in text.splitlines() if line.startswith("| ")]


def test_the_page_is_that_of_the_records() -> None:
    records = read_records()
    assert records
    assert rows(page(records)) == rows(PAGE.read_text("utf-8").partition(SAMPLE)[0])
    assert gaps(survivors(records), records) == []
