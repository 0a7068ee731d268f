"""Commands on outputs in other layouts: the results are those of the own layout."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.build import COMPLETIONS, PROBLEMS, Run

ROWS = [json.loads(line) for line in COMPLETIONS.read_text(encoding="utf-8").splitlines()]


def write(folder: Path, rows: list[dict[str, Any]]) -> Path:
    file = folder / "outputs.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return file


def reports(run: Run, folder: Path, file: Path, *options: str) -> bytes:
    done = run("verify", "-p", str(PROBLEMS), "-c", str(file), "-o", "reports", *options, folder=folder)
    assert done.status == 0, done.stderr
    return (folder / "reports").read_bytes()


def test_reports_are_those_of_the_own_layout(run: Run, tmp_path: Path) -> None:
    expected = reports(run, tmp_path, COMPLETIONS)
    rows = [{"task_id": row["problem_id"], "sample": row.get("sample", 0), "text": row["completion"]} for row in ROWS]
    assert reports(run, tmp_path, write(tmp_path, rows)) == expected
    unclear = write(tmp_path, [row | {"response": "a prompt"} for row in rows])
    assert reports(run, tmp_path, unclear, "--field", "completion=text") == expected
    assert reports(run, tmp_path, unclear, "--field", "completion=response") != expected


@pytest.mark.parametrize("command", [("show", "--id", "garden/1"), ("evaluate",), ("report", "-o", "page.html")])
def test_every_command_that_reads_outputs_takes_fields(run: Run, command: tuple[str, ...], tmp_path: Path) -> None:
    file = write(
        tmp_path, [{"n": "1", "a": {"b": row["completion"]}} for row in ROWS if row["problem_id"] == "garden/1"]
    )
    fields = ("--field", "problem_id=garden/{n}", "--field", "completion=a.b")
    done = run(*command, "-p", str(PROBLEMS), "-c", str(file), *fields, folder=tmp_path)
    assert done.status == 0, done.stderr
    assert "skipped" not in done.stderr
    refused = run(*command, "-p", str(PROBLEMS), "-c", str(file), "--field", "b", folder=tmp_path)
    assert refused.status == 2
    assert "expected name=path" in refused.stderr
