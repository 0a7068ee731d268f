"""All arms of a part at the same time on one GPU, for a given time.

    python -m studies.pretrained.together FOLDER --part N --seconds S

In: the folder of ``run``, with the model and the data. It trains the warm-ups of the part, each in a process of its
own, and then the arms that learn from rollouts, until S seconds have passed. A process that fails, for want of memory
say, starts again. The models of all arms are taken at the last multiple of ``STEP`` updates that all have reached;
``sft`` is trained for as many. Then each model answers. What this prints and ``run`` do not, the scores, need no GPU.

An NVIDIA GPU shares its time better between processes of one user when the service MPS runs.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path

import torch

from studies.pretrained.run import PARTS, Drawing, Training, log_file, plan, write

STEP = 10
"""Updates between two checkpoints."""
KEPT = 3
"""Checkpoints of a run: arms differ by less than this many times ``STEP`` updates."""
WEIGHTS = "model.safetensors"


def main() -> None:
    """Train and answer."""
    parser = argparse.ArgumentParser(prog="python -m studies.pretrained.together")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--part", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True, help="of the arms that learn from rollouts")
    given = parser.parse_args()
    run_part(given.folder, given.part, given.seconds)


def run_part(folder: Path, number: int, seconds: float) -> int:
    """Train and answer. Returns the updates of the arms."""
    part = PARTS[number - 1]
    runs = [job for job in plan() if isinstance(job, Training) and job.warm_up in part.warm_ups]
    warm_ups = [job for job in runs if job.start is None]
    _finish(folder, [(train, job) for job in warm_ups if not job.done(folder)])
    started = time.monotonic()
    rollouts = [job for job in runs if job.start and not job.learns_from_proofs]
    _until(folder, rollouts, started + seconds)
    reached = {job.name: checkpoints(folder / job.name) for job in rollouts}
    missing = [name for name, found in reached.items() if not found]
    updates = common({name: found for name, found in reached.items() if found})
    _say(
        f"{updates} updates in {time.monotonic() - started:.0f} s; without a checkpoint: {', '.join(missing) or 'none'}"
    )
    for name in reached.keys() - set(missing):
        take(folder, name, updates)
    proofs = [replace(job, updates=updates) for job in runs if job.learns_from_proofs and job.start]
    answering = [(draw, job) for job in (*warm_ups, *rollouts) if job.name not in missing]
    _finish(folder, [*answering, *[(train_and_draw, job) for job in proofs]])
    return updates


# -- what a process does ----------------------------------------------------------------------------------------------


def train(folder: Path, job: Training) -> None:
    """Train to the end."""
    torch.set_num_threads(1)  # there are many processes
    job.run(folder)


def train_in_steps(folder: Path, job: Training) -> None:
    """Train with checkpoints."""
    saved = ("--save_steps", str(STEP), "--save_total_limit", str(KEPT))
    train(folder, replace(job, changes=(*job.changes, *saved)))


def draw(folder: Path, job: Training) -> None:
    """Sample the answers of a model to each file that is scored."""
    torch.set_num_threads(1)
    for one in plan():
        if isinstance(one, Drawing) and one.start == job.name and not one.done(folder):
            one.run(folder)


def train_and_draw(folder: Path, job: Training) -> None:
    """Both."""
    train(folder, job)
    draw(folder, job)


# -- processes --------------------------------------------------------------------------------------------------------

Task = tuple[Callable[[Path, Training], None], Training]


def _start(folder: Path, task: Task) -> BaseProcess:
    does, job = task
    process = multiprocessing.get_context("spawn").Process(target=does, args=(folder, job), name=job.name)
    process.start()
    return process


def _finish(folder: Path, tasks: Sequence[Task]) -> None:
    """Wait for all; what fails starts again, alone, when the others have ended."""
    processes = [_start(folder, task) for task in tasks]
    for process in processes:
        process.join()
    for task in [task for task, process in zip(tasks, processes, strict=True) if process.exitcode]:
        _say(f"{task[1].name}: again")
        again = _start(folder, task)
        again.join()
        if again.exitcode:
            raise SystemExit(f"{task[1].name} failed twice")


def _until(folder: Path, jobs: Iterable[Training], end: float) -> None:
    """Train until a time; what fails starts again."""
    running = {job.name: (job, _start(folder, (train_in_steps, job))) for job in jobs}
    while (seconds := end - time.monotonic()) > 0 and (
        alive := [process.sentinel for _, process in running.values() if process.is_alive()]
    ):
        wait(alive, seconds)
        for name, (job, process) in running.items():
            if process.exitcode:
                _say(f"{name}: again")
                running[name] = job, _start(folder, (train_in_steps, job))
    for _, process in running.values():
        process.kill()
        process.join()


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


# -- checkpoints ------------------------------------------------------------------------------------------------------


def checkpoints(run: Path) -> set[int]:
    """The updates of a run's checkpoints that are whole.

    The state of the trainer is written after the weights, and a checkpoint that is deleted may have lost either.
    """
    states = [path for path in run.glob("checkpoint-*/trainer_state.json") if (path.parent / WEIGHTS).exists()]
    return {int(path.parent.name.rpartition("-")[2]) for path in states}


def common(reached: Mapping[str, set[int]]) -> int:
    """The last update of which every run has a checkpoint.

    Raises:
        SystemExit: no update has a checkpoint in every run.
    """
    if not reached or not (shared := set.intersection(*reached.values())):
        raise SystemExit(f"no checkpoint that all arms have: {dict(reached)}")
    return max(shared)


def take(folder: Path, name: str, updates: int) -> None:
    """Make the checkpoint of a run its model, and its log until then that of the run."""
    source, model = folder / name / f"checkpoint-{updates}", folder / name / "model"
    if model.exists():
        shutil.rmtree(model)
    shutil.copytree(source, model)
    state = json.loads((source / "trainer_state.json").read_text())
    write(log_file(folder, name), json.dumps(state["log_history"]).encode())


if __name__ == "__main__":
    main()
