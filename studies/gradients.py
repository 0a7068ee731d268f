"""The angles between the gradients of the two terms of the credit, block by block.

In: a causal language model and its rollouts, with both terms of each token's advantage. Out: a :class:`Block` for every
layer and module, for ``studies.diagnostics``.

For the policy that sampled the rollouts every ratio is 1 and nothing is clipped, so the gradient of the loss is linear
in the advantages. Two backward passes give the gradients of both terms, and their sum that of the loss.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import acos, degrees, fsum, sqrt
from typing import Literal, TypeAlias

import torch
from torch import Tensor
from transformers import PreTrainedModel

from proof_r1_formal.credit.methods import Rollout, TokenCredit
from training.config import LossSettings
from training.local.forward import Example, log_probs, pad, rows_of
from training.loss import policy_loss

Place: TypeAlias = tuple[int | None, str]
"""The layer of a block, None outside of the layers, and its module."""
ALL = "all"
"""Module of a block that joins several."""


@dataclass(frozen=True, slots=True)
class CreditedRollout:
    """A rollout with the two terms of each token's advantage, weights included.

    Attributes:
        example: prompt and completion.
        verification, outcome: one number per token of the completion.
    """

    example: Example
    verification: tuple[float, ...]
    outcome: tuple[float, ...]

    @classmethod
    def of(cls, example: Example, rollout: Rollout, credit: TokenCredit) -> CreditedRollout:
        """The rollout as training credits it, under a method with a credit per action."""
        assert credit.actions is not None
        project = rollout.alignment.project
        return cls(example, project(credit.actions.verification), project(credit.actions.outcome))


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

    @property
    def ratio(self) -> float | None:
        """Length of the verification's gradient divided by that of the outcome's; None if the latter is zero."""
        return self.verification / self.outcome if self.outcome else None

    @property
    def acute(self) -> bool:
        """Whether a small step along either gradient also improves the other term."""
        return self.product > 0.0


def joined(blocks: Iterable[Block], layer: int | None = None, module: str = ALL) -> Block:
    """Several blocks as one: the gradients at all their parameters, concatenated."""
    known = list(blocks)
    return Block(
        layer,
        module,
        sqrt(fsum([block.verification**2 for block in known])),
        sqrt(fsum([block.outcome**2 for block in known])),
        fsum([block.product for block in known]),
    )


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
    model: PreTrainedModel, rollouts: Sequence[CreditedRollout], *, divisor: float, micro: int = 8
) -> tuple[Block, ...]:
    """The gradients of the two terms at each block that is trained.

    Args:
        model: the policy that sampled the rollouts; it is not changed.
        rollouts: the rollouts of a mini-batch.
        divisor: N_B of the mini-batch; it changes lengths, not angles.
        micro: rollouts per forward pass.
    """
    parameters = {name: value for name, value in model.named_parameters() if value.requires_grad}
    verification = _gradients(
        model, parameters, rollouts, [rollout.verification for rollout in rollouts], divisor, micro
    )
    outcome = _gradients(model, parameters, rollouts, [rollout.outcome for rollout in rollouts], divisor, micro)
    sums: dict[Place, list[float]] = {}
    for name in parameters:
        v, o = verification[name].double().flatten(), outcome[name].double().flatten()
        found = sums.setdefault(place(name), [0.0, 0.0, 0.0])
        for index, product in enumerate((v @ v, o @ o, v @ o)):
            found[index] += product.item()
    return tuple([Block(*where, sqrt(v), sqrt(o), product) for where, (v, o, product) in sums.items()])


def _gradients(
    model: PreTrainedModel,
    parameters: Mapping[str, Tensor],
    rollouts: Sequence[CreditedRollout],
    advantages: Sequence[tuple[float, ...]],
    divisor: float,
    micro: int,
) -> dict[str, Tensor]:
    """The gradient of the loss with these advantages, by the parameter's name."""
    total = {name: torch.zeros_like(value) for name, value in parameters.items()}
    for start in range(0, len(rollouts), micro):
        rows = rows_of([rollout.example for rollout in rollouts[start : start + micro]], model.device)
        scores, _ = log_probs(model, rows)
        earned, _ = pad(advantages[start : start + micro], model.device, dtype=torch.float32)
        loss = policy_loss(
            scores,
            scores.detach(),
            scores.detach(),
            earned,
            rows.mask,
            divisor=divisor,
            rollouts=len(rollouts),
            settings=LossSettings(kl_weight=0.0),
        )
        found = torch.autograd.grad(loss.value, list(parameters.values()), allow_unused=True)
        for name, gradient in zip(parameters, found, strict=True):
            if gradient is not None:
                total[name] += gradient
    return total


# -- tables -----------------------------------------------------------------------------------------------------------

Quantity: TypeAlias = Literal["angle", "verification_to_total", "outcome_to_total", "ratio"]

GRADIENTS: Mapping[Quantity, str] = {
    "angle": "verification and closure (degrees)",
    "verification_to_total": "verification and sum (degrees)",
    "outcome_to_total": "closure and sum (degrees)",
    "ratio": "length, verification / closure",
}
"""The quantities of the gradients of the two terms."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A number for each layer and module; None where there is none.

    Attributes:
        layers, modules: the rows and columns; "–" is the row of what is in no layer, "all" joins the gradients of a
            row or column.
        cells: row by row.
    """

    layers: tuple[str, ...]
    modules: tuple[str, ...]
    cells: tuple[tuple[float | None, ...], ...]


def gradient_grid(blocks: Sequence[Block], quantity: Quantity) -> Grid:
    """One quantity of all blocks, layer by module."""
    layers = sorted({block.layer for block in blocks if block.layer is not None})
    rows: list[int | None] = [*layers, *([None] if any(block.layer is None for block in blocks) else [])]
    modules = list(dict.fromkeys([block.module for block in blocks]))
    within = {
        (row, column): [
            block
            for block in blocks
            if (row == ALL or block.layer == row) and (column == ALL or block.module == column)
        ]
        for row in (*rows, ALL)
        for column in (*modules, ALL)
    }
    return Grid(
        (*["–" if layer is None else str(layer) for layer in rows], ALL),
        (*modules, ALL),
        tuple([tuple([_quantity(joined(within[row, c]), quantity) for c in (*modules, ALL)]) for row in (*rows, ALL)]),
    )


def _quantity(block: Block, quantity: Quantity) -> float | None:
    match quantity:
        case "angle":
            return block.angle
        case "verification_to_total":
            return block.verification_to_total
        case "outcome_to_total":
            return block.outcome_to_total
        case "ratio":
            return block.ratio


def findings(blocks: Sequence[Block]) -> dict[str, float | None]:
    """What the gradients of the two terms say in all; angles in degrees.

    *Acute* counts blocks with an angle below 90°. Blocks count where both gradients are nonzero. The early layers are
    the first third of all.
    """
    both = [block for block in blocks if block.angle is not None]
    layers = sorted({block.layer for block in blocks if block.layer is not None})
    early = layers[: max(1, len(layers) // 3)]
    whole = joined(blocks)
    return {
        "blocks": len(both),
        "acute between the terms": sum([block.acute for block in both]),
        "acute between verification and sum": _acute(both, "verification_to_total"),
        "acute between closure and sum": _acute(both, "outcome_to_total"),
        "length, verification / closure": whole.ratio,
        "angle between the terms": whole.angle,
        "angle between the terms, early layers": joined([b for b in blocks if b.layer in early]).angle,
        "angle between the terms, last layer": joined([b for b in blocks if b.layer in layers[-1:]]).angle,
    }


def _acute(blocks: Sequence[Block], quantity: Quantity) -> int:
    angles = [_quantity(block, quantity) for block in blocks]
    return sum([angle is not None and angle < 90.0 for angle in angles])
