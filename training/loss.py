"""The losses: log-probabilities and token advantages to a scalar loss.

In: tensors of one micro-batch, rollouts by tokens, and the divisors of the whole mini-batch. Out: :class:`Loss`. Every
loss is a sum over tokens, divided by an *argument*. So the losses and gradients of micro-batches, on any number of
machines, add up to those of the mini-batch. Positions where the mask is false (prompt, padding) have no effect.

Log-probabilities must be at least float32: in bfloat16, ratios of probabilities are too inexact.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from training.config import LossSettings


@dataclass(frozen=True, slots=True)
class Loss:
    """The loss of a micro-batch, with its parts for the log.

    Attributes:
        value: the loss; call ``backward`` on it.
        policy: the surrogate's part, detached.
        kl: the sum over tokens of the k3 estimator, detached, without a weight.
        clipped: number of tokens with an advantage whose gradient is clipped to 0.
    """

    value: Tensor
    policy: Tensor
    kl: Tensor
    clipped: Tensor


def policy_loss(
    log_probs: Tensor,
    old_log_probs: Tensor,
    reference_log_probs: Tensor,
    advantages: Tensor,
    mask: Tensor,
    *,
    divisor: float,
    rollouts: int,
    settings: LossSettings,
) -> Loss:
    """The clipped surrogate with dual clip, and the distance from the reference policy:

        L = -1/N_B Σ_k Σ_j s(ρ_kj, A_kj) + λ_KL/|B| Σ_k Σ_j k3_kj

        s(ρ, A) = min(ρ A, clip(ρ, 1 - ε₋, 1 + ε₊) A), and no less than c A where A < 0
        k3      = exp(q - p) - (q - p) - 1     for log-probabilities p of the policy and q of the reference

    Args:
        log_probs: of the tokens under the trained policy, rollouts × tokens; the only argument with a gradient.
        old_log_probs: under the policy that sampled them.
        reference_log_probs: under the reference policy.
        advantages: A_kj.
        mask: true at the tokens of completions.
        divisor: N_B of the whole mini-batch, see ``methods.divisor``.
        rollouts: |B|, the number of rollouts of the whole mini-batch.
        settings: the constants.
    """
    zero = torch.zeros_like(log_probs)
    # Padding may hold anything, so it is masked first. Beyond e^30 both clips have cut long since; infinity times the
    # gradient 0 would be no number.
    ratio = torch.where(mask, log_probs - old_log_probs, zero).clamp(max=30.0).exp()
    advantages = torch.where(mask, advantages, zero)
    plain = ratio * advantages
    clipped = ratio.clamp(1.0 - settings.clip_low, 1.0 + settings.clip_high) * advantages
    surrogate = torch.minimum(plain, clipped)
    surrogate = torch.where(advantages < 0.0, torch.maximum(surrogate, settings.dual_clip * advantages), surrogate)
    policy = -surrogate.sum() / divisor
    to_reference = torch.where(mask, reference_log_probs - log_probs, zero)
    kl = (torch.expm1(to_reference) - to_reference).sum()
    return Loss(
        value=policy + settings.kl_weight / rollouts * kl,
        policy=policy.detach(),
        kl=kl.detach(),
        clipped=(surrogate != plain).sum(),
    )


def imitation_loss(log_probs: Tensor, mask: Tensor, *, divisor: float) -> Tensor:
    """Cross-entropy: the negated sum of the log-probabilities of the tokens of completions.

    Args:
        log_probs: of the tokens, trajectories × tokens.
        mask: true at the tokens of completions.
        divisor: number of such tokens of the whole mini-batch.
    """
    return -torch.where(mask, log_probs, torch.zeros_like(log_probs)).sum() / divisor
