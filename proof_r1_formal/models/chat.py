"""What is said to a model and what it answers: messages, how to sample, replies, and who replies.

Whatever asks a model (samples, agents, repair, review) takes a :class:`Model` and does not know where it runs.
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
    """A message of a chat, as chat templates and endpoints take it."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Form:
    """What a reply is held to while it is written.

    Attributes:
        key: what tells it from others, for the journal.
        fields: that a request to an endpoint has for it.
        plain: whether an endpoint gets one text (``/completions``) in place of messages.
        grammar: of the reply of a model in a folder, in the dialect of ``llguidance``; any text if None.
        guide: makes what verifies the steps of one reply of a model in a folder; none is verified if None.
    """

    key: str
    fields: Mapping[str, object] = field(default_factory=dict)
    plain: bool = False
    grammar: str | None = None
    guide: Callable[[], Guide] | None = None


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a reply is sampled.

    Attributes:
        temperature: 0 takes the likeliest token.
        top_p: tokens are drawn from the fewest that have this probability together.
        max_tokens: a reply is cut there.
        thinking: with explicit thinking, a chat template that can turn the model's own thinking off does so.
        form: what the reply is held to, if anything.
        seed: of the random numbers of a reply that a model in a folder is held to.
    """

    temperature: float = 0.8
    top_p: float = 0.95
    max_tokens: int = 4096
    thinking: Thinking = "explicit"
    form: Form | None = None
    seed: int = 0

    def record(self) -> dict[str, object]:
        """What tells a reply from those that are sampled in another way; plain data."""
        record: dict[str, object] = {name: getattr(self, name) for name in ("temperature", "top_p", "max_tokens")}
        record["thinking"] = self.thinking
        return record if self.form is None else {**record, "form": self.form.key}


class Reply(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a model wrote.

    Attributes:
        text: with its thoughts in ``<think>…</think>``, where it keeps them apart.
        finish: ``stop`` if it ended by itself, ``length`` if it was cut, or what else the endpoint says.
        tokens: that it wrote, if that is known.
        prompt_tokens: that it read, if that is known.
        started, ended: when it was asked and when it had answered, in seconds since 1970.
        trials: the steps that were taken back; ``tokens`` counts theirs, too.
    """

    text: str
    finish: str
    tokens: int | None = None
    prompt_tokens: int | None = None
    started: float
    ended: float
    trials: tuple[Trial, ...] = ()


class Model(Protocol):
    """Who replies."""

    @property
    def name(self) -> str:
        """What tells its replies from those of other models."""

    async def reply(self, chat: Sequence[Message], sampling: Sampling) -> Reply:
        """The next message of a chat.

        Raises:
            CallError: there is none this time.
            ModelError: there will never be one.
        """


class TimedModel(Model, Protocol):
    """A model that one task asks, and that keeps account of what the task takes."""

    def worked(self, started: float, ended: float) -> None:
        """Count time in which something other than the model worked, in seconds since 1970."""


async def ask_all(model: Model, chats: Iterable[Sequence[Message]], sampling: Sampling) -> list[Reply]:
    """Ask for the next message of each of several chats at once.

    Every call ends before this does, failed ones or not: what is paid for is there when one asks again.

    Raises:
        CallError, ModelError: the first call that brought no reply.
    """
    found = await asyncio.gather(*[model.reply(chat, sampling) for chat in chats], return_exceptions=True)
    replies: list[Reply] = []
    for one in found:
        if isinstance(one, BaseException):
            raise one
        replies.append(one)
    return replies


class ModelError(ProofR1Error):
    """A model that cannot be used at all: there is none of that name, the key is refused, or something is missing."""


class CallError(ProofR1Error):
    """A call that brought no reply.

    Attributes:
        problem: what went wrong.
        again: whether the same call may bring one later.
        after: seconds to wait before it, if the endpoint says so.
    """

    def __init__(self, problem: str, *, again: bool, after: float | None = None) -> None:
        self.problem = problem
        self.again = again
        self.after = after
        super().__init__(problem)
