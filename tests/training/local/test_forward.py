"""Log-probabilities: of a micro-batch as of each completion alone."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from training.local import forward
from training.local.forward import Example, log_probs, pad, rows_of
from training.local.model import Policy

EXAMPLES = [
    Example((5, 6, 7, 8), (9, 10, 11)),
    Example((5, 6, 7, 8), (12,)),
    Example((20, 21), (22, 23, 24, 25, 26, 27)),
    Example((5, 6, 7, 8), (9, 10, 13, 14)),
]


def alone(policy: Policy, example: Example, temperature: float = 1.0) -> tuple[Tensor, Tensor]:
    """Log-probabilities and entropies as the model's own forward pass gives them, without padding or cache."""
    ids = torch.tensor([[*example.prompt, *example.response]])
    logits = policy.model(input_ids=ids).logits[0, len(example.prompt) - 1 : -1]
    spread = (logits / temperature).log_softmax(-1)
    chosen = spread[torch.arange(len(example.response)), torch.tensor(example.response)]
    return chosen, -(spread.exp() * spread).sum(-1)


@pytest.mark.parametrize("temperature", [1.0, 0.5])
@pytest.mark.parametrize("share", [True, False])
def test_a_batch_is_as_each_alone(policy: Policy, share: bool, temperature: float) -> None:
    rows = rows_of(EXAMPLES, policy.device)
    assert rows.prefixes.shape[0] == 2
    found, entropy = log_probs(policy.model, rows, share=share, temperature=temperature)
    for row, example in enumerate(EXAMPLES):
        chosen, spread = alone(policy, example, temperature)
        length = len(example.response)
        torch.testing.assert_close(found[row, :length], chosen, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(entropy[row, :length], spread.detach(), rtol=1e-4, atol=1e-5)
        assert not found[row, length:].any()
        assert not entropy[row, length:].any()
    assert not entropy.requires_grad


@pytest.mark.parametrize("share", [True, False])
def test_gradients_are_those_of_each_alone(policy: Policy, share: bool) -> None:
    weights = [torch.linspace(0.5, 1.5, len(example.response)) for example in EXAMPLES]
    sum([(alone(policy, e)[0] * w).sum() for e, w in zip(EXAMPLES, weights, strict=True)], torch.zeros(())).backward()
    expected = {name: value.grad.clone() for name, value in policy.trained().items() if value.grad is not None}
    policy.model.zero_grad()
    spread, _ = pad([w.tolist() for w in weights], policy.device, dtype=torch.float32)
    (log_probs(policy.model, rows_of(EXAMPLES, policy.device), share=share)[0] * spread).sum().backward()
    assert expected
    for name, value in policy.trained().items():
        torch.testing.assert_close(value.grad, expected[name], rtol=1e-3, atol=1e-5)


def test_prompts_of_one_token(policy: Policy) -> None:
    single = Example((5,), (9, 10))
    found, _ = log_probs(policy.model, rows_of([single], policy.device))
    torch.testing.assert_close(found[0], alone(policy, single)[0], rtol=1e-4, atol=1e-5)


def test_logits_in_stretches_are_the_same(policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of(EXAMPLES, policy.device)
    whole, entropy = log_probs(policy.model, rows)
    whole.sum().backward()
    expected = {name: value.grad.clone() for name, value in policy.trained().items() if value.grad is not None}
    policy.model.zero_grad()
    monkeypatch.setattr(forward, "LOGITS", 3 * policy.model.config.vocab_size)
    parts, spreads = log_probs(policy.model, rows)
    torch.testing.assert_close(parts, whole)
    torch.testing.assert_close(spreads, entropy)
    parts.sum().backward()
    for name, value in policy.trained().items():
        torch.testing.assert_close(value.grad, expected[name], rtol=1e-4, atol=1e-5)


def test_padding() -> None:
    values, mask = pad([[1, 2, 3], [4]], torch.device("cpu"), left=True)
    assert values.tolist() == [[1, 2, 3], [0, 0, 4]]
    assert mask.tolist() == [[True, True, True], [False, False, True]]
    assert forward.positions(mask).tolist() == [[0, 1, 2], [0, 0, 0]]
    assert pad([[1, 2, 3], [4]], torch.device("cpu"))[0].tolist() == [[1, 2, 3], [4, 0, 0]]
