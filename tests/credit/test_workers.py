"""Verification in other processes: the same reports, and nothing that one completion does stops the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from proof_r1_formal import Problem, ProofR1Error, Settings
from proof_r1_formal.credit.workers import Workers, nothing
from proof_r1_formal.errors import SolverError
from tests.build import action, completion

pytestmark = pytest.mark.usefixtures("closed")

TRAINING = Settings(evaluation=False)


def test_a_completion_that_takes_too_long_is_given_up(problems: list[Problem]) -> None:
    actions = ",".join([f'{{"id":"s{n}","dependencies":["h1"],"conclusion":"⊤","rule":"X"}}' for n in range(20_000)])
    with Workers(TRAINING, timeout=1e-3) as workers:
        checked = workers.verify(problems[0], f"<summary>[{actions}]</summary>", 5).result()
    assert checked.failure == "not done within 0.001 s"
    assert checked.report == nothing(problems[0], 5, TRAINING)
    assert not checked.report.actions


def test_an_error_of_the_verifier_is_that_of_one_completion(problems: list[Problem]) -> None:
    with Workers(TRAINING) as workers:
        broken = workers.verify(problems[0], None)  # type: ignore[arg-type]  # no text at all
        whole = workers.verify(problems[0], "<summary>[]</summary>")
        assert "TypeError" in (broken.result().failure or "")
        assert whole.result().failure is None


def test_a_broken_solver_is_no_fault_of_a_completion(problems: list[Problem], tmp_path: Path) -> None:
    solver = tmp_path / "solver"
    solver.write_bytes(b"\x7fELF, or so it says")
    solver.chmod(0o755)
    step = action("s1", "P(a)", "h1", rule="MODUS_TOLLENS")
    with Workers(Settings(evaluation=False, solver=f"process:{solver}")) as workers:
        asked = workers.verify(problems[0], completion(step))
        with pytest.raises(SolverError, match="cannot be started"):
            asked.result()


def test_wrong_settings_are_told_at_once() -> None:
    with pytest.raises(ProofR1Error, match="nonsense"):
        Workers(Settings(rules="nonsense"))
