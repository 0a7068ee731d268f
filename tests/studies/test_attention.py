"""The attention for sampling gives what ``sdpa`` gives."""

from __future__ import annotations

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from studies.pretrained.attention import register


@pytest.mark.parametrize("keys", [1, 2, 4])
def test_padded_rows_give_the_same_tokens(keys: int) -> None:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=50,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=keys,
    )
    model = LlamaForCausalLM(config).eval()
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
