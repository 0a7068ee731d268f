"""Sampling in which a grammar rules tokens out and the verifier takes steps back.

In: a model of ``transformers`` and, for each completion, a prompt and what guides it. Out: the completion, how many
tokens were sampled for it, and each step that was taken back. Completions are sampled together, each with random
numbers of its own, so what one draws does not depend on the others.

A step that is taken back stays in the cache of keys and values: its places are masked, and the next token takes the
position of its first. So going back costs no pass through what stays. If the model is to know why the step failed,
the step stays in sight, with a remark behind it that no one sampled; neither is part of the completion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from proof_r1_formal.decoding.guide import END, Guide, Kept, TakenBack, Watch
from proof_r1_formal.decoding.masks import DecodingError, Mask, mask_tokens
from proof_r1_formal.decoding.trial import Trial

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


@dataclass(frozen=True, slots=True)
class DecodingRequest:
    """A completion to be sampled.

    Attributes:
        prompt: token ids, at least one.
        grammar: in the Lark dialect of ``llguidance``; any text if None.
        guide: verifies steps; none are verified if None.
        seed: of its random numbers.
        budget: tokens that may be sampled, those of steps that are taken back among them.
    """

    prompt: Sequence[int]
    grammar: str | None
    guide: Guide | None
    seed: int
    budget: int


@dataclass(frozen=True, slots=True)
class Decoded:
    """A completion.

    Attributes:
        text: of what stayed.
        tokens: that were sampled, those of steps that were taken back among them.
        whole: whether it ended by itself; otherwise the budget was spent, or it was given up.
        read: tokens of remarks, which the model read.
        trials: the steps that were taken back, in order.
    """

    text: str
    tokens: int
    read: int
    whole: bool
    trials: tuple[Trial, ...]


class Decoder:
    """Samples from a model.

    Args:
        model: a causal language model whose positions are given by ``position_ids``.
        tokenizer: of the model.

    Raises:
        DecodingError: ``llguidance`` is not installed, or it does not know the tokenizer.
    """

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
        self.model, self.tokenizer = model, tokenizer
        width = int(model.config.get_text_config().vocab_size)
        self.tokens = mask_tokens(tokenizer, width)
        self.unspoken = np.ones(width, dtype=bool)
        self.unspoken[[number for number in tokenizer.get_vocab().values() if number < width]] = False
        ends = model.generation_config.eos_token_id if model.generation_config is not None else None
        listed = (*(ends if isinstance(ends, list) else [ends]), tokenizer.eos_token_id)
        self.stops = frozenset([end for end in listed if isinstance(end, int)])

    def sample(self, requests: Sequence[DecodingRequest], *, temperature: float, top_p: float = 1.0) -> list[Decoded]:
        """Sample completions together.

        Args:
            requests: what is to be sampled.
            temperature: 0 takes the likeliest token that is allowed.
            top_p: tokens are drawn from the fewest that have this probability together.

        Raises:
            GrammarError: a grammar is not one.
            DecodingError: the model's outputs are not numbers.
        """
        import torch

        if not requests:
            return []
        rows = [_Row(self, request, temperature, top_p) for request in requests]
        with torch.inference_mode():
            batch = _Batch(self.model, rows)
            while batch.rows:
                logits = batch.logits()
                for row, its in zip(batch.rows, logits, strict=True):
                    row.step(its)
                batch.leave()
        return [row.decoded() for row in rows]


@dataclass(slots=True)
class _Row:
    """A completion that is being sampled."""

    decoder: Decoder
    request: DecodingRequest
    temperature: float
    top_p: float
    ids: list[int] = field(default_factory=list)  # of the completion
    shown: list[int] = field(default_factory=list)  # what the model sees behind the prompt
    slots: list[int] = field(default_factory=list)  # of the last token of the prompt and of ``shown`` in the cache
    remark: list[int] = field(default_factory=list)  # tokens that come next, whatever the model wants
    read: int = 0
    dropped: list[int] = field(default_factory=list)  # places that are to be masked before the next pass
    spent: int = 0
    over: bool = False
    whole: bool = False
    trials: list[Trial] = field(default_factory=list)
    data: bytes = b""
    good: int = 0  # tokens up to the beginning of the summary, or up to the end of the last step that stays
    watch: Watch | None = field(init=False)
    random: np.random.Generator = field(init=False)
    mask: Mask | None = field(init=False)

    def __post_init__(self) -> None:
        self.watch = None if self.request.guide is None else Watch(self.request.guide)
        self.random = np.random.default_rng(self.request.seed)
        grammar = self.request.grammar
        self.mask = None if grammar is None else Mask(self.decoder.tokens, grammar)

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", errors="replace")

    def step(self, logits: NDArray[np.float32]) -> None:
        """Draw a token and see what it comes to; or take the next of a remark."""
        if self.remark:
            self.shown.append(self.remark.pop(0))
            self.read += 1
            return
        token = self._draw(logits)
        self.spent += 1
        if token in self.decoder.stops:
            self.over = self.whole = True
            return
        self.ids.append(token)
        self.shown.append(token)
        piece = self.decoder.tokens.decode_bytes([token])
        self.data += piece
        if self.mask is not None:
            self.mask.add(token)
        if self.watch is not None:
            self._verify(self.watch, finished=b"}" in piece)
        if self.over:
            return
        if END.encode() in self.data if self.mask is None else self.mask.complete:
            self.over = self.whole = True
        elif self.spent >= self.request.budget:
            self.over = True

    def _draw(self, logits: NDArray[np.float32]) -> int:
        allowed = ~self.decoder.unspoken
        if self.mask is not None:
            allowed = allowed & self.mask.allowed(len(allowed))
        return draw(np.where(allowed, logits, -np.inf), self.random.random(), self.temperature, self.top_p)

    # -- steps --------------------------------------------------------------------------------------------------------

    def _verify(self, watch: Watch, *, finished: bool) -> None:
        """Verify the steps that are finished; take the first that fails back."""
        before = watch.start
        if watch.opened(self.text) and before is None:
            self.good = len(self.ids)
        while finished and not self.over and (seen := watch.look(self.text)) is not None:
            match seen:
                case Kept(answer):
                    self.good = len(self.ids)
                    if answer is not None:
                        self.data = answer.encode()
                        self.over = self.whole = True
                case TakenBack():
                    self._take_back(seen, watch)
                    self.over = seen.over
                    return

    def _take_back(self, step: TakenBack, watch: Watch) -> None:
        count = len(self.ids) - self.good
        self.trials.append(Trial(self.text[step.begin :], count, tuple([finding.code for finding in step.findings])))
        if self.mask is not None:
            self.mask.take_back(count)
        del self.ids[self.good :]
        self.data = self.decoder.tokens.decode_bytes(self.ids)
        if watch.guide.feedback == "none":
            self.dropped += self.slots[self.good :]
            del self.shown[self.good :], self.slots[self.good :]
        else:  # a step starts with what the last token of the one before it may have written already
            text = step.remark + self.text[watch.start :]
            self.remark = list(self.decoder.tokenizer.encode(text, add_special_tokens=False))

    def decoded(self) -> Decoded:
        """What came out."""
        text = self.text
        before, end, _ = text.partition(END) if self.mask is None else (text, "", "")
        return Decoded(before + end, self.spent, self.read, self.whole, tuple(self.trials))


class _Batch:
    """The rows that go on, and their keys and values."""

    def __init__(self, model: PreTrainedModel, rows: Sequence[_Row]) -> None:
        import torch
        from transformers import DynamicCache

        self.model, self.rows = model, list(rows)
        self.cache = DynamicCache(config=model.config)
        width = max(len(row.request.prompt) for row in rows) - 1
        self.mask = torch.zeros((len(rows), width), dtype=torch.long)
        ids = torch.zeros((len(rows), width), dtype=torch.long)
        for number, row in enumerate(rows):
            prefix = row.request.prompt[:-1]
            if prefix:
                ids[number, -len(prefix) :] = torch.tensor(prefix)
                self.mask[number, -len(prefix) :] = 1
        if width:
            self._pass(ids, (self.mask.cumsum(-1) - 1).clamp(min=0))

    def logits(self) -> NDArray[np.float32]:
        """Of the next token of each row."""
        import torch

        slot = self.mask.shape[1]
        for number, row in enumerate(self.rows):
            self.mask[number, row.dropped] = 0
            row.dropped.clear()
        self.mask = torch.cat([self.mask, self.mask.new_ones(len(self.rows), 1)], dim=1)
        last, places = [], []
        for row in self.rows:
            last.append(row.shown[-1] if row.shown else row.request.prompt[-1])
            places.append(len(row.request.prompt) + len(row.shown) - 1)
            row.slots.append(slot)
        logits = self._pass(torch.tensor(last)[:, None], torch.tensor(places)[:, None])
        found: NDArray[np.float32] = logits[:, -1].float().cpu().numpy()
        return found

    def _pass(self, ids: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        device = self.model.device
        logits: torch.Tensor = self.model(
            input_ids=ids.to(device),
            attention_mask=self.mask.to(device),
            position_ids=places.to(device),
            past_key_values=self.cache,
            use_cache=True,
        ).logits
        return logits

    def leave(self) -> None:
        """Let those that are over leave."""
        import torch

        stay = [number for number, row in enumerate(self.rows) if not row.over]
        if len(stay) == len(self.rows):
            return
        if not stay:
            self.rows = []
            return
        kept = torch.tensor(stay, dtype=torch.long)
        self.cache.batch_select_indices(kept.to(self.model.device))
        self.mask, self.rows = self.mask[kept], [self.rows[number] for number in stay]


def draw(logits: NDArray[np.float32], chance: float, temperature: float, top_p: float) -> int:
    """A token; at least one logit is finite.

    Args:
        logits: minus infinity rules a token out.
        chance: in [0, 1); equal ones draw the same.
        temperature, top_p: see :meth:`Decoder.sample`.

    Raises:
        DecodingError: no token is allowed, or the logits are not numbers.
    """
    best = float(logits.max())
    if not np.isfinite(best):
        raise DecodingError("no token is allowed, or the model's outputs are not numbers")
    if temperature == 0.0:
        return int(logits.argmax())
    likely = np.exp((logits.astype(np.float64) - best) / temperature)
    order = np.argsort(-likely, kind="stable") if top_p < 1.0 else np.arange(len(likely))
    likely = likely[order]
    if top_p < 1.0:
        likely = np.where(likely.cumsum() - likely < top_p * likely.sum(), likely, 0.0)
    below = likely.cumsum()
    place = int(np.searchsorted(below, min(chance * below[-1], np.nextafter(below[-1], 0.0)), side="right"))
    return int(order[place])
