"""Sampling with one CUDA graph for a token: on a GPU, launching the kernels of a small model takes longer than they do.

In: prompts of a ``transformers`` model. Out: tokens, sampled at temperature 1 or greedy, and the entropy of each. The
keys and values lie in a cache of a fixed size, so that the pass of a token can be recorded once and replayed.
Parameters that are updated in place keep the record valid. Without a GPU the pass is made each time, for the answers
that have not ended. A prompt that stands in several rows is passed once.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

WIDTH = 480
"""Maximum length of a prompt: the longest of the study has 460 tokens."""
CHECK = 16
"""Tokens between two looks at whether all answers have ended."""


class _Cache:
    """Keys and values in the form in which a model of ``transformers`` asks for them.

    With its ``StaticCache``, prompts would attend to the whole room of the cache; here they attend to prompts alone.

    Args:
        room: tokens that it has room for.
        slot: the place of the next token, shape (1,).
        whole: whether a token attends to the whole room, as in a recorded pass; otherwise to what is there.
    """

    def __init__(self, room: int, slot: Tensor, *, whole: bool) -> None:
        self._room, self._slot, self._whole = room, slot, whole
        self._kept: dict[int, tuple[Tensor, Tensor]] = {}
        self.owner = slot
        """Of each row, the place of its prompt among those that are passed."""

    def get_seq_length(self, *_: Any) -> int:
        return 0

    def update(self, keys: Tensor, values: Tensor, layer: int, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        given = keys.to(values.dtype), values  # under autocast, places make keys of float32
        tokens = keys.shape[2]
        if tokens > 1:  # the prompts, which see nothing but themselves
            if layer not in self._kept:
                shape = (len(self.owner), keys.shape[1], self._room, keys.shape[3])
                self._kept[layer] = values.new_zeros(shape), values.new_zeros(shape)
            for place, one in zip(self._kept[layer], given, strict=True):
                place[:, :, :tokens] = one[self.owner]
            return keys, values
        kept = self._kept[layer]
        for place, one in zip(kept, given, strict=True):
            place.index_copy_(2, self._slot, one)
        if self._whole:
            return kept
        filled = int(self._slot) + 1
        return kept[0][:, :, :filled], kept[1][:, :, :filled]

    def keep(self, rows: Tensor) -> None:
        """Drop all other rows."""
        self._kept = {layer: (keys[rows], values[rows]) for layer, (keys, values) in self._kept.items()}

    def clear(self) -> None:
        """Drop all rows."""
        self._kept.clear()


class Sampler:
    """Samples answers to batches of one size.

    Args:
        model: of ``transformers``, with ``speed.grouped_attention``.
        rows: number of prompts of a batch.
        tokens: maximum length of an answer.
        end, padding: ids of the end of a text and of padding.
        greedy: choose the likeliest token each time.
    """

    def __init__(self, model: Any, rows: int, tokens: int, *, end: int, padding: int, greedy: bool = False) -> None:
        self.model, self.rows, self.tokens, self.end, self.padding = model, rows, tokens, end, padding
        self._greedy = greedy
        self._slot = torch.zeros(1, dtype=torch.long, device=model.device)
        self._number = torch.zeros_like(self._slot)
        self._whole = model.device.type == "cuda"
        self._cache = _Cache(WIDTH + tokens, self._slot, whole=self._whole)
        self._graph: Any = None
        self._make_room()

    def _make_room(self) -> None:
        device = self.model.device
        self._seen = torch.zeros(self.rows, 1, 1, WIDTH + self.tokens, dtype=torch.bool, device=device)
        self._token = torch.zeros(self.rows, 1, dtype=torch.long, device=device)
        self._place = torch.zeros_like(self._token)
        self._ended = torch.zeros_like(self._token, dtype=torch.bool)
        self._chosen = torch.zeros(self.rows, self.tokens, dtype=torch.long, device=device)
        self._entropies = torch.zeros(self.rows, self.tokens, device=device)

    @torch.no_grad()
    def sample(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Answers to prompts that are padded at the left.

        Args:
            ids: shape (rows, 2 to ``WIDTH``).
            mask: 0 at padding, else 1; of the same shape.

        Returns:
            The ids of the answers, padded at the right, and the entropy of each token in nats: shape (rows, tokens).
        """
        if self._graph is None and ids.is_cuda:
            self._begin(ids, mask)
            self._record()
        self._begin(ids, mask)
        left = torch.arange(self.rows, device=ids.device)
        answers, entropies = torch.empty_like(self._chosen), torch.empty_like(self._entropies)
        for number in range(1, self.tokens):
            if number % CHECK == 0:
                answers[left], entropies[left] = self._chosen, self._entropies
                going = (~self._ended[:, 0]).nonzero()[:, 0]
                if not len(going):
                    return answers, entropies
                if self._graph is None and len(going) < len(left):
                    left = left[going]
                    self._keep(going)
            if self._graph is None:
                self._step()
            else:
                self._graph.replay()
        answers[left], entropies[left] = self._chosen, self._entropies
        return answers, entropies

    def _begin(self, ids: Tensor, mask: Tensor) -> None:
        """Pass the prompts, and choose the first tokens."""
        width = ids.shape[1]
        if not 1 < width <= WIDTH:
            raise ValueError(f"prompts have 2 to {WIDTH} tokens, and these {width}; for longer ones raise graphs.WIDTH")
        if len(self._token) < self.rows:
            self._make_room()
            self._cache.clear()
        self._slot.fill_(width)
        self._seen.zero_()
        self._seen[..., :width] = mask[:, None, None].bool()
        self._place.copy_(mask.sum(-1, keepdim=True))
        for one in (self._ended, self._number, self._entropies):
            one.zero_()
        self._chosen.fill_(self.padding)
        distinct, self._cache.owner = torch.cat([ids, mask], 1).unique(dim=0, return_inverse=True)
        ids, mask = distinct.split(width, 1)
        past = torch.ones(width, width, dtype=torch.bool, device=ids.device).tril()
        output = self.model(
            input_ids=ids,
            attention_mask=past & mask[:, None, None].bool(),
            position_ids=(mask.cumsum(-1) - 1).clamp(min=0),
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=1,
        )
        self._choose(output.logits[self._cache.owner, -1].float())

    def _keep(self, rows: Tensor) -> None:
        """Drop all other rows."""
        self._cache.keep(rows)
        self._seen, self._token, self._place = self._seen[rows], self._token[rows], self._place[rows]
        self._ended, self._chosen, self._entropies = self._ended[rows], self._chosen[rows], self._entropies[rows]

    def _step(self) -> None:
        self._seen.index_fill_(3, self._slot, True)
        output = self.model(
            input_ids=self._token,
            attention_mask=self._seen if self._whole else self._seen[..., : int(self._slot) + 1],
            position_ids=self._place,
            past_key_values=self._cache,
            use_cache=True,
        )
        self._slot.add_(1)
        self._place.add_(1)
        self._choose(output.logits[:, -1].float())

    def _choose(self, logits: Tensor) -> None:
        logarithms = logits.log_softmax(-1)
        shares = logarithms.exp()
        entropy = -(shares * logarithms).sum(-1, keepdim=True)
        if self._greedy:
            chosen = logits.argmax(-1, keepdim=True)
        else:
            sums = shares.cumsum(-1)
            chosen = torch.searchsorted(sums, (1 - torch.rand_like(sums[:, :1])) * sums[:, -1:])  # never a share of 0
        chosen = chosen.masked_fill(self._ended, self.padding)
        self._chosen.index_copy_(1, self._number, chosen)
        self._entropies.index_copy_(1, self._number, entropy)
        self._ended.logical_or_(chosen == self.end)
        self._token.copy_(chosen)
        self._number.add_(1)

    def _record(self) -> None:
        beside = torch.cuda.Stream()
        beside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(beside):
            for _ in range(3):  # what libraries allocate at their first calls is not to be recorded
                self._step()
        torch.cuda.current_stream().wait_stream(beside)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph, capture_error_mode="thread_local"):
            self._step()


def generate(model: Any, input_ids: Tensor, attention_mask: Tensor, generation_config: Any, **_: Any) -> Tensor:
    """In place of ``model.generate``, as TRL calls it for rollouts at temperature 1."""
    rows, tokens = len(input_ids), generation_config.max_new_tokens
    if (found := model.__dict__.get("_sampler")) is None or found[0] != (rows, tokens):
        ends = {"end": model.config.eos_token_id, "padding": generation_config.pad_token_id}
        found = (rows, tokens), Sampler(model, rows, tokens, **ends)
        model.__dict__["_sampler"] = found
    chosen, _ = found[1].sample(input_ids, attention_mask)
    return torch.cat([input_ids, chosen], 1)
