"""What a start costs, counted in modules: help needs none of the rooms, a short verification only those it uses."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import proof_r1_formal
from proof_r1_formal.cli import COMMANDS, command
from tests.build import ROOT

REPORT = """
import atexit, sys
atexit.register(lambda: print(*sys.modules, file=sys.__stderr__))
from proof_r1_formal.cli import main
main()
"""
HEAVY = {"asyncio", "email", "lark", "multiprocessing", "openai", "pydantic", "pysat", "ray", "sqlite3", "torch", "z3"}


def modules_of(*arguments: str) -> set[str]:
    """The modules that a command has imported when it ends."""
    done = subprocess.run((sys.executable, "-c", REPORT, *arguments), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.splitlines()[-1].split())


def own(modules: set[str]) -> set[str]:
    return {name.partition(".")[2] for name in modules if name.startswith("proof_r1_formal.")}


@pytest.mark.parametrize("arguments", [("--help",), ("--version",)])
def test_help_imports_nothing_that_verifies(arguments: tuple[str, ...]) -> None:
    modules = modules_of(*arguments)
    assert modules.isdisjoint(HEAVY | {"rich", "msgspec"})
    assert own(modules) == {"cli", "errors", "executors", "kernel", "kernel.errors", "version"}
    assert len(modules) < 200


def test_a_short_verification_imports_little(tmp_path: Path) -> None:
    completions, out = tmp_path / "one.jsonl", tmp_path / "out.jsonl"
    lines = (ROOT / "examples" / "completions.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    completions.write_text(lines[0], encoding="utf-8")
    problems = str(ROOT / "examples" / "problems.jsonl")
    modules = modules_of("verify", "--problems", problems, "--completions", str(completions), "--out", str(out))
    assert out.exists()
    assert modules.isdisjoint(HEAVY | {"rich.progress", "rich.table"})
    assert own(modules).isdisjoint(
        {"data.display", "proof.display", "generate", "text.grammar", "assistants.lean", "serve", "testing"}
    )
    assert len(modules) < 350


def test_unusual_notation_and_a_hard_question_do_import_them() -> None:
    assert "lark" in modules_of("parse", "forall x. P(x)")
    assert "z3" in modules_of("doctor")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_found_and_the_list_quotes_its_help(name: str) -> None:
    found = command(name)
    assert found.name == name or isinstance(found, typer.core.TyperGroup)
    text = " ".join(inspect.cleandoc(found.help).split())
    assert text.startswith(COMMANDS[name][1])
    assert COMMANDS[name][1].endswith(".")


def test_every_public_name_is_there_and_lasts() -> None:
    code = """
import proof_r1_formal as package
found = {name: getattr(package, name) for name in package.__all__}
import proof_r1_formal.evaluation.metrics, proof_r1_formal.kernel.model
assert all(getattr(package, name) is value for name, value in found.items())
assert set(package.__all__) <= set(dir(package))
print(callable(package.evaluate))
"""
    done = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = proof_r1_formal.no_such_name
