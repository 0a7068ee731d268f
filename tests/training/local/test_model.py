"""Policies: from scratch, from a folder, with adapters or without, and what they are compared to."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from msgspec import structs
from peft import PeftModel
from transformers import AutoModelForCausalLM

from proof_r1_formal.models.chat import ModelError
from training import merge
from training.common.order import Position
from training.common.start import make_model
from training.config import Batch, Config, Lora, Optimiser, Scratch
from training.local.checkpoint import State, restore, save
from training.local.forward import Example, log_probs, rows_of
from training.local.model import Policy, load_policy, save_model
from training.local.update import imitate, make_optimiser

EXAMPLES = [Example((5, 6, 7), (9, 10, 11)), Example((20, 21), (22, 23))]
LORA = Lora(rank=2, alpha=4, targets=("q_proj", "down_proj"))


def scores(policy: Policy, *, reference: bool = False) -> torch.Tensor:
    rows = rows_of(EXAMPLES, policy.device)
    with torch.no_grad(), policy.precision():
        if not reference:
            return log_probs(policy.model, rows, share=policy.share)[0]
        with policy.reference() as frozen:
            return log_probs(frozen, rows, share=policy.share)[0]


def learn(policy: Policy) -> None:
    settings = Optimiser(learning_rate=1e-2)
    optimiser = make_optimiser(policy, settings)
    for _ in range(2):
        imitate(policy, optimiser, EXAMPLES, batch=Batch(problems=2, mini=2, micro=2), max_gradient_norm=1.0)


@pytest.mark.parametrize("lora", [None, LORA], ids=["full", "lora"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_reference_is_the_policy_before_training(config: Config, lora: Lora | None, dtype: str) -> None:
    assert config.model.path is not None
    policy = load_policy(structs.replace(config.model, lora=lora, dtype=dtype), config.model.path)
    start = scores(policy)
    torch.testing.assert_close(scores(policy, reference=True), start)
    learn(policy)
    torch.testing.assert_close(scores(policy, reference=True), start)
    assert (scores(policy) - start).abs().max() > 0.05
    assert all(value.dtype == torch.float32 for value in policy.trained().values())
    only_adapters = all("lora" in name for name in policy.trained())
    assert only_adapters == (lora is not None)


def test_gradient_checkpointing_changes_nothing(config: Config, policy: Policy) -> None:
    assert config.model.path is not None
    saving = load_policy(structs.replace(config.model, gradient_checkpointing=True), config.model.path)
    assert not saving.share
    learn(saving)
    learn(policy)
    torch.testing.assert_close(scores(saving), scores(policy), rtol=1e-3, atol=1e-4)


def test_a_saved_policy_is_read_back(config: Config, policy: Policy, tmp_path: Path) -> None:
    learn(policy)
    save_model(policy, tmp_path / "model")
    again = load_policy(config.model, tmp_path / "model")
    torch.testing.assert_close(scores(again), scores(policy))
    assert again.tokenizer.get_vocab() == policy.tokenizer.get_vocab()
    assert again.stops() == policy.stops() != frozenset()


def test_adapters_are_saved_merged_and_restored(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert config.model.path is not None
    model = structs.replace(config.model, lora=LORA)
    policy = load_policy(model, config.model.path)
    learn(policy)
    save_model(policy, tmp_path / "adapter")
    plain = AutoModelForCausalLM.from_pretrained(config.model.path)
    assert isinstance(PeftModel.from_pretrained(plain, str(tmp_path / "adapter")), PeftModel)
    merged = load_policy(structs.replace(model, warm_up=str(tmp_path / "adapter")), config.model.path)
    torch.testing.assert_close(scores(merged), scores(policy), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(scores(merged, reference=True), scores(policy), rtol=1e-4, atol=1e-4)
    command = [sys.executable, "-m", "training.merge", "--model", config.model.path, "--dtype", "float32"]
    command += ["--adapter", str(tmp_path / "adapter"), "--out", str(tmp_path / "merged")]
    assert subprocess.run(command, check=False).returncode == 0
    written = load_policy(config.model, tmp_path / "merged")
    torch.testing.assert_close(scores(written), scores(policy), rtol=1e-4, atol=1e-4)
    assert written.tokenizer.get_vocab() == policy.tokenizer.get_vocab()
    monkeypatch.setattr(sys, "argv", command[2:])
    assert merge.main() == 2
    assert "is there already" in capsys.readouterr().err
    state = State(step=1, position=Position(), items=1, baselines={}, log=0, config="")
    save(tmp_path / "kept", state, policy, make_optimiser(policy, config.optimiser), keep=1)
    other = load_policy(model, config.model.path)
    restore(tmp_path / "kept" / "step-00000001", other)
    torch.testing.assert_close(scores(other), scores(policy))


def test_from_scratch_the_seed_decides(tmp_path: Path) -> None:
    scratch = Scratch(vocabulary=300, layers=1, heads=1, width=8, hidden=8)
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        make_model(scratch, ["p → q"], tmp_path / name, seed=seed)
    a, b, c = [(tmp_path / name / "model.safetensors").read_bytes() for name in "abc"]
    assert a == b != c


def test_what_cannot_be_used_is_told(config: Config, tmp_path: Path) -> None:
    assert config.model.path is not None
    with pytest.raises(ModelError, match="tokenizer cannot be loaded: there is no such folder"):
        load_policy(config.model, tmp_path / "nothing")
    with pytest.raises(ModelError, match="adapter of the warm-up"):
        load_policy(structs.replace(config.model, warm_up=str(tmp_path)), config.model.path)
    with pytest.raises(ModelError, match=r"model\.lora"):
        load_policy(structs.replace(config.model, lora=Lora(targets=("nowhere",))), config.model.path)
    for targets in (("q_proj", "gate_up_proj"), ("gate_up_proj", "query_key_value", "down_proj")):
        with pytest.raises(ModelError, match=r"no layer is named gate_up_proj.*gate_proj, k_proj"):
            load_policy(structs.replace(config.model, lora=Lora(targets=targets)), config.model.path)
    if not torch.cuda.is_available():
        with pytest.raises(ModelError, match="no GPU"):
            load_policy(structs.replace(config.model, device="cuda"), config.model.path)
