"""``llms.txt``: the pages of the documentation with a sentence about each, for models that look for one.

``python docs/site/llms.py`` writes ``docs/llms.txt`` from ``mkdocs.yml`` and the pages. The site has the sources of the
pages that it links to.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from mkdocs.config.defaults import MkDocsConfig

NAME = "llms.txt"
DOCS = Path(__file__).resolve().parent.parent
HEAD = """\
# proof-r1-formal

> Check, certify and credit the proofs that language models write, step by step, in first-order logic.

This is a Python package with the command `proof-r1`. `proof-r1 --help` lists the commands, `proof-r1 COMMAND --help`
the options of one. A verdict is yes only if its evidence was rechecked; undecided is not no.
"""


def on_post_build(config: MkDocsConfig) -> None:
    """Called by MkDocs when the site is built: adds the sources of the pages."""
    for page in _pages():
        target = Path(config.site_dir, page)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(DOCS / page, target)


def text() -> str:
    """The contents of the file."""
    parts = [HEAD]
    for heading, pages in _sections():
        lines = [f"- [{title}]({page}): {about}" for page in pages for title, about in [_described(DOCS / page)]]
        parts.append(f"## {heading}\n\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


def _sections() -> Iterator[tuple[str, list[str]]]:
    """The headings of the navigation, and the files of pages under each. Pages without a heading are under Start."""
    source = re.sub(r"^hooks:.*$", "", (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8"), flags=re.MULTILINE)
    navigation: list[Any] = yaml.safe_load(source)["nav"]
    alone: list[str] = []
    groups: list[tuple[str, list[str]]] = []
    for item in navigation:
        [(heading, value)] = item.items() if isinstance(item, dict) else [("", item)]
        if isinstance(value, list):
            groups.append((heading, _files(value)))
        else:
            alone += _files([value])
    yield "Start", alone
    yield from groups


def _files(items: list[Any]) -> list[str]:
    named = [next(iter(item.values())) if isinstance(item, dict) else item for item in items]
    return [page for page in named if (DOCS / page).is_file()]


def _pages() -> list[str]:
    return [page for _, pages in _sections() for page in pages]


def _described(path: Path) -> tuple[str, str]:
    """The title of a page, and its first sentence without marks of Markdown."""
    source = path.read_text(encoding="utf-8")
    found = re.search(r"^# ([^\n]+)\n+((?:(?!\n\n|\n```|\n\||\n#|\n:::).)+)", source, re.DOTALL)
    assert found is not None, f"{path} has no title and no text"
    plain = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", " ".join(found[2].split()))
    sentence = re.match(r".{30,}?[.:](?= [A-Z`*]|$)", plain)
    return found[1].strip(), (sentence[0] if sentence else plain).rstrip(":")


if __name__ == "__main__":
    (DOCS / NAME).write_text(text(), encoding="utf-8")
