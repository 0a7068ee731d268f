"""A model in a folder of ``transformers``. Waiting chats are answered as one batch.

In: a folder. Out: a :class:`~proof_r1_formal.models.chat.Model`. It runs on a GPU if there is one. A reply ends with
``</summary>``, at the model's end token, or at the maximum length. Nothing is downloaded.

Replies are not repeatable, as which chats are answered together depends on when they arrive. Replies that are held
to a form have random numbers of their own: they are repeatable, but for the rounding of sums in batches.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from proof_r1_formal.decoding.guide import END
from proof_r1_formal.models.chat import CallError, Message, ModelError, Reply, Sampling
from proof_r1_formal.models.prompts import chat_prompt

if TYPE_CHECKING:
    import torch
    from transformers import GenerationConfig, PreTrainedTokenizerBase

    from proof_r1_formal.decoding.sampler import Decoder

SHOWN = 300
"""Maximum length of an error message of the model's own code that is shown."""


class _Writer(Protocol):
    """The required interface of a model of ``transformers``."""

    @property
    def device(self) -> torch.device: ...
    @property
    def generation_config(self) -> GenerationConfig | None: ...
    def generate(self, **inputs: Any) -> object: ...


@dataclass(slots=True, eq=False)
class _PendingReply:
    """A waiting chat, and its reply once there is one."""

    chat: Sequence[Message]
    sampling: Sampling
    reply: Reply | None = None


class LocalModel:
    """A model of this process.

    Attributes:
        name: the folder.
    """

    def __init__(self, folder: Path | str, *, concurrency: int = 8) -> None:
        """Load a model.

        Args:
            folder: in which the model and its tokenizer are.
            concurrency: the most chats answered in one batch.

        Raises:
            ModelError: there is none, or what runs it is not installed.
        """
        self.name = str(folder)
        self._model, self._tokenizer = _load(folder)
        self._concurrency = concurrency
        self._waiting: list[_PendingReply] = []
        self._free = asyncio.Lock()
        self._decoder: Decoder | None = None

    async def reply(self, chat: Sequence[Message], sampling: Sampling) -> Reply:
        """See :class:`~proof_r1_formal.models.chat.Model`."""
        pending = _PendingReply(chat, sampling)
        self._waiting.append(pending)
        try:
            await asyncio.sleep(0)  # those who ask at the same moment come first
            async with self._free:
                if pending.reply is None:  # it was not answered together with another
                    await self._answer(pending)
        finally:
            self._waiting.remove(pending)
        assert pending.reply is not None
        return pending.reply

    async def _answer(self, pending: _PendingReply) -> None:
        """Answer a chat, and with it others that wait."""
        others = [one for one in self._waiting if one.reply is None and _alike(one.sampling, pending.sampling)]
        batch = [pending, *[one for one in others if one is not pending]][: self._concurrency]
        try:
            await self._write(batch)
        except CallError:
            if len(batch) == 1:
                raise
            await self._write([pending])  # one of the others may be to blame

    async def _write(self, batch: Sequence[_PendingReply]) -> None:
        """Reply to chats that are sampled in the same way."""
        try:
            write = self._generate if batch[0].sampling.form is None else self._decode
            replies = await asyncio.to_thread(write, batch)
        except Exception as error:  # of torch, a template, the model's own code: memory, a chat that is too long, …
            raise CallError(f"the model fails: {type(error).__name__}: {error}"[:SHOWN], again=False) from error
        for one, reply in zip(batch, replies, strict=True):
            one.reply = reply

    def _prompts(self, batch: Sequence[_PendingReply]) -> list[str]:
        return [chat_prompt(self._tokenizer, one.chat, thinking=one.sampling.thinking) for one in batch]

    def _decode(self, batch: Sequence[_PendingReply]) -> list[Reply]:
        """Replies that are held to a form."""
        from proof_r1_formal.decoding import sampler

        started = time.time()
        if self._decoder is None:
            self._decoder = sampler.Decoder(self._model, self._tokenizer)  # type: ignore[arg-type]
        wanted: list[sampler.DecodingRequest] = []
        for one, prompt in zip(batch, self._prompts(batch), strict=True):
            form, ids = one.sampling.form, self._tokenizer.encode(prompt, add_special_tokens=False)
            assert form is not None  # one that has none is written by the other method
            guide = None if form.guide is None else form.guide()
            budget, seed = one.sampling.max_tokens, one.sampling.seed
            wanted.append(sampler.DecodingRequest(ids, form.grammar, guide, seed, budget, form.beam))
        how = batch[0].sampling
        found = self._decoder.sample(wanted, temperature=how.temperature, top_p=how.top_p)
        ended = time.time()
        return [
            Reply(
                text=done.text,
                finish="stop" if done.whole else "length",
                tokens=done.tokens,
                prompt_tokens=len(request.prompt) + done.read,
                started=started,
                ended=ended,
                trials=done.trials,
            )
            for request, done in zip(wanted, found, strict=True)
        ]

    def _generate(self, batch: Sequence[_PendingReply]) -> list[Reply]:
        import torch

        started, sampling = time.time(), batch[0].sampling
        prompts = self._prompts(batch)
        encoded = self._tokenizer(prompts, return_tensors="pt", padding=True, add_special_tokens=False)
        drawn = {"do_sample": True, "temperature": sampling.temperature, "top_p": sampling.top_p, "top_k": 0}
        with torch.inference_mode():
            written = self._model.generate(
                input_ids=encoded["input_ids"].to(self._model.device),
                attention_mask=encoded["attention_mask"].to(self._model.device),
                max_new_tokens=sampling.max_tokens,
                stop_strings=[END],
                tokenizer=self._tokenizer,
                pad_token_id=self._tokenizer.pad_token_id,
                **(drawn if sampling.temperature > 0 else {"do_sample": False}),
            )
        ended = time.time()
        assert isinstance(written, torch.Tensor)  # as nothing more was asked for
        read = encoded["attention_mask"].sum(1).tolist()
        answers = written[:, encoded["input_ids"].shape[1] :].tolist()
        return [
            self._reply(ids, prompt_tokens=count, started=started, ended=ended)
            for ids, count in zip(answers, read, strict=True)
        ]

    def _reply(self, ids: list[int], *, prompt_tokens: int, started: float, ended: float) -> Reply:
        """The reply that tokens are; behind the first one that ends it there is padding."""
        stops = self._stops()
        length = next((place for place, token in enumerate(ids) if token in stops), len(ids))
        text = str(self._tokenizer.decode(ids[:length], skip_special_tokens=True))
        before, end, _ = text.partition(END)
        tokens = min(length + 1, len(ids))
        whole = bool(end) or length < len(ids)
        return Reply(
            text=before + end,
            finish="stop" if whole else "length",
            tokens=tokens,
            prompt_tokens=prompt_tokens,
            started=started,
            ended=ended,
        )

    def _stops(self) -> frozenset[object]:
        generation = self._model.generation_config
        ends = generation.eos_token_id if generation is not None else None
        listed: Iterable[object] = ends if isinstance(ends, list) else [ends]
        known = (*listed, self._tokenizer.eos_token_id, self._tokenizer.pad_token_id)
        return frozenset([token for token in known if token is not None])


def _alike(one: Sampling, other: Sampling) -> bool:
    """Whether chats that are sampled in these ways can be answered together."""
    if one.form is None or other.form is None:
        return one == other
    return (one.temperature, one.top_p) == (other.temperature, other.top_p)


def not_loaded(what: str, path: Path | str, error: Exception) -> ModelError:
    """The error for a path without a model, tokenizer or adapter."""
    missing = "there is no such folder, and no model of this name in the cache of transformers"
    return ModelError(f"{path}: the {what} cannot be loaded: {error if Path(path).is_dir() else missing}")


def _load(folder: Path | str) -> tuple[_Writer, PreTrainedTokenizerBase]:
    if find_spec("torch") is None or find_spec("transformers") is None:
        raise ModelError("a model in a folder needs the extra train: pip install 'proof-r1-formal[train]'")
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model = AutoModelForCausalLM.from_pretrained(folder, dtype="auto", local_files_only=True)
    except (OSError, ValueError) as error:
        raise not_loaded("model", folder, error) from error
    tokenizer.padding_side = "left"
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    torch.nn.Module.to(model, device)
    model.eval()
    return model, tokenizer
