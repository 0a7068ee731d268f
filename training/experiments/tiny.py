"""The whole experiment: problems, warm-ups, every method with every seed, scores, tables and figures.

``python -m training.experiments.tiny`` with ``--jobs`` and ``--threads`` for the machine at hand. It goes on where it
was stopped; nothing that is done is done again.
"""

from __future__ import annotations

import multiprocessing
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from msgspec import structs
from rich.console import Console

from proof_r1_formal import TRAIN, ProofR1Error, read_problems
from proof_r1_formal.metrics.measures import Measure
from training.config import Config
from training.experiments.plan import HELD_OUT, STUDIES, Experiment, MethodName, StudyName, draws, read_experiment
from training.experiments.problems import write_draws, write_reading, write_sloppy
from training.experiments.report import write_report
from training.experiments.runs import Task, evaluation_at_the_end, next_model, perform, train_quietly

Log = Callable[[str], object]

ENOUGH = 4
"""Threads for a warm-up, at most: small matrices do not gain from more."""


def run(experiment: Experiment, *, jobs: int, threads: int, log: Log) -> dict[StudyName, Task]:
    """Do all of the experiment that is not done yet, up to the report.

    Args:
        experiment: what to do.
        jobs: runs at a time.
        threads: of PyTorch in each of them.
        log: logs progress.

    Returns:
        The warm-up that each study starts from.
    """
    out = Path(experiment.output)
    paths = write_draws(draws(experiment.sizes), out / "problems", workers=jobs)
    log("problems are there")
    held_out = tuple([paths[name] for name in HELD_OUT])
    together = min(jobs * threads, ENOUGH)
    clean = clean_warm_up(experiment, paths, threads=together)
    log(f"warm-up on clean proofs: {_seen(clean)}")
    noisy = noisy_warm_up(experiment, clean, paths, threads=together, log=log)
    starts: dict[StudyName, Task] = {"noise": Task(noisy, held_out), "transfer": Task(clean, held_out)}
    for start in starts.values():
        perform(start)
    tasks = [
        Task(method_config(experiment, study, method, seed, start.config, paths, threads=threads), held_out)
        for study, start in starts.items()
        for seed in experiment.sizes.seeds
        for method in experiment.compared
    ]
    perform_all(tasks, jobs=jobs, log=log)
    return starts


# -- warm-ups ---------------------------------------------------------------------------------------------------------


def clean_warm_up(experiment: Experiment, paths: Mapping[str, Path], *, threads: int) -> Config:
    """Have a model learn to read, if the experiment says so, and then from clean proofs."""
    out, problems, start = Path(experiment.output), paths["clean"], experiment.clean.model
    if experiment.reading is not None:
        lines = problems.with_name("reading-answers.jsonl")
        write_reading(read_problems(problems).values(), experiment.sizes.recitals, lines)
        reading = _stage(
            experiment.reading, out / "warm-up-reading", problems, threads, watched=None, demonstrations=(str(lines),)
        )
        _train_once(reading)
        start = next_model(reading)
    config = structs.replace(experiment.clean, model=start)
    clean = _stage(config, out / "warm-up-clean", problems, threads, watched=paths["watched"])
    _train_once(clean)
    return clean


def noisy_warm_up(
    experiment: Experiment, clean: Config, paths: Mapping[str, Path], *, threads: int, log: Log
) -> Config:
    """Have it learn from sloppy proofs, in rounds, until its own are wrong often enough.

    Raises:
        ProofR1Error: it did not come to where it should.
    """
    sizes, out = experiment.sizes, Path(experiment.output) / "warm-up-noise"
    sloppy = _sloppy(paths)
    write_sloppy(read_problems(paths["sloppy"]).values(), TRAIN, sizes.slips, sloppy)
    config = _stage(
        structs.replace(experiment.noisy, model=next_model(clean)),
        out,
        paths["sloppy"],
        threads,
        watched=paths["watched"],
        demonstrations=(str(sloppy),),
    )
    for number in range(1, sizes.rounds + 1):
        optimiser = structs.replace(config.optimiser, steps=number * sizes.round_steps)
        config = structs.replace(config, optimiser=optimiser)
        ready = out / f"round-{number}"
        if not ready.exists():
            train_quietly(config)
            ready.touch()
        scores = evaluation_at_the_end(config).scores
        parsed, rvr = (scores[name].value for name in (Measure.PARSED, Measure.RVR))
        log(f"round {number} on sloppy proofs: {_seen(config)}")
        if parsed >= sizes.parsed and sizes.rvr[0] <= rvr <= sizes.rvr[1]:
            return config
    raise ProofR1Error(
        f"after {sizes.rounds} rounds on sloppy proofs, {parsed:.0%} are parsed and RVR is {rvr:.0%}; "
        f"wanted are at least {sizes.parsed:.0%}, and from {sizes.rvr[0]:.0%} to {sizes.rvr[1]:.0%}"
    )


def _train_once(config: Config) -> None:
    if not (Path(config.output) / "model").exists():
        train_quietly(config)


def _sloppy(paths: Mapping[str, Path]) -> Path:
    return paths["sloppy"].with_name("sloppy-answers.jsonl")


# -- runs -------------------------------------------------------------------------------------------------------------


def method_config(
    experiment: Experiment,
    study: StudyName,
    method: MethodName,
    seed: int,
    start: Config,
    paths: Mapping[str, Path],
    *,
    threads: int,
) -> Config:
    """The configuration of one of the runs that are compared.

    ``sft`` continues with the tasks of the warm-up; it sees as many completions in as many updates as the others.
    """
    base = structs.replace(experiment.methods, method=method, seed=seed, model=next_model(start))
    output = Path(experiment.output) / study / f"{method}-{seed}"
    watched = paths["watched"]
    if method != "sft":
        return _stage(base, output, paths[study], threads, watched=watched)
    batch, rollout = base.batch, base.rollout
    many = structs.replace(
        batch, problems=batch.problems * rollout.samples, mini=batch.problems * rollout.samples // batch.epochs
    )
    source, given = (paths["sloppy"], (str(_sloppy(paths)),)) if study == "noise" else (paths["clean"], ())
    same = structs.replace(base, batch=many)
    return _stage(same, output, source, threads, watched=watched, demonstrations=given)


def _stage(
    config: Config,
    output: Path,
    train: Path,
    threads: int,
    *,
    watched: Path | None,
    demonstrations: tuple[str, ...] = (),
) -> Config:
    evaluation = () if watched is None else (str(watched),)
    data = structs.replace(
        config.data, train=(str(train),), evaluation=evaluation, demonstrations=demonstrations, checked=False
    )
    model = structs.replace(config.model, threads=threads)
    return structs.replace(config, output=str(output), data=data, model=model)


def _seen(config: Config) -> str:
    last = evaluation_at_the_end(config)
    shown = [
        f"{name} {last.scores[name].value:.2f}" for name in (Measure.PARSED, Measure.AVG, Measure.FVR, Measure.RVR)
    ]
    return f"after {last.step} steps {', '.join(shown)}"


def perform_all(tasks: Sequence[Task], *, jobs: int, log: Log) -> None:
    """Do what is missing of some runs, several at a time, then each in a process of its own."""
    missing = [task for task in tasks if not task.done]
    log(f"{len(tasks)} runs, {len(missing)} of them to do")
    start = time.monotonic()
    for number, folder in enumerate(_performed(missing, jobs), 1):
        log(f"{number}/{len(missing)} after {(time.monotonic() - start) / 60:.1f} min: {folder}")


def _performed(tasks: Sequence[Task], jobs: int) -> Iterator[Path]:
    """The folders of runs, each as soon as it is done."""
    if jobs == 1:
        yield from map(perform, tasks)
        return
    spawn = multiprocessing.get_context("spawn")  # PyTorch's threads do not survive a fork
    with ProcessPoolExecutor(jobs, mp_context=spawn, max_tasks_per_child=1) as pool:
        for future in as_completed([pool.submit(perform, task) for task in tasks]):
            yield future.result()


def main() -> None:
    """Do the experiment."""
    parser = ArgumentParser(prog="python -m training.experiments.tiny", description="Compare the methods.")
    parser.add_argument("--config", type=Path, default=Path("training/experiments/tiny.yaml"))
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time (default 2)")
    parser.add_argument("--threads", type=int, default=1, help="threads of each run (default 1)")
    parser.add_argument("--report", type=Path, default=Path("docs/experiments"), help="folder for tables and figures")
    given = parser.parse_args()
    console = Console(stderr=True)
    experiment = read_experiment(given.config)

    def log(message: str) -> None:
        console.print(message, markup=False, highlight=False)

    starts = run(experiment, jobs=given.jobs, threads=given.threads, log=log)
    for path in write_report(experiment, {study: starts[study].config for study in STUDIES}, given.report):
        log(f"written: {path}")


if __name__ == "__main__":
    main()
