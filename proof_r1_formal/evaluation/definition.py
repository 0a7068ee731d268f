"""A study: the systems, problems and completions of a comparison.

In: a TOML file, as ``docs/evaluation.md`` shows one; its paths are relative to it. Out: a :class:`Study`, checked, its
paths as they are to be opened.

msgspec reads the file and checks its shape; the rest is ours. Hydra and OmegaConf compose configurations of many files
and options, while a study is one file, and that its names fit together would have to be checked here all the same.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain
from pathlib import Path
from typing import Annotated, NamedTuple, TypeAlias

import msgspec

from proof_r1_formal.data import Format
from proof_r1_formal.errors import DataError
from proof_r1_formal.text.conventions import NotationName

Name: TypeAlias = Annotated[str, msgspec.Meta(min_length=1)]
_Names: TypeAlias = Annotated[tuple[Name, ...], msgspec.Meta(min_length=1)]


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


class Files(tuple[Path, ...]):
    """One file or several; in TOML a text or an array of texts."""


class Dataset(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Problems with their format and notation, and the catalogue of rules that completions of them may name."""

    problems: Path
    rules: Name = "train"
    format: Format = "auto"
    notation: NotationName = "auto"


class System(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A model, what was done with it, and its files of completions by the name of the data set."""

    backbone: Name
    method: Name
    completions: Annotated[dict[str, Files], msgspec.Meta(min_length=1)]


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

    def files(self) -> dict[Key, Files]:
        """The files of completions, data set by data set."""
        return {
            Key(dataset, system.backbone, system.method): system.completions[dataset]
            for dataset in self.datasets
            for system in self.systems
            if dataset in system.completions
        }

    def inputs(self) -> tuple[Path, ...]:
        """All files of problems and completions."""
        return (*[one.problems for one in self.datasets.values()], *chain.from_iterable(self.files().values()))


def read_study(path: Path) -> Study:
    """Read a study.

    Raises:
        DataError: the file cannot be read, is not a study, names a dataset that it does not describe, or repeats a
            combination of backbone and method.
    """

    def locate(kind: type, value: object) -> Path | Files:
        names = [value] if kind is Path or isinstance(value, str) else value
        try:
            found = Files(path.parent / name for name in msgspec.convert(names, _Names))
        except msgspec.ValidationError as error:
            raise ValueError(str(error)) from None  # msgspec adds the place to errors of this kind
        return found[0] if kind is Path else found

    try:
        study = msgspec.toml.decode(path.read_bytes(), type=Study, dec_hook=locate)
    except OSError as error:
        raise DataError(str(path), f"the file cannot be read: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:  # no TOML, or of another shape
        raise DataError(str(path), str(error)) from error
    names = Counter([(system.backbone, system.method) for system in study.systems])
    for (backbone, method), count in names.items():
        if count > 1:
            raise DataError(str(path), f"{backbone} / {method} is there {count} times")
    for system in study.systems:
        if unknown := [dataset for dataset in system.completions if dataset not in study.datasets]:
            raise DataError(str(path), f"{system.backbone} / {system.method}: no dataset {unknown[0]!r} is described")
    return study
