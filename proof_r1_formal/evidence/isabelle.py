"""Isabelle's kernel: whole theories in, what ``isabelle build`` says of each out.

A theory counts as accepted only if a session with it and the theories of ``theories/isabelle`` is built without error;
the gate that each theory holds behind its theorem makes an oracle or a new axiom an error. Theories are built together,
and in halves where that fails, until the ones at fault are found.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from proof_r1_formal.errors import SolverError
from proof_r1_formal.evidence.lean import Judgement
from proof_r1_formal.resources import resource

HINT = "https://isabelle.in.tum.de"
SECONDS = 300.0
SECONDS_EACH = 10.0
"""The time limit of a build: for the sessions it rests on, and for each theory."""


class IsabelleKernel:
    """An Isabelle that can be called.

    Args:
        program: path of ``isabelle``.

    Raises:
        SolverError: it does not say its version.
    """

    def __init__(self, program: str) -> None:
        self._program = program
        said = self._run(["version"], 60.0)
        if said is None or said.returncode:
            raise SolverError("isabelle", f"{program} does not say its version")
        self.version = said.stdout.decode("utf-8", "replace").strip()

    @classmethod
    def find(cls, program: str = "isabelle") -> Self | None:
        """The Isabelle on PATH; None if there is none."""
        path = shutil.which(program)
        return None if path is None else cls(path)

    def check(self, theories: Mapping[str, str]) -> dict[str, Judgement]:
        """What Isabelle says of each theory, by name; each imports ``Proof_R1`` and ends in its gate."""
        if not theories:
            return {}
        problem = self._build(theories)
        if problem is None:
            return dict.fromkeys(theories, Judgement(True))
        if len(theories) == 1:
            return dict.fromkeys(theories, Judgement(False, problem))
        names = list(theories)
        halves = names[: len(names) // 2], names[len(names) // 2 :]
        return {n: j for half in halves for n, j in self.check({n: theories[n] for n in half}).items()}

    def _build(self, theories: Mapping[str, str]) -> str | None:
        """Why a session of the theories cannot be built; None if it can."""
        with tempfile.TemporaryDirectory(prefix="proof-r1-") as scratch:
            folder = Path(scratch)
            for file in (resource("theories") / "isabelle").glob("*.thy"):
                shutil.copy(file, folder)
            for name, text in theories.items():
                (folder / f"{name}.thy").write_text(text, encoding="utf-8")
            listed = "".join(f"    {name}\n" for name in theories)
            (folder / "ROOT").write_text(f"session Proof_R1_Check = HOL +\n  theories\n{listed}", encoding="utf-8")
            run = self._run(["build", "-c", "-D", str(folder)], SECONDS + SECONDS_EACH * len(theories))
        if run is None:
            return "Isabelle ran out of time"
        if run.returncode:
            said = (run.stdout + run.stderr).decode("utf-8", "replace").strip()
            return f"Isabelle does not build it: {said[-500:]}"
        return None

    def _run(self, arguments: list[str], seconds: float) -> subprocess.CompletedProcess[bytes] | None:
        try:
            return subprocess.run(
                [self._program, *arguments],
                capture_output=True,
                stdin=subprocess.DEVNULL,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None
        except OSError as error:
            raise SolverError("isabelle", f"it cannot be started: {error.strerror}") from error
