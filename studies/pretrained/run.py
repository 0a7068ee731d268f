"""The runs of the study: warm-ups, arms, answers and scores, each when what it starts from is there.

    python -m studies.pretrained.run FOLDER [--threads N] [--only NAMES]

does what is left, one job after another, and waits where another process has what it needs. Several processes may work
on one folder, on a GPU or on a CPU: each takes jobs that no other has taken. ``PLAN.md`` says why these jobs. On a CPU,
a training run that was killed resumes from its last checkpoint. FOLDER is that of ``make pretrained`` (``model``,
``data``), and gets the folders of the runs, ``answers`` and ``records``.
"""

from __future__ import annotations

import argparse
import gc
import json
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import msgspec
import torch

from proof_r1_formal import ProofR1Error, read_problems
from proof_r1_formal.integrations.runs import alone
from studies.pretrained.score import GREEDY, Drawn, Record, draw, score
from studies.pretrained.speed import fast_bfloat16, register, replay_tokens, score_labels_only

HERE = Path(__file__).parent
WARM_UPS: Mapping[int, int] = {1: 500, 2: 500, 3: 250, 4: 250, 5: 250}
"""Updates of each, of 16 demonstrations."""
SEEDS: Mapping[int, int] = {1: 1, 2: 2, 3: 1, 4: 4, 5: 5}
"""Of the runs that start from each warm-up, and of the warm-up."""


@dataclass(frozen=True, slots=True)
class Part:
    """Arms that are compared with each other.

    Attributes:
        warm_ups: which they start from.
        rates: of learning. With several, tests take the best of each arm on ``tuning``.
        updates: two for each batch of rollouts.
        batch: problems of a batch of rollouts, with eight completions each.
        tested: files of problems for the tests.
        others: files that are scored, and in no test.
        greedy: files to which greedy answers are scored too.
    """

    warm_ups: tuple[int, ...]
    rates: tuple[str, ...]
    updates: int
    batch: int
    tested: tuple[str, ...]
    others: tuple[str, ...]
    greedy: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """All files that are scored."""
        return (*self.tested, *self.others)


PARTS = (
    Part((1, 2), ("3e-5",), 30, 4, ("same", "longer"), ("words",)),
    Part((3,), ("3e-5", "1e-4"), 50, 8, ("held-out",), ("tuning", "longer", "words")),
    Part((4, 5), ("3e-5",), 40, 8, ("held-out",), ("longer", "words"), ("held-out",)),
)
"""The first two on a GPU, as far as its time allowed: more updates were planned. The third is on a CPU."""
ARMS: Mapping[str, Sequence[str]] = {
    "hardened": ("--method", "proof_r1", "--preset", "hardened"),
    "grpo": ("--method", "grpo"),
    "expert_iteration": ("--method", "expert_iteration"),
    "sft": ("--method", "sft"),
    "paper": ("--method", "proof_r1", "--preset", "paper"),
    "prosfi": ("--method", "prosfi"),
}
ABLATIONS: Mapping[str, Sequence[str]] = {name: ("--method", name) for name in ("no_closure", "no_verification")}
"""For the first warm-up."""
EXPLANATIONS: Mapping[str, Sequence[str]] = {"strict": ("--method", "proof_r1", "--preset", "strict")}
"""For the warm-ups of the third part, after its arms."""


@dataclass(frozen=True, slots=True)
class Training:
    """A run of ``proof-r1 train``.

    Attributes:
        name: of its folder.
        config: file of ``studies/pretrained``.
        start: the run that made the model it starts from; None for the pretrained model.
        data: file of the problems.
        changes: of the configuration.
        updates: after which it ends.
    """

    name: str
    config: str
    start: str | None
    data: str
    changes: tuple[str, ...]
    updates: int

    @property
    def warm_up(self) -> int:
        """The number of the warm-up that it is, or starts from."""
        return int(self.name.rpartition("-")[2])

    @property
    def learns_from_proofs(self) -> bool:
        """Whether it learns from reference proofs, not from rollouts."""
        return self.config == WARM_UP

    def ready(self, folder: Path) -> bool:
        """Whether the model that it starts from is there."""
        return log_file(folder, self.start).exists() if self.start else (folder / "model").exists()

    def done(self, folder: Path) -> bool:
        """Whether its model was saved: the log of the run is written after it."""
        return log_file(folder, self.name).exists()

    def run(self, folder: Path) -> None:
        """Train, from the last checkpoint if there is one."""
        from proof_r1_formal.integrations.trl_run import read_run, train

        register()
        output, data = folder / self.name, folder / "data" / f"{self.data}.jsonl"
        model = folder / (f"{self.start}/model" if self.start else "model")
        paths = ("--model_name_or_path", str(model), "--problems", str(data), "--output_dir", str(output))
        last = ("--max_steps", str(self.updates))
        train(read_run(HERE / self.config, (*self.changes, *paths, *last, *_machine(self.config))))
        state = json.loads((output / f"checkpoint-{self.updates}" / "trainer_state.json").read_text())
        write(log_file(folder, self.name), msgspec.json.encode(state["log_history"]))


@dataclass(frozen=True, slots=True)
class Drawing:
    """The answers of a model to a file of problems.

    Attributes:
        start: the run that made the model.
        file: of the problems.
        greedy: whether the answers are greedy.
    """

    start: str
    file: str
    greedy: bool = False

    @property
    def name(self) -> str:
        """Of the answers, and of their record."""
        return f"{self.start}.{self.file}{GREEDY if self.greedy else ''}"

    def path(self, folder: Path) -> Path:
        """The file of the answers."""
        return folder / "answers" / f"{self.name}.json"

    def ready(self, folder: Path) -> bool:
        """Whether the model was saved."""
        return log_file(folder, self.start).exists()

    def done(self, folder: Path) -> bool:
        """Whether the answers are there."""
        return self.path(folder).exists()

    def run(self, folder: Path) -> None:
        """Sample the answers."""
        problems = list(read_problems(folder / "data" / f"{self.file}.jsonl").values())
        write(self.path(folder), msgspec.json.encode(draw(folder / self.start / "model", problems, greedy=self.greedy)))


@dataclass(frozen=True, slots=True)
class Scoring:
    """The scores of answers."""

    answers: Drawing

    @property
    def name(self) -> str:
        """Of the job."""
        return f"{self.answers.name}.score"

    def path(self, folder: Path) -> Path:
        """The file of the record."""
        return folder / "records" / f"{self.answers.name}.json"

    def ready(self, folder: Path) -> bool:
        """Whether the answers are there."""
        return self.answers.done(folder)

    def done(self, folder: Path) -> bool:
        """Whether the record is there."""
        return self.path(folder).exists()

    def run(self, folder: Path) -> None:
        """Write the record."""
        drawn = msgspec.json.decode(self.answers.path(folder).read_bytes(), type=list[Drawn])
        problems = folder / "data" / f"{self.answers.file}.jsonl"
        records = score(self.answers.start, problems, drawn, greedy=self.answers.greedy)
        write(self.path(folder), msgspec.json.encode(records))


Job: TypeAlias = Training | Drawing | Scoring


def read_records(path: Path) -> list[Record]:
    """The records of a file."""
    return msgspec.json.decode(path.read_bytes(), type=list[Record])


def log_file(folder: Path, run: str) -> Path:
    """The file of the log of a run."""
    return folder / "records" / f"{run}.log.json"


def _machine(config: str) -> tuple[str, ...]:
    """The settings that depend on the machine: where bfloat16 is fast, training multiplies matrices in it."""
    replay_tokens()
    shared = () if config == WARM_UP else ("--share_prompts", "true")
    if torch.cuda.is_available():
        return ("--bf16", "true", "--tf32", "true", "--save_only_model", "true", *shared)
    score_labels_only()
    rows, times, saved = ("4", "4", "25") if config == WARM_UP else ("8", "8", "10")  # the batch, in less memory
    batch = ("--per_device_train_batch_size", rows, "--gradient_accumulation_steps", times, "--save_steps", saved)
    return ("--use_cpu", "true", "--bf16", str(fast_bfloat16()).lower(), *batch, *shared)


def write(path: Path, data: bytes) -> None:
    """Write a file, which is whole or absent."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".new")
    beside.write_bytes(data)
    beside.replace(path)


# -- what comes next --------------------------------------------------------------------------------------------------

WARM_UP, LEARN = "warm-up.yaml", "learn.yaml"


def plan() -> list[Job]:
    """All jobs, in the order in which they are wanted."""
    runs = [
        Training(f"warm-up-{number}", WARM_UP, None, "warm-up", ("--seed", str(SEEDS[number])), updates)
        for number, updates in WARM_UPS.items()
    ]
    for part in PARTS:
        runs += [_arm(arm, number, part, rate) for number in part.warm_ups for rate in part.rates for arm in ARMS]
    runs += [_arm(arm, PARTS[0].warm_ups[0], PARTS[0], PARTS[0].rates[0]) for arm in ABLATIONS]
    runs += [_arm(arm, number, PARTS[2], PARTS[2].rates[0]) for number in PARTS[2].warm_ups for arm in EXPLANATIONS]
    tested: list[Job] = []
    others: list[Job] = []
    for run in runs:
        part = part_of(run.warm_up)
        tested += [run, *[Drawing(run.name, file) for file in part.tested]]
        more = dict.fromkeys((*part.others, "tuning")) if run.start is None else part.others
        others += [Drawing(run.name, file, greedy=True) for file in part.greedy]
        others += [Drawing(run.name, file) for file in more]
    drawings = [job for job in (*tested, *others) if isinstance(job, Drawing)]
    return [*tested, *others, *[Scoring(one) for one in drawings]]


def part_of(warm_up: int) -> Part:
    """The part that a warm-up belongs to."""
    return next(part for part in PARTS if warm_up in part.warm_ups)


def _arm(arm: str, number: int, part: Part, rate: str) -> Training:
    options = {**ARMS, **ABLATIONS, **EXPLANATIONS}[arm]
    config = WARM_UP if arm == "sft" else LEARN
    rows = () if arm == "sft" else ("--per_device_train_batch_size", str(2 * part.batch))  # a quarter of the batch
    changes = (*options, *rows, "--learning_rate", rate, "--seed", str(SEEDS[number]))
    return Training(f"{arm}-{rate}-{number}", config, f"warm-up-{number}", "reinforcement", changes, part.updates)


def left(folder: Path, only: str) -> Iterator[Job]:
    """The jobs that are not done and whose names match a regular expression."""
    return (job for job in plan() if re.fullmatch(only, job.name) and not job.done(folder))


def main() -> None:
    """Do jobs until none is left."""
    parser = argparse.ArgumentParser(prog="python -m studies.pretrained.run")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", default=".*", help="a regular expression for the names of jobs")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    while next(left(given.folder, given.only), None) is not None:
        if (taken := _take(given.folder, given.only)) is None:
            if not any(job.ready(given.folder) for job in left(given.folder, given.only)):
                raise SystemExit("no job can start: --only leaves out the jobs that make what these need")
            time.sleep(1)  # another process does a job
            continue
        job, lock = taken
        with lock:
            started = time.monotonic()
            job.run(given.folder)
            sys.stdout.write(f"{job.name}: {time.monotonic() - started:.0f} s\n")
            sys.stdout.flush()
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()  # the next job's model has other sizes, and other processes need the room


def _take(folder: Path, only: str) -> tuple[Job, ExitStack] | None:
    for job in left(folder, only):
        if not job.ready(folder):
            continue
        lock = ExitStack()
        try:
            lock.enter_context(alone(folder / "locks" / job.name))
        except ProofR1Error:
            continue
        if not job.done(folder):
            return job, lock
        lock.close()
    return None


if __name__ == "__main__":
    main()
