"""The gradients of the two terms of the credit in any causal language model of torch, and their angles, block by block.

In: a model, the prompts and completions of a batch, and ``credit.diagnostics.TokenTerms``. Out: a :class:`Block` for
every layer and module, and what they say together. The paper's figure of gradients is made of these.

For the policy that sampled the rollouts every ratio is 1 and nothing is clipped, so the gradient of the loss is linear
in the advantages. Two backward passes give the gradients of both terms, and their sum is that of the loss.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import acos, degrees, fsum, sqrt
from typing import TypeAlias

import torch
from torch import Tensor, nn

from proof_r1_formal.credit.diagnostics import TokenTerms
from proof_r1_formal.errors import require_equal_lengths

Place: TypeAlias = tuple[int | None, str]
"""The layer of a block, None outside of the layers, and its module."""
ALL = "all"
"""Module of a block that joins several."""


@dataclass(frozen=True, slots=True)
class Block:
    """The gradients of the two terms at the parameters of one module of one layer.

    Attributes:
        layer: from 0; None outside the layers (embeddings, the last norm, the output).
        module: its name, as ``self_attn.q_proj``.
        verification, outcome: lengths of the gradients.
        product: their scalar product.
    """

    layer: int | None
    module: str
    verification: float
    outcome: float
    product: float

    @property
    def total(self) -> float:
        """The length of the gradient of the sum."""
        return sqrt(max(0.0, self.verification**2 + self.outcome**2 + 2 * self.product))

    @property
    def angle(self) -> float | None:
        """Between the two terms, in degrees; None where one of them is zero."""
        return _angle(self.product, self.verification, self.outcome)

    @property
    def verification_to_total(self) -> float | None:
        """Between the verification term and the sum, in degrees."""
        return _angle(self.verification**2 + self.product, self.verification, self.total)

    @property
    def outcome_to_total(self) -> float | None:
        """Between the outcome term and the sum, in degrees."""
        return _angle(self.outcome**2 + self.product, self.outcome, self.total)


def _angle(product: float, one: float, other: float) -> float | None:
    if not one or not other:
        return None
    return degrees(acos(min(1.0, max(-1.0, product / (one * other)))))


def place(name: str) -> Place:
    """The block that a parameter belongs to; the weights of an adapter belong to the module that it adapts.

    >>> place("model.layers.3.self_attn.q_proj.weight")
    (3, 'self_attn.q_proj')
    >>> place("base_model.model.transformer.h.0.mlp.c_fc.lora_A.default.weight")
    (0, 'mlp.c_fc')
    >>> place("model.embed_tokens.weight")
    (None, 'embed_tokens')
    """
    path = re.sub(r"(\.base_layer)?(\.lora_\w+(\.\w+)?)?(\.weight|\.bias)?$", "", name)
    layer = re.search(r"\.(\d+)\.(.+)$", path)
    return (None, path.rpartition(".")[2]) if layer is None else (int(layer[1]), layer[2])


def blocks(
    model: nn.Module,
    prompt_ids: Sequence[Sequence[int]],
    completion_ids: Sequence[Sequence[int]],
    terms: TokenTerms,
) -> tuple[Block, ...]:
    """The gradients of the two terms at each block that is trained.

    Args:
        model: the policy that sampled the completions: from ids of shape (1, T) to an output with ``logits`` of shape
            (1, T, V). It is not changed. Dropout must be off.
        prompt_ids, completion_ids: of B completions, without padding; each prompt has a token.
        terms: of the batch.

    Raises:
        ValueError: the lengths differ.
    """
    require_equal_lengths(prompt_ids=prompt_ids, completion_ids=completion_ids, terms=terms.outcome)
    parameters = {name: value for name, value in model.named_parameters() if value.requires_grad}
    found = [
        _gradient(model, list(parameters.values()), prompt_ids, completion_ids, term, terms.divisor)
        for term in (terms.verification, terms.outcome)
    ]
    sums: dict[Place, list[float]] = {}
    for name, first, second in zip(parameters, *found, strict=True):
        v, o = first.double().flatten(), second.double().flatten()
        parts = sums.setdefault(place(name), [0.0, 0.0, 0.0])
        for index, product in enumerate((v @ v, o @ o, v @ o)):
            parts[index] += product.item()
    return tuple([Block(*where, sqrt(v), sqrt(o), product) for where, (v, o, product) in sums.items()])


def _gradient(
    model: nn.Module,
    parameters: Sequence[Tensor],
    prompt_ids: Sequence[Sequence[int]],
    completion_ids: Sequence[Sequence[int]],
    advantages: Sequence[Sequence[float]],
    divisor: int,
) -> list[Tensor]:
    """The gradient of -1/N_B Σ A log π with these advantages A, one completion at a time."""
    total = [torch.zeros_like(one) for one in parameters]
    device = parameters[0].device
    for prompt, completion, earned in zip(prompt_ids, completion_ids, advantages, strict=True):
        if not any(earned):
            continue
        ids = torch.tensor([[*prompt, *completion]], device=device)
        logits = model(ids).logits[0, len(prompt) - 1 : -1].float()
        scores = torch.log_softmax(logits, -1).gather(1, ids[0, len(prompt) :, None])[:, 0]
        loss = -(scores * torch.tensor(earned, device=device)).sum() / divisor
        for sum_, one in zip(total, torch.autograd.grad(loss, parameters, allow_unused=True), strict=True):
            if one is not None:
                sum_ += one
    return total


# -- together ---------------------------------------------------------------------------------------------------------


def join(blocks: Iterable[Block], *, layer: int | None = None, module: str = ALL) -> Block:
    """Several blocks as one: the gradients at all their parameters, concatenated."""
    known = list(blocks)
    return Block(
        layer,
        module,
        sqrt(fsum([block.verification**2 for block in known])),
        sqrt(fsum([block.outcome**2 for block in known])),
        fsum([block.product for block in known]),
    )


def gradient_summary(blocks: Sequence[Block]) -> dict[str, float | None]:
    """The quantities that the paper states of the gradients of the two terms; angles in degrees.

    *Acute* counts blocks with an angle below 90°. Blocks count where both gradients are nonzero. The early layers are
    the first third of all.
    """
    both = [block for block in blocks if block.angle is not None]
    layers = sorted({block.layer for block in blocks if block.layer is not None})
    early = layers[: max(1, len(layers) // 3)]
    whole = join(blocks)
    return {
        "blocks": len(both),
        "acute between the terms": _acute([block.angle for block in both]),
        "acute between verification and sum": _acute([block.verification_to_total for block in both]),
        "acute between closure and sum": _acute([block.outcome_to_total for block in both]),
        "length, verification / closure": whole.verification / whole.outcome if whole.outcome else None,
        "angle between the terms": whole.angle,
        "angle between the terms, early layers": join([one for one in blocks if one.layer in early]).angle,
        "angle between the terms, last layer": join([one for one in blocks if one.layer in layers[-1:]]).angle,
    }


def _acute(angles: Iterable[float | None]) -> int:
    return sum([angle is not None and angle < 90.0 for angle in angles])
