"""Many calls of a model: a few at a time, again where that helps, each paid for once.

In: tasks, each of which asks a model as often as it likes. Out: what each came to, or why it failed, and what it cost.
Every reply goes to a :class:`Journal` before it is used. A run that was killed is run again from the start, with the
replies of the journal: tasks ask the same questions in the same order, so only what was never answered is asked.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Generic, Self, TypeVar

import msgspec

from proof_r1_formal.data.completions import Cost
from proof_r1_formal.errors import DataError
from proof_r1_formal.models.chat import CallError, Message, Model, Reply, Sampling
from proof_r1_formal.proof.output import whole_lines

_Found = TypeVar("_Found")

ATTEMPTS = 6
"""How often a call is made at most: with the pauses between, for about a minute."""
LONGEST_PAUSE = 600.0
"""Seconds; an endpoint that wants to be left alone for longer is asked after so long nevertheless."""


# -- patience ---------------------------------------------------------------------------------------------------------


class Patient:
    """A model that is asked a few things at a time, and again after a while where a call fails.

    What an endpoint says about when to come back (``Retry-After``) holds for all calls, since it is about all.

    Attributes:
        name: of the model.
    """

    def __init__(
        self,
        model: Model,
        *,
        at_once: int = 8,
        per_minute: float | None = None,
        attempts: int = ATTEMPTS,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """A patient model.

        Args:
            model: that is asked.
            at_once: calls in flight, at most.
            per_minute: calls begun in a minute, at most.
            attempts: how often a call is made, at most.
            clock: seconds.
            sleep: waits for seconds.
        """
        self.name = model.name
        self._model = model
        self._places = asyncio.Semaphore(at_once)
        self._gap = 0.0 if per_minute is None else 60.0 / per_minute
        self._attempts = attempts
        self._clock = clock
        self._sleep = sleep
        self._open = float("-inf")  # before this no call begins

    async def reply(self, chat: Sequence[Message], sampling: Sampling) -> Reply:
        """See :class:`~proof_r1_formal.models.chat.Model`; a call error is that of the last attempt."""
        attempt = 0
        while True:
            attempt += 1
            try:
                async with self._places:
                    await self._turn()
                    return await self._model.reply(chat, sampling)
            except CallError as error:
                if error.after is not None:
                    self._open = max(self._open, self._clock() + min(error.after, LONGEST_PAUSE))
                if not error.again or attempt == self._attempts:
                    raise
                if error.after is None:
                    await self._sleep(2.0 ** (attempt - 1) * random.uniform(0.75, 1.25))

    async def _turn(self) -> None:
        """Wait until a call may begin; turns are given out in order, a gap apart."""
        now = self._clock()
        turn = max(now, self._open)
        self._open = turn + self._gap
        if turn > now:
            await self._sleep(turn - now)


# -- the journal ------------------------------------------------------------------------------------------------------


class _Entry(msgspec.Struct, frozen=True):
    """A line of a journal."""

    key: str
    of: str
    reply: Reply


class Journal:
    """A file of replies, each under what was asked; use as a context manager.

    Attributes:
        replayed: replies that were taken from the file.
        tokens: that were written for replies that were not, as far as that is known.
    """

    def __init__(self, path: Path) -> None:
        """The journal of a path; a last line that was cut short is dropped.

        Raises:
            DataError: the file can be neither read nor written.
        """
        self.replayed = self.tokens = 0
        self._replies: dict[str, Reply] = {}
        try:
            _, size = whole_lines(path, self._learn)
            self._file = path.open("ab")
            self._file.truncate(size)
        except OSError as error:
            raise DataError(str(path), f"the file cannot be written: {error.strerror}") from error

    def _learn(self, line: bytes) -> None:
        try:
            entry = msgspec.convert(json.loads(line), _Entry)  # this JSON reader keeps unpaired surrogates
        except ValueError as error:
            raise msgspec.DecodeError(str(error)) from error
        self._replies[entry.key] = entry.reply

    async def reply(self, key: str, of: str, ask: Callable[[], Awaitable[Reply]]) -> Reply:
        """The reply to what has a key; if there is none yet it is asked for, and on disk before this returns.

        Args:
            key: of the question.
            of: whose question it is, for people.
            ask: asks.
        """
        if key in self._replies:
            self.replayed += 1
            return self._replies[key]
        reply = self._replies[key] = await ask()
        self.tokens += reply.tokens or 0
        record = msgspec.to_builtins(_Entry(key, of, reply))
        self._file.write(json.dumps(record).encode("ascii") + b"\n")  # ASCII keeps unpaired surrogates
        self._file.flush()
        return reply

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


class Recorded:
    """A model that a task asks: its replies go through a journal and are counted.

    Attributes:
        name: of the model.
        replies: in the order in which they came.
    """

    def __init__(self, model: Model, journal: Journal, of: str) -> None:
        self.name = model.name
        self.replies: list[Reply] = []
        self._model = model
        self._journal = journal
        self._of = of
        self._asked: Counter[str] = Counter()

    async def reply(self, chat: Sequence[Message], sampling: Sampling) -> Reply:
        """See :class:`~proof_r1_formal.models.chat.Model`."""
        question = json.dumps([self.name, self._of, asdict(sampling), list(chat)])
        self._asked[question] += 1  # who asks the same twice wants two replies
        key = hashlib.sha256(f"{self._asked[question]} {question}".encode()).hexdigest()[:32]
        reply = await self._journal.reply(key, self._of, lambda: self._model.reply(chat, sampling))
        self.replies.append(reply)
        return reply

    def cost(self) -> Cost:
        """What the replies took; the time is that in which at least one call was under way."""
        tokens = [reply.tokens for reply in self.replies if reply.tokens is not None]
        read = [reply.prompt_tokens for reply in self.replies if reply.prompt_tokens is not None]
        count = len(self.replies)
        return Cost(
            tokens=sum(tokens) if len(tokens) == count else None,
            prompt_tokens=sum(read) if len(read) == count else None,
            seconds=_covered([(reply.started, reply.ended) for reply in self.replies]),
            calls=count,
        )


def _covered(spans: Iterable[tuple[float, float]]) -> float:
    """How long the union of spans of time is."""
    covered, reached = 0.0, float("-inf")
    for start, end in sorted(spans):
        covered += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return round(covered, 3)


# -- tasks ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Task(Generic[_Found]):
    """Something to ask a model about.

    Attributes:
        of: what tells it from the other tasks of a journal.
        work: asks, as often as it likes, and comes to something; asked again with the same replies it does the same.
    """

    of: str
    work: Callable[[Model], Awaitable[_Found]] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Done(Generic[_Found]):
    """A task that came to something, and what that took."""

    task: Task[_Found]
    found: _Found
    cost: Cost


@dataclass(frozen=True, slots=True)
class Failed(Generic[_Found]):
    """A task that came to nothing, and why."""

    task: Task[_Found]
    problem: str
    cost: Cost


async def run(
    tasks: Iterable[Task[_Found]],
    model: Model,
    journal: Journal,
    *,
    at_once: int = 8,
    told: Callable[[Done[_Found] | Failed[_Found]], object] = lambda _: None,
) -> list[Done[_Found] | Failed[_Found]]:
    """Do tasks, several at a time.

    Args:
        tasks: no two of the same name.
        model: that they ask; mostly a :class:`Patient` one.
        journal: of the replies.
        at_once: tasks under way, at most.
        told: is told of each as soon as it is over.

    Returns:
        What each came to, in their order.

    Raises:
        ModelError: the model cannot be used; what was answered by then is in the journal.
    """
    ended: dict[int, Done[_Found] | Failed[_Found]] = {}
    waiting = enumerate(tasks)

    async def worker() -> None:
        for place, task in waiting:  # shared: each worker takes the next task that nobody has taken
            recorded = Recorded(model, journal, task.of)
            try:
                outcome: Done[_Found] | Failed[_Found] = Done(task, await task.work(recorded), recorded.cost())
            except CallError as error:
                outcome = Failed(task, error.problem, recorded.cost())
            ended[place] = outcome
            told(outcome)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(worker())
    except BaseExceptionGroup as errors:  # the first says what is wrong; the others were under way with it
        raise errors.exceptions[0] from None
    return [ended[place] for place in sorted(ended)]
