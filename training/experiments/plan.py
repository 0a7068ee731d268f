"""What the experiment does: its studies, its problems and its sizes, as data.

Both studies start from the same warm-up: reading exercises, then clean proofs of one to four steps. *Noise* continues
with proofs that have slips, and asks which method undoes them. *Transfer* has no noise. It asks which method reaches
proofs that are longer than any in the warm-up, names that were not in it, and rules that were not in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeAlias

import msgspec
import yaml

from proof_r1_formal.data.problem import FALSE, TRUE
from proof_r1_formal.generate import GeneratorSettings
from proof_r1_formal.generate.vocabulary import Person, Predicate, Vocabulary
from training.config import Config, ConfigError

StudyName: TypeAlias = Literal["noise", "transfer"]
STUDIES: tuple[StudyName, ...] = ("noise", "transfer")

MethodName: TypeAlias = Literal["sft", "grpo", "prosfi", "proof_r1", "no_verification", "no_closure"]
METHODS: tuple[MethodName, ...] = ("sft", "grpo", "prosfi", "proof_r1", "no_verification", "no_closure")
"""In the order of tables."""


def short_vocabulary(names: str, words: str) -> Vocabulary:
    """Short names and predicates of one word: short sequences."""
    return Vocabulary(
        people=tuple([Person(name, "they") for name in names.split()]),
        themes=(tuple([Predicate("be", word) for word in words.split()]),),
        traits=(),
    )


SEEN = short_vocabulary(
    "Ada Bob Cleo Dan Eve Finn Gus Hal Ida Jo Kit Lea",
    """
    able bold brave calm clever cool eager fair firm fit free glad grand happy keen kind light loud mild neat nice noble
    plain proud quick quiet rich sharp shy tall
    """,
)
"""Of the warm-up."""
UNSEEN = short_vocabulary(
    "Max Nora Otto Pia Ray",
    "brisk deft frank gentle jolly lean meek polite sane slim sober swift thin tough wary witty",
)
"""Not of the warm-up; the tokenizer spells it in pieces."""


@dataclass(frozen=True, slots=True)
class Draw:
    """Problems to draw: how many, with which settings."""

    count: int
    settings: GeneratorSettings


class Sizes(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How much of everything.

    Attributes:
        clean: proofs of the warm-up; sloppy: proofs with slips.
        recitals: share of recitals among reading exercises.
        slips: chance of a slip, per step.
        round_steps: after each round of so many steps on sloppy proofs the policy is looked at.
        rounds: at most so many.
        parsed: the share of parsed completions that the noisy warm-up needs.
        rvr: least and most RVR of completions that it needs.
        learning: problems that the methods learn from, for each study.
        held_out: problems of each set that policies are scored on.
        seeds: of the runs.
    """

    clean: int
    sloppy: int
    recitals: float
    slips: float
    round_steps: int
    rounds: int
    parsed: float
    rvr: tuple[float, float]
    learning: int
    held_out: int
    seeds: tuple[int, ...]


class Experiment(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All that can be configured: sizes, and a training configuration for each stage.

    What stages hand to each other (files of problems, models, output folders, seeds, methods) is filled in.

    Attributes:
        output: folder of everything.
        sizes: see there.
        compared: the methods.
        reading, clean, noisy: of the parts of the warm-up; a pretrained model can read.
        methods: of the runs that are compared.
    """

    output: str
    sizes: Sizes
    clean: Config
    noisy: Config
    methods: Config
    reading: Config | None = None
    compared: tuple[MethodName, ...] = METHODS


def read_experiment(path: Path) -> Experiment:
    """Read an experiment from YAML.

    Raises:
        ConfigError: the file cannot be read or used.
    """
    try:
        return msgspec.convert(yaml.safe_load(path.read_text(encoding="utf-8")), Experiment)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, msgspec.ValidationError) as error:
        raise ConfigError(str(path), " ".join(str(error).split())) from error


def _settings(
    seed: int,
    steps: tuple[int, int],
    *,
    system: Literal["train", "folio"] = "train",
    vocabulary: Vocabulary = SEEN,
) -> GeneratorSettings:
    return GeneratorSettings(
        seed=seed, steps=steps, distractors=(0, 0), system=system, answers=(TRUE, FALSE), vocabulary=vocabulary
    )


WARM_UP = (1, 4)
"""Steps of proofs in the warm-up."""
LONGER = (5, 7)


def draws(sizes: Sizes) -> Mapping[str, tuple[Draw, ...]]:
    """The files of problems by name; no two draw with the same seed."""
    third = -(-sizes.learning // 3)
    return MappingProxyType(
        {
            "clean": (Draw(sizes.clean, _settings(1, WARM_UP)),),
            "sloppy": (Draw(sizes.sloppy, _settings(2, WARM_UP)),),
            "noise": (Draw(sizes.learning, _settings(3, WARM_UP)),),
            "transfer": (
                Draw(third, _settings(4, LONGER)),
                Draw(third, _settings(5, WARM_UP, vocabulary=UNSEEN)),
                Draw(third, _settings(6, WARM_UP, system="folio")),
            ),
            "watched": (Draw(sizes.held_out, _settings(7, WARM_UP)),),
            "easy": (Draw(sizes.held_out, _settings(8, (1, 2))),),
            "medium": (Draw(sizes.held_out, _settings(9, (3, 5))),),
            "hard": (Draw(sizes.held_out, _settings(10, (6, 9))),),
            "names": (Draw(sizes.held_out, _settings(11, WARM_UP, vocabulary=UNSEEN)),),
            "folio": (Draw(sizes.held_out, _settings(12, WARM_UP, system="folio")),),
        }
    )


HELD_OUT = ("easy", "medium", "hard", "names", "folio")
"""What policies are scored on: ``names`` has names and predicates that the warm-up lacks, ``folio`` rules."""
