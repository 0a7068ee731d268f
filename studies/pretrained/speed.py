"""Computations made faster: attention for sampling, one query at a time, and on a CPU the loss where there is a label.

With padding, PyTorch's ``sdpa`` copies keys and values for every head and takes a slow path. For a query of one token,
this function multiplies grouped heads with the keys as they are; longer queries go to ``sdpa``. The result is the same
but for rounding.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS, sdpa_mask
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
from transformers.models.llama.modeling_llama import LlamaForCausalLM
from trl.trainer import utils

from studies.pretrained.graphs import generate

GROUPED = "grouped"
"""The name for ``attn_implementation``, after :func:`register`."""


def grouped_attention(
    module: torch.nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    **options: Any,
) -> tuple[Tensor, None]:
    """Attention in the form that ``transformers`` asks for.

    Args:
        module: the layer.
        query: shape (rows, heads, tokens, size).
        key, value: shape (rows, heads of keys, all tokens, size).
        attention_mask: shape (rows, 1, tokens, all tokens); true, or 0, where a token is seen.
        dropout, scaling, options: see ``transformers``.

    Returns:
        Shape (rows, tokens, heads, size), and no weights.
    """
    rows, heads, tokens, size = query.shape
    if tokens > 1 or dropout:
        if attention_mask is not None and attention_mask.dtype == torch.bool:
            # Padding sees all keys: on a GPU, gradients were not numbers where queries saw no key.
            attention_mask = attention_mask | ~attention_mask.any(-1, keepdim=True)
        out, _ = sdpa_attention_forward(
            module, query, key, value, attention_mask, dropout=dropout, scaling=scaling, **options
        )
        return out, None
    grouped = query.reshape(rows, key.shape[1], heads // key.shape[1], size)
    scores = grouped @ key.transpose(-1, -2) * (size**-0.5 if scaling is None else scaling)
    if attention_mask is not None:
        seen = attention_mask[..., : key.shape[2]]
        scores = scores.masked_fill(~seen, -torch.inf) if seen.dtype == torch.bool else scores + seen
    weights = scores.float().softmax(-1).to(value.dtype)
    return (weights @ value).reshape(rows, 1, heads, size), None


def register() -> str:
    """Make the function known to ``transformers``. Returns its name there."""
    ALL_ATTENTION_FUNCTIONS.register(GROUPED, grouped_attention)
    ALL_MASK_ATTENTION_FUNCTIONS.register(GROUPED, sdpa_mask)
    return GROUPED


def fast_bfloat16() -> bool:
    """Whether the CPU has instructions for bfloat16 (AVX512_BF16 or AMX). Without them, float32 is faster."""
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


def replay_tokens(*, exact: bool = False) -> None:
    """Have models sample by ``graphs.generate``; if the CPU has bfloat16, weights are cast once for all tokens.

    If ``exact``, products stay in the precision of the weights.
    """
    cast_once = torch.autocast("cpu", torch.bfloat16, enabled=not exact and fast_bfloat16())
    LlamaForCausalLM.generate = cast_once(generate)  # type: ignore[method-assign]


def score_labels_only() -> None:
    """Have TRL compute no logits for positions without a label; where there is no Triton, it computes them all.

    Prompts are two thirds of the study's texts, and the logits of all positions took two fifths of a step.
    """
    utils._use_triton = lambda _device: True  # asked there for the choice of positions only
