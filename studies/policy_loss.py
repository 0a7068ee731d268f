"""The loss of the method, written out: what trainers are compared with.

    L = -1/N_B Σ_k Σ_j s(ρ_kj, A_kj) + λ_KL/B Σ_k Σ_j k3_kj

    s(ρ, A) = min(ρ A, clip(ρ, 1 - ε₋, 1 + ε₊) A), and no less than c A where A < 0
    k3      = exp(q - p) - (q - p) - 1     for log-probabilities p of the policy and q of the reference

The constants are the paper's: ε₋ = 0.2, ε₊ = 0.28, c = 3.
"""

from __future__ import annotations

import torch
from torch import Tensor


def policy_loss(
    log_probs: Tensor,
    old_log_probs: Tensor,
    reference_log_probs: Tensor,
    advantages: Tensor,
    mask: Tensor,
    *,
    divisor: float,
    kl_weight: float,
) -> Tensor:
    """The loss of a batch; all tensors are rollouts × tokens, and only ``log_probs`` has a gradient."""
    ratio = (log_probs - old_log_probs).exp()
    surrogate = torch.minimum(ratio * advantages, ratio.clamp(0.8, 1.28) * advantages)
    surrogate = torch.where(advantages < 0.0, torch.maximum(surrogate, 3.0 * advantages), surrogate)
    k3 = (reference_log_probs - log_probs).exp() - (reference_log_probs - log_probs) - 1.0
    return -(surrogate * mask).sum() / divisor + kl_weight / len(mask) * (k3 * mask).sum()
