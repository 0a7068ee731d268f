"""The diagnostics of the paper on a small model, and the page's numbers from the record."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import pytest

from proof_r1_formal.evaluation.tables import to_markdown
from studies import diagnostics
from studies.diagnostics import PAPER, Record, main, numbers, table
from tests.build import ROOT
from tests.studies.small import write_small

RECORD = ROOT / "docs" / "experiments" / "diagnostics.json"


def test_a_small_model_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model, problems = write_small(tmp_path, 4, steps=80)
    for name, value in {"NUMBER": 4, "SAMPLES": 2, "FOLDS": 2, "TOKENS": 96}.items():
        monkeypatch.setattr(diagnostics, name, value)
    record = tmp_path / "record.json"
    monkeypatch.setattr(sys, "argv", ["diagnostics", str(model), str(problems), str(record)])
    main()
    found = msgspec.json.decode(record.read_bytes(), type=Record)
    assert found.rollouts == 2 * 2
    assert sum(found.shares.values()) == pytest.approx(1.0)
    assert found.errors["all"].actions > 0
    assert {block.layer for block in found.blocks} == {None, 0, 1}
    assert any(block.verification > 0 for block in found.blocks)
    assert numbers(found).keys() >= PAPER.keys()
    assert to_markdown(table(found)) in capsys.readouterr().out


def test_the_page_has_the_numbers_of_the_record() -> None:
    record = msgspec.json.decode(RECORD.read_bytes(), type=Record)
    shown = to_markdown(table(record)).partition("\n\n")[2].strip()
    assert shown in (ROOT / "docs" / "training.md").read_text(encoding="utf-8")
