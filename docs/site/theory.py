"""The page of the theory in Lean, made from the theory when the site is built."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from proof_r1_formal.resources import resource

_START = """# The theory in Lean

This page lists the modules and theorems of `theories/lean`, with what is said of each there.
[Theorems](theorems.md) tells how problems become theorems that rest on it, and [Trust](trust.md) what each part is
trusted for.
"""
_DECLARATION = re.compile(
    r"^/-- (?P<about>.*?) -/\n(?P<kind>theorem|def|structure|inductive) (?P<name>[\w.]+)", re.DOTALL | re.MULTILINE
)
_ABOUT = re.compile(r"^/-!\n(.*?)\n-/", re.DOTALL | re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by MkDocs with the files of the site: adds ``theory.md``."""
    files.append(File.generated(config, "theory.md", content=page()))
    return files


def page() -> str:
    """The page: each module with its purpose, and what is documented in it."""
    folder = resource("theories") / "lean"
    modules = re.findall(r"^public import (\S+)", (folder / "ProofR1.lean").read_text(encoding="utf-8"), re.MULTILINE)
    return "\n".join([_START, *(line for module in modules for line in _module(folder, module))])


def _module(folder: Path, module: str) -> Iterator[str]:
    text = (folder / f"{module.replace('.', '/')}.lean").read_text(encoding="utf-8")
    about = _ABOUT.search(text)
    yield f"## `{module}`\n\n{_words(about[1]) if about else ''}\n"
    found = list(_DECLARATION.finditer(text))
    if found:
        yield "| name | |\n|---|---|"
        yield from [f"| `{each['name']}` | {_words(each['about'])} |" for each in found]
        yield ""


def _words(text: str) -> str:
    """A text without line breaks, safe inside a cell of a table."""
    return re.sub(r"\s+", " ", text).strip().replace("|", "\\|").replace("<", "&lt;")
