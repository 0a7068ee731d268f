"""What is computed faster gives what is computed without it."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from trl.trainer import utils

from studies.pretrained.graphs import WIDTH, Sampler
from studies.pretrained.speed import register, replay_tokens, score_labels_only


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


def padded() -> tuple[Tensor, Tensor]:
    ids = torch.randint(3, 50, (3, 7))
    mask = torch.ones_like(ids)
    mask[0, :4] = mask[1, :1] = 0
    return ids * mask, mask


@pytest.mark.parametrize("keys", [1, 2, 4])
def test_padded_rows_give_the_same_tokens(keys: int) -> None:
    model = tiny(keys)
    ids, mask = padded()
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


def sampler(model: Any, tokens: int, end: int, rows: int = 3) -> Sampler:
    model.set_attn_implementation(register())
    return Sampler(model, rows, tokens, end=end, padding=0)


def entropies_of_one_pass(model: Any, ids: Tensor, mask: Tensor, chosen: Tensor) -> Tensor:
    seen = torch.cat([mask, torch.ones_like(chosen)], 1)
    places = (seen.cumsum(-1) - 1).clamp(min=0)
    with torch.no_grad():
        output = model(input_ids=torch.cat([ids, chosen], 1), attention_mask=seen, position_ids=places)
    entropy: Tensor = torch.distributions.Categorical(logits=output.logits[:, ids.shape[1] - 1 : -1].float()).entropy()
    return entropy


def assert_entropies_of_one_pass(source: Sampler, tolerance: float) -> None:
    ids, mask = padded()
    chosen, entropies = source.sample(ids, mask)
    expected = entropies_of_one_pass(source.model, ids, mask, chosen)
    torch.testing.assert_close(entropies, expected, atol=tolerance, rtol=tolerance)


def test_sampled_tokens_have_the_entropies_of_one_pass() -> None:
    """So cache, places and masks are right for every token; twice, as the second batch finds the first one's cache."""
    source = sampler(tiny(2), 20, end=-1)
    for _ in range(2):
        assert_entropies_of_one_pass(source, 1e-5)


def test_rows_that_end_are_dropped_and_others_go_on() -> None:
    """Prompts stand in several rows, which end at different times; also with the next batch."""
    source = sampler(tiny(2), 60, end=7, rows=8)
    ids, mask = (one[[0, 1, 0, 2, 1, 2, 2, 0]] for one in padded())
    torch.manual_seed(3)
    for _ in range(2):
        chosen, entropies = source.sample(ids, mask)
        lengths = (chosen != 0).sum(-1)
        assert len(source._token) < 8 and len(set(lengths.tolist())) > 3
        expected = entropies_of_one_pass(source.model, ids, mask, chosen)
        for found, one, length in zip(entropies, expected, lengths.tolist(), strict=True):
            torch.testing.assert_close(found[:length], one[:length], atol=1e-5, rtol=1e-5)


def test_keys_and_values_may_have_two_types() -> None:
    """As under autocast, where places make keys of float32 and values stay in bfloat16."""
    with torch.autocast("cpu", torch.bfloat16):
        assert_entropies_of_one_pass(sampler(tiny(2), 8, end=-1), 0.02)


def test_tokens_are_drawn_as_often_as_the_model_says() -> None:
    """The first token of 30,000 answers to one prompt: each within five standard deviations."""
    model, rows = tiny(2), 30_000
    model.set_attn_implementation(register())
    ids = torch.tensor([[5, 9, 31]]).expand(rows, 3)
    torch.manual_seed(0)
    chosen, _ = Sampler(model, rows, 1, end=-1, padding=0).sample(ids, torch.ones_like(ids))
    with torch.no_grad():
        expected = model(input_ids=ids[:1]).logits[0, -1].softmax(-1)
    found = chosen[:, 0].bincount(minlength=50) / rows
    assert ((found - expected).abs() < 5 * (expected * (1 - expected) / rows).sqrt()).all()


def test_greedy_answers_are_those_of_transformers() -> None:
    model = tiny(2)
    model.set_attn_implementation(register())
    ids, mask = padded()
    asked = {"max_new_tokens": 20, "do_sample": False, "eos_token_id": None, "pad_token_id": 0}
    expected = model.generate(input_ids=ids, attention_mask=mask, **asked)[:, 7:]
    chosen, _ = Sampler(model, 3, 20, end=-1, padding=0, greedy=True).sample(ids, mask)
    assert chosen.tolist() == expected.tolist()


def test_after_its_end_an_answer_has_padding_only() -> None:
    torch.manual_seed(1)
    chosen, _ = sampler(tiny(2), 40, end=7).sample(*padded())
    for row in chosen.tolist():
        if 7 in row:
            assert set(row[row.index(7) + 1 :]) <= {0}
    assert 7 in chosen


@pytest.mark.parametrize("width", [1, WIDTH + 1])
def test_a_prompt_that_does_not_fit_is_refused(width: int) -> None:
    ids = torch.ones(3, width, dtype=torch.long)
    with pytest.raises(ValueError, match=rf"2 to {WIDTH} tokens, and these {width};"):
        sampler(tiny(2), 2, end=7).sample(ids, ids)


def test_trl_gets_prompts_with_their_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LlamaForCausalLM, "generate", LlamaForCausalLM.generate)  # restored after the test
    replay_tokens()
    model = tiny(2)
    model.set_attn_implementation(register())
    ids, mask = padded()
    asked = GenerationConfig(max_new_tokens=5, pad_token_id=0)
    asks = {"input_ids": ids, "attention_mask": mask, "generation_config": asked}
    found = [model.generate(**asks) for _ in range(2)]
    assert all(torch.equal(one[:, :7], ids) and one.shape == (3, 12) for one in found)
    assert isinstance(model._sampler[1], Sampler)
