"""A run of the study of teaching that is killed and resumed: its cost is that of all work in the model."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from studies.teaching.run import FILES, Arm, Run


def test_a_killed_run_costs_what_its_processes_took(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each time counts up to the last checkpoint, because the next process repeats what follows."""
    now = 0.0
    monkeypatch.setattr(time, "process_time", lambda: now)
    killed = True

    def train(_: object, *, callbacks: Sequence[Any] = ()) -> None:
        nonlocal now
        for seconds in (60.0, 40.0):
            now += seconds
            for one in callbacks:
                one.on_save()
        now += 7.0
        if killed:
            raise KeyboardInterrupt

    trainer = ModuleType("trl_run")
    trainer.__dict__.update(train=train, read_run=lambda *_: None)
    monkeypatch.setitem(sys.modules, "proof_r1_formal.integrations.trl_run", trainer)
    run = Run("sft-1", Arm((), "3e-4", 0), "warm-up-1", "reinforcement", 1, FILES)
    output = tmp_path / run.name
    with pytest.raises(KeyboardInterrupt):
        run._trained(tmp_path, output)
    killed = False
    assert run._trained(tmp_path, output) == 100.0 + 107.0
    assert json.loads((output / "seconds.json").read_text()) == [100.0, 107.0]
    assert run._trained(tmp_path, output) == 207.0
