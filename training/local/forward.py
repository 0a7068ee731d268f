"""Log-probabilities of completions: the sequences of a micro-batch to a tensor, completions by tokens.

Completions of one prompt, standing together, share the pass through their prompt: with eight of them and a prompt as
long as an answer that is nearly half of all work. Gradients flow through the shared part as if it were not shared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import Module
from torch.utils.checkpoint import checkpoint
from transformers import DynamicCache, PreTrainedModel

LOGITS = 1 << 27
"""How many logits are there at once, at most: half a GiB of them."""


@dataclass(frozen=True, slots=True)
class Example:
    """A prompt and a completion as token ids; neither is empty."""

    prompt: tuple[int, ...]
    response: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Rows:
    """A micro-batch.

    Attributes:
        prefixes: distinct prompts without their last tokens, padded at the left.
        prefix_mask: true where they are not padding.
        owner: for each completion the index of its prefix.
        inputs: the last token of the prompt, then the completion without its last token, padded at the right.
        targets: the completion, padded at the right.
        mask: true where it is not padding.
    """

    prefixes: Tensor
    prefix_mask: Tensor
    owner: Tensor
    inputs: Tensor
    targets: Tensor
    mask: Tensor


def rows_of(examples: Sequence[Example], device: torch.device) -> Rows:
    """The micro-batch of these sequences."""
    prompts = list(dict.fromkeys([example.prompt for example in examples]))
    prefixes, prefix_mask = pad([prompt[:-1] for prompt in prompts], device, left=True)
    targets, mask = pad([example.response for example in examples], device)
    inputs, _ = pad([(example.prompt[-1], *example.response[:-1]) for example in examples], device)
    owner = torch.tensor([prompts.index(example.prompt) for example in examples], device=device)
    return Rows(prefixes, prefix_mask, owner, inputs, targets, mask)


def pad(
    sequences: Sequence[Sequence[float]], device: torch.device, *, left: bool = False, dtype: torch.dtype = torch.long
) -> tuple[Tensor, Tensor]:
    """The sequences as a matrix, and where in it they are."""
    width = max(map(len, sequences))
    values = torch.zeros((len(sequences), width), dtype=dtype)
    mask = torch.zeros((len(sequences), width), dtype=torch.bool)
    for row, sequence in enumerate(sequences):
        start = width - len(sequence) if left else 0
        values[row, start : start + len(sequence)] = torch.tensor(sequence, dtype=dtype)
        mask[row, start : start + len(sequence)] = True
    return values.to(device), mask.to(device)


def positions(mask: Tensor) -> Tensor:
    """The place of each token in its sequence, for a mask that is padded at the left."""
    return (mask.cumsum(-1) - 1).clamp(min=0)


def log_probs(
    model: PreTrainedModel, rows: Rows, *, share: bool = True, temperature: float = 1.0
) -> tuple[Tensor, Tensor]:
    """The log-probability of each token, and the entropy of the distribution that it is from; 0 at padding.

    Args:
        model: the policy.
        rows: the micro-batch.
        share: whether completions share the pass through their prompt; not possible with gradient checkpointing.
        temperature: that logits are divided by.

    Returns:
        Two tensors of float32, completions × tokens; the second has no gradient.
    """
    hidden = (_with_shared_prefixes if share and rows.prefixes.shape[1] else _whole)(model, rows)[rows.mask]
    targets = rows.targets[rows.mask]
    head = model.get_output_embeddings()
    size = max(1, LOGITS // model.config.get_text_config().vocab_size)
    chunks = list(zip(hidden.split(size), targets.split(size), strict=True))
    if len(chunks) == 1 or not torch.is_grad_enabled():
        parts = [_score(head, *chunk, temperature) for chunk in chunks]
    else:  # logits are made again on the way back: kept, they would take more memory than the model
        parts = [checkpoint(_score, head, *chunk, temperature, use_reentrant=False) for chunk in chunks]
    empty = torch.zeros(rows.mask.shape, device=hidden.device)
    scored = [empty.masked_scatter(rows.mask, torch.cat(part)) for part in zip(*parts, strict=True)]
    return scored[0], scored[1]


def _with_shared_prefixes(model: PreTrainedModel, rows: Rows) -> Tensor:
    """Hidden states from which the targets are predicted."""
    decoder, cache = model.get_decoder(), DynamicCache(config=model.config)
    places = positions(rows.prefix_mask)
    decoder(
        input_ids=rows.prefixes,
        attention_mask=rows.prefix_mask.long(),
        position_ids=places,
        past_key_values=cache,
        use_cache=True,
    )
    cache.batch_select_indices(rows.owner)
    before = rows.prefix_mask[rows.owner]
    after = torch.ones_like(rows.mask)  # no token sees the padding behind it
    states: Tensor = decoder(
        input_ids=rows.inputs,
        attention_mask=torch.cat([before, after], dim=1).long(),
        position_ids=before.sum(-1, keepdim=True) + torch.arange(rows.inputs.shape[1], device=before.device),
        past_key_values=cache,
        use_cache=True,
    ).last_hidden_state
    return states


def _whole(model: PreTrainedModel, rows: Rows) -> Tensor:
    """The same with each completion after its own prompt."""
    mask = torch.cat([rows.prefix_mask[rows.owner], torch.ones_like(rows.mask)], dim=1)
    states: Tensor = model.get_decoder()(
        input_ids=torch.cat([rows.prefixes[rows.owner], rows.inputs], dim=1),
        attention_mask=mask.long(),
        position_ids=positions(mask),
        use_cache=False,
    ).last_hidden_state
    return states[:, rows.prefixes.shape[1] :]


def _score(head: Module, hidden: Tensor, targets: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    logits = head(hidden).float() / temperature  # a ratio of probabilities in bfloat16 is noise
    total = logits.logsumexp(-1)
    chosen = logits.gather(-1, targets[:, None])[:, 0] - total
    with torch.no_grad():
        entropy = total - (torch.softmax(logits, -1) * logits).sum(-1)
    return chosen, entropy
