"""The theory as LeanDojo sees it: its theorems, traced in a full Lean, against the manifest.

In: the theory's folder, with LeanDojo (the extra ``[lean]``), git and elan's Lean installed. Out: our theorems as
LeanDojo extracts them (name, file, statement, premises), and where they contradict the manifest. This is another
reading of the same files, by other people's tools; what is a theorem, the kernel says (``assistants.theories``).

LeanDojo looks for ``A/B.lean`` of module ``A.B`` at the top of a git repository, and cannot do with a ``srcDir``. So
what is traced is a repository of its own, made of the theory alone, on a release of Lean that LeanDojo reads.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from proof_r1_formal.assistants.lean_file import plain
from proof_r1_formal.errors import SolverError
from proof_r1_formal.outputs import write_output
from proof_r1_formal.render.lean import NAMESPACE
from proof_r1_formal.resources import resource
from proof_r1_formal.rules.manifest import Manifest

if TYPE_CHECKING:
    from lean_dojo import TracedRepo, TracedTheorem

HINT = "pip install 'proof-r1-formal[lean]', and elan from https://lean-lang.org"
TOOLCHAIN = "leanprover/lean4:v4.20.0"
"""The release whose number LeanDojo 4.20 bears: its extractor is a Lean program, and newer releases may refuse it."""
_REPOSITORY = "proof-r1-theory"

_CORE = ("Init", "Lean", "Std")
"""Where Lean's own modules start."""
_LAKEFILE = f"""import Lake
open Lake DSL
package theory
@[default_target]
lean_lib {NAMESPACE}
"""
_WHO = {"NAME": _REPOSITORY, "EMAIL": f"{_REPOSITORY}@localhost", "DATE": "2000-01-01T00:00:00Z"}
_GIT = {
    **{f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in _WHO.items()},
    **{f"GIT_CONFIG_{scope}": os.devnull for scope in ("GLOBAL", "SYSTEM")},
}
"""The same theory is the same commit, so that LeanDojo finds what it traced before in its cache."""


class Premise(NamedTuple):
    """A constant that a theorem names, and the module that it is from."""

    name: str
    module: str


@dataclass(frozen=True, slots=True)
class TracedStatement:
    """A theorem, with its namespace, as LeanDojo extracts it.

    Attributes:
        file: in the repository, ``ProofR1/Schemata.lean``.
        statement: the source, from ``theorem`` to before ``:=``.
        premises: the constants that statement and proof name, each once, in order.
    """

    name: str
    file: str
    statement: str
    premises: tuple[Premise, ...]


class Flaw(NamedTuple):
    """The faults of a theorem of the manifest."""

    theorem: str
    problem: str


# -- comparing --------------------------------------------------------------------------------------------------------


def compare(traced: Iterable[TracedStatement], manifest: Manifest) -> tuple[Flaw, ...]:
    """Where the trace contradicts the manifest; nothing if it does not.

    Every theorem of the manifest must be traced once, in a file of ours, with its name in its statement, and may name
    only what is ours or Lean's own.

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
            yield f"it is in {theorem.file}, which is not a file of the theory"
        if theorem.statement.split()[:2] != ["theorem", name.removeprefix(f"{NAMESPACE}.")]:
            yield f"its text is {theorem.statement[:80]!r}"
        for premise in theorem.premises:
            if not (_ours(premise.module) or premise.module.split(".")[0] in _CORE):
                yield f"it uses {premise.name} of {premise.module}"


def _ours(module: str) -> bool:
    return module.split(".")[0] == NAMESPACE


# -- tracing ----------------------------------------------------------------------------------------------------------


def trace(folder: Path | None = None) -> tuple[TracedStatement, ...]:
    """The theorems of the theory, traced by LeanDojo.

    LeanDojo has elan fetch the release of Lean, asks GitHub for that release's commit, and keeps what it traced in a
    cache of its own.

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
    import lean_dojo
    from github import GithubException

    broken = (AssertionError, GithubException, OSError, RuntimeError, ValueError, subprocess.SubprocessError)
    with tempfile.TemporaryDirectory(prefix="proof-r1-") as scratch:
        root = stage(resource("theories") / "lean" if folder is None else folder, Path(scratch))
        try:
            traced = lean_dojo.trace(lean_dojo.LeanGitRepo.from_path(root), build_deps=False)
        except broken as error:
            raise SolverError("lean_dojo", f"it does not trace the theory: {error}") from error
    return read_theorems(traced)


def stage(theory: Path, scratch: Path) -> Path:
    """Make a git repository of the theory alone, as LeanDojo wants it: without modules, which its Lean does not know.

    Args:
        theory: the folder with ``ProofR1.lean`` and ``ProofR1/``; what else is in it stays out.
        scratch: where the folder of the repository, which is returned, goes; the same theory gives the same commit.
    """
    root = scratch / _REPOSITORY
    for file in (theory / f"{NAMESPACE}.lean", *sorted((theory / NAMESPACE).rglob("*.lean"))):
        copy = root / file.relative_to(theory)
        copy.parent.mkdir(parents=True, exist_ok=True)
        write_output(copy, plain(file.read_text(encoding="utf-8")).encode())
    write_output(root / "lakefile.lean", _LAKEFILE.encode())
    write_output(root / "lean-toolchain", f"{TOOLCHAIN}\n".encode())
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "The theory"]):
        subprocess.run(["git", *command], cwd=root, env={**os.environ, **_GIT}, check=True)
    return root


def read_theorems(traced: TracedRepo) -> tuple[TracedStatement, ...]:
    """The theorems of a repository that LeanDojo traced, in its order."""
    return tuple([_read(theorem) for theorem in traced.get_traced_theorems()])


def _read(theorem: TracedTheorem) -> TracedStatement:
    from lean_dojo.data_extraction.ast import IdentNode

    premises: dict[Premise, None] = {}

    def visit(node: IdentNode, _: object) -> None:
        if node.full_name is not None:
            premises.setdefault(Premise(node.full_name, node.mod_name or ""))

    theorem.ast.traverse_preorder(visit, IdentNode)
    return TracedStatement(
        name=theorem.theorem.full_name,
        file=theorem.file_path.as_posix(),
        statement=theorem.get_theorem_statement().removesuffix(":=").rstrip(),
        premises=tuple(premises),
    )
