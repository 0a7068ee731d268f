"""Isabelle's kernel: whole theories in, what ``isabelle build`` says of each out.

A theory counts as accepted only if a session with it and the theories of ``theories/isabelle`` is built without error;
the gate that each theory holds behind its theorem makes an oracle or a new axiom an error. Theories are built together,
and in halves where that fails, until the ones at fault are found.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Self

from proof_r1_formal.assistants.lean import Judgement
from proof_r1_formal.errors import SolverError
from proof_r1_formal.outputs import write_output
from proof_r1_formal.render import isabelle
from proof_r1_formal.resources import resource

THEORY = "Proof_R1"
"""The theory that theorems build on: the one in ``theories/isabelle``."""
HINT = "https://isabelle.in.tum.de"
SECONDS = 300.0
SECONDS_EACH = 10.0
"""The time limit of a build: for the sessions that it imports, and for each theory."""
_MAX_ERROR = 2_000  # characters


class IsabelleTheorem(NamedTuple):
    """A theorem without its name: what it says, and the proof; each ends its last line."""

    statement: str
    proof: str

    def text(self, name: str) -> str:
        """The theorem as a command."""
        return f"theorem {name}:\n{self.statement}{self.proof}"


def theory_of(theorems: Mapping[str, IsabelleTheorem], name: str, *, about: Sequence[str] = ()) -> str:
    """The theory of some theorems; after each, a command that fails if it depends on an oracle or a new axiom.

    Args:
        theorems: by name.
        about: lines that a text before the theorems says.
        name: of the theory, and so of its file, which belongs beside ``Proof_R1.thy``: letters, digits and ``_``.

    Raises:
        ValueError: the name is not a theory name.
    """
    parts = [f"{each.text(label)}\n{isabelle.gate(name, label, imports=THEORY)}" for label, each in theorems.items()]
    said = "\n\n  ".join([rf"@{{verbatim \<open>{_plain(line)}\<close>}}" for line in about])
    text = [f"text \\<open>\n  {said}\n\\<close>\n"] if about else []
    return isabelle.theory(name, *text, *parts, imports=THEORY)


def _plain(line: str) -> str:
    """A line as plain words in a document: no text of a problem may leave the quotation or be a command of LaTeX."""
    return "".join([c if " " <= c <= "~" and c not in "\\@`" else f"(U+{ord(c):04X})" for c in line])


def write_session(folder: Path, session: str, theories: Mapping[str, str]) -> None:
    """Write a session that ``isabelle build -D`` can build: theories by name, and those of ``theories/isabelle``.

    With ``-o document=pdf`` it makes a document, which needs LaTeX.
    """
    source = resource("theories") / "isabelle"
    files = {file.name: file.read_bytes() for file in sorted(source.glob("*.thy"))}
    files |= {f"{name}.thy": text.encode() for name, text in theories.items()}
    files["document/root.tex"] = (source / "document" / "root.tex").read_bytes()
    files["ROOT"] = root(session, "Theorems about problems, written by proof-r1.", theories).encode()
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_output(folder / name, content)


def root(session: str, description: str, theories: Iterable[str]) -> str:
    """The file ``ROOT`` of a session in the folder of its theories."""
    listed = "".join([f"    {name}\n" for name in theories])
    head = f"session {session} = HOL +\n  description \\<open>{description}\\<close>\n"
    return f'{head}  theories\n{listed}  document_files\n    "root.tex"\n'


class IsabelleKernel:
    """An Isabelle that can be called, by the path of its program.

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
        """The Isabelle on PATH, or None."""
        path = shutil.which(program)
        return None if path is None else cls(path)

    def check(self, theories: Mapping[str, str]) -> dict[str, Judgement]:
        """The judgement of Isabelle on each theory, by name; each imports ``Proof_R1`` and ends in its gate."""
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
        with tempfile.TemporaryDirectory(prefix="proof-r1-") as folder:
            write_session(Path(folder), "Proof_R1_Check", theories)
            run = self._run(["build", "-c", "-D", folder], SECONDS + SECONDS_EACH * len(theories))
        if run is None:
            return "Isabelle ran out of time"
        return f"Isabelle does not build it: {_errors(run)}" if run.returncode else None

    def _run(self, arguments: list[str], seconds: float) -> subprocess.CompletedProcess[bytes] | None:
        try:
            return subprocess.run(
                [self._program, *arguments], capture_output=True, stdin=subprocess.DEVNULL, timeout=seconds, check=False
            )
        except subprocess.TimeoutExpired:
            return None
        except OSError as error:
            raise SolverError("isabelle", f"it cannot be started: {error.strerror}") from error


def _errors(run: subprocess.CompletedProcess[bytes]) -> str:
    """The complaints of a build: the lines of its output that begin with ``***``, else the end of all that it says."""
    said = run.stdout.decode("utf-8", "replace")
    marked = [line.removeprefix("***").strip() for line in said.splitlines() if line.startswith("***")]
    return "\n".join(marked)[:_MAX_ERROR] or (said + run.stderr.decode("utf-8", "replace")).strip()[-_MAX_ERROR:]
