"""What ``studies.gpu`` runs on a card, as far as a CPU can: its configuration, the parity of losses, and ZeRO-3."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from without_gpu import install

from studies.card import openrlhf_run
from studies.card.found import read
from studies.card.parity import LOSSES, compare, random_batch
from studies.card.settings import GROUPS, SAMPLES, UPDATES
from studies.gpu import judge
from tests.patience import PATIENCE

HERE = Path(__file__).resolve().parent
pytestmark = pytest.mark.slow


@pytest.mark.parametrize("flash", [True, False])
def test_openrlhf_reads_the_configuration(
    flash: bool,
    parse: Callable[..., Any],
    problems: Path,
    warmed_up: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(openrlhf_run, "MODEL", warmed_up)
    monkeypatch.setattr(openrlhf_run, "PROBLEMS", problems)
    file = openrlhf_run.write_configuration(tmp_path, flash=flash)
    written = file.read_text()
    assert "prompt: full" in written
    file.write_text(written.replace("prompt: full", "prompt: short"))  # the small model has no template of a chat
    args = parse(file)
    assert args.train.colocate_all and args.vllm.enable_sleep and args.ds.enable_sleep
    assert args.ds.packing_samples is flash
    assert args.ds.zero_stage == 3
    steps = args.data.max_samples / args.rollout.batch_size * args.train.num_episodes
    assert steps == UPDATES
    assert args.train.batch_size == GROUPS * SAMPLES
    assert yaml.safe_load(file.read_text())["output"] == str(tmp_path / "run")


def test_openrlhfs_loss_is_that_of_the_formulas() -> None:
    install()
    batch = random_batch("cpu")
    checks = compare(batch, LOSSES["openrlhf"](batch))
    assert {name: check for name, check in checks.items() if not check.holds} == {}
    wrong = compare(batch, LOSSES["openrlhf"](batch) * 1.001)
    assert not wrong["gradient"].holds and not wrong["loss"].holds


PROGRAM = """
import os, sys
from pathlib import Path
from without_gpu import ENVIRONMENT
from studies.card.trl_run import environment, make_trainer, train
model, problems, out, what = sys.argv[1:]
os.environ.update({**ENVIRONMENT, **environment("zero3")})
import torch
torch.set_num_threads(1)
if what == "parity":
    from studies.card.found import Found
    from studies.card.parity import trl
    Found(trl(Path(out), "cpu", Path(model), Path(problems))).write(Path(out))
else:
    train(make_trainer("zero3", Path(model), Path(problems), Path(out) / "run", cpu=True)).write(Path(out))
"""


@pytest.mark.parametrize("what", ["parity", "zero3"])
def test_trl_does_on_a_cpu_what_it_does_on_a_card(
    what: str, warmed_up: Path, problems: Path, environment: Mapping[str, str], tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    ended = subprocess.run(
        [sys.executable, str(program), str(warmed_up), str(problems), str(tmp_path), what],
        env={**environment},
        capture_output=True,
        text=True,
        timeout=5 * PATIENCE,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-4000:]
    found = read(tmp_path)
    assert judge(found, 0) == ("passed", ""), json.dumps(str(found))
