"""The solvers by name, and those available on this machine.

A solver is imported on first use, so optional ones need not be installed.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
from typing import NamedTuple

from proof_r1_formal.engine.solver import Limits, Solver
from proof_r1_formal.errors import SolverError, require_type

NAMES = ("embedded", "z3", "cvc5", "isabelle")
"""The named solvers: those that run in this process, and Isabelle through its server."""

_HINTS = {
    "embedded": "",
    "z3": "pip install z3-solver",
    "cvc5": "pip install 'proof-r1-formal[solvers]'",
    "isabelle": "https://isabelle.in.tum.de, and pip install 'proof-r1-formal[isabelle]'",
}


class Available(NamedTuple):
    """A solver by its name, its version, which is None if it is not installed, and what to install."""

    name: str
    version: str | None
    hint: str


def get_solver(name: str, limits: Limits | None = None) -> Solver:
    """The solver of that name.

    Args:
        name: ``embedded`` (the default), ``z3``, ``cvc5``, ``isabelle``; ``process:`` and the name of a known program
            (``process:yices-smt2``); or ``process:`` and the command line of any program that reads SMT-LIB 2
            (``process:opensmt --quiet``).
        limits: per query.

    Raises:
        SolverError: the solver is unknown or not installed.
        TypeError: the name is not a string.

    >>> get_solver("z3").name.split()[0]
    'z3'
    """
    require_type(name, str, "name", f"give the name of a solver: {', '.join(NAMES)} or process:PROGRAM")
    match name.partition(":"):
        case ("embedded", "", ""):
            from proof_r1_formal.engine.embedded import EmbeddedSolver

            return EmbeddedSolver(limits)
        case ("z3", "", ""):
            from proof_r1_formal.engine.z3 import Z3Solver

            return Z3Solver(limits)
        case ("cvc5", "", ""):
            from proof_r1_formal.engine.cvc5 import Cvc5Solver

            return Cvc5Solver(limits)
        case ("isabelle", "", ""):
            from proof_r1_formal.engine.isabelle import IsabelleSolver

            return IsabelleSolver(limits)
        case ("process", ":", command):
            return _process(command, limits)
    raise SolverError(name, f"unknown. Available: {', '.join(NAMES)} and process:PROGRAM")


def _process(command: str, limits: Limits | None) -> Solver:
    from proof_r1_formal.engine.process import PRESETS, ProcessSolver

    try:
        words = shlex.split(command)
    except ValueError as error:
        raise SolverError(f"process:{command}", f"is not a command line: {error}") from error
    if not words:
        raise SolverError("process:", f"a program must follow; known ones are {', '.join(PRESETS)}")
    program, *arguments = words
    if program in PRESETS and not arguments:
        return ProcessSolver.preset(program, limits)
    return ProcessSolver(program, tuple(arguments), limits=limits)


def available_solvers() -> tuple[Available, ...]:
    """The solvers of the package and the known programs, with the installed versions."""
    from proof_r1_formal.engine.process import PRESETS

    inside = [Available(name, _version(name), _HINTS[name]) for name in NAMES]
    programs = [Available(f"process:{name}", program_version(name), preset.hint) for name, preset in PRESETS.items()]
    return (*inside, *programs)


def _version(name: str) -> str | None:
    try:
        solver = get_solver(name)
    except SolverError:
        return None
    return solver.name.partition(" ")[2]


def program_version(program: str) -> str | None:
    """The first line that ``program --version`` prints; None if there is no such program."""
    if shutil.which(program) is None:
        return None
    try:
        shown = subprocess.run(
            (program, "--version"), stdin=subprocess.DEVNULL, capture_output=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"broken: {error}"
    return shown.stdout.decode("utf-8", "replace").partition("\n")[0].strip() or "of unknown version"
