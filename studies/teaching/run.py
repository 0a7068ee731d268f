"""The runs of the study: warm-ups, arms, answers and scores.

    python -m studies.teaching.run FOLDER [--only NAMES]

makes what is left, one run after another: trains a model, lets it answer, and writes its record. Several processes may
work on one folder. A run that was killed resumes from its last checkpoint. ``PLAN.md`` says why these runs. FOLDER has
``data``, and gets a folder for each run, ``records`` and ``answers``.
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
from transformers import TrainerCallback

from proof_r1_formal import ProofR1Error, Verifier, read_problems
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.evaluation.measures import Measure
from proof_r1_formal.evaluation.outcomes import output_row
from proof_r1_formal.integrations.runs import alone
from proof_r1_formal.proof.report import TraceReport
from studies.pretrained.run import write
from studies.pretrained.score import Drawn, draw
from studies.pretrained.speed import replay_tokens
from studies.teaching import exercises
from studies.teaching.model import write_model
from studies.teaching.records import Record

HERE = Path(__file__).parent
WARM_UP, LEARN = "warm-up.yaml", "learn.yaml"
UPDATES, ROWS = 100, 64
"""Of each arm: fifty batches of 64 rows, each of which is learned from twice."""
WARM_UPS = (1, 2)
"""The warm-ups, and their seeds."""
WARM_UP_UPDATES, WARM_UP_ROWS = 1_200, 16
"""Of each warm-up, on proofs, after the exercises."""
SEEDS = (1, 2, 3, 4, 5)
"""Runs of each arm; those with odd seeds start from warm-up 1, the others from warm-up 2."""
SAMPLES, TOKENS = 16, 224
"""Answers to each problem, and the length at which an answer is cut."""
FILES: Mapping[str, int] = {"same": 200, "longer": 100}
"""The scored files, and how many of their problems are asked."""


@dataclass(frozen=True, slots=True)
class Arm:
    """A way of learning.

    Attributes:
        changes: of the configuration.
        rate: of learning.
        answers: to a problem in a batch; 0 where the data's proofs are learned from.
        updates: number of them.
    """

    changes: tuple[str, ...]
    rate: str
    answers: int
    updates: int = UPDATES

    @property
    def config(self) -> str:
        """The file of the configuration."""
        return LEARN if self.answers else WARM_UP

    def options(self) -> Iterator[str]:
        """All changes of the configuration."""
        yield from self.changes
        yield from ("--learning_rate", self.rate, "--max_steps", str(self.updates))
        if self.answers:
            yield from ("--num_generations", str(self.answers))


_IMITATION = ("--per_device_train_batch_size", str(ROWS), "--warmup_steps", "0", "--lr_scheduler_type", "linear")


def _method(rate: str, answers: int, name: str, *more: str) -> Arm:
    return Arm(("--method", name, *more), rate, answers)


ARMS: Mapping[str, Arm] = {
    "taught": _method("3e-4", 8, "taught"),
    "sft": Arm(_IMITATION, "3e-4", 0),
    "proof_r1_taught": _method("1e-4", 4, "proof_r1_taught", "--preset", "hardened"),
    "expert_iteration": _method("1e-4", 8, "expert_iteration"),
    "hardened": _method("1e-4", 4, "proof_r1", "--preset", "hardened"),
    "sft_long": Arm(_IMITATION, "3e-4", 0, 120),
    "contrast": _method("3e-4", 8, "contrast"),
    "grpo": _method("1e-4", 4, "grpo"),
    "prosfi": _method("1e-4", 4, "prosfi"),
    "strict": _method("1e-4", 4, "proof_r1", "--preset", "strict"),
    "sft_few": Arm((*_IMITATION, "--per_device_train_batch_size", str(ROWS // 8)), "3e-4", 0),
}
"""The arms, in the order in which they are wanted."""
FIRST = 5
"""So many arms get all their seeds before the others get any: the tests need them."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run of ``proof-r1 train``, and the answers of its model.

    Attributes:
        name: of its folder and record.
        arm: how it learns.
        start: the run that made the model it starts from.
        data: file of the problems.
        seed: of the run.
        files: that are scored, and how many of their problems are asked.
        samples: answers to each problem.
    """

    name: str
    arm: Arm
    start: str
    data: str
    seed: int
    files: Mapping[str, int]
    samples: int = SAMPLES

    def record(self, folder: Path) -> Path:
        """The file of the record."""
        return folder / "records" / f"{self.name}.json"

    def ready(self, folder: Path) -> bool:
        """Whether the model that it starts from is there."""
        return (folder / "records" / f"{self.start}.json").exists()

    def make(self, folder: Path) -> None:
        """Train, from the last checkpoint if there is one, answer, score, and write the record."""
        output = folder / self.name
        seconds = self._trained(folder, output)
        scores: dict[str, dict[str, tuple[float, ...]]] = {}
        answers: dict[str, list[str]] = {}
        for file, count in self.files.items():
            problems = list(read_problems(folder / "data" / f"{file}.jsonl").values())[:count]
            for greedy in (True, False):
                samples, name = 1 if greedy else self.samples, f"{file}-greedy" if greedy else file
                drawn = self._drawn(output / "model", problems, samples, greedy=greedy)
                scores[name] = columns(problems, drawn, samples)
                answers[name] = [one.text for one in drawn[::samples]]
        state = json.loads((output / f"checkpoint-{self.arm.updates}" / "trainer_state.json").read_text())
        log = [{k: v for k, v in entry.items() if isinstance(v, int | float)} for entry in state["log_history"]]
        write(folder / "answers" / f"{self.name}.json.gz", gzip.compress(msgspec.json.encode(answers), mtime=0))
        write(self.record(folder), msgspec.json.encode(Record(self.name, self.arm.updates, seconds, scores, log)))
        for checkpoint in output.glob("checkpoint-*"):
            shutil.rmtree(checkpoint)

    @staticmethod
    def _drawn(model: Path, problems: Sequence[Problem], samples: int, *, greedy: bool) -> list[Drawn]:
        return draw(model, problems, greedy=greedy, samples=samples, prompt="short", tokens=TOKENS, exact=True)

    def _trained(self, folder: Path, output: Path) -> float:
        """Train. Returns the seconds of processor time, of all processes whose work is in the model."""
        from proof_r1_formal.integrations.trl_run import read_run, train

        done = output / "seconds.json"
        if (output / "trained").exists():
            return float(sum(json.loads(done.read_text())))
        before = json.loads(done.read_text()) if done.exists() else []
        output.mkdir(parents=True, exist_ok=True)
        paths = ("--model_name_or_path", str(folder / self.start / "model"), "--output_dir", str(output))
        data = ("--problems", str(folder / "data" / f"{self.data}.jsonl"))
        meter = _Meter(done, before)
        run = read_run(HERE / self.arm.config, (*self.arm.options(), *paths, *data, "--seed", str(self.seed)))
        train(run, callbacks=[meter])
        meter.note()
        write(output / "trained", b"")
        return float(sum(json.loads(done.read_text())))


class _Meter(TrainerCallback):
    """Notes the processor time of a run with each checkpoint, because a process that resumes from it adds only its own.

    ``before``: the seconds of the processes that were killed, each up to its last checkpoint.
    """

    def __init__(self, path: Path, before: Sequence[float]) -> None:
        self._path, self._before, self._started = path, before, time.process_time()

    def on_save(self, *_: object, **__: object) -> None:
        """Called after each checkpoint."""
        self.note()

    def note(self) -> None:
        """Write the seconds so far."""
        write(self._path, json.dumps([*self._before, time.process_time() - self._started]).encode())


@dataclass(frozen=True, slots=True)
class Practice:
    """The exercises of a model with random weights.

    Attributes:
        name: of its folder and record.
        seed: of the weights and of the exercises.
    """

    name: str
    seed: int

    def record(self, folder: Path) -> Path:
        """The file of the record, which has no scores."""
        return folder / "records" / f"{self.name}.json"

    def ready(self, folder: Path) -> bool:
        """Always: it starts from no run."""
        del folder
        return True

    def make(self, folder: Path) -> None:
        """Write the model of random weights, practise, and write the record."""
        started = time.process_time()
        write_model(folder / "data", folder / self.name / "start", self.seed)
        exercises.practise(folder / "data", folder / self.name / "start", folder / self.name / "model", self.seed)
        seconds = time.process_time() - started
        write(self.record(folder), msgspec.json.encode(Record(self.name, exercises.UPDATES, seconds, {}, [])))


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


def warm_up(number: int) -> tuple[Practice, Run]:
    """The two parts of a warm-up: exercises, and then proofs at a constant rate."""
    first = Practice(f"reading-{number}", number)
    rows = ("--per_device_train_batch_size", str(WARM_UP_ROWS), "--max_grad_norm", "1.0")
    changes = (*rows, "--lr_scheduler_type", "constant_with_warmup")
    arm = Arm(changes, "1e-3", 0, WARM_UP_UPDATES)
    return first, Run(f"warm-up-{number}", arm, first.name, "warm-up", number, FILES)


def start_of(seed: int) -> int:
    """The number of the warm-up that runs with a seed start from."""
    return 2 - seed % 2


def plan() -> list[Practice | Run]:
    """All runs, in the order in which they are wanted."""
    names = list(ARMS)
    found: list[Practice | Run] = [run for number in WARM_UPS for run in warm_up(number)]
    for chosen in (names[:FIRST], names[FIRST:]):
        for seed in SEEDS:
            start = f"warm-up-{start_of(seed)}"
            found += [Run(f"{name}-{seed}", ARMS[name], start, "reinforcement", seed, FILES) for name in chosen]
    return found


def work(folder: Path, runs: Sequence[Practice | Run]) -> None:
    """Make those of the runs that have no record."""
    replay_tokens(exact=True)
    while left := [run for run in runs if not run.record(folder).exists()]:
        if (taken := _take(folder, left)) is None:
            if not any(run.ready(folder) for run in left):
                raise SystemExit("no run can start: the warm-ups that these need are not there")
            time.sleep(1)  # another process works at what is left
            continue
        run, lock = taken
        with lock:
            started = time.monotonic()
            run.make(folder)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
            sys.stdout.write(f"{run.name}: {time.monotonic() - started:.0f} s, at most {peak:.1f} GiB\n")
            sys.stdout.flush()


def _take(folder: Path, runs: Sequence[Practice | Run]) -> tuple[Practice | Run, ExitStack] | None:
    for run in runs:
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
    work(given.folder, [run for run in plan() if re.fullmatch(given.only, run.name)])


if __name__ == "__main__":
    main()
