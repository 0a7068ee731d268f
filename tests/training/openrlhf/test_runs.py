"""Whole runs: real Ray, vLLM and DeepSpeed, without GPUs.

Each start of a run costs a processor minute, mostly for imports. So several tests look at one run: it is told to end in
its second step, and goes on to its end as a job of a cluster.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from studies.bench.cluster import descendants
from tests.patience import PATIENCE

ROOT = Path(__file__).resolve().parents[3]
BIN = Path(sys.executable).parent
pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Run:
    """A run so far: its folder, its command, and what the last command wrote."""

    folder: Path
    command: list[str]
    output: str

    def values(self, name: str) -> dict[int, float]:
        """A value of each step of the last command, from TensorBoard's events."""
        file = max((self.folder / "tensorboard").glob("*/events.*"), key=lambda file: file.stat().st_mtime)
        return {event.step: event.value for event in EventAccumulator(str(file)).Reload().Scalars(name)}


# -- a run on this machine --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stopped(
    tmp_path_factory: pytest.TempPathFactory, configured: Callable[[Path], Path], environment: dict[str, str]
) -> tuple[Run, list[int]]:
    """A run that was told to end in its second step, and the processes that it had started."""
    folder = tmp_path_factory.mktemp("stopped")
    command = ["python", "-m", "without_gpu", "--config", str(configured(folder))]
    written = folder / "output"
    with written.open("w") as output:
        run = subprocess.Popen(
            [sys.executable, *command[1:]], env=environment, stdout=output, stderr=subprocess.STDOUT, text=True
        )
        checkpoint = folder / "run" / "checkpoints" / "_actor" / "latest"  # the log may come much later
        while run.poll() is None and not checkpoint.exists():
            time.sleep(0.5)
        started = [process for process, _ in descendants(run.pid)]
        run.terminate()
        assert run.wait(PATIENCE) != 0, written.read_text()[-3000:]
    return Run(folder / "run", command, written.read_text()), started


def test_a_run_that_is_told_to_end_leaves_no_process(stopped: tuple[Run, list[int]]) -> None:
    _, started = stopped
    assert len(started) > 5
    deadline = time.monotonic() + PATIENCE
    while left := [process for process in started if Path(f"/proc/{process}").exists()]:
        assert time.monotonic() < deadline, left
        time.sleep(0.5)


# -- jobs -------------------------------------------------------------------------------------------------------------


HEAD = """
import ray.scripts.scripts as ray
ray.get_ray_client_dependency_error = lambda: "not wanted"
ray.main()
"""
"""Runs ``ray`` without Ray's client server, which ends the cluster where it takes over 30 s to start."""


@pytest.fixture(scope="module")
def cluster(environment: dict[str, str]) -> Iterator[tuple[str, Path]]:
    """The address of a Ray cluster on this machine, whose GPUs are names, and the folder of its logs."""
    folder = Path(tempfile.mkdtemp(prefix="ray-"))  # short: the names of sockets are in it
    ports = []
    for _ in range(3):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            ports.append(free.getsockname()[1])
    start = [sys.executable, "-c", HEAD, "start", "--head", "--block", "--node-ip-address=127.0.0.1"]
    listening = [f"--port={ports[0]}", f"--dashboard-port={ports[1]}", f"--dashboard-agent-listen-port={ports[2]}"]
    sizes = [
        "--num-cpus=6",
        "--num-gpus=2",
        "--object-store-memory=500000000",
        "--disable-usage-stats",
        f"--temp-dir={folder}",
    ]
    settings = {
        **environment,
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "RAY_DASHBOARD_STARTUP_TIMEOUT_S": f"{PATIENCE:.0f}",
    }
    head = subprocess.Popen([*start, *listening, *sizes], env=settings, stdout=subprocess.PIPE, text=True)
    assert head.stdout is not None
    try:
        assert any("Ray runtime started" in line for line in head.stdout)
        yield f"http://127.0.0.1:{ports[1]}", folder / "session_latest" / "logs"
    finally:
        head.terminate()
        head.wait()
        head.stdout.close()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def ended(stopped: tuple[Run, list[int]], cluster: tuple[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The same run, resumed to its end as a job of Ray's own command."""
    (run, _), (address, logs) = stopped, cluster
    code = tmp_path_factory.mktemp("code")  # not the checkout: Ray refuses a folder to which another test writes
    for name in ("proof_r1_formal", "training", "grammars", "theories"):
        shutil.copytree(ROOT / name, code / name, ignore=shutil.ignore_patterns("__pycache__"))
    submit = [str(BIN / "ray"), "job", "submit", "--address", address, "--working-dir", str(code), "--"]
    done = subprocess.run([*submit, *run.command], cwd=code, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    # the job's own output is what had reached it when it ended, which on a busy machine is not all
    written = [log.read_text(errors="replace") for log in sorted(logs.glob("worker-*.out"))]
    return Run(run.folder, run.command, "".join([done.stdout, *written]))


def test_it_goes_on_from_its_checkpoint_as_a_job(ended: Run, warmed_up: Path) -> None:
    signals = ended.values("train/proof/signal")
    assert list(signals) in ([2, 3], [3])  # the run may have saved its second step before it ended
    assert max(signals.values()) > 0.2
    assert max(ended.values("train/proof/parsed").values()) > 0.5
    assert set(ended.values("train/proof/broken").values()) == {0.0}
    assert min(ended.values("train/actor_grad_norm").values()) > 0.0
    scores = ended.values("eval/eval_rvr")
    assert 3 in scores
    assert 1 not in scores
    assert 0.0 < max(scores.values()) <= 1.0
    before = re.findall(r"'proof_r1': (\{[^}]*\})", ended.output)  # written long before the end
    assert before and "0.5" in before[0]  # the averages of the rules came back
    assert len(set(re.findall(r": (0\.\d+)", before[0]))) > 1  # and the first step has moved them
    start = load_file(warmed_up / "model.safetensors")
    end = load_file(ended.folder / "model" / "model.safetensors")
    moved = [name for name, weight in start.items() if not torch.equal(weight.bfloat16(), end[name].bfloat16())]
    assert len(moved) > len(start) // 2
