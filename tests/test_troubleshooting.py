"""The page Troubleshooting: each of its messages is one that the package writes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import proof_r1_formal
from tests.build import ROOT

PAGE = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
ROWS = [row.split(" | ") for row in re.findall(r"^\| (`.*) \|$", PAGE, re.MULTILINE)]
GAP = "…"


def templates() -> Iterator[str]:
    """The texts of the package, as its sources have them, with … for what they fill in."""
    for path in Path(proof_r1_formal.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.JoinedStr(values):
                    yield "".join([str(one.value) if isinstance(one, ast.Constant) else GAP for one in values])
                case ast.Constant(str(text)):
                    yield re.sub(r"%[sd]", GAP, text)


TEMPLATES = sorted(set(templates()))


def is_written(message: str) -> bool:
    """Whether one text of the package has the parts of the message in its order, with nothing but gaps between."""
    known = re.compile(re.escape(message).replace(GAP, f"[^\n]*{GAP}[^\n]*"))
    return any(known.search(text) for text in TEMPLATES)


def test_the_page_has_thirty_messages_with_causes_and_remedies() -> None:
    assert len(ROWS) >= 30
    assert all(len(row) == 3 and all(row) for row in ROWS)
    messages = [row[0] for row in ROWS]
    assert len(set(messages)) == len(messages)


@pytest.mark.parametrize("message", [row[0].strip("`") for row in ROWS])
def test_a_message_is_one_of_the_package(message: str) -> None:
    assert len(re.sub(r"\W", "", message)) > 10
    assert is_written(message)


@pytest.mark.parametrize("message", ["the tests ran no …", "training requires …: pip install 'proof-r1-formal[rain]'"])
def test_another_message_is_not(message: str) -> None:
    assert not is_written(message)
