"""Documents, messages and docstrings are plain technical English, as far as a list of constructions can tell."""

from __future__ import annotations

import re

import pytest

from tests import prose

WORSE_AND_BETTER = {
    "A refuted step is no instance of the rule.": "A refuted step is not an instance of the rule.",
    "What the checks are is told in another page.": "Another page describes the checks.",
    "Two cases are told apart.": "Two cases are distinguished.",
    "The table is made anew.": "The table is regenerated.",
    "It says what of the trace is wrong.": "It says which part of the trace is wrong.",
    "The lock says who has it.": "The lock names its owner.",
    "It waits to no purpose.": "It waits unnecessarily.",
    "It counts, though workers be killed.": "It counts even if workers are killed.",
    "It would pass, were its dependencies verified.": "It would pass if its dependencies were verified.",
    "The signal comes of the verdicts.": "The signal results from the verdicts.",
    "The question stayed open.": "The question is undecided.",
    "A killed run goes on with the same command.": "The same command resumes a killed run.",
    "Calls that fail in passing are repeated.": "Calls that fail temporarily are repeated.",
    "A call is under way.": "A call is running.",
    "The default counts if nothing is said.": "The default is 1.",
    "Negations move inwards as far as one likes.": "Negations move inwards any number of times.",
    "This is the dearest trace.": "This is the most expensive trace.",
    "One wrong step takes those that rest on it along.": "Steps that depend on a wrong step fail too.",
    "The option completes commands and does so for good.": "The option installs completion permanently.",
    "It takes a solver's word.": "It accepts an answer without evidence.",
    "A worker has one job in hand.": "A worker has one queued job.",
    "Jobs begin in their turn.": "Jobs begin in order.",
    "A name is all that is needed.": "It requires only a name.",
    "The lock sees to it that one run writes.": "The lock ensures that one run writes.",
    "The journal is flushed now and then.": "The journal is flushed after 100 lines.",
}
"""A sentence that the checker must find -> the sentence that it must accept."""


def test_files_are_plain_technical_english() -> None:
    found = [
        finding
        for name in prose.files()
        for finding in prose.findings(name, (prose.ROOT / name).read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(["CONTRIBUTING.md has the rules.", *map(str, found)])


@pytest.mark.parametrize(("worse", "better"), WORSE_AND_BETTER.items())
def test_a_construction_is_found_and_its_replacement_is_accepted(worse: str, better: str) -> None:
    assert [finding.line for finding in prose.findings("page.md", f"# Title\n\n{worse}\n")] == [3]
    assert prose.findings("page.md", f"# Title\n\n{better}\n") == []


@pytest.mark.parametrize("pattern", prose.BANNED)
def test_every_construction_has_an_example(pattern: str) -> None:
    spaced = pattern.replace(" ", r"\s+")
    assert any(re.search(spaced, worse, re.IGNORECASE) for worse in WORSE_AND_BETTER)
    assert not any(re.search(spaced, better, re.IGNORECASE) for better in WORSE_AND_BETTER.values())


@pytest.mark.parametrize(
    ("path", "text", "lines"),
    [
        ("page.md", "One line.\n\n* an item\n  that is made\n  anew\n", [5]),
        ("page.md", "| name | meaning |\n|---|---|\n| a | made anew |\n", [3]),
        ("page.md", "Write `anew` here.\n\n```text\nmade anew\n```\n\nmade anew\n", [7]),
        ("module.py", '"""A docstring.\n\nIt is made\nanew.\n"""\n', [4]),
        ("module.py", 'def f(x: int) -> str:\n    return f"made {x} anew"\n', [2]),
        ("module.py", "anew = 1  # made anew\n", [1]),
        ("module.py", '"""``anew`` is a name."""\nanew = 1\n', []),
        ("page.md", "If there is no summary, the step is no longer checked.\n", []),
        ("Makefile", "anew: clean\n\ttouch $@  # made anew\n", [2]),
    ],
)
def test_the_line_of_a_finding(path: str, text: str, lines: list[int]) -> None:
    assert [finding.line for finding in prose.findings(path, text)] == lines


def test_the_length_of_sentences() -> None:
    longest = " ".join(["word"] * prose.LONGEST)
    accepted = f"Short. {longest}. [{longest}](https://example.org/a/b/c) `code here`?\n\n* {longest}\n* {longest}\n"
    assert prose.findings("page.md", accepted.replace(" `code here`", "")) == []
    [finding] = prose.findings("page.md", accepted)
    assert (finding.line, finding.reason[:9]) == (1, f"{prose.LONGEST + 1} words:")
