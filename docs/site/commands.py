"""Pages that are made when the site is built: the reference of the command line, and the changelog."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from proof_r1_formal.cli import COMMANDS, command


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by MkDocs with the files of the site: adds ``cli.md`` and ``changelog.md``."""
    changelog = (Path(config.docs_dir).parent / "CHANGELOG.md").read_text(encoding="utf-8")
    files.append(File.generated(config, "cli.md", content=reference()))
    files.append(File.generated(config, "changelog.md", content=changelog.replace("](docs/", "](")))
    return files


def reference() -> str:
    """The page of the command line: every command with its arguments and options, from the program itself."""
    start = (
        "# Command line\n\nThis page lists every command of `proof-r1` with its options. "
        "`proof-r1 COMMAND --help` prints the same.\n\nThe exit status is 0 for success, 1 for a negative answer or "
        "something that could not be checked, and 2 for wrong use or unreadable input.\n"
    )
    return "\n".join([start, *chain.from_iterable(_described(command(name), f"proof-r1 {name}") for name in COMMANDS)])


def _described(described: typer.core.TyperGroup | typer.core.TyperCommand, name: str) -> Iterator[str]:
    if isinstance(described, typer.core.TyperGroup):
        for child, inner in described.commands.items():
            assert isinstance(inner, (typer.core.TyperGroup, typer.core.TyperCommand))
            if not inner.hidden:
                yield from _described(inner, f"{name} {child}")
        return
    yield f"## `{name}`\n\n{_text(described.help or '')}\n"
    shown = [parameter for parameter in described.params if parameter.name != "help"]
    if shown:
        yield "| argument or option | meaning | default |\n|---|---|---|"
        yield from (_row(parameter) for parameter in shown)
        yield ""


def _row(parameter: object) -> str:
    assert isinstance(parameter, (typer.core.TyperArgument, typer.core.TyperOption))
    names = [*parameter.opts, *parameter.secondary_opts] if isinstance(parameter, typer.core.TyperOption) else []
    name = ", ".join(f"`{one}`" for one in names) or f"`{(parameter.name or '').upper()}`"
    choices = getattr(parameter.type, "choices", None)
    values = "" if choices is None else f" One of {', '.join(f'`{one}`' for one in choices)}."
    value = parameter.default
    default = (
        "required" if parameter.required else "" if value is None or value is False or value == () else f"`{value}`"
    )
    return f"| {name} | {_text(parameter.help or '')}{values} | {default} |"


def _text(text: str) -> str:
    """The help without line breaks inside paragraphs, safe inside a cell of a table."""
    return re.sub(r"\s+", " ", text).strip().replace("|", "\\|").replace("<", "&lt;")
