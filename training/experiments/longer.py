"""The study ``longer``: problems, warm-ups, tuned learning rates, every arm with every seed, and their records.

``python -m training.experiments.longer`` goes on where it was stopped, at any moment: nothing that is done is done
again. What it leaves in ``docs/experiments/longer`` (:mod:`training.experiments.records`) is all that its tables need;
:mod:`training.experiments.longer_tables` makes them.
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
from training.experiments.longer_plan import HELD_OUT, VOCABULARIES, Arm, Condition, Study, draws, read_study
from training.experiments.problems import write_draws, write_renamed
from training.experiments.records import record_of, write_record
from training.experiments.runs import evaluation_at_the_end, next_model, train_quietly

Say = Callable[[str], object]
Paths = Mapping[str, Path]

WARM_UP = "warm-up"
"""The name of the record of the policy that all arms start from."""


def run(study: Study, records: Path, *, say: Say) -> None:
    """Do all of the study that is not done yet.

    Args:
        study: what to do.
        records: folder of the records.
        say: shows what is done.
    """
    for condition in _conditions(study):
        folder = Path(study.output) / condition
        paths = _problems(study, condition, folder / "problems")
        say(f"{condition}: problems are there")
        start = warm_up(study, folder, paths, say=say)
        _record(study, start, condition, WARM_UP, 0, paths, records)
        rates: dict[str, float] = {}
        for seed_place in range(max(len(arm.seeds) for arm in study.arms.values())):
            for name, arm in study.arms.items():
                if condition not in arm.conditions or seed_place >= len(arm.seeds):
                    continue
                if name not in rates:
                    rates[name] = arm.rate or tuned_rate(study, name, start, folder, paths, say=say)
                seed = arm.seeds[seed_place]
                config = arm_config(study, arm, rates[name], seed, start, folder / f"{name}-{seed}", paths)
                _record(study, config, condition, name, seed, paths, records)
                say(f"{condition}: {name}, seed {seed}: recorded")


def _problems(study: Study, condition: Condition, folder: Path) -> Paths:
    """The files of problems; demonstrations are there under many names each."""
    paths = write_draws(draws(condition, study.sizes), folder, held_out=HELD_OUT)
    demonstrations = folder / "demonstrations-renamed.jsonl"
    drawn = read_problems(paths["demonstrations"]).values()
    write_renamed(drawn, VOCABULARIES[condition], study.sizes.names, demonstrations)
    return {**paths, "demonstrations": demonstrations}


def _conditions(study: Study) -> list[Condition]:
    return list(dict.fromkeys([condition for arm in study.arms.values() for condition in arm.conditions]))


def warm_up(study: Study, folder: Path, paths: Paths, *, say: Say) -> Config:
    """Have a model learn from clean demonstrations until about half of its sampled steps are right.

    Raises:
        ProofR1Error: it did not come to where it should.
    """
    out = folder / WARM_UP
    base = _with_files(study.warm_up, out, paths["demonstrations"], paths["watched"])
    for number in range(1, study.rounds + 1):
        optimiser = structs.replace(base.optimiser, steps=number * study.warm_up.optimiser.steps)
        config = structs.replace(base, optimiser=optimiser)
        ready = out / f"round-{number}"
        if not ready.exists():
            train_quietly(config)
            ready.touch()
        rvr = evaluation_at_the_end(config).scores[Measure.RVR].value
        say(f"warm-up, {optimiser.steps} steps: sampled RVR {rvr:.1%}")
        if rvr > study.rvr[1]:
            raise ProofR1Error(f"the warm-up passed {study.rvr[1]:.0%}; look more often: warm_up.optimiser.steps")
        if rvr >= study.rvr[0]:
            return config
    raise ProofR1Error(f"after {study.rounds} rounds sampled RVR is {rvr:.1%}, below {study.rvr[0]:.0%}")


def tuned_rate(study: Study, name: str, start: Config, folder: Path, paths: Paths, *, say: Say) -> float:
    """The learning rate of the grid with the highest sampled RVR on the validation problems; of two equals the lower.

    A rate at which training diverges is out.
    """
    found: dict[float, float] = {}
    for rate in study.tuning.rates:
        out = folder / "tuning" / f"{name}-{rate:g}"
        config = arm_config(study, study.arms[name], rate, study.tuning.seed, start, out, paths)
        config = structs.replace(config, optimiser=structs.replace(config.optimiser, steps=study.tuning.steps))
        data = structs.replace(config.data, evaluation=(str(paths["validation"]),))
        try:
            _train_once(structs.replace(config, data=data))
        except ProofR1Error as error:
            say(f"{name} at {rate:g}: {error}")
            continue
        found[rate] = evaluation_at_the_end(config).scores[Measure.RVR].value
    if not found:
        raise ProofR1Error(f"{name} diverges at every learning rate of the grid")
    best = max(sorted(found), key=found.__getitem__)
    say(f"{name}: " + ", ".join([f"{rate:g} {rvr:.1%}" for rate, rvr in found.items()]) + f"; takes {best:g}")
    return best


def arm_config(study: Study, arm: Arm, rate: float, seed: int, start: Config, output: Path, paths: Paths) -> Config:
    """The configuration of a run.

    Continued SFT learns from clean demonstrations: as many in a step as others have rollouts, in as many updates.
    """
    config = with_overrides(structs.replace(study.runs, seed=seed, model=next_model(start)), arm.set)
    config = structs.replace(config, optimiser=structs.replace(config.optimiser, learning_rate=rate))
    if config.method != "sft":
        return _with_files(config, output, paths["learning"], None)
    batch, samples = config.batch, config.rollout.samples
    many = structs.replace(batch, problems=batch.problems * samples, mini=batch.mini * samples // batch.epochs)
    return _with_files(structs.replace(config, batch=many), output, paths["demonstrations"], None)


def _with_files(config: Config, output: Path, train: Path, evaluation: Path | None) -> Config:
    asked = () if evaluation is None else (str(evaluation),)
    data = structs.replace(config.data, train=(str(train),), evaluation=asked)
    return structs.replace(config, output=str(output), data=data)


def _train_once(config: Config) -> None:
    if not (Path(config.output) / "model").exists():
        train_quietly(config)


def _record(
    study: Study, config: Config, condition: Condition, arm: str, seed: int, paths: Paths, records: Path
) -> None:
    """Train if that is not done, score, and leave a record."""
    path = records / condition / f"{arm}-{seed}.json"
    if not path.exists():
        _train_once(config)
        write_record(path, record_of(config, study.sizes, paths, condition=condition, arm=arm, seed=seed))


def main() -> None:
    """Do the study."""
    parser = ArgumentParser(prog="python -m training.experiments.longer", description="The study of longer proofs.")
    parser.add_argument("--config", type=Path, default=Path("training/experiments/longer.yaml"))
    parser.add_argument("--records", type=Path, default=Path("docs/experiments/longer"), help="folder of the records")
    given = parser.parse_args()
    console = Console(stderr=True)

    def say(message: str) -> None:
        console.print(message, markup=False, highlight=False)

    run(read_study(given.config), given.records, say=say)


if __name__ == "__main__":
    main()
