"""Gradients of the two terms: their sum is the gradient of the loss, and the angles are those of the vectors."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from typing import Any

import pytest

from proof_r1_formal.credit.assigner import CreditAssigner
from proof_r1_formal.credit.diagnostics import TokenTerms, token_terms
from tests.models.agent_replies import BAD, GOOD, PROBLEM

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'proof-r1-formal[train]'")

from proof_r1_formal.integrations.gradients import Block, blocks, gradient_summary, join  # noqa: E402 (needs torch)


def test_angles_by_hand() -> None:
    block = Block(0, "q", 3.0, 4.0, 0.0)
    assert (block.total, block.angle) == (5.0, 90.0)
    assert block.verification_to_total == pytest.approx(53.130102)
    assert block.outcome_to_total == pytest.approx(36.869898)
    assert Block(0, "q", 0.0, 4.0, 0.0).angle is None
    both = join([block, Block(1, "q", 4.0, 3.0, -12.0)])
    assert (both.verification, both.outcome, both.product) == (5.0, 5.0, -12.0)


def test_the_summary_counts_blocks_in_which_both_terms_act() -> None:
    known = [
        Block(0, "q", 1.0, 1.0, 0.5),
        Block(1, "q", 1.0, 1.0, -0.5),
        Block(2, "q", 1.0, 3.0, -2.0),
        Block(None, "embed", 1.0, 0.0, 0.0),
    ]
    found = gradient_summary(known)
    assert (found["blocks"], found["acute between the terms"]) == (3, 1)
    # of the third block 1 - 2 < 0: the sum leads away from the verification's gradient
    assert (found["acute between verification and sum"], found["acute between closure and sum"]) == (2, 3)
    assert found["length, verification / closure"] == pytest.approx(2 / sqrt(11))
    assert found["angle between the terms, early layers"] == pytest.approx(60.0)
    assert found["angle between the terms, last layer"] == pytest.approx(131.810315)


@pytest.fixture(scope="module")
def model(taught: Path) -> Any:
    """A small Llama, in evaluation mode."""
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(taught).eval()


def test_the_terms_of_a_batch_have_the_gradients_of_the_loss(model: Any, tokenizer: Any) -> None:
    """Autograd of the whole loss, written out with padding, against the two terms."""
    prompts = [tokenizer.encode("Prove it.")] * 4
    texts = (GOOD, BAD, GOOD.replace("IMPLICATION_ELIMINATION", "MODUS_TOLLENS"), "I do not know.")
    completions = [[*tokenizer.encode(text), tokenizer.eos_token_id] for text in texts]
    with CreditAssigner(tokenizer, workers=0) as assigner:
        rollouts = assigner.verify([PROBLEM] * 4, completions)
        terms = token_terms(rollouts, 4, assigner.state_dict())
    found = blocks(model, prompts, completions, terms)
    assert {block.layer for block in found} == {None, 0, 1}
    whole = join(found)
    assert whole.verification > 0 < whole.outcome

    model.zero_grad()
    loss = torch.zeros(())
    for prompt, completion, v, o in zip(prompts, completions, terms.verification, terms.outcome, strict=True):
        padded = torch.tensor([[*prompt, *completion, tokenizer.pad_token_id]])
        scores = model(padded).logits.log_softmax(-1)[0, :-1].gather(1, padded[0, 1:, None])[:, 0]
        own = scores[len(prompt) - 1 : len(prompt) - 1 + len(completion)]
        loss = loss - (own * (torch.tensor(v) + torch.tensor(o))).sum() / terms.divisor
    loss.backward()
    expected = sqrt(sum(float((one.grad.double() ** 2).sum()) for one in model.parameters() if one.grad is not None))
    assert whole.total == pytest.approx(expected, rel=1e-4)


def test_lengths_that_differ_are_refused(model: Any) -> None:
    with pytest.raises(ValueError, match="prompt_ids"):
        blocks(model, [[1]], [[2]], TokenTerms(((0.0,),) * 2, ((0.0,),) * 2, 1))
