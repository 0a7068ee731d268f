"""Many calls of a model: a few at a time, again where that helps, each paid for once.

In: tasks, each of which asks a model as often as it likes. Out: what each came to, or why it failed, and what it cost.
Every reply goes to a :class:`~proof_r1_formal.models.journal.Journal` before it is used.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from proof_r1_formal.data.completions import Cost
from proof_r1_formal.models.chat import Asked, CallError, Message, Model, Reply, Sampling
from proof_r1_formal.models.journal import Journal, Recorded

_Found = TypeVar("_Found")

ATTEMPTS = 8
"""How often a call is made at most: with the pauses between, for about two minutes."""
FIRST_PAUSE = 1.0
"""Seconds after the first failure of a call, on average; each further pause is twice as long."""
LONGEST_PAUSE = 600.0
"""Seconds; an endpoint that wants to be left alone for longer is asked after so long nevertheless."""


# -- patience ---------------------------------------------------------------------------------------------------------


class Patient:
    """A model that is asked a few things at a time, and again after a while where a call fails.

    What an endpoint says about when to come back (``Retry-After``) holds for all calls, since it is about all. The
    call that failed then waits its own pause besides, which differs from call to call, so that not all come at once.

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
        seed: int = 0,
    ) -> None:
        """A patient model.

        Args:
            model: that is asked.
            at_once: calls in flight, at most.
            per_minute: calls begun in a minute, at most.
            attempts: how often a call is made, at most.
            clock: seconds.
            sleep: waits for seconds.
            seed: of the differences between pauses.
        """
        self.name = model.name
        self._model = model
        self._places = asyncio.Semaphore(at_once)
        self._gap = 0.0 if per_minute is None else 60.0 / per_minute
        self._attempts = attempts
        self._clock = clock
        self._sleep = sleep
        self._random = random.Random(seed)
        self._queue = asyncio.Lock()
        self._next = self._closed = float("-inf")  # before the one no turn, before the other no endpoint

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
                after = min(error.after or 0.0, LONGEST_PAUSE)
                self._closed = max(self._closed, self._clock() + after)
                if not error.again or attempt == self._attempts:
                    raise
                await self._sleep(after + FIRST_PAUSE * 2.0 ** (attempt - 1) * self._random.uniform(0.75, 1.25))

    async def _turn(self) -> None:
        """Wait until a call may begin; turns are given out in order, a gap apart."""
        async with self._queue:
            while (wait := max(self._next, self._closed) - self._clock()) > 0:  # a pause may begin during the wait
                await self._sleep(wait)
            self._next = self._clock() + self._gap


# -- tasks ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Task(Generic[_Found]):
    """Something to ask a model about.

    Attributes:
        of: what tells it from the other tasks of a journal.
        work: asks, as often as it likes, and comes to something; asked again with the same replies it does the same.
    """

    of: str
    work: Callable[[Asked], Awaitable[_Found]] = field(repr=False)


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
                found = await task.work(recorded)
                outcome: Done[_Found] | Failed[_Found] = Done(task, found, recorded.cost())
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
