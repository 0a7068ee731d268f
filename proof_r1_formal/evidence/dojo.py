"""What LeanDojo sees in the theory: its theorems, traced in a full Lean, against the manifest.

In: the theory's folder, with LeanDojo (the extra ``[lean]``), git and elan's Lean installed. Out: our theorems as
LeanDojo extracts them (name, file, statement, premises), and what of the manifest they do not bear out. This is another
reading of the same files, by other people's tools; what is a theorem, the kernel says (``evidence.theories``).

LeanDojo looks for ``A/B.lean`` of module ``A.B`` at the top of a git repository, and cannot do with a ``srcDir``. So
what is traced is a repository of its own, made of the theory alone, on a release of Lean that LeanDojo reads.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from proof_r1_formal.errors import SolverError
from proof_r1_formal.render.lean import NAMESPACE
from proof_r1_formal.resources import resource
from proof_r1_formal.rules.manifest import Manifest

HINT = "pip install 'proof-r1-formal[lean]', and elan from https://lean-lang.org"
TOOLCHAIN = "leanprover/lean4:v4.20.0"
"""The release that LeanDojo 4.20 was made for: its extractor is a Lean program, which newer releases may not compile."""
REPOSITORY = "proof-r1-theory"

_CORE = ("Init", "Lean", "Std")
"""Where Lean's own modules start."""
_LAKEFILE = f"""import Lake
open Lake DSL
package theory
@[default_target]
lean_lib {NAMESPACE}
"""
_COMMITTER = {
    # A fixed date, so that the same theory is the same commit, which LeanDojo finds in its cache.
    **{
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (
            ("NAME", REPOSITORY),
            ("EMAIL", f"{REPOSITORY}@localhost"),
            ("DATE", "2000-01-01T00:00:00Z"),
        )
    },
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}


class Premise(NamedTuple):
    """A constant that a theorem names, and the module that it is from."""

    name: str
    module: str


@dataclass(frozen=True, slots=True)
class TracedStatement:
    """A theorem as LeanDojo extracts it.

    Attributes:
        name: with its namespace.
        file: in the repository, ``ProofR1/Schemata.lean``.
        statement: the source, from ``theorem`` to before ``:=``.
        premises: the constants that statement and proof name, each once, in order.
    """

    name: str
    file: str
    statement: str
    premises: tuple[Premise, ...]


class Flaw(NamedTuple):
    """What is wrong with a theorem of the manifest."""

    theorem: str
    problem: str


# -- comparing --------------------------------------------------------------------------------------------------------


def compare(traced: Iterable[TracedStatement], manifest: Manifest) -> tuple[Flaw, ...]:
    """What of the manifest the trace does not bear out; nothing if all is well.

    Every theorem of the manifest must be traced once, in a file of ours, with its name in its statement, and may name
    only what is ours or Lean's own.

    Args:
        traced: the theorems of the theory.
        manifest: which theorems there should be.

    >>> from proof_r1_formal.rules.manifest import Entry
    >>> manifest = Manifest("Lean 4", "", {"mp": Entry("", "mp")})
    >>> compare([], manifest)
    (Flaw(theorem='ProofR1.mp', problem='it is not in the trace'),)
    """
    by_name: dict[str, list[TracedStatement]] = {}
    for each in traced:
        by_name.setdefault(each.name, []).append(each)
    names = dict.fromkeys(f"{NAMESPACE}.{entry.lean}" for entry in manifest.schemata.values())
    return tuple([Flaw(name, problem) for name in names for problem in _problems(name, by_name.get(name, []))])


def _problems(name: str, found: Sequence[TracedStatement]) -> Iterator[str]:
    if len(found) != 1:
        yield f"it is in the trace {len(found)} times" if found else "it is not in the trace"
    for theorem in found:
        if not _ours(theorem.file.removesuffix(".lean").replace("/", ".")):
            yield f"it is in {theorem.file}, which is no file of the theory"
        if theorem.statement.split()[:2] != ["theorem", name.removeprefix(f"{NAMESPACE}.")]:
            yield f"its text is {theorem.statement[:80]!r}"
        for premise in theorem.premises:
            if not (_ours(premise.module) or premise.module.split(".")[0] in _CORE):
                yield f"it uses {premise.name} of {premise.module}"


def _ours(module: str) -> bool:
    return module.split(".")[0] == NAMESPACE


# -- reading LeanDojo's objects ---------------------------------------------------------------------------------------


class _Identifier(Protocol):
    """What is read of ``lean_dojo.data_extraction.ast.IdentNode``."""

    full_name: str | None
    mod_name: str | None


def trace(folder: Path | None = None) -> tuple[TracedStatement, ...]:
    """The theorems of the theory, traced by LeanDojo; it downloads the release of Lean, asks GitHub for its commit, and
    keeps what it traced in its own cache.

    Args:
        folder: of the theory; the package's own if None.

    Raises:
        SolverError: LeanDojo, git or Lean's ``lake`` is missing, or LeanDojo does not trace the theory.
    """
    missing = [program for program in ("git", "lean", "lake") if shutil.which(program) is None]
    if importlib.util.find_spec("lean_dojo") is None:
        missing.append("lean_dojo")
    if missing:
        raise SolverError("lean_dojo", f"there is no {', no '.join(missing)} here; {HINT}")
    lean_dojo = importlib.import_module("lean_dojo")
    with tempfile.TemporaryDirectory(prefix="proof-r1-") as scratch:
        root = stage(Path(scratch), folder or resource("theories") / "lean")
        try:
            repository = lean_dojo.trace(lean_dojo.LeanGitRepo.from_path(root), build_deps=False)
        except (OSError, AssertionError, ValueError, RuntimeError, subprocess.SubprocessError) as error:
            raise SolverError("lean_dojo", f"it does not trace the theory: {error}") from error
    return read_theorems(repository)
