"""The scheduler of a worker pool: tasks in, futures out, under an event loop.

Tasks wait in one queue. A worker runs one task at a time; it is sent the next one early if more wait than the other
workers could begin. A task that takes too long fails, and its worker is ended. If a worker dies, its running task is
retried, because the worker may have been killed from outside; a task that was only sent early returns to the head of
the queue. From then on, each of them is only sent to an idle worker, and nothing is sent behind it: on Ray, a death can
destroy the reply to the task before the one that caused it, and a task alone is not blamed for another. A dead worker
is replaced, even an idle one. A worker that has grown too large is replaced between two tasks.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from proof_r1_formal.workers.protocol import (
    Backend,
    Function,
    Limits,
    LostWorkerError,
    NoWorkerError,
    TaskTimeoutError,
    Worker,
    WorkerDiedError,
    WorkerError,
)

LOG = logging.getLogger(__name__)

SENT = 2
"""Maximum number of tasks sent to a worker: the running one, and the next."""
PAUSE = 1.0
"""Seconds between attempts to start a worker that does not start."""

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")


@dataclass(slots=True, eq=False)
class _Ticket:
    """A task in the queue, how often a worker died over it, and whether it must have a worker for itself."""

    function: Function
    task: Any
    result: asyncio.Future[Any]
    attempts: int = 0
    alone: bool = False


@dataclass(slots=True, eq=False)
class _Member:
    """A running worker, the tasks that it was sent, and the clock of the first of them."""

    worker: Worker
    sent: deque[_Ticket] = field(default_factory=deque)
    clock: asyncio.Timeout | None = None
    too_large: bool = False


@dataclass(slots=True)
class Counts:
    """Counts for metrics.

    Attributes:
        tasks: sent to workers.
        restarts: workers that were replaced because they died, or a task took too long.
        renewals: workers that were replaced because they had grown too large.
    """

    tasks: int = 0
    restarts: int = 0
    renewals: int = 0


class Pool:
    """Workers and what waits for them: :meth:`start` it, :meth:`submit` tasks, then :meth:`close` it.

    Args:
        backend: where the workers come from.
        count: number of workers.
        limits: of time and memory.
    """

    def __init__(self, backend: Backend, count: int, limits: Limits) -> None:
        self.count = count
        self.limits = limits
        self.counts = Counts()
        self._backend = backend
        self._queue: deque[_Ticket] = deque()
        self._members: list[_Member] = []
        self._attendants: list[asyncio.Task[None]] = []
        self._ending: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def waiting(self) -> int:
        """The number of tasks that wait for a worker."""
        return len(self._queue)

    @property
    def workers(self) -> list[Worker]:
        """The started workers that are not known to be dead."""
        return [member.worker for member in self._members]

    async def start(self) -> None:
        """Start the workers; one has started when this returns.

        Raises:
            NoWorkerError: none starts.
            Exception: what the initializer raised.
        """
        started: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._attendants = [asyncio.create_task(self._attend(started)) for _ in range(self.count)]
        await started

    async def close(self) -> None:
        """End the workers; what is unfinished is cancelled."""
        self._closed = True
        for attendant in self._attendants:
            attendant.cancel()
        await asyncio.gather(*self._attendants, return_exceptions=True)
        await asyncio.gather(*self._ending)
        for ticket in self._queue:
            ticket.result.cancel()
        self._backend.close()

    def submit(self, function: Callable[[_Task], _Result], task: _Task) -> asyncio.Future[_Result]:
        """Run a function of a module on a task, in turn; a task whose future is cancelled before is not begun.

        Returns:
            The result, or the exception that the function raised, or a :class:`WorkerError`.

        Raises:
            WorkerError: the pool is closed.
        """
        if self._closed:
            raise WorkerError("the pool is closed")
        result: asyncio.Future[_Result] = asyncio.get_running_loop().create_future()
        self._queue.append(_Ticket(function, task, result))
        self._send()
        return result

    # -- one worker ---------------------------------------------------------------------------------------------------

    async def _attend(self, started: asyncio.Future[None]) -> None:
        """Keep one worker running, and replace it when necessary, until cancelled."""
        failures = 0
        while True:
            try:
                worker = await self._backend.start()
                try:
                    await self._initialized(worker)
                    failures = 0
                    if not started.done():
                        started.set_result(None)
                    await self._work(_Member(worker))
                finally:
                    ending = asyncio.create_task(worker.end())
                    self._ending.add(ending)
                    ending.add_done_callback(self._ending.discard)
            except Exception as error:  # noqa: BLE001 (an initializer may raise anything)
                failures += 1
                self._not_started(error, failures, started)
                await asyncio.sleep(PAUSE)

    async def _initialized(self, worker: Worker) -> None:
        try:
            async with asyncio.timeout(self._backend.startup):
                reply = await worker.receive()
        except TimeoutError:
            raise LostWorkerError(f"it has not started within {self._backend.startup:g} s") from None
        if reply.failed:
            raise reply.value

    async def _work(self, member: _Member) -> None:
        """Have a worker run tasks until it has to be replaced."""
        self._members.append(member)
        try:
            await self._serve(member)
        except TimeoutError:
            self.counts.restarts += 1
            message = f"not done within {self.limits.timeout:g} s"
            LOG.warning("a task was %s; its worker is replaced", message)
            _fail(member.sent.popleft(), TaskTimeoutError(message))
        except LostWorkerError as error:
            self.counts.restarts += 1
            LOG.warning("%s; it is replaced", error)
            self._lost(member, error)
        else:
            self.counts.renewals += 1
        finally:
            self._members.remove(member)
            self._queue.extendleft(reversed(member.sent))
            self._send()

    async def _serve(self, member: _Member) -> None:
        """Have a worker run tasks until it has grown too large.

        Raises:
            TimeoutError: the first task that it was sent took too long.
            LostWorkerError: the worker died; if it ran a task, that is the first that it was sent.
        """
        while not member.too_large or member.sent:
            self._send()
            async with asyncio.timeout(self.limits.timeout if member.sent else None) as member.clock:
                reply = await member.worker.receive()
            member.clock = None
            ticket = member.sent.popleft()
            if reply.failed:
                _fail(ticket, reply.value)
            elif not ticket.result.done():
                ticket.result.set_result(reply.value)
            member.too_large = self.limits.memory is not None and reply.memory > self.limits.memory

    def _send(self) -> None:
        """Send tasks to the workers that have room for them, the idle ones first."""
        for room in range(0 if self._closed else SENT):
            for member in self._members:
                if len(member.sent) > room or member.too_large:
                    continue
                while self._queue and self._queue[0].result.done():  # nobody waits for it any more
                    self._queue.popleft()
                if not self._queue:
                    return
                if not member.sent or self._may_wait_behind(member.sent[0]):
                    self._send_to(member)

    def _may_wait_behind(self, running: _Ticket) -> bool:
        """Whether the next task may be sent early; a worker that is just starting might run it sooner."""
        return len(self._queue) >= self.count and not running.alone and not self._queue[0].alone

    def _send_to(self, member: _Member) -> None:
        ticket = self._queue[0]
        try:
            member.worker.send(ticket.function, ticket.task)
        except LostWorkerError:  # its attendant is about to learn it
            member.too_large = True
            return
        except Exception as error:  # noqa: BLE001 (a task that cannot be pickled)
            _fail(self._queue.popleft(), error)
            return
        self._queue.popleft()
        self.counts.tasks += 1
        if not member.sent and member.clock is not None and self.limits.timeout is not None:
            member.clock.reschedule(asyncio.get_running_loop().time() + self.limits.timeout)
        member.sent.append(ticket)

    # -- what goes wrong ----------------------------------------------------------------------------------------------

    def _lost(self, member: _Member, error: LostWorkerError) -> None:
        """The worker died over the first task that it was sent, which may be tried again, or not."""
        if not member.sent:
            return
        for ticket in member.sent:
            ticket.alone = True
        member.sent[0].attempts += 1
        if member.sent[0].attempts >= self._backend.attempts:
            message = f"{self._backend.attempts} workers died while they ran the same task ({error})"
            _fail(member.sent.popleft(), WorkerDiedError(message))

    def _not_started(self, error: Exception, failures: int, started: asyncio.Future[None]) -> None:
        """A worker does not start. If no other is running, all waiting tasks fail."""
        LOG.error("a worker does not start (%s); trying again", error)
        cause = NoWorkerError(f"no worker can be started: {error}") if isinstance(error, LostWorkerError) else error
        if self._members or (cause is not error and failures < self._backend.attempts):
            return
        if not started.done():
            started.set_exception(cause)
        while self._queue:
            _fail(self._queue.popleft(), cause)


def _fail(ticket: _Ticket, error: BaseException) -> None:
    if not ticket.result.done():
        ticket.result.set_exception(error)
