"""Arms that are trained at the same time until a time: which models are compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from studies.pretrained.run import PARTS, Training, plan
from studies.pretrained.together import WEIGHTS, checkpoints, common, take


def save(run: Path, updates: int, *, without: str = "") -> None:
    folder = run / f"checkpoint-{updates}"
    folder.mkdir(parents=True)
    state = {"log_history": [{"step": step, "loss": 0.5} for step in range(2, updates + 1, 2)]}
    for name, text in ((WEIGHTS, f"weights {updates}"), ("trainer_state.json", json.dumps(state))):
        if name != without:
            (folder / name).write_text(text)


def test_a_checkpoint_counts_when_weights_and_state_are_there(tmp_path: Path) -> None:
    save(tmp_path, 10)
    save(tmp_path, 20, without=WEIGHTS)  # it was being deleted
    save(tmp_path, 30, without="trainer_state.json")  # it was being written
    assert checkpoints(tmp_path) == {10}
    assert checkpoints(tmp_path / "never started") == set()


def test_arms_are_compared_after_as_many_updates_as_all_have() -> None:
    assert common({"hardened": {30, 40, 50}, "grpo": {40, 50, 60}, "prosfi": {20, 30, 40, 50}}) == 50


@pytest.mark.parametrize("reached", [{}, {"hardened": {10, 20}, "grpo": {30, 40}}])
def test_without_a_common_checkpoint_the_message_shows_what_there_is(reached: dict[str, set[int]]) -> None:
    with pytest.raises(SystemExit, match="no checkpoint that all arms have"):
        common(reached)


def test_a_checkpoint_becomes_the_model_with_its_log(tmp_path: Path) -> None:
    for updates in (10, 20):
        save(tmp_path / "grpo-3e-5-4", updates)
    for updates in (20, 10):  # the second time, a model is there
        take(tmp_path, "grpo-3e-5-4", updates)
    assert (tmp_path / "grpo-3e-5-4" / "model" / WEIGHTS).read_text() == "weights 10"
    log = json.loads((tmp_path / "records" / "grpo-3e-5-4.log.json").read_text())
    assert log[-1]["step"] == 10
    trained = next(job for job in plan() if job.name == "grpo-3e-5-4")
    assert trained.done(tmp_path)


def test_every_run_of_a_part_starts_from_its_warm_ups() -> None:
    for part in PARTS:
        runs = [job for job in plan() if isinstance(job, Training) and job.warm_up in part.warm_ups]
        assert {job.start for job in runs} == {None, *[f"warm-up-{number}" for number in part.warm_ups]}
        assert {job.name.partition("-")[0] for job in runs if job.learns_from_proofs} == {"warm", "sft"}
