"""The page of the fields of configurations, made from their classes when the site is built."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]


class Shown(NamedTuple):
    """A class of the page, and what it is the configuration of."""

    path: str
    title: str


CLASSES = (
    Shown("proof_r1_formal.integrations.runs.DataArguments", "Data, for `proof-r1 train` and OpenRLHF"),
    Shown("proof_r1_formal.integrations.trl.ProofConfig", "`proof-r1 train` and `ProofTrainer`"),
    Shown("proof_r1_formal.integrations.trl_run.WarmUpConfig", "`proof-r1 train` with `method: sft`"),
    Shown("training.openrlhf.__main__.Settings", "`python -m training.openrlhf`"),
    Shown("proof_r1_formal.credit.terms.CreditSettings", "Constants of the credit"),
)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by MkDocs with the files of the site: adds ``configuration.md``."""
    files.append(File.generated(config, "configuration.md", content=reference()))
    return files


def reference() -> str:
    """The page: each class with its fields, their types, defaults and meaning."""
    start = (
        "# Configuration of training\n\nThis page lists the fields of configurations, as their classes define them. "
        "[Methods, trainers and credit](training.md) and [On a cluster](cluster.md) show them in use. A field without "
        "a meaning belongs to the library that trains, and has another default here.\n"
    )
    loader = griffe.GriffeLoader(search_paths=[ROOT], docstring_parser="google")
    return "\n".join([start, *chain.from_iterable(_described(loader, shown) for shown in CLASSES)])


def _described(loader: griffe.GriffeLoader, shown: Shown) -> Iterator[str]:
    module, _, name = shown.path.rpartition(".")
    loaded = loader.load(module)
    found = loaded[name]
    assert isinstance(found, griffe.Class)
    bases = ", ".join([f"`{base}`" for base in found.bases])
    yield f"## {shown.title}\n\n`{shown.path}`{f', with the fields of {bases}' if bases else ''}\n"
    yield "| field | type | default | meaning |\n|---|---|---|---|"
    meanings = _meanings(found)
    for field in found.attributes.values():
        if field.parent is found and field.annotation is not None and not field.name.startswith("_"):
            default = str(field.value or "").replace("field(default_factory=list)", "[]")
            value = f"`{_cell(default)}`" if default else ""
            yield f"| `{field.name}` | `{_cell(str(field.annotation))}` | {value} | {meanings.pop(field.name, '')} |"
    if meanings:
        raise ValueError(f"{shown.path} describes {', '.join(meanings)}, which it does not have")
    yield ""


def _meanings(found: griffe.Class) -> dict[str, str]:
    """The meaning of each field from the docstring, where ``a, b: …`` describes two fields."""
    if found.docstring is None:
        return {}
    meanings: dict[str, str] = {}
    for section in found.docstring.parse("google", warnings=False):
        if isinstance(section, griffe.DocstringSectionAttributes):
            for each in section.value:
                # of "a, b: …", Griffe takes "a," as the name and "b" as its type
                names = f"{each.name} {each.annotation}" if each.name.endswith(",") else each.name
                meanings |= dict.fromkeys(names.split(", "), _cell(each.description))
    return meanings


def _cell(text: str) -> str:
    return " ".join(text.replace("``", "`").split()).replace("|", "\\|")
