"""Checkpoints: whole or not there, and what they hold is what was saved."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from msgspec import structs

from training.common.folders import write_folder
from training.common.order import Position
from training.config import Config
from training.local.checkpoint import CheckpointError, State, latest, read_state, restore, save
from training.local.forward import Example
from training.local.model import Policy, load_policy
from training.local.update import imitate, make_optimiser

pytestmark = pytest.mark.usefixtures("closed")

STATE = State(
    step=3,
    position=Position(1, 2, (3,), {3: 1}),
    items=5,
    baselines={"GOAL_BINDING": 0.1 + 0.2},
    log=17,
    config="seed: 1\n",
)


def learn(policy: Policy, config: Config, optimiser: torch.optim.Optimizer) -> float:
    examples = [Example((5, 6), (7, 8, 9)), Example((10, 11), (12,))]
    return imitate(policy, optimiser, examples, batch=config.batch, max_gradient_norm=1.0).loss


def test_a_run_goes_on_as_if_it_had_not_stopped(policy: Policy, config: Config, tmp_path: Path) -> None:
    optimiser = make_optimiser(policy, config.optimiser)
    learn(policy, config, optimiser)
    save(tmp_path / "kept", STATE, policy, optimiser, keep=1)
    expected = [learn(policy, config, optimiser) for _ in range(3)]

    assert config.model.path is not None
    other = load_policy(config.model, config.model.path)
    fresh = make_optimiser(other, config.optimiser)
    found = latest(tmp_path / "kept")
    assert found is not None
    assert read_state(found) == STATE
    restore(found, other, fresh)
    assert [learn(other, config, fresh) for _ in range(3)] == expected
    for name, value in policy.trained().items():
        assert torch.equal(value, other.trained()[name])


def test_only_the_latest_stay(policy: Policy, config: Config, tmp_path: Path) -> None:
    optimiser = make_optimiser(policy, config.optimiser)
    for step in (9, 10, 100, 11):
        save(tmp_path / "kept", structs.replace(STATE, step=step), policy, optimiser, keep=2)
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["step-00000011", "step-00000100"]
    assert latest(tmp_path / "kept") == tmp_path / "kept" / "step-00000100"


def test_half_a_checkpoint_is_none(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "weights").write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_folder(tmp_path / "kept" / "step-00000001", fail)
    assert latest(tmp_path / "kept") is None
    write_folder(tmp_path / "kept" / "step-00000001", lambda folder: (folder / "weights").write_text("whole"))
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["step-00000001"]
    assert (tmp_path / "kept" / "step-00000001" / "weights").read_text() == "whole"


def test_what_cannot_be_read_is_told(policy: Policy, config: Config, tmp_path: Path) -> None:
    optimiser = make_optimiser(policy, config.optimiser)
    save(tmp_path / "kept", STATE, policy, optimiser, keep=1)
    folder = tmp_path / "kept" / "step-00000003"
    (folder / "state.json").write_text('{"step": "x"}')
    with pytest.raises(CheckpointError, match="state cannot be read"):
        read_state(folder)
    (folder / "weights.safetensors").write_bytes(b"nothing")
    with pytest.raises(CheckpointError, match="cannot be read"):
        restore(folder, policy)


def test_a_checkpoint_of_another_model_is_refused(policy: Policy, config: Config, tmp_path: Path) -> None:
    save(tmp_path / "kept", STATE, policy, make_optimiser(policy, config.optimiser), keep=1)
    policy.model.resize_token_embeddings(policy.model.config.vocab_size + 8, mean_resizing=False)
    with pytest.raises(CheckpointError, match="another shape"):
        restore(tmp_path / "kept" / "step-00000003", policy)
