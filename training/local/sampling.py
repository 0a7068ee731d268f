"""Sampling completions: prompts to token ids, many at once.

The prompts of a batch are read once, whatever the number of completions of each. A completion ends with ``</summary>``
or with a token that ends text, or is cut; those that have ended leave the batch, and are reported at once, so that they
can be verified while the others go on. The same generator gives the same completions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from proof_r1_formal import ProofR1Error
from proof_r1_formal.decoding.masks import Mask, mask_tokens
from training.local.cache import roomy_cache
from training.local.forward import pad, positions
from training.local.model import Policy

END = b"</summary>"
"""A completion ends here."""
LEAVE = 0.75
"""Rows leave the batch when no more than this share of them goes on: leaving copies what is kept."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A completion.

    Attributes:
        prompt: index of its prompt.
        number: which of the completions of that prompt.
        ids: its tokens, the one that ends it included.
        ended: whether it ended by itself; otherwise it was cut.
    """

    prompt: int
    number: int
    ids: tuple[int, ...]
    ended: bool


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to sample; see ``config.Rollout`` and ``config.Evaluation``.

    Attributes:
        samples: completions per prompt.
        temperature: 0 takes the likeliest token.
        top_p: tokens are drawn from the fewest that have this probability together.
        max_tokens: completions are cut there.
        parallel: completions at once, at most, but not less than those of one prompt.
    """

    samples: int
    temperature: float
    top_p: float
    max_tokens: int
    parallel: int


def sample(
    policy: Policy,
    prompts: Sequence[Sequence[int]],
    settings: Sampling,
    generator: torch.Generator,
    *,
    ended: Callable[[Sample], object] = lambda _: None,
    grammars: Sequence[str | None] | None = None,
) -> list[Sample]:
    """Sample completions.

    Args:
        policy: from which.
        prompts: token ids, at least two each.
        settings: how.
        generator: of the policy's device.
        ended: told of each completion as soon as it has ended.
        grammars: of the completions of each prompt, in the dialect of ``llguidance``; any text where None.

    Returns:
        The completions of the first prompt, then those of the second, ….

    Raises:
        ProofR1Error: the policy's outputs are not numbers, or a grammar cannot be used.
    """
    at_once = max(1, settings.parallel // settings.samples)
    found: list[Sample] = []
    with torch.inference_mode(), policy.precision():
        for start in range(0, len(prompts), at_once):
            batch = _Batch(policy, prompts[start : start + at_once], settings, start)
            if grammars is not None:
                batch.constrain(policy, grammars[start : start + at_once])
            found += batch.run(generator, ended)
    return sorted(found, key=lambda one: (one.prompt, one.number))


class _Batch:
    """Completions that are sampled together; rows of all tensors are those that go on."""

    def __init__(self, policy: Policy, prompts: Sequence[Sequence[int]], settings: Sampling, first: int) -> None:
        self.model, self.pieces, self.stops = policy.model, policy.pieces, policy.stops()
        self.unspoken, self.settings = policy.unspoken(), settings
        prefixes, mask = pad([prompt[:-1] for prompt in prompts], policy.device, left=True)
        self.cache = roomy_cache(policy.model)
        self.model.get_decoder()(
            input_ids=prefixes,
            attention_mask=mask.long(),
            position_ids=positions(mask),
            past_key_values=self.cache,
            use_cache=True,
        )
        owner = torch.arange(len(prompts), device=policy.device).repeat_interleave(settings.samples)
        self.cache.batch_select_indices(owner)
        self.mask = mask.long()[owner]
        self.token = torch.tensor([prompt[-1] for prompt in prompts], device=policy.device)[owner]
        self.place = torch.tensor([len(prompt) - 1 for prompt in prompts], device=policy.device)[owner]
        self.names = [(first + i, k) for i in range(len(prompts)) for k in range(settings.samples)]
        self.ids: list[list[int]] = [[] for _ in self.names]
        self.tails = [b""] * len(self.names)
        self.masks: list[Mask | None] = []

    def constrain(self, policy: Policy, grammars: Sequence[str | None]) -> None:
        """Hold the completions of each prompt to a grammar."""
        tokens = mask_tokens(policy.tokenizer, len(self.unspoken))
        self.masks = [None if g is None else Mask(tokens, g) for g in grammars for _ in range(self.settings.samples)]

    def run(self, generator: torch.Generator, ended: Callable[[Sample], object]) -> list[Sample]:
        """Sample until all have ended."""
        found: list[Sample] = []
        rows = list(range(len(self.names)))  # those of the tensors
        going = set(rows)
        while going:
            # a number for every completion of the batch, so that what one draws does not depend on the others' ends
            chances = torch.rand(len(self.names), generator=generator, device=self.token.device)
            drawn = self._draw(chances[rows], [row if row in going else None for row in rows]).tolist()
            for row, token in zip(rows, drawn, strict=True):
                if row in going and (one := self._add(row, token)) is not None:
                    going.remove(row)
                    found.append(one)
                    ended(one)
            if going and len(going) <= LEAVE * len(rows):
                stay = [place for place, row in enumerate(rows) if row in going]
                self._keep(torch.tensor(stay, device=self.token.device))
                rows = [rows[place] for place in stay]
        return found

    def _draw(self, chances: Tensor, going: Sequence[int | None]) -> Tensor:
        """One more token for each row; rows that have ended are None."""
        self.mask = torch.cat([self.mask, self.mask.new_ones(len(self.mask), 1)], dim=1)
        logits = self.model(
            input_ids=self.token[:, None],
            attention_mask=self.mask,
            position_ids=self.place[:, None],
            past_key_values=self.cache,
            use_cache=True,
        ).logits[:, -1]
        self.place = self.place + 1
        logits = logits.float().masked_fill(self.unspoken, float("-inf"))
        if self.masks:
            width = logits.shape[1]
            free = np.ones(width, dtype=bool)
            masks = [None if row is None else self.masks[row] for row in going]
            allowed = np.stack([free if mask is None else mask.allowed(width) for mask in masks])
            logits = logits.masked_fill(~torch.from_numpy(allowed).to(logits.device), float("-inf"))
        self.token = choose(logits, chances, temperature=self.settings.temperature, top_p=self.settings.top_p)
        return self.token

    def _add(self, row: int, token: int) -> Sample | None:
        """Add a token to a completion; returns it if it has ended."""
        ids = self.ids[row]
        ids.append(token)
        if self.masks and (mask := self.masks[row]) is not None:
            mask.add(token)
        text = self.tails[row] + self.pieces.piece(token)
        self.tails[row] = text[-len(END) :]
        over = token in self.stops or END in text
        if not over and len(ids) < self.settings.max_tokens:
            return None
        return Sample(*self.names[row], tuple(ids), over)

    def _keep(self, rows: Tensor) -> None:
        self.cache.batch_select_indices(rows)
        self.mask, self.token, self.place = self.mask[rows], self.token[rows], self.place[rows]


def choose(logits: Tensor, chances: Tensor, *, temperature: float, top_p: float) -> Tensor:
    """A token for each row.

    Args:
        logits: rows by tokens.
        chances: a number in [0, 1) for each row; equal ones choose the same.
        temperature, top_p: see :class:`Sampling`.

    Raises:
        ProofR1Error: logits are not numbers.
    """
    if temperature == 0.0:
        return logits.argmax(-1)
    likely = torch.softmax(logits / temperature, -1)
    tokens = None
    if top_p < 1.0:
        likely, tokens = likely.sort(dim=-1, descending=True, stable=True)
        likely = torch.where(likely.cumsum(-1) - likely < top_p, likely, torch.zeros_like(likely))
    below = likely.cumsum(-1)
    total = below[:, -1:]
    if not torch.isfinite(total).all():
        raise ProofR1Error("the policy's probabilities are not numbers: training diverged; lower the learning rate")
    # strictly below the total, so that no token of probability 0 is ever chosen
    wanted = torch.minimum(chances[:, None] * total, torch.nextafter(total, torch.zeros_like(total)))
    places = torch.searchsorted(below, wanted, right=True)
    return (places if tokens is None else tokens.gather(-1, places))[:, 0]
