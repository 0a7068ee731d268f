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

from studies.teaching.pilot import PILOTED, answers, chosen, rates
from studies.teaching.records import PACKED_PILOT, read_packed
from studies.teaching.run import ARMS, FILES, FIRST, ROWS, SEEDS, WARM_UPS, Arm, Practice, Run, plan

PILOT = Path(__file__).resolve().parents[2] / "docs" / "experiments" / "teaching" / PACKED_PILOT


def test_arms_have_the_settings_that_the_pilot_chose() -> None:
    records = {record.run: record for record in read_packed(PILOT)}
    first, fewer = rates(), answers(records)
    for name in PILOTED:
        best = chosen([*first[name], *fewer.get(name, [])], records).arm
        assert (ARMS[name].rate, ARMS[name].answers) == (best.rate, best.answers)
    for name, like in {"sft_long": "sft", "sft_few": "sft", "contrast": "taught"}.items():
        assert (ARMS[name].rate, ARMS[name].answers) == (ARMS[like].rate, ARMS[like].answers)
    for name in ("grpo", "prosfi", "strict"):
        assert (ARMS[name].rate, ARMS[name].answers) == (ARMS["hardened"].rate, ARMS["hardened"].answers)
    _, problems = ARMS["sft_few"].changes[-2:]
    assert int(problems) == ROWS // ARMS["taught"].answers  # as many proofs as a batch of taught has problems


def test_runs_come_in_the_order_in_which_they_are_wanted() -> None:
    """Warm-ups, then the arms of the tests seed by seed, each from the warm-up of its seed."""
    practices = [run for run in plan() if isinstance(run, Practice)]
    warm_ups, runs = (
        [run for run in plan() if isinstance(run, Run) and (run.data == "warm-up") is warm] for warm in (True, False)
    )
    assert [run.seed for run in practices] == [run.seed for run in warm_ups] == list(WARM_UPS)
    assert [run.start for run in warm_ups] == [run.name for run in practices]
    names = list(ARMS)
    order = [f"{name}-{seed}" for seed in SEEDS for name in names[:FIRST]]
    order += [f"{name}-{seed}" for seed in SEEDS for name in names[FIRST:]]
    assert [run.name for run in runs] == order
    assert {(run.seed, run.start) for run in runs} == {(seed, f"warm-up-{2 - seed % 2}") for seed in SEEDS}


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
