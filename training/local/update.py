"""Updates of the weights: the rollouts of a step, or demonstrations, to steps of the optimiser.

In: token sequences and the credit of their tokens. Out: changed weights, and an :class:`Update` with statistics.
    Gradients of
micro-batches add up to that of their mini-batch, whatever the size of a micro-batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, isfinite, pi
from statistics import fmean
from typing import TypeVar

import torch
from torch import Tensor
from transformers import PreTrainedModel

from proof_r1_formal import ProofR1Error
from proof_r1_formal.credit.methods import TokenCredit, divisor
from training.common.order import chunks
from training.common.outcomes import Update
from training.config import Batch, LossSettings, Optimiser
from training.local.forward import Example, Rows, log_probs, pad, rows_of
from training.local.model import Policy
from training.loss import imitation_loss, policy_loss

_T = TypeVar("_T")


@dataclass(slots=True)
class Micro:
    """A micro-batch of rollouts.

    Attributes:
        rows: their tokens.
        reference: log-probabilities under the reference policy.
        old: those under the policy that sampled; None until the first pass, if that policy makes it.
        temperature: that the logits behind all of them are divided by.
    """

    rows: Rows
    reference: Tensor
    old: Tensor | None = None
    temperature: float = 1.0


def make_optimiser(policy: Policy, settings: Optimiser) -> torch.optim.AdamW:
    """The optimiser of the trained weights."""
    betas = (settings.betas[0], settings.betas[1])
    return torch.optim.AdamW(
        policy.trained().values(), lr=settings.learning_rate, betas=betas, weight_decay=settings.weight_decay
    )


def learning_rate(settings: Optimiser, step: int) -> float:
    """The rate of a step, counted from 0."""
    rising = settings.warm_up_steps
    if step < rising:
        return settings.learning_rate * (step + 1) / rising
    gone = (step - rising) / max(1, settings.steps - rising)
    factor = {"constant": 1.0, "linear": 1.0 - gone, "cosine": (1.0 + cos(pi * gone)) / 2}[settings.decay]
    return settings.learning_rate * factor


# -- rollouts ---------------------------------------------------------------------------------------------------------


@torch.no_grad()
def prepare(
    policy: Policy, groups: Sequence[Sequence[Example]], batch: Batch, *, temperature: float = 1.0
) -> list[list[Micro]]:
    """The mini-batches of a step in their micro-batches, with all log-probabilities that updates compare with.

    Args:
        policy: as it was when it sampled.
        groups: the rollouts of each problem.
        batch: the sizes.
        temperature: that logits are divided by, here and in the updates.
    """
    prepared: list[list[Micro]] = []

    def scored(model: PreTrainedModel, part: Rows) -> Tensor:
        return log_probs(model, part, share=policy.share, temperature=temperature)[0]

    for mini in chunks(groups, batch.mini):
        examples = [example for group in mini for example in group]
        rows = [rows_of(chunk, policy.device) for chunk in chunks(examples, batch.micro)]
        with policy.precision():
            with policy.reference() as reference:
                references = [scored(reference, part) for part in rows]
            # the first mini-batch meets the policy that sampled: its own first pass will do
            olds = [scored(policy.model, part) if prepared else None for part in rows]
        prepared.append([Micro(*parts, temperature) for parts in zip(rows, references, olds, strict=True)])
    return prepared


def update(
    policy: Policy,
    optimiser: torch.optim.Optimizer,
    minis: Sequence[Sequence[Micro]],
    groups: Sequence[Sequence[TokenCredit]],
    *,
    batch: Batch,
    loss: LossSettings,
    max_gradient_norm: float,
) -> Update:
    """Learn from the rollouts of a step.

    Args:
        policy: is changed.
        optimiser: of it.
        minis: from :func:`prepare`.
        groups: credit of the tokens of the same rollouts.
        batch: sizes and number of passes.
        loss: the constants.
        max_gradient_norm: gradients are clipped to it.

    Raises:
        ProofR1Error: training diverged.
    """
    values: list[float] = []
    policies: list[float] = []
    norms: list[float] = []
    clipped = moved = 0.0
    entropy = kl = tokens = rollouts = 0.0
    policy.model.train()
    for epoch in range(batch.epochs):
        for mini, mini_groups in zip(minis, chunks(groups, batch.mini), strict=True):
            credits_ = [credit for group in mini_groups for credit in group]
            units = divisor(credits_)
            value = surrogate = 0.0
            for micro, earned in zip(mini, chunks(credits_, batch.micro), strict=True):
                advantages, _ = pad([credit.advantages for credit in earned], policy.device, dtype=torch.float32)
                with policy.precision():
                    now, uncertainty = log_probs(
                        policy.model, micro.rows, share=policy.share, temperature=micro.temperature
                    )
                if micro.old is None:
                    micro.old = now.detach()
                result = policy_loss(
                    now,
                    micro.old,
                    micro.reference,
                    advantages,
                    micro.rows.mask,
                    divisor=units,
                    rollouts=len(credits_),
                    settings=loss,
                )
                result.value.backward()
                value += result.value.item()
                surrogate += result.policy.item()
                clipped += result.clipped.item()
                moved += (advantages != 0.0).sum().item()
                if epoch == 0:
                    kl += result.kl.item()
                    entropy += uncertainty.sum().item()
                    tokens += micro.rows.mask.sum().item()
                    rollouts += len(earned)
            norms.append(_follow(policy, optimiser, max_gradient_norm))
            values.append(value)
            policies.append(surrogate)
    policy.model.eval()
    return Update(
        loss=fmean(values),
        policy_loss=fmean(policies),
        kl=kl / rollouts,
        entropy=entropy / tokens,
        clip_fraction=clipped / max(1.0, moved),
        gradient_norm=fmean(norms),
    )


# -- demonstrations ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Imitated:
    """Statistics of the updates of a step of imitation; see ``logs.ImitationRecord``."""

    loss: float
    tokens: int
    gradient_norm: float


def imitate(
    policy: Policy,
    optimiser: torch.optim.Optimizer,
    demonstrations: Sequence[Example],
    *,
    batch: Batch,
    max_gradient_norm: float,
) -> Imitated:
    """Learn from demonstrations, once each.

    Args:
        policy: is changed.
        optimiser: of it.
        demonstrations: prompts and completions.
        batch: sizes; a mini-batch has ``mini`` demonstrations.
        max_gradient_norm: gradients are clipped to it.

    Raises:
        ProofR1Error: training diverged.
    """
    total, tokens = 0.0, 0
    norms: list[float] = []
    policy.model.train()
    for mini in chunks(demonstrations, batch.mini):
        length = sum([len(example.response) for example in mini])
        alike = sorted(mini, key=lambda example: len(example.prompt) + len(example.response))  # little padding
        for micro in chunks(alike, batch.micro):
            rows = rows_of(micro, policy.device)
            with policy.precision():
                now, _ = log_probs(policy.model, rows, share=False)
            loss = imitation_loss(now, rows.mask, divisor=length)
            loss.backward()
            total += loss.item() * length
        tokens += length
        norms.append(_follow(policy, optimiser, max_gradient_norm))
    policy.model.eval()
    return Imitated(total / tokens, tokens, fmean(norms))


def _follow(policy: Policy, optimiser: torch.optim.Optimizer, max_gradient_norm: float) -> float:
    """One step of the optimiser along the gradient that was added up; returns its norm before clipping."""
    norm = torch.nn.utils.clip_grad_norm_(policy.trained().values(), max_gradient_norm).item()
    if not isfinite(norm):
        raise ProofR1Error(f"the gradient's norm is {norm}: training diverged; lower optimiser.learning_rate")
    optimiser.step()
    optimiser.zero_grad()
    return norm
