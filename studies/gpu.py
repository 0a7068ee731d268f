"""The checks that need a card, in steps of stated length: 12 minutes in all on one card of 80 GB.

    python -m studies.gpu prepare    install and write all that the steps need; requires no card
    python -m studies.gpu plan       print the steps, their limits and their commands
    python -m studies.gpu run        run the steps; each prints a verdict

``prepare`` makes two environments (OpenRLHF, TRL, vLLM and DeepSpeed in one, verl and its vLLM in the other), a model
and problems. ``run`` starts each step in a process group of its own, ends it at its limit, and watches the memory of
the card meanwhile. Its verdict is *passed*, *failed* (with the check that failed, or how the process ended),
*timed out*, or *not run* (with the reason). After each step all verdicts and numbers so far are in ``RECORD``.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from studies.bench.cluster import descendants
from studies.card.found import Found, read

ROOT = Path(__file__).resolve().parents[1]
MINUTES = 12
OPENRLHF, VERL = ".venv-gpu", ".venv-gpu-verl"
"""The environments: OpenRLHF, TRL, vLLM and DeepSpeed; verl and the vLLM that it wants."""
RECORD = "record.json"
PROBLEMS, OF = Path("out/gpu/problems.jsonl"), Path("out/pretrained/data/reinforcement.jsonl")
NUMBER = 64
"""Of problems that the steps learn from."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to find out on a card.

    Attributes:
        name: of the step and of its folder.
        question: what it answers.
        environment: the folder of its Python.
        seconds: after which it is ended.
        module: which it runs, with the step's folder after its first words.
        words: of its command line before and after the folder.
    """

    name: str
    question: str
    environment: str
    seconds: float
    module: str
    words: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())

    def command(self, folder: Path) -> list[str]:
        """The command line of the step, from the root of the checkout."""
        before, after = self.words
        return [f"{self.environment}/bin/python", "-m", self.module, *before, str(folder / self.name), *after]


_PARITY = "studies.card.parity"
STEPS = (
    Step("parity-openrlhf", "Is OpenRLHF's loss that of the method?", OPENRLHF, 40, _PARITY, (("openrlhf",), ())),
    Step("parity-trl", "Are TRL's loss and advantages?", OPENRLHF, 60, _PARITY, (("trl",), ())),
    Step("parity-verl", "Is verl's loss?", VERL, 40, _PARITY, (("verl",), ())),
    Step("openrlhf", "Three steps: CUDA IPC, sleep, ZeRO-3, packing", OPENRLHF, 170, "studies.card.openrlhf_run"),
    Step("verl", "Three steps of all weights", VERL, 130, "studies.card.verl_run"),
    Step("verl-lora", "Three steps of adapters of rank 8", VERL, 110, "studies.card.verl_run", ((), ("8",))),
    Step("trl-zero3", "Three batches with ZeRO-3", OPENRLHF, 70, "studies.card.trl_run", (("zero3",), ())),
    Step("trl-server", "Three batches with vLLM's server", OPENRLHF, 100, "studies.card.trl_run", (("server",), ())),
)
"""In the order of their use: what is short and what the others rest on comes first."""


class Verdict(msgspec.Struct, frozen=True):
    """How a step ended.

    Attributes:
        step: its name.
        outcome: ``passed``, ``failed``, ``timed out`` or ``not run``.
        reason: of an outcome other than ``passed``.
        seconds: that it took.
        peak_mib: the most memory of all cards together that was in use; None if nothing measures it.
        found: what it checked and measured.
    """

    step: str
    outcome: str
    reason: str
    seconds: float
    peak_mib: float | None
    found: Found | None

    def line(self) -> str:
        """For the user."""
        numbers = [f"{name} {value:.3g}" for name, value in (self.found.numbers if self.found else {}).items() if value]
        peak = [] if self.peak_mib is None else [f"peak memory {self.peak_mib:.0f} MiB"]
        notes = self.found.notes if self.found else []
        parts = [*([self.reason] if self.reason else []), *numbers, *peak, *notes]
        return f"{self.step}: {self.outcome} in {self.seconds:.0f} s{': ' if parts else ''}{'; '.join(parts)}"


def judge(found: Found | None, code: int) -> tuple[str, str]:
    """The outcome of a step that has ended, and its reason."""
    if found is not None and found.not_run:
        return "not run", found.not_run
    if code:
        return "failed", f"its process ended with status {code}; see its log"
    if found is None or not found.checks:
        return "failed", "it checked nothing"
    wrong = [
        f"{name} is {check.value}, wanted {check.low} to {check.high}"
        for name, check in found.checks.items()
        if not check.holds
    ]
    return ("failed", ", ".join(wrong)) if wrong else ("passed", "")


# -- a run ------------------------------------------------------------------------------------------------------------


def run_step(step: Step, folder: Path, *, root: Path = ROOT) -> Verdict:
    """Run a step, and end it and all that it started at its limit."""
    own = folder / step.name
    shutil.rmtree(own, ignore_errors=True)
    own.mkdir(parents=True)
    command = step.command(folder)
    if not (root / command[0]).exists():
        missing = f"{command[0]} is not there: python -m studies.gpu prepare"
        return Verdict(step.name, "not run", missing, 0.0, None, None)
    start = time.monotonic()
    with (own / "log").open("w") as log, Memory() as memory:
        process = subprocess.Popen(
            command,
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(root), "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"},
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code: int | None = process.wait(step.seconds)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _end(process)
    seconds = time.monotonic() - start
    found = read(own)
    if code is None:
        return Verdict(step.name, "timed out", f"after {step.seconds:g} s; see its log", seconds, memory.peak, found)
    outcome, reason = judge(found, code)
    return Verdict(step.name, outcome, reason, seconds, memory.peak, found)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End what is left of a step's processes: Ray and engines outlive the one that was started."""
    started = [one for one, _ in descendants(process.pid)]
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    for one in started:  # some have a group of their own
        with contextlib.suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)
    process.wait()


class Memory:
    """The most memory of the cards that was in use, by ``nvidia-smi`` twice a second."""

    def __init__(self) -> None:
        self.peak: float | None = None
        self._over = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Memory:
        if shutil.which("nvidia-smi"):
            self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._watcher.ident is not None:
            self._watcher.join()

    def _watch(self) -> None:
        command = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
        while not self._over.wait(0.5):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                used = sum(map(float, done.stdout.split()))
                self.peak = used if self.peak is None else max(self.peak, used)


def run(steps: Sequence[Step], folder: Path, *, say: Callable[[str], None], root: Path = ROOT) -> list[Verdict]:
    """Run steps one after the other; the record is written after each."""
    folder = folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    verdicts: list[Verdict] = []
    for step in steps:
        verdicts.append(run_step(step, folder, root=root))
        say(verdicts[-1].line())
        (folder / RECORD).write_bytes(msgspec.json.format(msgspec.json.encode(verdicts)) + b"\n")
    return verdicts


def plan(steps: Sequence[Step], folder: Path) -> list[str]:
    """What a run would do."""
    lines = [f"{step.name} (at most {step.seconds:g} s): {step.question}\n    {_shown(step, folder)}" for step in steps]
    total = sum(step.seconds for step in steps)
    return [*lines, f"{len(steps)} steps, at most {total:g} s"]


def _shown(step: Step, folder: Path) -> str:
    return " ".join(step.command(folder))


# -- preparation ------------------------------------------------------------------------------------------------------


def preparation(*, compiler: bool) -> list[list[str]]:
    """The commands that install and write everything, from the root of the checkout.

    ``compiler`` says whether there is nvcc, which flash-attn is built with. Without it, the steps run without
    flash-attn, and say so.
    """
    python, pip = sys.executable, ["bin/python", "-m", "pip", "install"]
    first, second = ([f"{name}/{pip[0]}", *pip[1:]] for name in (OPENRLHF, VERL))
    requirements = "studies/card/requirements"
    attention = [
        [*first, "--no-build-isolation", "flash-attn==2.8.3"],
        [*second, "--no-build-isolation", "flash-attn==2.8.3"],
    ]
    return [
        ["make", "pretrained"],
        [python, "-m", "venv", OPENRLHF],
        [*first, "-r", f"{requirements}-openrlhf.txt"],
        [*first, "--no-deps", "deepspeed==0.19.6", "openrlhf==0.11.2", "-e", "."],
        [*first, "--no-deps", "nvidia-nccl-cu13>=2.30"],  # PyTorch pins an older one; the server on one card needs this
        [python, "-m", "venv", VERL],
        [*second, "-r", f"{requirements}-verl.txt"],
        [*second, "--no-deps", "-e", "."],
        *(attention if compiler else []),
    ]


def prepare(*, say: Callable[[str], None]) -> None:
    """Run the preparation."""
    compiler = shutil.which("nvcc") is not None
    if not compiler:
        say("nvcc is not there: flash-attn is left out, and so are packing and its kernels")
    environment = {name: value for name, value in os.environ.items() if name != "PIP_CONSTRAINT"}
    for command in preparation(compiler=compiler):
        say(" ".join(command))
        subprocess.run(command, cwd=ROOT, env=environment, check=True)
    lines = (ROOT / OF).read_text(encoding="utf-8").splitlines(keepends=True)[:NUMBER]
    (ROOT / PROBLEMS).parent.mkdir(parents=True, exist_ok=True)
    (ROOT / PROBLEMS).write_text("".join(lines), encoding="utf-8")
    say(f"{PROBLEMS}: {len(lines)} problems")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line; the status is 1 if a step failed or timed out."""
    parser = argparse.ArgumentParser(prog="python -m studies.gpu", description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["prepare", "plan", "run"])
    parser.add_argument("--only", nargs="+", choices=[step.name for step in STEPS], help="these steps alone")
    parser.add_argument("--output", type=Path, default=Path("out/gpu/run"), help="folder of logs and of the record")
    given = parser.parse_args(arguments)
    steps = [step for step in STEPS if not given.only or step.name in given.only]
    match given.what:
        case "prepare":
            prepare(say=_say)
        case "plan":
            for line in plan(steps, given.output):
                _say(line)
        case "run":
            verdicts = run(steps, given.output, say=_say)
            return int(any(one.outcome in ("failed", "timed out") for one in verdicts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
