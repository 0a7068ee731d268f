"""Any SMT-LIB 2 program as a solver: the query goes to its standard input, the verdict comes from its standard output.

Only an output that is exactly ``sat`` or ``unsat``, of a program that then ends with status 0, is a verdict. All else
(death, silence, chatter, a flood) is ``Unknown``; a plain ``unknown`` counts as incomplete, whatever its cause. No
countermodel is read, so a refutation is the program's word.

The program runs without a shell and leads a process group of its own, which is killed as a whole when the answer is in
or the time is up. Its standard error is discarded.
"""

from __future__ import annotations

import os
import selectors
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

from proof_r1_formal.engine.cvc5 import STEPS_PER_RESOURCE
from proof_r1_formal.engine.solver import Limits, checked_signature
from proof_r1_formal.errors import SolverError
from proof_r1_formal.kernel.answer import Answer, Entailed, Query, Reason, Refuted, Unknown
from proof_r1_formal.render.smtlib import Logic, logic_of, script

MAX_OUTPUT = 1 << 16
"""The most bytes that a program may write; a verdict needs six."""


@dataclass(frozen=True, slots=True)
class Preset:
    """How to call a known program.

    Attributes:
        arguments: its arguments; ``{budget}`` stands for the number that limits its work, if it has one.
        logics: the SMT-LIB logics that it decides.
        hint: where to get it.
        unit: how many steps one unit of its budget is.
    """

    arguments: tuple[str, ...]
    logics: frozenset[Logic]
    hint: str
    unit: int = 1


_ALL: frozenset[Logic] = frozenset({"QF_UF", "UF"})
_CVC_ARGUMENTS = ("--lang=smt2", "--finite-model-find", "--rlimit={budget}", "-")

PRESETS: Mapping[str, Preset] = {
    "z3": Preset(("-smt2", "-in", "rlimit={budget}"), _ALL, "pip install z3-solver"),
    "cvc5": Preset(_CVC_ARGUMENTS, _ALL, "https://cvc5.github.io, or apt install cvc5", STEPS_PER_RESOURCE),
    "cvc4": Preset(_CVC_ARGUMENTS, _ALL, "apt install cvc4", STEPS_PER_RESOURCE),
    "veriT": Preset(  # it wants the name of a file
        ("--input=smtlib2", "--disable-banner", "--disable-print-success", "/dev/stdin"),
        _ALL,
        "https://www.verit-solver.org",
    ),
    "yices-smt2": Preset((), frozenset({"QF_UF"}), "https://yices.csl.sri.com"),
}
"""Known programs by name."""


class ProcessSolver:
    """Decides queries by running a program.

    Args:
        program: its name on ``PATH``, or its path.
        arguments: its arguments, with which it must read the query from standard input.
        logics: the SMT-LIB logics that it decides; other queries are ``Unknown`` without running it.
        limits: only ``seconds`` counts; a budget of steps must be among the arguments, in the program's own terms.

    Raises:
        SolverError: there is no such program.
    """

    def __init__(
        self,
        program: str,
        arguments: tuple[str, ...] = (),
        *,
        logics: frozenset[Logic] = _ALL,
        limits: Limits | None = None,
    ) -> None:
        self._limits = limits or Limits()
        self._logics = logics
        self._command = (program, *arguments)
        if shutil.which(program) is None:
            raise SolverError(self.name, f"there is no program {program!r} on PATH")

    @classmethod
    def preset(cls, name: str, limits: Limits | None = None) -> ProcessSolver:
        """The known program of that name, its budget set to ``limits.steps``.

        Raises:
            SolverError: it is not known, or not installed.
        """
        if name not in PRESETS:
            raise SolverError(name, f"is not a preset. Available: {', '.join(PRESETS)}")
        known = PRESETS[name]
        if shutil.which(name) is None:
            raise SolverError(f"process:{name}", f"is not installed; {known.hint}")
        limits = limits or Limits()
        budget = str(max(1, limits.steps // known.unit))
        arguments = tuple([argument.replace("{budget}", budget) for argument in known.arguments])
        return cls(name, arguments, logics=known.logics, limits=limits)

    @property
    def name(self) -> str:
        """``process:`` and the command line; the program's version is not asked for."""
        return f"process:{shlex.join(self._command)}"

    def decide(self, query: Query) -> Answer:
        """Run the program on the query.

        Raises:
            SolverError: the program cannot be started.
        """
        signature = checked_signature(query)
        if isinstance(signature, Unknown):
            return signature
        logic = logic_of(query.assertions)
        if logic not in self._logics:
            return Unknown(Reason.UNSUPPORTED, f"{self._command[0]} does not decide {logic}")
        text = "(set-option :print-success false)\n" + script(query.assertions)
        pipe, null = subprocess.PIPE, subprocess.DEVNULL
        try:
            with tempfile.TemporaryFile() as file:  # as a pipe that the program does not read would block us
                file.write(text.encode("ascii"))
                file.seek(0)
                process = subprocess.Popen(self._command, stdin=file, stdout=pipe, stderr=null, start_new_session=True)
        except OSError as error:
            raise SolverError(self.name, f"cannot be started: {error}") from error
        try:
            return self._verdict(_output(process, self._limits.seconds))
        except TimeoutError:
            return Unknown(Reason.TIMEOUT, f"{self._command[0]} used its time")
        except _ProgramError as error:
            return Unknown(Reason.BROKEN, f"{self._command[0]} {error}")

    def _verdict(self, output: bytes) -> Answer:
        match output.strip().decode("ascii", "replace"):  # of bytes, only ASCII's white space is stripped
            case "unsat":
                return Entailed()
            case "sat":
                return Refuted()
            case "unknown" | "unknown (INCOMPLETE)":
                return Unknown(Reason.INCOMPLETE, f"{self._command[0]} does not know")
            case "timeout" | "unknown (TIMEOUT)":
                return Unknown(Reason.TIMEOUT, f"{self._command[0]} used its time")
            case "unknown (RESOURCEOUT)":
                return Unknown(Reason.BUDGET, f"{self._command[0]} used its steps")
            case other:
                return Unknown(Reason.BROKEN, f"{self._command[0]} wrote {other[:80]!r}, which is not a verdict")


class _ProgramError(Exception):
    """A program that wrote too much, or ended with an error."""


def _output(process: subprocess.Popen[bytes], seconds: float) -> bytes:
    """The standard output of a program; what is left of it and of its process group is then killed."""
    deadline = time.monotonic() + seconds
    with process:
        assert process.stdout is not None
        try:
            output = read(process.stdout, deadline, MAX_OUTPUT)
            if len(output) > MAX_OUTPUT:
                raise _ProgramError(f"wrote more than {MAX_OUTPUT} bytes")
            status = process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise TimeoutError from None
        finally:
            kill_group(process)
    if status != 0:
        raise _ProgramError(f"ended with status {status}")
    return output


def read(stream: IO[bytes], deadline: float, most: int, *, until: bytes | None = None) -> bytes:
    """All that is written before the stream closes, or up to ``until`` and a little further, or over ``most`` bytes.

    Raises:
        TimeoutError: none of these ends comes before the deadline, on the clock ``time.monotonic``.
    """
    output = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while len(output) <= most and (until is None or until not in output):
            if not selector.select(max(0.0, deadline - time.monotonic())):
                raise TimeoutError
            chunk = os.read(stream.fileno(), 1 << 14)
            if not chunk:
                break
            output += chunk
    return bytes(output)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """End what is left of the program and of its children that stayed in its process group."""
    with suppress(ProcessLookupError, PermissionError):  # nobody is left; macOS says so with the latter
        os.killpg(process.pid, signal.SIGKILL)
