"""What is computed faster gives what is computed without it."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from trl.trainer import utils

from studies.pretrained.speed import register, score_labels_only


def tiny(keys: int) -> Any:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=50,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=keys,
    )
    return LlamaForCausalLM(config).eval()


@pytest.mark.parametrize("keys", [1, 2, 4])
def test_padded_rows_give_the_same_tokens(keys: int) -> None:
    model = tiny(keys)
    ids = torch.randint(3, 50, (3, 7))
    mask = torch.ones_like(ids)
    mask[0, :4] = mask[1, :1] = 0
    ids[mask == 0] = 0
    asked = {"input_ids": ids, "attention_mask": mask, "max_new_tokens": 6, "do_sample": False, "pad_token_id": 0}
    asked |= {"output_logits": True, "return_dict_in_generate": True}
    expected = model.generate(**asked)
    model.set_attn_implementation(register())
    found = model.generate(**asked)
    assert torch.equal(found.sequences, expected.sequences)
    for one, other in zip(found.logits, expected.logits, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)


def test_every_query_sees_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without this, gradients were not numbers on a GPU."""

    def noted(module: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor, **options: Any) -> Any:
        masks.append(mask)
        return sdpa_attention_forward(module, query, key, value, mask, **options)

    masks: list[Tensor] = []
    monkeypatch.setattr("studies.pretrained.speed.sdpa_attention_forward", noted)
    model = tiny(2)
    model.set_attn_implementation(register())
    mask = torch.ones(2, 6, dtype=torch.long)
    mask[0, :3] = 0
    model(input_ids=torch.ones_like(mask), attention_mask=mask)
    assert len(masks) == 2
    assert all(bool(one.any(-1).all()) for one in masks)


def test_positions_without_a_label_change_no_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    def loss_and_gradient() -> tuple[Tensor, list[Tensor]]:
        model = tiny(2)
        utils.add_fused_lm_head(model)
        ids = torch.randint(3, 50, (3, 9), generator=torch.Generator().manual_seed(1))
        labels = ids.clone()
        labels[:, :5] = labels[1, 7:] = -100
        loss = model(input_ids=ids, labels=labels, fused_lm_head=True).loss
        loss.backward()
        return loss, [weight.grad for weight in model.parameters() if weight.grad is not None]

    def noted(hidden: Tensor, *rest: object) -> object:
        rows.append(len(hidden))
        return score(hidden, *rest)

    rows: list[int] = []
    score = utils._ChunkedLogProbFunction.apply
    monkeypatch.setattr(utils._ChunkedLogProbFunction, "apply", noted)
    expected = loss_and_gradient()
    monkeypatch.setattr(utils, "_use_triton", utils._use_triton)  # restored after the test
    score_labels_only()
    found = loss_and_gradient()
    torch.testing.assert_close(found, expected)
    assert rows == [3 * 8, 3 * 4 - 2]
