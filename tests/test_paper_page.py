"""Every command of docs/paper.md runs in a test: which one, and what in it is the command."""

from __future__ import annotations

import re

import pytest

from tests.build import ROOT

PAGE = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"`((?:proof-r1|python -m|make|inspect) [^`]*)`", PAGE)

RUN = {
    "proof-r1 verify": ("tests/test_cli.py", 'run("verify", *INPUTS'),
    "proof-r1 show": ("tests/test_cli.py", 'run("show", *INPUTS'),
    "proof-r1 rules": ("tests/test_cli.py", 'run("rules")'),
    "proof-r1 certify": ("tests/test_any_text.py", 'run("certify", *inputs'),
    "proof-r1 prove": ("tests/test_cli.py", 'run("prove", '),
    "proof-r1 train … method=…": ("tests/integrations/test_trl_trainer.py", "def test_every_method_is_this_class"),
    "proof-r1 train": ("tests/integrations/test_trl_run.py", '"proof_r1_formal", "train"'),
    "proof-r1 evaluate --study S --plots FOLDER": ("tests/studies/test_agents_study.py", '"--plots"'),
    "proof-r1 evaluate --study S": ("tests/evaluation/test_evaluation_commands.py", 'run("evaluate", "--study"'),
    "proof-r1 evaluate": ("tests/evaluation/test_evaluation_commands.py", 'run("evaluate", '),
    "python -m studies.paper_splits": ("tests/studies/test_paper_splits.py", "main("),
    "python -m studies.audit.page": ("tests/studies/test_audit.py", "page.main()"),
    "python -m studies.diagnostics": ("tests/studies/test_diagnostics.py", "main()"),
    "python -m proof_r1_formal.integrations.inspect_review": (
        "tests/integrations/test_inspect_review.py",
        '"proof_r1_formal.integrations.inspect_review"',
    ),
    "inspect eval proof_r1_formal/proof --solver": (
        "tests/integrations/test_inspect_agents.py",
        '"inspect_ai", "eval"',
    ),
    "inspect eval proof_r1_formal/review": ("tests/integrations/test_inspect_review.py", "review("),
    "make audit": ("tests/studies/test_audit.py", "page.main()"),
    "make bench": ("tests/studies/test_bench.py", "main()"),
}
"""The beginning of a command, the longest first: the test that runs it or what it calls, and a text in that test."""


def test_every_command_runs_in_a_test() -> None:
    assert len(COMMANDS) > 15
    for command in COMMANDS:
        assert any(command.startswith(known) for known in RUN), f"no test is named for {command!r}"
    for known, (file, text) in RUN.items():
        assert any(command.startswith(known) for command in COMMANDS), f"{known!r} is not on the page"
        assert text in (ROOT / file).read_text(encoding="utf-8"), f"{file} does not run {known!r}"


@pytest.mark.parametrize("absent", ["no command", "in the history", "an earlier version", "no record is kept"])
def test_no_item_is_without_a_command(absent: str) -> None:
    assert absent not in PAGE


def test_the_targets_of_make_are_there() -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    named = [command.split()[1] for command in COMMANDS if command.startswith("make ")]
    assert named and set(named) <= set(targets)
