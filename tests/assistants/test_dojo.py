"""The trace against the manifest, and the reading of LeanDojo's own objects.

``data/theory`` is a small theory and ``data/Schemata.trace.xml`` its trace in LeanDojo's format, with the identifiers
resolved by hand: it was not made by running Lean.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from proof_r1_formal.assistants.dojo import TOOLCHAIN, Premise, TracedStatement, compare, read_theorems, stage, trace
from proof_r1_formal.assistants.lean import MODULES
from proof_r1_formal.errors import SolverError
from proof_r1_formal.resources import resource
from proof_r1_formal.rules.manifest import Entry, Manifest

if TYPE_CHECKING:
    from lean_dojo import TracedRepo

DATA = Path(__file__).parent / "data"
FILE = "ProofR1/Schemata.lean"
ELIM = TracedStatement(
    "ProofR1.not_not_elim",
    FILE,
    "theorem not_not_elim {A : Prop} (h : Not (Not A)) : A",
    (
        Premise("Not", "Init.Prelude"),
        Premise("Classical.em", "Init.Classical"),
        Premise("Or.elim", "Init.Core"),
        Premise("absurd", "Init.Prelude"),
    ),
)
SYLLOGISM = TracedStatement(
    "ProofR1.disjunctive_syllogism",
    FILE,
    "theorem disjunctive_syllogism {A B : Prop} (h : Or A B) (n : Not A) : B",
    (
        Premise("Or", "Init.Prelude"),
        Premise("Not", "Init.Prelude"),
        Premise("ProofR1.not_not_elim", "ProofR1.Schemata"),
        Premise("Or.elim", "Init.Core"),
    ),
)


def manifest(*theorems: str) -> Manifest:
    return Manifest("Lean 4", "", {name: Entry("", name) for name in theorems})


def changed(
    *, name: str = SYLLOGISM.name, file: str = FILE, text: str = SYLLOGISM.statement, uses: Premise | None = None
) -> TracedStatement:
    return TracedStatement(name, file, text, SYLLOGISM.premises if uses is None else (uses,))


# -- comparing --------------------------------------------------------------------------------------------------------


def test_a_trace_that_bears_the_manifest_out() -> None:
    assert compare([ELIM, SYLLOGISM], manifest("disjunctive_syllogism")) == ()
    assert compare([ELIM, SYLLOGISM], manifest("disjunctive_syllogism", "not_not_elim")) == ()
    assert compare([], manifest()) == ()


@pytest.mark.parametrize(
    ("traced", "problem"),
    [
        ([], "it is not in the trace"),
        ([changed(name="disjunctive_syllogism")], "it is not in the trace"),
        ([changed(name="Mathlib.disjunctive_syllogism")], "it is not in the trace"),
        ([SYLLOGISM, SYLLOGISM], "it is in the trace 2 times"),
        ([changed(file="Mathlib/Logic.lean")], "it is in Mathlib/Logic.lean, which is not a file of the theory"),
        ([changed(file="ProofR1x/Logic.lean")], "it is in ProofR1x/Logic.lean, which is not a file of the theory"),
        ([changed(text="theorem mp : B")], "its text is 'theorem mp : B'"),
        ([changed(text="axiom disjunctive_syllogism : B")], "its text is 'axiom disjunctive_syllogism : B'"),
        ([changed(uses=Premise("tauto", "Mathlib.Tactic"))], "it uses tauto of Mathlib.Tactic"),
        ([changed(uses=Premise("ProofR1.lemma", "Elsewhere"))], "it uses ProofR1.lemma of Elsewhere"),
    ],
)
def test_what_a_trace_may_lack(traced: list[TracedStatement], problem: str) -> None:
    assert compare(traced, manifest("disjunctive_syllogism")) == (("ProofR1.disjunctive_syllogism", problem),)


def test_a_theorem_of_several_schemata_is_named_once() -> None:
    twice = Manifest("Lean 4", "", {"one": Entry("1", "t"), "two": Entry("2", "t")})
    assert [flaw.theorem for flaw in compare([], twice)] == ["ProofR1.t"]


def test_nothing_is_traced_where_lean_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SolverError, match=r"there is no git, no lean, no lake.* pip install 'proof-r1-formal\[lean\]'"):
        trace()


# -- the repository that is traced ------------------------------------------------------------------------------------


def test_the_repository_is_the_theory_and_nothing_else(tmp_path: Path) -> None:
    root = stage(resource("theories") / "lean", tmp_path)
    listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True).stdout.split()
    modules = [f"{module}.lean" for module in MODULES]
    assert sorted(listed) == sorted([*modules, "lakefile.lean", "lean-toolchain"])
    for file in modules:
        theory = (resource("theories") / "lean" / file).read_text(encoding="utf-8")
        imported = {f"import {name}" for name in re.findall(r"^public import (\S+)$", theory, re.MULTILINE)}
        lines = (root / file).read_text(encoding="utf-8").splitlines()
        assert set(lines) - set(theory.splitlines()) == imported
        assert not {"module", "@[expose] public section"} & set(lines)
        assert {f"{line.split()[1].replace('.', '/')}.lean" for line in imported} <= set(modules)
    assert (root / "lean-toolchain").read_text() == f"{TOOLCHAIN}\n"
    assert "srcDir" not in (root / "lakefile.lean").read_text()


def test_the_same_theory_is_the_same_commit(tmp_path: Path) -> None:
    heads = set()
    for name, theory in (("a", DATA / "theory"), ("b", DATA / "theory"), ("c", resource("theories") / "lean")):
        root = stage(theory, tmp_path / name)
        heads.add(subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, check=True).stdout)
    assert len(heads) == 2


# -- LeanDojo's objects -----------------------------------------------------------------------------------------------

leaves_files_open = pytest.mark.filterwarnings("ignore:Exception ignored in:pytest.PytestUnraisableExceptionWarning")
"""LeanDojo does."""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TracedRepo]:
    """The small theory as LeanDojo loads it from its trace; no Lean and no network."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("DISABLE_REMOTE_CACHE", "1")
        lean_dojo = pytest.importorskip("lean_dojo", reason="LeanDojo is not installed (the extra [lean])")
        root = stage(DATA / "theory", tmp_path_factory.mktemp("small"))
        path = root / ".lake" / "build" / "ir" / "ProofR1" / "Schemata.trace.xml"
        path.parent.mkdir(parents=True)
        shutil.copyfile(DATA / "Schemata.trace.xml", path)
        repository = lean_dojo.LeanGitRepo.from_path(root)
        assert f"leanprover/lean4:{repository.lean_version}" == TOOLCHAIN
        file = lean_dojo.TracedFile.from_xml(root, path, repository)
        file.traced_repo = lean_dojo.TracedRepo(repository, {}, root, [file], None)
        yield file.traced_repo


@leaves_files_open
def test_theorems_are_read_from_a_trace(small: TracedRepo) -> None:
    small.check_sanity()
    assert read_theorems(small) == (ELIM, SYLLOGISM)
    assert compare(read_theorems(small), manifest("disjunctive_syllogism")) == ()
