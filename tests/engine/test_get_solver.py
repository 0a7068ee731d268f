"""Solvers by name, and a package that works without the optional ones."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from proof_r1_formal.engine import NAMES, available_solvers, get_solver
from proof_r1_formal.engine.solver import Limits
from proof_r1_formal.errors import SolverError
from proof_r1_formal.kernel.answer import Entailed, Query, Reason, Refuted, Unknown
from proof_r1_formal.kernel.syntax import atom

TRIVIAL = Query((atom("p"),), atom("p"))


@pytest.mark.parametrize("name", NAMES)
def test_solvers_by_name(name: str) -> None:
    if name == "cvc5" and find_spec("cvc5") is None:
        pytest.skip("cvc5 is not installed (the extra [solvers])")
    if name == "isabelle" and (shutil.which("isabelle") is None or find_spec("isabelle_client") is None):
        pytest.skip("Isabelle is not on PATH, or isabelle-client is not installed (the extra [isabelle])")
    solver = get_solver(name)
    assert solver.name.split()[0] == name
    assert isinstance(solver.decide(TRIVIAL), Entailed)
    assert isinstance(solver.decide(Query((), atom("p"))), Refuted)


def test_limits_arrive() -> None:
    answer = get_solver("z3", Limits(steps=0)).decide(TRIVIAL)
    assert isinstance(answer, Unknown)
    assert answer.reason is Reason.BUDGET


@pytest.mark.parametrize("limit", ["steps", "seconds", "memory_mb"])
@pytest.mark.parametrize("value", [-1, float("nan"), float("inf")])
def test_limits_are_numbers_that_are_not_negative(limit: str, value: float) -> None:
    assert replace(Limits(), **{limit: 0}) != Limits()
    with pytest.raises(ValueError, match=f"limit {limit} must be a finite number that is not negative, but is {value}"):
        replace(Limits(), **{limit: value})  # type: ignore[arg-type]


def test_a_solver_is_named_by_a_string() -> None:
    with pytest.raises(TypeError, match="name must be a str, but is a NoneType; give the name of a solver: embedded"):
        get_solver(None)  # type: ignore[arg-type]


def test_any_command_line_is_a_solver() -> None:
    solver = get_solver(f"process:{sys.executable} -c \"print('unsat')\"")
    assert isinstance(solver.decide(TRIVIAL), Entailed)
    assert solver.name == f"process:{sys.executable} -c 'print('\"'\"'unsat'\"'\"')'"


@pytest.mark.parametrize("name", ["", "Z3", "z4", "z3:fast", ":", "process", "z3:"])
def test_unknown_names_list_the_known_ones(name: str) -> None:
    with pytest.raises(SolverError, match=f"{', '.join(NAMES)} and process:PROGRAM"):
        get_solver(name)


def test_broken_command_lines() -> None:
    with pytest.raises(SolverError, match="known ones are z3, cvc5, cvc4, veriT, yices-smt2"):
        get_solver("process:  ")
    with pytest.raises(SolverError, match="No closing quotation"):
        get_solver("process:solver 'unclosed")
    with pytest.raises(SolverError, match="no program 'no-such-solver'"):
        get_solver("process:no-such-solver --fast")


def test_a_missing_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cvc5", None)
    with pytest.raises(SolverError, match=r"pip install 'proof-r1-formal\[solvers\]'"):
        get_solver("cvc5")
    assert next(found for found in available_solvers() if found.name == "cvc5").version is None


def test_available_solvers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, program in {"z3": "echo Z3 version 9.9", "cvc4": "exit 3", "veriT": "no-such-command"}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{program}\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "cvc5").write_bytes(b"\x7fELF")
    (tmp_path / "cvc5").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = {each.name: each for each in available_solvers()}
    assert all(each.hint for each in found.values() if each.version is None)
    assert found["z3"].version == get_solver("z3").name.split()[1]
    assert found["process:z3"].version == "Z3 version 9.9"
    assert found["process:cvc4"].version == "of unknown version"
    assert found["process:cvc5"].version is not None
    assert found["process:cvc5"].version.startswith("broken: ")
    assert found["process:yices-smt2"].version is None
