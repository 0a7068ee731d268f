"""The runs of the study: warm-ups, arms and scores, each when what it starts from is there.

    python -m studies.pretrained.run FOLDER [THREADS]

does what is left and can be done now, one job after another; ``PLAN.md`` says why these. A job that was killed resumes
from its last checkpoint. Two processes may work on one folder: each takes jobs that the other has not taken. FOLDER is
that of ``make pretrained`` (``model``, ``data``), and gets the folders of the runs and ``records``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import msgspec
import torch

from proof_r1_formal import ProofR1Error, read_problems
from proof_r1_formal.evaluation.measures import Measure
from proof_r1_formal.integrations.runs import alone
from studies.pretrained.score import Record, draw, score

HERE = Path(__file__).parent
WARM_UPS = (1, 2)
ENOUGH = 0.30
"""The sampled RVR on ``tuning`` from which on a warmed-up model is good enough to learn from its own rollouts."""
SLICE, SLICES = 50, 5
"""Updates of a warm-up between two scores, and the greatest number of such slices: all 4,000 demonstrations."""
UPDATES = 60
"""Of each arm: two for each of 30 batches of rollouts."""
RATES = ("3e-5", "1e-5")
"""The rate of the tests, and another one that shows whether they depend on it."""
TESTED = ("same", "longer")
"""The files of the tests; ``words`` is scored when all else is done."""
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


@dataclass(frozen=True, slots=True)
class Training:
    """A run of ``proof-r1 train``.

    Attributes:
        name: of its folder.
        config: file of ``studies/pretrained``.
        model: the folder of the model it starts from.
        data: file of the problems.
        changes: of the configuration.
        updates: after which it ends.
    """

    name: str
    config: str
    model: str
    data: str
    changes: tuple[str, ...]
    updates: int

    def done(self, folder: Path) -> bool:
        """Whether the model of this number of updates was saved: the log of the run is written after it."""
        return self.log(folder).exists()

    def log(self, folder: Path) -> Path:
        """The file of what the run logged up to this number of updates."""
        return folder / "records" / f"{self.name}@{self.updates}.log.json"

    def run(self, folder: Path) -> None:
        """Train, from the last checkpoint if there is one."""
        from proof_r1_formal.integrations.trl_run import read_run, train
        from studies.pretrained.cpu import register, score_labels_only

        register()
        score_labels_only()
        output, data = folder / self.name, folder / "data" / f"{self.data}.jsonl"
        paths = ("--model_name_or_path", str(folder / self.model), "--problems", str(data), "--output_dir", str(output))
        train(read_run(HERE / self.config, (*self.changes, *paths, "--max_steps", str(self.updates))))
        state = json.loads((output / f"checkpoint-{self.updates}" / "trainer_state.json").read_text())
        _write(self.log(folder), msgspec.json.encode(state["log_history"]))


@dataclass(frozen=True, slots=True)
class Scoring:
    """The scores of a model on a file of problems.

    Attributes:
        run_name: of the run that made the model.
        updates: that it had.
        file: of the problems.
    """

    run_name: str
    updates: int
    file: str

    @property
    def name(self) -> str:
        """Of the record."""
        return f"{self.run_name}@{self.updates}.{self.file}"

    def done(self, folder: Path) -> bool:
        """Whether the record is there."""
        return self.path(folder).exists()

    def path(self, folder: Path) -> Path:
        """The file of the record."""
        return folder / "records" / f"{self.name}.json"

    def run(self, folder: Path) -> None:
        """Draw answers, and write them and the record."""
        problems = folder / "data" / f"{self.file}.jsonl"
        drawn = draw(folder / self.run_name / "model", list(read_problems(problems).values()))
        texts = [{"text": one.text, "tokens": one.tokens} for one in drawn]
        _write(folder / "answers" / f"{self.name}.json", msgspec.json.encode(texts))
        _write(self.path(folder), msgspec.json.encode(score(self.run_name, problems, drawn)))

    def records(self, folder: Path) -> list[Record]:
        """The records, which are there."""
        return read_records(self.path(folder))


Job = Training | Scoring


def read_records(path: Path) -> list[Record]:
    """The records of a file."""
    return msgspec.json.decode(path.read_bytes(), type=list[Record])


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".new")
    beside.write_bytes(data)
    beside.replace(path)  # a record is whole or absent


# -- what comes next --------------------------------------------------------------------------------------------------


def jobs(folder: Path) -> Iterator[Job]:
    """The jobs that are not done and whose models are there, in the order in which they are wanted."""
    first, second = WARM_UPS
    runs: list[Training] = []
    if (start := (yield from _warm_up(folder, first))) is None:
        return
    for rate, arms in ((RATES[0], (*ARMS, *ABLATIONS)), (RATES[1], tuple(ARMS))):
        for arm in arms:
            runs.append(_arm(arm, first, start, rate))
            yield from _scores(folder, runs[-1], *TESTED)
    if (start := (yield from _warm_up(folder, second))) is not None:
        for arm in ARMS:
            runs.append(_arm(arm, second, start, RATES[0]))
            yield from _scores(folder, runs[-1], *TESTED)
    for run in runs:
        yield from _scores(folder, run, "words")


def _warm_up(folder: Path, number: int) -> Generator[Job, None, str | None]:
    """The jobs of a warm-up; returns the model at which it is good enough, None while that is not known."""
    name = f"warm-up-{number}"
    for updates in range(SLICE, SLICE * SLICES + 1, SLICE):
        scoring = Scoring(name, updates, "tuning")
        if not scoring.done(folder):
            training = Training(name, "warm-up.yaml", "model", "warm-up", ("--seed", str(number)), updates)
            yield scoring if training.done(folder) else training
            return None
        if scoring.records(folder)[0].rate(Measure.RVR) >= ENOUGH or updates == SLICE * SLICES:
            for file in (*TESTED, "words"):
                if not (own := Scoring(name, updates, file)).done(folder):
                    yield own
            return name
    return None


def _arm(arm: str, number: int, start: str, rate: str) -> Training:
    options = ARMS.get(arm) or ABLATIONS[arm]
    config = "warm-up.yaml" if arm == "sft" else "learn.yaml"
    changes = (*options, "--learning_rate", rate, "--save_steps", "10")
    return Training(f"{arm}-{rate}-{number}", config, f"{start}/model", "reinforcement", changes, UPDATES)


def _scores(folder: Path, training: Training, *files: str) -> Iterator[Job]:
    if not training.done(folder):
        yield training
        return
    for file in files:
        if not (scoring := Scoring(training.name, UPDATES, file)).done(folder):
            yield scoring


def main() -> None:
    """Do jobs until none is left that no other process has taken."""
    folder = Path(sys.argv[1])
    torch.set_num_threads(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    while (taken := _take(folder)) is not None:
        job, lock = taken
        with lock:
            sys.stdout.write(f"{job.name}\n")
            sys.stdout.flush()
            job.run(folder)


def _take(folder: Path) -> tuple[Job, ExitStack] | None:
    for job in jobs(folder):
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
