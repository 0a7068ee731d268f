"""``proof-r1 train`` from the command line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from training.config import Config, read_config, write_config

Run = Callable[..., subprocess.CompletedProcess[str]]

ROOT = Path(__file__).resolve().parents[3]
TINY = ROOT / "training" / "configs" / "tiny.yaml"
MAIN = "from proof_r1_formal.cli import main; main()"


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", MAIN, "train", "--config", str(TINY)]
    changes = [f"output={tmp_path / 'run'}", "batch.micro=3"]
    shown = subprocess.run([*command, *changes, "--dry-run"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    resolved, _, cost = shown.stdout.partition("\n\n")
    settings = yaml.safe_load(resolved)
    assert settings["batch"]["micro"] == 3
    assert settings["credit"]["baseline_decay"] == 0.9
    given = tmp_path / "shown.yaml"
    given.write_text(resolved)
    assert read_config(given) == read_config(TINY, changes)
    for said in ("problems to train on", "weights", "4 steps of", "at least"):
        assert said in cost
    assert not (tmp_path / "run").exists()


def test_a_dry_run_shows_what_needs_no_files_and_lists_those_that_are_missing(proof_r1: Run, tmp_path: Path) -> None:
    absent = [
        f"data.train=[{tmp_path / 'no.jsonl'}]",
        "data.evaluation=[]",
        "model.scratch=null",
        "model.path=/nowhere",
    ]
    shown = proof_r1("train", "--config", str(TINY), *absent, "--dry-run")
    assert shown.returncode == 0, shown.stderr
    assert "at most 4 steps of" in shown.stdout
    assert [line for line in shown.stdout.splitlines() if line.startswith("missing: ")] == [
        f"missing: data.train: {tmp_path / 'no.jsonl'}",
        "missing: model.path: /nowhere",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["batch.micro=0"], "batch.micro"),
        (["nonsense=1"], "nonsense"),
        (["model.scratch=null", "model.path=/nowhere"], "no such folder"),
        (["--engine", "other"], "other"),
    ],
)
def test_wrong_use_is_told(arguments: list[str], message: str, proof_r1: Run, tmp_path: Path) -> None:
    told = proof_r1("train", "--config", str(TINY), f"output={tmp_path / 'run'}", *arguments)
    assert told.returncode == 2
    assert message in " ".join(told.stderr.split())
    assert "Traceback" not in told.stderr


def test_without_a_checkout_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "proof_r1_formal").symlink_to(ROOT / "proof_r1_formal")  # as installed: without its neighbours
    packages = [path for path in sys.path if path.endswith("site-packages")]
    code = f"import sys; sys.path[:0] = {[str(tmp_path), *packages]!r}; {MAIN}"
    command = [sys.executable, "-I", "-S", "-c", code, "train", "--config", str(TINY)]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert told.returncode == 2
    assert "the engine local is not part of the installed package: use --engine trl" in " ".join(told.stderr.split())


def test_evaluation_only(config: Config, proof_r1: Run, tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(write_config(config))
    scored = proof_r1("train", "--config", str(file), "--evaluate")
    assert scored.returncode == 0, scored.stderr
    assert "evaluation after 0 steps" in scored.stderr
    assert (Path(config.output) / "evaluations" / "step-00000000.jsonl").exists()
    assert not (Path(config.output) / "model").exists()


@pytest.mark.slow
@pytest.mark.parametrize("room", [30_000, 500_000])
def test_a_full_disk_is_named(room: int, config: Config, tmp_path: Path) -> None:
    """No file may grow beyond a limit: there is room for the log, then for the weights but not for the optimiser."""
    file, output = tmp_path / "config.yaml", tmp_path / "run"
    file.write_text(write_config(config))
    code = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room})); {MAIN}"
    command = [sys.executable, "-c", code, "train", "--config", str(file), f"output={output}"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert told.returncode == 2
    assert told.stderr.splitlines()[-1].startswith(
        f"error: {output}/checkpoints/step-00000001: the file cannot be written: "
    )
    assert told.stderr.endswith("; make room there, or name another disk, and repeat the command\n")
    assert "Traceback" not in told.stderr
    assert not list(output.rglob("*.new"))
