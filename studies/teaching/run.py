"""The runs of the study: warm-ups, arms, answers and scores.

    python -m studies.teaching.run FOLDER [--only NAMES]

makes what is left, one run after another: trains a model, lets it answer, and writes its record. Several processes may
work on one folder. A run that was killed resumes from its last checkpoint. ``PLAN.md`` says why these runs. FOLDER has
``model`` and ``data``, and gets a folder for each run, ``records`` and ``answers``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import resource
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import msgspec
import torch

from proof_r1_formal import ProofR1Error, Verifier, read_problems
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.evaluation.measures import Measure
from proof_r1_formal.evaluation.outcomes import output_row
from proof_r1_formal.integrations.runs import alone
from proof_r1_formal.proof.report import TraceReport
from studies.pretrained.run import write
from studies.pretrained.score import Drawn, draw
from studies.pretrained.speed import replay_tokens

HERE = Path(__file__).parent
WARM_UP, LEARN = "warm-up.yaml", "learn.yaml"
UPDATES = 100
"""Of each arm: fifty batches of 8 problems with 8 answers, each of which is learned from twice."""
WARM_UPS: Mapping[int, int] = {1: 500, 2: 500}
"""Updates of each warm-up, of 32 demonstrations."""
SEEDS = (1, 2, 3, 4, 5)
"""Runs of each arm; those with odd seeds start from warm-up 1, the others from warm-up 2."""
RATE = "3e-4"
SAMPLES, TOKENS = 16, 224
"""Answers to each problem, and the length at which an answer is cut."""
FILES: Mapping[str, int] = {"same": 200, "longer": 200, "names": 200}
"""The scored files, and how many of their problems are asked."""


@dataclass(frozen=True, slots=True)
class Arm:
    """A way of learning: changes of the configuration, and of the updates."""

    changes: tuple[str, ...]
    config: str = LEARN
    updates: int = UPDATES


def _method(name: str, *more: str) -> Arm:
    return Arm(("--method", name, *more))


ARMS: Mapping[str, Arm] = {
    "taught": _method("taught"),
    "sft": Arm(("--per_device_train_batch_size", "64", "--warmup_steps", "0", "--num_train_epochs", "99"), WARM_UP),
    "proof_r1_taught": _method("proof_r1_taught", "--preset", "hardened"),
    "expert_iteration": _method("expert_iteration"),
    "hardened": _method("proof_r1", "--preset", "hardened"),
    "contrast": _method("contrast"),
    "grpo": _method("grpo"),
    "prosfi": _method("prosfi"),
    "strict": _method("proof_r1", "--preset", "strict"),
}
"""The arms, in the order in which they are wanted."""


class Record(msgspec.Struct, frozen=True):
    """The scores of a model.

    Attributes:
        run: that made the model.
        updates: of the run.
        seconds: of processor time of its training.
        scores: file -> column -> a number for each problem, summed over its answers. The file of greedy answers ends
            with ``-greedy``. Columns: ``answers``, ``Avg``, ``verified``, ``rule-verified``, the two parts of FVR and
            RVR, ``actions``, ``useless``, ``tokens``, ``entropy`` (mean over the tokens of each answer, in nats).
        log: the trainer's.
    """

    run: str
    updates: int
    seconds: float
    scores: dict[str, dict[str, tuple[float, ...]]]
    log: list[dict[str, float]]


@dataclass(frozen=True, slots=True)
class Run:
    """A run of ``proof-r1 train``, and the answers of its model.

    Attributes:
        name: of its folder and record.
        arm: how it learns.
        start: the run that made the model it starts from; None for the model of random weights.
        data: file of the problems.
        seed: of the run.
        rate: of learning.
        files: that are scored.
    """

    name: str
    arm: Arm
    start: str | None
    data: str
    seed: int
    rate: str
    files: Mapping[str, int]

    def record(self, folder: Path) -> Path:
        """The file of the record."""
        return folder / "records" / f"{self.name}.json"

    def ready(self, folder: Path) -> bool:
        """Whether the model that it starts from is there."""
        return self.start is None or (folder / "records" / f"{self.start}.json").exists()

    def make(self, folder: Path) -> None:
        """Train, from the last checkpoint if there is one, answer, score, and write the record."""
        output = folder / self.name
        seconds = self._trained(folder, output)
        scores: dict[str, dict[str, tuple[float, ...]]] = {}
        answers: dict[str, list[str]] = {}
        for file, count in self.files.items():
            problems = list(read_problems(folder / "data" / f"{file}.jsonl").values())[:count]
            for greedy in (True, False):
                samples, name = 1 if greedy else SAMPLES, f"{file}-greedy" if greedy else file
                drawn = draw(output / "model", problems, greedy=greedy, samples=samples, prompt="short", tokens=TOKENS)
                scores[name] = columns(problems, drawn, samples)
                answers[name] = [one.text for one in drawn[::samples]]
        state = json.loads((output / f"checkpoint-{self.arm.updates}" / "trainer_state.json").read_text())
        log = [{k: v for k, v in entry.items() if isinstance(v, int | float)} for entry in state["log_history"]]
        write(folder / "answers" / f"{self.name}.json.gz", gzip.compress(msgspec.json.encode(answers), mtime=0))
        write(self.record(folder), msgspec.json.encode(Record(self.name, self.arm.updates, seconds, scores, log)))
        for checkpoint in output.glob("checkpoint-*"):
            shutil.rmtree(checkpoint)

    def _trained(self, folder: Path, output: Path) -> float:
        """Train. Returns the seconds of processor time, of all processes that worked at it."""
        from proof_r1_formal.integrations.trl_run import read_run, train

        done = output / "seconds.json"
        if (output / "trained").exists():
            return float(sum(json.loads(done.read_text())))
        before = json.loads(done.read_text()) if done.exists() else []
        output.mkdir(parents=True, exist_ok=True)
        model = folder / (f"{self.start}/model" if self.start else "model")
        paths = ("--model_name_or_path", str(model), "--output_dir", str(output))
        data = ("--problems", str(folder / "data" / f"{self.data}.jsonl"))
        steps = ("--max_steps", str(self.arm.updates), "--seed", str(self.seed), "--learning_rate", self.rate)
        started = time.process_time()
        train(read_run(HERE / self.arm.config, (*self.arm.changes, *paths, *data, *steps)))
        seconds = [*before, time.process_time() - started]
        write(done, json.dumps(seconds).encode())
        write(output / "trained", b"")
        return float(sum(seconds))


def columns(problems: Sequence[Problem], drawn: Sequence[Drawn], samples: int) -> dict[str, tuple[float, ...]]:
    """The columns of a record, see :class:`Record`."""
    verifier = Verifier(evaluation=False)
    found: dict[str, list[float]] = {}
    for number, problem in enumerate(problems):
        rows = [
            _row(verifier.verify(problem, one.text), one) for one in drawn[number * samples : (number + 1) * samples]
        ]
        for name in rows[0]:
            found.setdefault(name, []).append(round(sum([row[name] for row in rows]), 3))
    return {name: tuple(values) for name, values in found.items()}


def _row(report: TraceReport, drawn: Drawn) -> dict[str, float]:
    parts = output_row(report, None, None)
    row: dict[str, float] = {"answers": 1}
    for measure in (Measure.AVG, Measure.VERIFIED, Measure.RULE_VERIFIED):
        row[measure.value] = float(parts[measure][0])
    for measure in (Measure.FVR, Measure.RVR):
        part, of = parts.get(measure, (0, 0))
        row |= {measure.value: float(part), f"{measure.value} of": float(of)}
    useless = sum([not step.progress for step in report.actions])
    return row | {"actions": len(report.actions), "useless": useless, "tokens": drawn.tokens, "entropy": drawn.entropy}


# -- the plan ---------------------------------------------------------------------------------------------------------


def warm_up(number: int) -> Run:
    """A warm-up, with the seed of its number."""
    arm = Arm((), WARM_UP, WARM_UPS[number])
    return Run(f"warm-up-{number}", arm, None, "warm-up", number, "1e-3", FILES)


def plan() -> list[Run]:
    """All runs, in the order in which they are wanted: all arms with one seed, then with the next."""
    found = [warm_up(number) for number in WARM_UPS]
    for seed in SEEDS:
        start = f"warm-up-{2 - seed % 2}"
        found += [Run(f"{name}-{seed}", arm, start, "reinforcement", seed, RATE, FILES) for name, arm in ARMS.items()]
    return found


def left(folder: Path, only: str) -> Iterator[Run]:
    """The runs without a record whose names match a regular expression."""
    return (run for run in plan() if re.fullmatch(only, run.name) and not run.record(folder).exists())


def work(folder: Path, only: str) -> None:
    """Make the runs that are left."""
    replay_tokens()
    while next(left(folder, only), None) is not None:
        if (taken := _take(folder, only)) is None:
            if not any(run.ready(folder) for run in left(folder, only)):
                raise SystemExit("no run can start: --only leaves out the warm-ups that these need")
            time.sleep(1)  # another process works at what is left
            continue
        run, lock = taken
        with lock:
            started = time.monotonic()
            run.make(folder)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
            sys.stdout.write(f"{run.name}: {time.monotonic() - started:.0f} s, at most {peak:.1f} GiB\n")
            sys.stdout.flush()


def _take(folder: Path, only: str) -> tuple[Run, ExitStack] | None:
    for run in left(folder, only):
        if not run.ready(folder):
            continue
        lock = ExitStack()
        try:
            lock.enter_context(alone(folder / "locks" / run.name))
        except ProofR1Error:
            continue
        if not run.record(folder).exists():
            return run, lock
        lock.close()
    return None


def main() -> None:
    """Make the runs that are left."""
    parser = argparse.ArgumentParser(prog="python -m studies.teaching.run")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default=".*", help="a regular expression for the names of runs")
    given = parser.parse_args()
    torch.set_num_threads(1)
    work(given.folder, given.only)


if __name__ == "__main__":
    main()
