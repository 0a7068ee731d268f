"""The memory of an update with OpenRLHF, for the shape of a model of 7.6 billion weights."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from training.config import ConfigError, read_config
from training.openrlhf.memory import check_memory, memory

ROOT = Path(__file__).resolve().parents[2]
PAPER = ROOT / "training" / "configs" / "paper.yaml"
SHAPE = {
    "architectures": ["Qwen2ForCausalLM"],
    "model_type": "qwen2",
    "hidden_size": 3584,
    "intermediate_size": 18944,
    "num_hidden_layers": 28,
    "num_attention_heads": 28,
    "num_key_value_heads": 4,
    "vocab_size": 152064,
    "tie_word_embeddings": False,
}


@pytest.fixture
def model(tmp_path: Path) -> str:
    (tmp_path / "config.json").write_text(json.dumps(SHAPE))
    return f"model.path={tmp_path}"


def test_the_parts_are_those_of_the_shape(model: str) -> None:
    found = memory(read_config(PAPER, [model, "model.gradient_checkpointing=false"]))
    assert found is not None
    assert found.weights == 4 * 7_615_616_512  # policy and reference, two bytes each
    assert found.logits == 8192 * 152064 * 10
    assert found.activations == 8192 * 3584 * 34 * 28
    assert found.states == 14 * 20_185_088 / 4  # adapters of rank 8 on four ranks
    checkpointed = memory(read_config(PAPER, [model, "model.gradient_checkpointing=true"]))
    assert checkpointed is not None
    assert checkpointed.activations == 8192 * 3584 * (2 * 28 + 34)
    imitation = memory(read_config(PAPER, [model, "method=sft"]))
    assert imitation is not None
    assert imitation.weights == found.weights / 2  # without a reference


def test_zero_3_divides_the_weights_and_offloading_takes_the_averages_away(model: str) -> None:
    plain = memory(read_config(PAPER, [model]))
    flags = memory(read_config(PAPER, [model, "cluster.flags={ds.zero_stage: 3, ds.adam_offload: true}"]))
    assert plain is not None
    assert flags is not None
    assert (flags.weights, flags.states) == (plain.weights / 4, plain.states * 2 / 14)


def test_a_model_that_is_not_here_has_no_known_memory() -> None:
    assert check_memory(read_config(PAPER, ["model.path=/nowhere"])) is None


def test_an_update_that_no_gpu_holds_is_refused(model: str) -> None:
    assert check_memory(read_config(PAPER, [model])) is not None
    with pytest.raises(ConfigError, match=r"batch\.micro: .* at least .* GiB, and cluster\.gpu_memory is 80"):
        check_memory(read_config(PAPER, [model, "batch.micro=8"]))
    with pytest.raises(ConfigError, match="gpu_memory is 24"):
        check_memory(read_config(PAPER, [model, "cluster.gpu_memory=24"]))


def test_a_dry_run_shows_memory_without_problems(
    model: str, proof_r1: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    shown = partial(proof_r1, "train", "--engine", "openrlhf", "--config", str(PAPER), "--dry-run")
    run = shown(model)
    assert run.returncode == 0, run.stderr
    assert "GiB on each GPU" in run.stdout
    assert "missing: data.train: data/train.jsonl" in run.stdout
    nowhere = shown("model.path=/nowhere").stdout
    assert "memory is unknown" in nowhere
    assert "missing: model.path: /nowhere" in nowhere
    refused = shown(model, "batch.micro=8")
    assert refused.returncode == 2
    assert "lower batch.micro" in " ".join(refused.stderr.split())
