"""A study: the systems, problems and completions of a comparison.

In: a TOML file. Out: a :class:`Study`, checked, its paths as they are to be opened. Such a file is ::

    seen = "train"                      # the rule catalogue that training had; this is the default

    [datasets.ProverQA]
    problems = "proverqa.jsonl"
    [datasets.FOLIO]
    problems = "folio.jsonl"
    rules = "folio"                     # default: train

    [[systems]]
    backbone = "Qwen3-4B"
    method = "Proof-R1"
    completions = { ProverQA = "proof-r1/proverqa.jsonl", FOLIO = ["proof-r1/folio-0.jsonl", "proof-r1/folio-1.jsonl"] }

Paths are relative to the file.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, NamedTuple, TypeAlias

import msgspec

from proof_r1_formal.data import Format
from proof_r1_formal.errors import DataError

Name: TypeAlias = Annotated[str, msgspec.Meta(min_length=1)]


class Key(NamedTuple):
    """Whose completions, and on what."""

    dataset: str
    backbone: str
    method: str

    @property
    def system(self) -> str:
        """Backbone and method in one line; one that itself reads like two is put in quotes."""
        backbone, method = (repr(name) if " / " in name else name for name in (self.backbone, self.method))
        return f"{backbone} / {method}" if backbone else method


class Dataset(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Problems, and the catalogue of rules that completions of them may name."""

    problems: Name
    rules: Name = "train"
    format: Format = "auto"


class System(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A model, what was done with it, and its completions, in a file or several, by the name of the data set."""

    backbone: Name
    method: Name
    completions: Annotated[
        dict[str, Name | Annotated[tuple[Name, ...], msgspec.Meta(min_length=1)]], msgspec.Meta(min_length=1)
    ]

    def files(self, dataset: str) -> tuple[str, ...]:
        """The files of completions for a data set, which it has."""
        of = self.completions[dataset]
        return (of,) if isinstance(of, str) else of


class Study(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The systems and datasets of a comparison.

    Attributes:
        datasets: by name.
        systems: in the order in which they are shown.
        seen: name of the rule catalogue used in training.
    """

    datasets: Annotated[dict[str, Dataset], msgspec.Meta(min_length=1)]
    systems: Annotated[tuple[System, ...], msgspec.Meta(min_length=1)]
    seen: Name = "train"

    def files(self) -> dict[Key, tuple[Path, ...]]:
        """The files of completions, data set by data set."""
        return {
            Key(dataset, system.backbone, system.method): tuple(map(Path, system.files(dataset)))
            for dataset in self.datasets
            for system in self.systems
            if dataset in system.completions
        }

    def inputs(self) -> tuple[Path, ...]:
        """All files of problems and completions."""
        problems = [Path(one.problems) for one in self.datasets.values()]
        return (*problems, *[path for paths in self.files().values() for path in paths])


def read_study(path: Path) -> Study:
    """Read a study.

    Raises:
        DataError: the file cannot be read, is not a study, names a dataset that it does not describe, or repeats a
            combination of backbone and method.
    """
    try:
        study = msgspec.toml.decode(path.read_bytes(), type=Study)
    except OSError as error:
        raise DataError(str(path), f"the file cannot be read: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:  # no TOML, or of another shape
        raise DataError(str(path), str(error)) from error
    named = Counter([(system.backbone, system.method) for system in study.systems])
    for (backbone, method), count in named.items():
        if count > 1:
            raise DataError(str(path), f"{backbone} / {method} is there {count} times")
    for system in study.systems:
        for dataset in system.completions:
            if dataset not in study.datasets:
                raise DataError(str(path), f"{system.backbone} / {system.method}: no dataset {dataset!r} is described")
    return _located(study, path.parent)


def _located(study: Study, folder: Path) -> Study:
    """The study with the paths as they are to be opened."""

    def located(path: str) -> str:
        return str(folder / path)

    return msgspec.structs.replace(
        study,
        datasets={
            name: msgspec.structs.replace(one, problems=located(one.problems)) for name, one in study.datasets.items()
        },
        systems=tuple(
            [
                msgspec.structs.replace(
                    one, completions={name: tuple(map(located, one.files(name))) for name in one.completions}
                )
                for one in study.systems
            ]
        ),
    )
