"""Run many calls of a model: concurrently, with retries, without paying twice.

In: tasks, each of which may call the model any number of times. Out: the result or the failure of each, and its cost.
Every reply goes to a :class:`~proof_r1_formal.models.journal.Journal` before it is used.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from proof_r1_formal.data.completions import Cost
from proof_r1_formal.models.chat import (
    THOUGHTS_ONLY,
    CallError,
    Message,
    Model,
    ModelError,
    Reply,
    Sampling,
    TimedModel,
    holds_thoughts_only,
)
from proof_r1_formal.models.journal import Journal, Recorded

_Found = TypeVar("_Found")

ATTEMPTS = 8
"""The most attempts of a call; with the pauses between them, about two minutes."""
FIRST_PAUSE = 1.0
"""Seconds after the first failure of a call, on average; each further pause is twice as long."""
LONGEST_PAUSE = 600.0
"""Seconds; the longest pause that ``Retry-After`` can request."""
STOP_AFTER = 10
"""Number of equal failures in a row, each after all its attempts, that end a run."""
_WORD = re.compile(r"\w+")


# -- retries ----------------------------------------------------------------------------------------------------------


class RetryingModel:
    """A model with bounded concurrency that retries failed calls.

    ``Retry-After`` delays all calls, because the limit of an endpoint concerns all. The failed call adds its own random
    pause, so that not all calls start together. Failures that differ only in words with digits are equal.

    Attributes:
        name: of the model.
    """

    def __init__(
        self,
        model: Model,
        *,
        concurrency: int = 8,
        per_minute: float | None = None,
        attempts: int = ATTEMPTS,
        stop_after: int = STOP_AFTER,
        notice: Callable[[str], object] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        seed: int = 0,
    ) -> None:
        """Wrap a model.

        Args:
            model: the wrapped model.
            concurrency: the most concurrent calls.
            per_minute: the most calls started in a minute.
            attempts: the most attempts of a call.
            stop_after: number of equal failures in a row after which the model cannot be used; 0 for never.
            notice: is given the first failure of each kind, and the first reply without an answer, at once.
            clock: returns seconds.
            sleep: waits for seconds.
            seed: of the random pauses.
        """
        self.name = model.name
        self._model = model
        self._places = asyncio.Semaphore(concurrency)
        self._gap = 0.0 if per_minute is None else 60.0 / per_minute
        self._attempts = attempts
        self._stop_after = stop_after
        self._notice = notice
        self._noticed: set[str] = set()
        self._failed, self._failures = "", 0  # the last failure, and how many equal ones in a row there were
        self._clock = clock
        self._sleep = sleep
        self._random = random.Random(seed)
        self._queue = asyncio.Lock()
        self._next = self._closed = float("-inf")  # the earliest times allowed by the rate limit and by the endpoint

    def quiet(self) -> RetryingModel:
        """The same for calls that find out what the model can do: it gives no notice, and no failure counts."""
        new = copy(self)
        new._notice, new._stop_after = lambda _: None, 0
        return new

    async def reply(self, chat: Sequence[Message], sampling: Sampling) -> Reply:
        """See :class:`~proof_r1_formal.models.chat.Model`; raises the call error of the last attempt.

        Raises:
            ModelError: too many calls in a row failed in the same way.
        """
        attempt = 0
        while True:
            attempt += 1
            try:
                async with self._places:
                    await self._turn()
                    reply = await self._model.reply(chat, sampling)
                self._failures = 0
                if sampling.form is None and holds_thoughts_only(reply.text):  # a form may stop after thoughts
                    self._say(f"a reply holds thoughts and no answer (finish: {reply.finish}); {THOUGHTS_ONLY}", "")
                return reply
            except CallError as error:
                kind = _kind(error.problem)
                retried = "; it is tried again" if error.again and attempt < self._attempts else ""
                self._say(f"a call failed{retried}: {error.problem}", kind)
                after = min(error.after or 0.0, LONGEST_PAUSE)
                self._closed = max(self._closed, self._clock() + after)
                if not error.again or attempt == self._attempts:
                    self._count(kind, error)
                    raise
                await self._sleep(after + FIRST_PAUSE * 2.0 ** (attempt - 1) * self._random.uniform(0.75, 1.25))

    def _say(self, text: str, kind: str) -> None:
        """Give notice of something, the first time that something of its kind happens."""
        if kind not in self._noticed:
            self._noticed.add(kind)
            self._notice(text)

    def _count(self, kind: str, error: CallError) -> None:
        """Count a call that failed; raises an error if the limit of equal ones is reached."""
        self._failures = self._failures + 1 if kind == self._failed else 1
        self._failed = kind
        if self._failures == self._stop_after:
            raise ModelError(
                f"{self._failures} calls in a row failed in the same way: {error.problem}. Mend the cause and repeat "
                "the command, which asks only what has no reply yet; --stop-after 0 never stops"
            ) from None

    async def _turn(self) -> None:
        """Wait until a call may start; calls start in order, with a minimum gap."""
        async with self._queue:
            while (wait := max(self._next, self._closed) - self._clock()) > 0:  # a pause may begin during the wait
                await self._sleep(wait)
            self._next = self._clock() + self._gap


def _kind(problem: str) -> str:
    """A failure without words that have a digit, such as a number of tokens or the id of a request."""
    return " ".join([word for word in _WORD.findall(problem) if not any(map(str.isdigit, word))])


# -- tasks ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Task(Generic[_Found]):
    """A unit of work that calls a model.

    Attributes:
        of: its key in the journal, unique among the tasks.
        work: calls the model any number of times and returns a result, which depends only on the replies.
    """

    of: str
    work: Callable[[TimedModel], Awaitable[_Found]] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Done(Generic[_Found]):
    """A task with its result and cost."""

    task: Task[_Found]
    found: _Found
    cost: Cost


@dataclass(frozen=True, slots=True)
class Failed(Generic[_Found]):
    """A task that failed, and why."""

    task: Task[_Found]
    problem: str
    cost: Cost


async def run(
    tasks: Iterable[Task[_Found]],
    model: Model,
    journal: Journal,
    *,
    concurrency: int = 8,
    on_outcome: Callable[[Done[_Found] | Failed[_Found]], object] = lambda _: None,
) -> list[Done[_Found] | Failed[_Found]]:
    """Run tasks concurrently.

    Args:
        tasks: with different keys.
        model: that they call; mostly a :class:`RetryingModel`.
        journal: of the replies.
        concurrency: the most concurrent tasks.
        on_outcome: called with the outcome of each task as soon as it ends.

    Returns:
        The outcome of each task, in order.

    Raises:
        ModelError: the model cannot be used; the replies so far are in the journal.
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
            on_outcome(outcome)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(concurrency):
                group.create_task(worker())
    except BaseExceptionGroup as errors:  # the first states the cause; the others ran at the same time
        raise errors.exceptions[0] from None
    return [ended[place] for place in sorted(ended)]
