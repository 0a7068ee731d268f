"""The programs of ``examples/`` run as a reader would run them, and the notebook holds what its cells give."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from proof_r1_formal.assistants.lean import LeanKernel
from tests.build import EXAMPLES
from tests.notebook import executed
from tests.patience import PATIENCE

ELSEWHERE = {"train_trl.py": "tests/integrations/test_trl.py"}
"""Programs that another test runs: name -> where."""


def run(name: str, *arguments: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_verify(tmp_path: Path) -> None:
    lines = run("verify.py", folder=tmp_path).splitlines()
    assert lines[0] == "garden/1, sample 0: the completion selects h_goal_true: right, rule-verified."
    assert lines[-1] == "verified: True reward: 0.3"


def test_certificate(lean: LeanKernel, tmp_path: Path) -> None:
    printed = run("certificate.py", folder=tmp_path)
    assert f"{lean.version} accepts 11 of 13 answers as theorems." in printed
    before, accepted, rejected = printed.split("\nLean: ")
    assert before.count("theorem answer") == 1
    assert accepted.startswith("accepted\n")
    assert rejected.startswith("rejected: Application type mismatch")


def test_own_rule(lean: LeanKernel, tmp_path: Path) -> None:
    lines = run("own_rule.py", folder=tmp_path).splitlines()
    statement = "∀ (p_A : Prop) (p_B : Prop) (p_C : Prop), (p_A → p_B) → (p_B → p_C) → (p_A → p_C)"
    assert lines[0] == f"{lean.version} accepts {statement}"
    assert lines[2].endswith("schema yes, semantic yes, rule yes, progress yes; signal 1.0")
    assert lines[3] == f"own (own.manifest.json: {lean.version}): accepted as a theorem"


def test_generate_and_certify(lean: LeanKernel, tmp_path: Path) -> None:
    lines = run("generate_and_certify.py", str(tmp_path), folder=tmp_path).splitlines()
    assert [line.rpartition(": ")[2] for line in lines] == ["accepted"] * 3
    assert len(list(tmp_path.glob("*.lean"))) == 3


def test_the_notebook_holds_what_its_cells_give(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES)
    notebook = json.loads((EXAMPLES / "tour.ipynb").read_text(encoding="utf-8"))
    kept = [cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert executed(notebook) == kept, "run python -m tests.notebook examples/tour.ipynb"
    assert sum(map(len, kept)) >= 6


def test_every_program_is_run() -> None:
    own = Path(__file__).read_text(encoding="utf-8")
    for path in EXAMPLES.glob("*.py"):
        place = EXAMPLES.parent / ELSEWHERE.get(path.name, "")
        assert path.name in (own if place == EXAMPLES.parent else place.read_text(encoding="utf-8"))
