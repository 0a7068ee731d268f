"""What reaches an engine in bfloat16: the measurement on a small model, and the page's numbers from the record."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import pytest

from proof_r1_formal.evaluation.tables import to_markdown
from studies import adapters
from studies.adapters import Arm, Reached, main, table
from tests.build import ROOT
from tests.studies.small import write_small

RECORD = ROOT / "docs" / "experiments" / "adapters.json"


def test_what_the_rounding_of_a_sum_loses_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a rate far above the rounding all of an update reaches the engine, and with one far below it nothing."""
    model, problems = write_small(tmp_path, 24, steps=0)
    monkeypatch.setattr(adapters, "ARMS", (Arm(0, 1e-2), Arm(0, 1e-8), Arm(8, 1e-2)))
    monkeypatch.setattr(adapters, "MEASURED", (1, 2))
    record = tmp_path / "record.json"
    monkeypatch.setattr(sys, "argv", ["adapters", str(model), str(problems), str(record)])
    main()
    found = msgspec.json.decode(record.read_bytes(), type=list[Reached])
    assert [one.steps for one in found] == [1, 2] * 3
    large, small, adapted = found[1], found[3], found[5]
    assert large.once == pytest.approx(1.0, abs=0.02)
    assert large.once_error < 0.1
    assert abs(small.once) < 0.05 and abs(small.place) < 0.05
    assert adapted.once == pytest.approx(1.0, abs=0.1)
    assert adapted.change > 10 * small.change


def test_the_page_has_the_numbers_of_the_record() -> None:
    found = msgspec.json.decode(RECORD.read_bytes(), type=list[Reached])
    shown = to_markdown(table(found)).partition("\n\n")[2].strip()
    assert shown in (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
