"""The interface of models: messages, sampling settings, replies and errors.

All code that calls a model (sampling, agents, repair, review) takes a :class:`Model`, wherever it runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, TypedDict

import msgspec

from proof_r1_formal.decoding.trial import Trial
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.proof.trajectory import Thinking

if TYPE_CHECKING:
    from proof_r1_formal.decoding.guide import Guide


class Message(TypedDict):
    """A message of a chat, in the format of chat templates and endpoints."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Form:
    """The constraints on a reply during sampling.

    Attributes:
        key: identifies the constraints in the journal.
        fields: of the request to an endpoint.
        plain: whether an endpoint gets one text (``/completions``) instead of messages.
        grammar: of the reply of a model in a folder, in the dialect of ``llguidance``; any text if None.
        guide: makes the verifier of the steps of one reply (models in a folder); steps are not verified if None.
        beam: number of partial replies continued after each step (models in a folder).
    """

    key: str
    fields: Mapping[str, object] = field(default_factory=dict)
    plain: bool = False
    grammar: str | None = None
    guide: Callable[[], Guide] | None = None
    beam: int = 1


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling settings of a reply.

    Attributes:
        temperature: 0 takes the most probable token.
        top_p: tokens are drawn from the smallest set with this total probability.
        max_tokens: length at which a reply is truncated.
        thinking: ``explicit`` turns off the model's own thinking if the chat template can.
        form: the constraints on the reply, if any.
        seed: of a constrained reply of a model in a folder.
    """

    temperature: float = 0.8
    top_p: float = 0.95
    max_tokens: int = 4096
    thinking: Thinking = "explicit"
    form: Form | None = None
    seed: int = 0

    def record(self) -> dict[str, object]:
        """The settings as plain data, for the keys of the journal."""
        record: dict[str, object] = {name: getattr(self, name) for name in ("temperature", "top_p", "max_tokens")}
        record["thinking"] = self.thinking
        return record if self.form is None else {**record, "form": self.form.key}


class Reply(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A reply of a model.

    Attributes:
        text: with thoughts in ``<think>…</think>``, if the model returns them separately.
        finish: ``stop`` if the model ended it, ``length`` if it was truncated, or another reason of the endpoint.
        tokens: number of generated tokens, if known.
        prompt_tokens: number of prompt tokens, if known.
        started, ended: of the call, in seconds since 1970.
        trials: the steps that were taken back; ``tokens`` counts theirs, too.
    """

    text: str
    finish: str
    tokens: int | None = None
    prompt_tokens: int | None = None
    started: float
    ended: float
    trials: tuple[Trial, ...] = ()


THOUGHTS_ONLY = (
    "if the endpoint takes the whole reply for thoughts, turn its reasoning parser off; if thoughts reach the limit, "
    "raise --max-tokens or turn thinking off with --extra"
)
"""The advice for replies without an answer."""


def holds_thoughts_only(text: str) -> bool:
    """Whether nothing follows the thoughts of a reply.

    >>> [holds_thoughts_only(text) for text in ("<think>hm</think>\\n", "<think>hm</think> yes", "<think>hm", "")]
    [True, False, False, False]
    """
    return text.startswith("<think>") and text.rstrip().endswith("</think>")


class Model(Protocol):
    """A model that replies to chats."""

    @property
    def name(self) -> str:
        """The name that identifies the replies of the model."""

    async def reply(self, chat: Sequence[Message], sampling: Sampling) -> Reply:
        """The next message of a chat.

        Raises:
            CallError: this call failed.
            ModelError: every call will fail.
        """


class TimedModel(Model, Protocol):
    """The model of one task, which also records the time of other work."""

    def worked(self, started: float, ended: float) -> None:
        """Record an interval of work outside the model, such as a solver's, in seconds since 1970."""


async def ask_all(model: Model, chats: Iterable[Sequence[Message]], sampling: Sampling) -> list[Reply]:
    """Request the next message of each of several chats concurrently.

    All calls end before this function returns or raises, so the journal has every reply that was paid for.

    Raises:
        CallError, ModelError: the error of the first failed call.
    """
    found = await asyncio.gather(*[model.reply(chat, sampling) for chat in chats], return_exceptions=True)
    replies: list[Reply] = []
    for one in found:
        if isinstance(one, BaseException):
            raise one
        replies.append(one)
    return replies


class ModelError(ProofR1Error):
    """A model that cannot be used: its name is unknown, the key is rejected, or a package is missing."""


class CallError(ProofR1Error):
    """A failed call.

    Attributes:
        problem: the reason.
        again: whether to retry the call.
        after: seconds to wait before the retry, if the endpoint requests it.
    """

    def __init__(self, problem: str, *, again: bool, after: float | None = None) -> None:
        self.problem = problem
        self.again = again
        self.after = after
        super().__init__(problem)
