"""The study ``longer``: problems, warm-up, tuned learning rates, every arm with every seed, and their records.

``python -m training.experiments.longer`` goes on where it was stopped, at any moment: nothing that is done is done
again. What it leaves in ``docs/experiments/longer`` (:mod:`training.experiments.records`) is all that its tables need;
:mod:`training.experiments.longer_tables` makes them. The studies ``gaming`` and ``distractors`` are other
configurations of it.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import structs
from rich.console import Console

from proof_r1_formal import ProofR1Error, read_problems
from proof_r1_formal.metrics.measures import Measure
from training.config import Config, with_overrides
from training.experiments.longer_plan import HELD_OUT, VOCABULARY, Study, draws, read_study
from training.experiments.problems import write_draws, write_reading, write_renamed, write_useless
from training.experiments.records import record_of, write_record
from training.experiments.runs import evaluation_at_the_end, next_model, train_quietly

Log = Callable[[str], object]
Paths = Mapping[str, Path]

WARM_UP = "warm-up"
"""The name of the record of the policy that all arms start from."""


def run(study: Study, records: Path, *, log: Log) -> None:
    """Do all of the study that is not done yet.

    Args:
        study: what to do.
        records: folder of the records.
        log: shows what is done.
    """
    paths = _problems(study)
    log("problems are there")
    start = warm_up(study, paths, log=log)
    _record(study, start, WARM_UP, 0, paths, records)
    rates = {arm: tuned_rate(study, arm, start, paths, log=log) for arm in study.arms}
    for seed in study.seeds:
        for arm in study.arms:
            config = arm_config(study, arm, rates[arm], seed, start, Path(study.output) / f"{arm}-{seed}", paths)
            _record(study, config, arm, seed, paths, records)
            log(f"{arm}, seed {seed}: recorded")


def _problems(study: Study) -> Paths:
    """The files of problems; demonstrations are there under many names each."""
    folder = Path(study.output) / "problems"
    paths = write_draws(draws(study.sizes), folder, held_out=HELD_OUT)
    renamed = {name: folder / f"{name}-renamed.jsonl" for name in ("demonstrations", "mixed")}
    for name, path in renamed.items():
        if not path.exists():
            write_renamed(read_problems(paths[name]).values(), VOCABULARY, study.sizes.names, path)
    return {**paths, **renamed}


def warm_up(study: Study, paths: Paths, *, log: Log) -> Config:
    """Have a model learn from reading exercises, then from short clean demonstrations, then from longer ones, too.

    Raises:
        ProofR1Error: too few or too many of its sampled steps are right.
    """
    out, demonstrations = Path(study.output), paths["demonstrations"]
    exercises = demonstrations.with_name("reading.jsonl")
    if not exercises.exists():
        write_reading(read_problems(demonstrations).values(), study.sizes.recitals, exercises)
    reading = _with_files(study.reading, out / "reading", demonstrations, None)
    reading = structs.replace(reading, data=structs.replace(reading.data, demonstrations=(str(exercises),)))
    _train_once(reading)
    short = _with_files(study.short, out / "short", demonstrations, None)
    short = structs.replace(short, model=next_model(reading))
    _train_once(short)
    config = _with_files(study.mixed, out / WARM_UP, paths["mixed"], paths["watched"])
    config = structs.replace(config, model=next_model(short))
    if study.sizes.useless:
        padded = paths["mixed"].with_name("padded.jsonl")
        write_useless(read_problems(paths["mixed"]).values(), study.sizes.useless, padded)
        config = structs.replace(config, data=structs.replace(config.data, demonstrations=(str(padded),)))
    _train_once(config)
    rvr = evaluation_at_the_end(config).scores[Measure.RVR].value
    log(f"warm-up: sampled RVR {rvr:.1%}")
    if not study.rvr[0] <= rvr <= study.rvr[1]:
        aim = f"from {study.rvr[0]:.0%} to {study.rvr[1]:.0%}"
        raise ProofR1Error(f"sampled RVR of the warm-up is {rvr:.1%}, not {aim}; change mixed.optimiser.steps")
    return config


def tuned_rate(study: Study, arm: str, start: Config, paths: Paths, *, log: Log) -> float:
    """The learning rate of the grid with the highest sampled RVR on the validation problems; of two equals the lower.

    A rate at which training diverges is out. A single rate is not tried, nor that of an arm whose rate is known.
    """
    if arm in study.tuning.known or len(study.tuning.rates) == 1:
        return study.tuning.known.get(arm, study.tuning.rates[0])
    found: dict[float, float] = {}
    for rate in study.tuning.rates:
        out = Path(study.output) / "tuning" / f"{arm}-{rate:g}"
        config = arm_config(study, arm, rate, study.tuning.seed, start, out, paths)
        config = structs.replace(config, optimiser=structs.replace(config.optimiser, steps=study.tuning.steps))
        data = structs.replace(config.data, evaluation=(str(paths["validation"]),))
        config = structs.replace(config, data=data)
        try:
            _train_once(config)
        except ProofR1Error as error:
            log(f"{arm} at {rate:g}: {error}")
            continue
        found[rate] = evaluation_at_the_end(config).scores[Measure.RVR].value
    if not found:
        raise ProofR1Error(f"{arm} diverges at every learning rate of the grid")
    best = max(sorted(found), key=found.__getitem__)
    log(f"{arm}: " + ", ".join([f"{rate:g} {rvr:.1%}" for rate, rvr in found.items()]) + f"; takes {best:g}")
    return best


def arm_config(study: Study, arm: str, rate: float, seed: int, start: Config, output: Path, paths: Paths) -> Config:
    """The configuration of a run.

    Its problems are those of the file that ``data.train`` names. SFT learns from as many proofs in a step as others
    have rollouts, in as many updates.
    """
    config = with_overrides(structs.replace(study.runs, seed=seed, model=next_model(start)), study.arms[arm])
    config = structs.replace(config, optimiser=structs.replace(config.optimiser, learning_rate=rate))
    if config.method == "sft":
        batch, samples = config.batch, config.rollout.samples
        many = structs.replace(batch, problems=batch.problems * samples, mini=batch.mini * samples // batch.epochs)
        config = structs.replace(config, batch=many)
    (train,) = config.data.train
    return _with_files(config, output, paths[train], None)


def _with_files(config: Config, output: Path, train: Path, evaluation: Path | None) -> Config:
    scored = () if evaluation is None else (str(evaluation),)
    data = structs.replace(config.data, train=(str(train),), evaluation=scored)
    return structs.replace(config, output=str(output), data=data)


def _train_once(config: Config) -> None:
    if not (Path(config.output) / "model").exists():
        train_quietly(config)


def _record(study: Study, config: Config, arm: str, seed: int, paths: Paths, records: Path) -> None:
    """Train if that is not done, score, and leave a record."""
    path = records / f"{arm}-{seed}.json"
    if not path.exists():
        _train_once(config)
        many = study.sizes.many if seed == study.seeds[0] else 0
        write_record(path, record_of(config, study.sizes, paths, arm=arm, seed=seed, many=many))


def main() -> None:
    """Do the study."""
    parser = ArgumentParser(prog="python -m training.experiments.longer", description="A study of arms.")
    parser.add_argument("--config", type=Path, default=Path("training/experiments/longer.yaml"))
    parser.add_argument("--records", type=Path, default=Path("docs/experiments/longer"), help="folder of the records")
    given = parser.parse_args()
    console = Console(stderr=True)

    def log(message: str) -> None:
        console.print(message, markup=False, highlight=False)

    run(read_study(given.config), given.records, log=log)


if __name__ == "__main__":
    main()
