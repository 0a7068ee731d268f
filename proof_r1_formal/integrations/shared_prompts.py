"""Log-probabilities of completions whose prompts are passed once: for :class:`trl.ProofTrainer` with ``share_prompts``.

A group has one prompt and many completions. TRL passes the prompt with each of them: half of all tokens, where prompts
are as long as answers. Here each prompt is passed once, and its completions attend to its keys and values. Gradients
flow through them as if nothing were shared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache


def log_probs(model: Any, ids: Tensor, mask: Tensor, width: int) -> tuple[Tensor, Tensor | None]:
    """The log-probability of each token of the completions, and the entropy where the model's head gives it.

    Args:
        model: with TRL's fused head (``trl.trainer.utils.add_fused_lm_head``).
        ids: prompts, padded at the left, each with its completion, padded at the right; shape (rows, tokens).
        mask: 0 at padding, else 1; of the same shape.
        width: of the completions, in tokens with padding.

    Returns:
        Two tensors of shape (rows, width); 0 at padding.
    """
    start = ids.shape[1] - width
    distinct, owner = torch.cat([ids[:, :start], mask[:, :start]], dim=1).unique(dim=0, return_inverse=True)
    used = int(mask[:, start:].sum(-1).max())  # no longer than the longest completion of these rows
    seen = mask[:, : start + used]
    targets = ids[:, start : start + used].masked_fill(seen[:, start:] == 0, -100)
    prompt_ids, prompt_mask = distinct[:, :start], distinct[:, start:]
    places = (seen.cumsum(-1) - 1).clamp(min=0)
    cache = DynamicCache(config=model.config)
    # The last token of the prompt is the first input of the completions: its output predicts their first token.
    model(
        input_ids=prompt_ids[:, :-1],
        attention_mask=prompt_mask[:, :-1],
        position_ids=(prompt_mask.cumsum(-1) - 1).clamp(min=0)[:, :-1],
        past_key_values=cache,
        use_cache=True,
        logits_to_keep=1,
    )
    cache.batch_select_indices(owner)
    output = model(
        input_ids=ids[:, start - 1 : start + used - 1],
        attention_mask=seen[:, :-1],
        position_ids=places[:, start - 1 : -1],
        past_key_values=cache,
        shift_labels=targets,
        fused_lm_head=True,
    )
    missing = (0, width - used)
    return (
        torch.nn.functional.pad(output.log_probs, missing),
        None if output.entropy is None else torch.nn.functional.pad(output.entropy, missing),
    )


def regroup(batches: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of these batches in batches of the same sizes, with rows of one prompt next to each other.

    Among the rows of a prompt, the longer completions come first: those of a batch are then of about one length.
    """
    prompts = [tuple(row) for batch in batches for row in batch["prompt_ids"].tolist()]
    lengths = [int(length) for batch in batches for length in batch["completion_mask"].sum(-1)]
    order = sorted(range(len(prompts)), key=lambda row: (prompts[row], -lengths[row]))
    sizes = [len(batch["prompt_ids"]) for batch in batches]
    found: list[dict[str, Any]] = [dict(batch) for batch in batches]
    for name, first in batches[0].items():
        if isinstance(first, Tensor) and first.dim():
            rows = torch.cat([batch[name] for batch in batches])[order]
            for batch, part in zip(found, rows.split(sizes), strict=True):
                batch[name] = part
        elif isinstance(first, list):
            values = [value for batch in batches for value in batch[name]]
            for number, batch in enumerate(found):
                begin = sum(sizes[:number])
                batch[name] = [values[row] for row in order[begin : begin + sizes[number]]]
    return found
