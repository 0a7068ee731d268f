"""Sampling in which a grammar rules tokens out and the verifier takes steps back.

In: a model of ``transformers`` and, for each completion, a prompt and what guides it. Out: the completion, how many
tokens were sampled for it, and each step that was taken back. Completions are sampled together, each with random
numbers of its own, so what one draws does not depend on the others.

A step that is taken back stays in the cache of keys and values: its places are masked, and the next token takes the
position of its first. So going back costs no pass through what stays. If the model is to know why the step failed,
the step stays in sight, with a remark after it that no one sampled; neither is part of the completion.

A beam of B keeps at most B partial answers and continues each of them B times, by one step. It keeps the B best of the
results, each text once: those with the most steps that the guide accepts, and of equals the likeliest. A branch whose
step fails too often ends. A beam of 1 samples a single answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from proof_r1_formal.decoding.guide import END, Commit, Guide, Rollback, Watch
from proof_r1_formal.decoding.masks import DecodingError, Mask, mask_tokens
from proof_r1_formal.proof.report import Code

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
        budget: tokens that may be sampled, those of steps that are taken back and of dropped branches among them.
        beam: number of partial answers that are kept after each step; more than 1 requires a guide.
    """

    prompt: Sequence[int]
    grammar: str | None
    guide: Guide | None
    seed: int
    budget: int
    beam: int = 1


@dataclass(frozen=True, slots=True)
class Trial:
    """A step that was taken back: its text, up to the end of its last token, the tokens that it took, why it failed."""

    text: str
    tokens: int
    findings: tuple[Code, ...]


@dataclass(frozen=True, slots=True)
class Decoded:
    """A completion, which is the text of what stayed.

    Attributes:
        tokens: that were sampled, those of steps that were taken back and of dropped branches among them.
        whole: whether it ended by itself; otherwise the budget was spent, or it was given up.
        read: tokens of remarks, which the model read.
        trials: the steps that were taken back, in any branch, in order.
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
            temperature: 0 takes the likeliest token that is allowed.
            top_p: tokens are drawn from the fewest that have this probability together.

        Raises:
            GrammarError: a grammar is not one.
            DecodingError: the model's outputs are not numbers, or a beam has no guide.
        """
        import torch

        if not requests:
            return []
        beams = [_Beam(request, self, temperature, top_p) for request in requests]
        with torch.inference_mode():
            batch = _Batch(self.model, [row for beam in beams for row in beam.rows])
            while rows := [row for beam in beams for row in beam.turn()]:
                batch.arrange(rows)
                for row, its in zip(rows, batch.logits(), strict=True):
                    if not row.waits and not row.beam.over:
                        row.step(its)
        return [beam.decoded() for beam in beams]


class _Beam:
    """The partial answers to one prompt, and their cost."""

    def __init__(self, request: DecodingRequest, decoder: Decoder, temperature: float, top_p: float) -> None:
        if request.beam > 1 and request.guide is None:
            raise DecodingError(f"a beam of {request.beam} has no guide; add one, or use a beam of 1")
        self.request = request
        self.rows = [_Row(decoder, self, temperature, top_p)]
        self.ended: list[_Row] = []
        self.answer: _Row | None = None  # that is verified
        self.spent = self.read = 0
        self.trials: list[Trial] = []

    @property
    def over(self) -> bool:
        """Whether nothing more is sampled."""
        return self.answer is not None or self.spent >= self.request.budget

    def turn(self) -> list[_Row]:
        """The rows to sample next; if each has finished a step, the best of them and their copies."""
        self.ended += [row for row in self.rows if row.over]
        self.rows = [row for row in self.rows if not row.over]
        if self.over:
            return []
        if all(row.waits for row in self.rows):
            distinct: dict[str, _Row] = {}
            for row in sorted(self.rows, key=_Row.merit, reverse=True):
                distinct.setdefault(row.steps, row)
            best, times = list(distinct.values())[: self.request.beam], range(self.request.beam)
            self.rows = [row.fork() if time else row for row in best for time in times]
            for row in self.rows:
                row.waits = False
        return self.rows

    def decoded(self) -> Decoded:
        """The verified answer, or else the best."""
        best = self.answer or max([*self.ended, *self.rows], key=lambda row: (row.whole, row.merit()))
        if best.watch is not None:
            best.watch.resume()
        text = best.text
        before, end, _ = text.partition(END) if best.mask is None else (text, "", "")
        return Decoded(before + end, self.spent, self.read, best.whole, tuple(self.trials))


@dataclass(slots=True, eq=False)
class _Row:
    """An answer that is being sampled."""

    decoder: Decoder
    beam: _Beam
    temperature: float
    top_p: float
    ids: list[int] = field(default_factory=list)  # of the completion
    logs: list[float] = field(default_factory=list)  # log-probabilities of ``ids``, if the beam is wider than 1
    shown: list[int] = field(default_factory=list)  # what the model sees after the prompt
    slots: list[int] = field(default_factory=list)  # of the last token of the prompt and of ``shown`` in the cache
    remark: list[int] = field(default_factory=list)  # tokens that come next, whatever the model wants
    dropped: list[int] = field(default_factory=list)  # places that are to be masked before the next pass
    waits: bool = True  # for the others of the beam
    place: int = 0  # in the batch
    over: bool = False
    whole: bool = False
    data: bytes = b""
    good: int = 0  # tokens up to the beginning of the summary, or up to the end of the last step that stays
    watch: Watch | None = field(init=False)
    random: np.random.Generator = field(init=False)
    mask: Mask | None = field(init=False)

    def __post_init__(self) -> None:
        guide, grammar = self.beam.request.guide, self.beam.request.grammar
        self.watch = None if guide is None else Watch(guide)
        self.random = np.random.default_rng(self.beam.request.seed)
        self.mask = None if grammar is None else Mask(self.decoder.tokens, grammar)

    def fork(self) -> _Row:
        """A copy with other random numbers."""
        new = copy(self)
        new.ids, new.logs, new.shown, new.slots = self.ids[:], self.logs[:], self.shown[:], self.slots[:]
        new.remark, new.dropped = self.remark[:], self.dropped[:]
        (new.random,) = self.random.spawn(1)
        new.mask = self.mask and self.mask.fork()
        new.watch = self.watch and self.watch.fork()
        return new

    def merit(self) -> tuple[int, float]:
        """The order of partial answers: the accepted steps, then the log-probability."""
        return self.watch.accepted if self.watch is not None else 0, sum(self.logs)

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", errors="replace")

    @property
    def steps(self) -> str:
        """The text up to the end of the last step that stays."""
        return self.text if self.watch is None else self.text[: self.watch.start]

    def step(self, logits: NDArray[np.float32]) -> None:
        """Draw a token and see what it comes to; or take the next of a remark."""
        if self.remark:
            self.shown.append(self.remark.pop(0))
            self.beam.read += 1
            return
        token = self._draw(logits)
        self.beam.spent += 1
        if token in self.decoder.stops:
            self.over = self.whole = True
            return
        if self.beam.request.beam > 1:
            self.logs.append(float(logits[token] - logits.max() - np.log(np.exp(logits - logits.max()).sum())))
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
        elif self.beam.over:
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
                case Commit(answer):
                    self.good, self.waits = len(self.ids), True
                    if answer is not None:
                        self.data = answer.encode()
                        self.over = self.whole = True
                        self.beam.answer = self
                case Rollback():
                    self._take_back(seen, watch)
                    self.over = seen.over
                    return

    def _take_back(self, step: Rollback, watch: Watch) -> None:
        count = len(self.ids) - self.good
        codes = tuple([finding.code for finding in step.findings])
        self.beam.trials.append(Trial(self.text[step.begin :], count, codes))
        if self.mask is not None:
            self.mask.take_back(count)
        del self.ids[self.good :], self.logs[self.good :]
        self.data = self.decoder.tokens.decode_bytes(self.ids)
        if watch.guide.feedback == "none":
            self.dropped += self.slots[self.good :]
            del self.shown[self.good :], self.slots[self.good :]
        else:  # a step starts with what the last token of the one before it may have written already
            text = step.remark + self.text[watch.start :]
            self.remark = list(self.decoder.tokenizer.encode(text, add_special_tokens=False))


class _Batch:
    """The rows that go on, and their keys and values."""

    def __init__(self, model: PreTrainedModel, rows: Sequence[_Row]) -> None:
        import torch
        from transformers import DynamicCache

        self.model = model
        self.cache = DynamicCache(config=model.config)
        width = max(len(row.beam.request.prompt) for row in rows) - 1
        self.mask = torch.zeros((len(rows), width), dtype=torch.long)
        ids = torch.zeros((len(rows), width), dtype=torch.long)
        for number, row in enumerate(rows):
            row.place = number
            if prefix := row.beam.request.prompt[:-1]:
                ids[number, -len(prefix) :] = torch.tensor(prefix)
                self.mask[number, -len(prefix) :] = 1
        if width:
            self._pass(ids, (self.mask.cumsum(-1) - 1).clamp(min=0))
        self.rows = rows

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
            prompt = row.beam.request.prompt
            last.append(row.shown[-1] if row.shown else prompt[-1])
            places.append(len(prompt) + len(row.shown) - 1)
            (row.dropped if row.waits else row.slots).append(slot)
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

    def arrange(self, rows: Sequence[_Row]) -> None:
        """Replace the rows; each new row takes the keys and values at its place, and several may share a place."""
        import torch

        places = [row.place for row in rows]
        if places != list(range(len(self.rows))):
            kept = torch.tensor(places, dtype=torch.long)
            self.cache.batch_select_indices(kept.to(self.model.device))
            self.mask = self.mask[kept]
        for number, row in enumerate(rows):
            row.place = number
        self.rows = rows


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
