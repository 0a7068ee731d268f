"""What the study ``longer`` does, as data: its conditions, problems, arms and sizes.

A model learns proofs of one to three steps from clean demonstrations, and training stops while about half of its
sampled steps are right. No fault is injected. Each arm then learns from fresh problems of the same lengths, and is
scored on proofs that are longer than any that it has seen in training.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeAlias

import msgspec
import yaml

from proof_r1_formal.data.problem import FALSE, TRUE
from proof_r1_formal.generate import GeneratorSettings
from proof_r1_formal.generate.vocabulary import Vocabulary
from training.config import Config, ConfigError, with_overrides
from training.experiments.plan import Draw, short_vocabulary

Condition: TypeAlias = Literal["plain", "distractors", "routes"]
"""``plain`` problems hold what the proof needs and nothing else; ``distractors`` adds premises that it does not need;
``routes`` has two proofs of the goal that share no premise, so that a right answer says less about a step."""

DISTRACTORS: Mapping[Condition, tuple[int, int]] = MappingProxyType(
    {"plain": (0, 0), "distractors": (1, 3), "routes": (0, 0)}
)
ROUTES: Mapping[Condition, int] = MappingProxyType({"plain": 1, "distractors": 1, "routes": 2})
SEEDS: Mapping[Condition, int] = MappingProxyType({"plain": 100, "distractors": 200, "routes": 300})
"""The files of a condition are drawn with the seeds that follow."""

_PEOPLE = "Ada Bob Cleo Dan Eve Finn"
_WORDS = "bold calm cool eager fair firm glad keen kind loud mild neat proud quick shy tall"
_MORE = "able brave clever free fit grand happy light nice noble plain quiet rich sharp wise young"
VOCABULARIES: Mapping[Condition, Vocabulary] = MappingProxyType(
    {
        "plain": short_vocabulary(_PEOPLE, _WORDS),
        "distractors": short_vocabulary(_PEOPLE, _WORDS),
        "routes": short_vocabulary(_PEOPLE, f"{_WORDS} {_MORE}"),  # two proofs of six steps take up to 28 predicates
    }
)
SHORT = (1, 3)
"""Steps of the proofs that are learned from."""
LONGER = (4, 6)
HELD_OUT = ("short", "longer", "watched", "validation")
"""``short`` and ``longer`` are scored on at the end. ``watched`` decides when the warm-up stops, ``validation`` which
learning rate an arm takes."""


class Sizes(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How much of everything.

    Attributes:
        demonstrations: proofs for the warm-up and for continued SFT.
        names: sets of names under which each of them is written.
        learning: problems that the arms learn from, each once.
        short, longer, watched, validation: problems of the held-out files.
        samples: completions per problem for sampled scores.
        support: of how many of the longer problems pass@k is measured; samples of each of them.
    """

    demonstrations: int
    names: int
    learning: int
    short: int
    longer: int
    watched: int
    validation: int
    samples: int
    support: tuple[int, int]


class Arm(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Something that is compared.

    Attributes:
        set: overrides of the base configuration, as on the command line; one of them names the method.
        seeds: of its runs.
        rate: learning rate; found on the validation problems if null.
        conditions: in which it is compared.
    """

    set: tuple[str, ...]
    seeds: tuple[int, ...]
    rate: float | None = None
    conditions: tuple[Condition, ...] = ("plain",)


class Tuning(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How an arm's learning rate is found: the one with the highest sampled RVR on the validation problems.

    Attributes:
        rates: that are tried; every arm tries all of them.
        steps: of each trial.
        seed: of the trials; no arm is scored with it.
    """

    rates: tuple[float, ...]
    steps: int
    seed: int


class Study(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All of it.

    Attributes:
        output: folder of problems, models and logs.
        sizes, tuning, arms: see there.
        rvr: least and most sampled RVR, on ``watched``, at which the warm-up stops; it is looked at after each
            ``warm_up.optimiser.steps`` steps.
        rounds: at most so often.
        warm_up, runs: training configurations; files, model, seed and output are filled in.
    """

    output: str
    sizes: Sizes
    rvr: tuple[float, float]
    rounds: int
    warm_up: Config
    runs: Config
    tuning: Tuning
    arms: dict[str, Arm]

    def __post_init__(self) -> None:
        for arm in self.arms.values():
            with_overrides(self.runs, arm.set)


def read_study(path: Path) -> Study:
    """Read a study from YAML.

    Raises:
        ConfigError: the file cannot be read or used.
    """
    try:
        return msgspec.convert(yaml.safe_load(path.read_text(encoding="utf-8")), Study)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, msgspec.ValidationError) as error:
        raise ConfigError(str(path), " ".join(str(error).split())) from error


def draws(condition: Condition, sizes: Sizes) -> Mapping[str, tuple[Draw, ...]]:
    """The files of problems of a condition, by name; no two are drawn with the same seed."""

    def draw(place: int, count: int, steps: tuple[int, int]) -> tuple[Draw, ...]:
        settings = GeneratorSettings(
            seed=SEEDS[condition] + place,
            steps=steps,
            distractors=DISTRACTORS[condition],
            answers=(TRUE, FALSE),
            vocabulary=VOCABULARIES[condition],
            routes=ROUTES[condition],
        )
        return (Draw(count, settings),)

    return MappingProxyType(
        {
            "demonstrations": draw(1, sizes.demonstrations, SHORT),
            "learning": draw(2, sizes.learning, SHORT),
            "short": draw(3, sizes.short, SHORT),
            "longer": draw(4, sizes.longer, LONGER),
            "watched": draw(5, sizes.watched, SHORT),
            "validation": draw(6, sizes.validation, LONGER),
        }
    )
