"""What the study ``longer`` does, as data: its problems, arms and sizes.

A small model learns to read, then to prove in one to three steps, then in one to six, from clean demonstrations. That
ends while about half of its sampled steps are right. No fault is injected. Each arm then learns from fresh problems of
one to three steps. It is scored on other problems of these lengths, and on longer proofs.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec
import yaml

from proof_r1_formal.data.problem import FALSE, TRUE
from proof_r1_formal.generate import GeneratorSettings
from training.config import Config, ConfigError, with_overrides
from training.experiments.plan import Draw, short_vocabulary

VOCABULARY = short_vocabulary(
    "Ada Bob Cleo Dan Eve Finn",
    "bold calm cool eager fair firm glad keen kind loud mild neat proud quick shy tall",
)
SHORT = (1, 3)
"""Steps of the proofs that the arms learn from."""
LONGER = (4, 6)
BOTH = (1, 6)
TWO = 100
"""What is added to the seed of a file for its problems with two proofs."""
SCORED = ("short", "longer", "paths")
"""The files that arms are scored on at the end; a study has those that its sizes give problems."""
HELD_OUT = (*SCORED, "watched", "validation")
"""``watched`` shows how far the warm-up came, ``validation`` which learning rate an arm takes."""


class Sizes(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How much of everything.

    Attributes:
        demonstrations: proofs of one to three steps for the warm-up.
        mixed: proofs of one to six steps for its last stage.
        names: sets of names under which each proof of the warm-up is written.
        recitals: share of recitals among reading exercises.
        useless: chance of a useless step before each step of the proofs of the warm-up's last stage.
        learning: problems that the arms learn from, each once.
        continued: proofs that continued SFT learns from, each once.
        short, longer, watched, validation: problems of the held-out files.
        samples: completions per problem for sampled scores.
        distractors: the least and the greatest number in each problem with one proof, but for ``demonstrations``.
        paths: problems of the held-out file whose goals have two proofs each, which share no premise. If there are any,
            one half of the problems of each file but ``demonstrations`` and ``short`` is of that kind.
        many: completions per problem of the first seed of each arm, for pass@k; 0 for none.
    """

    demonstrations: int
    mixed: int
    names: int
    recitals: float
    learning: int
    continued: int
    short: int
    longer: int
    watched: int
    validation: int
    samples: int
    useless: float = 0.0
    distractors: tuple[int, int] = (0, 0)
    paths: int = 0
    many: int = 0


class Tuning(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How an arm's learning rate is found: the one with the highest sampled RVR on the validation problems.

    Attributes:
        rates: that are tried; every arm tries all of them.
        steps: of each trial.
        seed: of the trials; no arm is scored with it.
        known: arm -> its rate, if it is not to be tried.
    """

    rates: tuple[float, ...]
    steps: int
    seed: int
    known: dict[str, float] = {}


class Study(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All of it.

    Attributes:
        output: folder of problems, models and logs.
        sizes, tuning: see there.
        rvr: least and most sampled RVR, on ``watched``, with which the warm-up may end.
        reading, short, mixed: training configurations of the warm-up's stages: reading exercises, proofs of one to
            three steps, and proofs of one to six. Files, model, seed and output are filled in.
        runs: training configuration of the arms, likewise.
        arms: by name, overrides of ``runs`` as on the command line; one of them names the method. ``data.train`` is the
            name of a file of :func:`draws`.
        seeds: of each arm.
    """

    output: str
    sizes: Sizes
    rvr: tuple[float, float]
    reading: Config
    short: Config
    mixed: Config
    runs: Config
    tuning: Tuning
    arms: dict[str, tuple[str, ...]]
    seeds: tuple[int, ...]

    def __post_init__(self) -> None:
        for overrides in self.arms.values():
            with_overrides(self.runs, overrides)


def read_study(path: Path) -> Study:
    """Read a study from YAML.

    A study may name another file as its ``base``. Its own values then replace those of the base, key by key; ``arms``
    are replaced as a whole.

    Raises:
        ConfigError: the file cannot be read or used.
    """
    try:
        return msgspec.convert(_read(path), Study)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, msgspec.ValidationError) as error:
        raise ConfigError(str(path), " ".join(str(error).split())) from error


def _read(path: Path) -> object:
    given = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not isinstance(given, dict) or "base" not in given:
        return given
    base = given.pop("base")
    return _over(_read(path.with_name(base)), given)


def _over(base: object, given: object) -> object:
    """The base with the given values in place of its own."""
    if not isinstance(base, dict) or not isinstance(given, dict):
        return given
    return {**base, **{key: value if key == "arms" else _over(base.get(key), value) for key, value in given.items()}}


def draws(sizes: Sizes) -> Mapping[str, tuple[Draw, ...]]:
    """The files of problems, by name; no two draws have the same seed."""

    def draw(seed: int, count: int, steps: tuple[int, int], routes: int = 1, *, plain: bool = False) -> Draw:
        settings = GeneratorSettings(
            seed=seed,
            steps=steps,
            distractors=(0, 0) if plain or routes > 1 else sizes.distractors,
            answers=(TRUE, FALSE),
            vocabulary=VOCABULARY,
            routes=routes,
        )
        return Draw(count, settings)

    def both(seed: int, count: int, steps: tuple[int, int]) -> tuple[Draw, ...]:
        if not sizes.paths:
            return (draw(seed, count, steps),)
        return draw(seed, count - count // 2, steps), draw(seed + TWO, count // 2, steps, 2)

    longest = BOTH if sizes.longer else SHORT
    files = {
        "demonstrations": (draw(101, sizes.demonstrations, SHORT, plain=True),),
        "mixed": both(108, sizes.mixed, longest),
        "learning": both(102, sizes.learning, SHORT),
        "short": (draw(103, sizes.short, SHORT),),
        "longer": (draw(104, sizes.longer, LONGER),),
        "paths": (draw(103 + TWO, sizes.paths, SHORT, 2),),
        "watched": both(105, sizes.watched, SHORT),
        "validation": both(106, sizes.validation, longest),
        "continued": both(107, sizes.continued, SHORT),
    }
    return MappingProxyType({name: parts for name, parts in files.items() if sum([part.count for part in parts])})
