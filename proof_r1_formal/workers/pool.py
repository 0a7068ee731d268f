"""The scheduler of a worker pool: a thread per worker takes tasks from one queue, and gives each to its worker.

A task that takes too long fails, and its worker is replaced. If a worker dies, its task returns to the head of the
queue, because the worker may have been killed from outside; after a few deaths the task fails. A dead worker is
replaced, even an idle one, and so is a worker that has grown too large. Queue, threads and futures are Python's.

It is ours because of these rules: after one death, ``ProcessPoolExecutor`` fails all tasks and takes no more, and
``multiprocessing.Pool`` waits for the lost task forever. Pebble ends long tasks, but fails a task at the first death
and knows local processes only, while the same rules hold here for actors of Ray.
"""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count as numbers
from itertools import islice
from queue import Empty, PriorityQueue
from threading import Event, Lock, Thread
from typing import Any, TypeVar

from proof_r1_formal.workers.protocol import (
    Backend,
    Function,
    Initializer,
    Limits,
    LostWorkerError,
    NoWorkerError,
    TaskTimeoutError,
    Worker,
    WorkerDiedError,
    WorkerError,
)
from proof_r1_formal.workers.worker import initialize

LOG = logging.getLogger(__name__)

PAUSE = 1.0
"""Seconds between attempts to start a worker that does not start, and between looks at an idle one."""
AHEAD = 4
"""How many tasks per worker an ordered map takes ahead of the result that it waits for."""

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")


class WorkerPool:
    """Workers that run functions of modules. This one has no worker: a task runs when it is submitted.

    Attributes:
        count: number of workers.
    """

    count = 0

    def submit(self, function: Callable[[_Task], _Result], task: _Task) -> Future[_Result]:
        """Run a function on a task, in turn; a task whose future is cancelled before is not begun.

        Returns:
            The result, or the exception that the function raised, or a :class:`WorkerError`.

        Raises:
            WorkerError: the pool is closed.
        """
        ticket = _Ticket(0, function, task)
        try:
            ticket.settle(function(task))
        except Exception as error:  # noqa: BLE001 (it belongs to whoever asks for the result)
            ticket.fail(error)
        return ticket.result

    def map(self, function: Callable[[_Task], _Result], tasks: Iterable[_Task]) -> Iterator[_Result]:
        """The results of a function in the order of the tasks, which may be infinite: few are taken ahead.

        Raises:
            WorkerError: in the turn of a task that could not be done; and what the function raises.
        """
        source = iter(tasks)
        futures: deque[Future[_Result]] = deque()
        try:
            while True:
                for task in islice(source, max(1, AHEAD * self.count) - len(futures)):
                    futures.append(self.submit(function, task))
                if not futures:
                    return
                yield futures.popleft().result()
        finally:
            for future in futures:  # not needed any more
                future.cancel()


@dataclass(slots=True, order=True)
class _Ticket:
    """A task, its place in the queue, and how often a worker died over it."""

    number: int
    function: Function = field(compare=False)
    task: Any = field(compare=False)
    result: Future[Any] = field(default_factory=Future, compare=False)
    attempts: int = field(default=0, compare=False)

    def settle(self, value: object) -> None:
        with suppress(InvalidStateError):  # nobody waits for it any more
            self.result.set_result(value)

    def fail(self, error: BaseException) -> None:
        with suppress(InvalidStateError):
            self.result.set_exception(error)


class Pool(WorkerPool):
    """Workers and what waits for them: :meth:`start` it, submit tasks from any thread, then :meth:`close` it.

    Attributes:
        workers: those that have started and are not known to be dead.
        counts: of ``tasks`` given to workers; ``restarts`` of workers that died or took too long over a task; and
            ``renewals`` of workers that had grown too large.

    Args:
        backend: where the workers come from.
        count: number of workers.
        limits: of time and memory.
        initializer: every worker calls it first.
    """

    def __init__(self, backend: Backend, count: int, limits: Limits, initializer: Initializer | None = None) -> None:
        self.count = count
        self.counts: Counter[str] = Counter()
        self.workers: set[Worker] = set()
        self._backend, self._limits, self._initializer = backend, limits, initializer
        self._queue: PriorityQueue[_Ticket] = PriorityQueue()
        self._numbers = numbers()
        self._lock = Lock()  # of the counts
        self._running: set[Worker] = set()
        self._started: Future[None] = Future()
        self._closed = Event()
        self._threads = [Thread(target=self._attend, name="worker", daemon=True) for _ in range(count)]

    @property
    def waiting(self) -> int:
        """The number of tasks that wait for a worker."""
        return self._queue.qsize()

    def start(self) -> None:
        """Start the workers; one has started when this returns.

        Raises:
            NoWorkerError: none starts.
            Exception: what the initializer raised.
        """
        for thread in self._threads:
            thread.start()
        self._started.result()

    def close(self) -> None:
        """End the workers; what is unfinished is cancelled."""
        self._closed.set()
        for worker in list(self._running):
            worker.kill()
        for _ in self._threads:
            self._queue.put(_Ticket(-1, initialize, None))  # which wakes a thread
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()
        for ticket in self._tickets():
            ticket.result.cancel()

    def submit(self, function: Callable[[_Task], _Result], task: _Task) -> Future[_Result]:
        """See :class:`WorkerPool`."""
        if self._closed.is_set():
            raise WorkerError("the pool is closed")
        ticket = _Ticket(next(self._numbers), function, task)
        self._queue.put(ticket)
        return ticket.result

    def _tickets(self) -> Iterator[_Ticket]:
        """The waiting tasks, taken out of the queue."""
        with suppress(Empty):
            while True:
                yield self._queue.get_nowait()

    # -- one worker, in a thread --------------------------------------------------------------------------------------

    def _attend(self) -> None:
        """Keep one worker running, and replace it when necessary, until the pool is closed."""
        failures = 0
        while not self._closed.is_set():
            try:
                worker = self._backend.start()
                self._running.add(worker)
                try:
                    self._initialize(worker)
                    failures = 0
                    self.workers.add(worker)
                    with suppress(InvalidStateError):
                        self._started.set_result(None)
                    self._work(worker)
                finally:
                    self.workers.discard(worker)
                    self._running.discard(worker)
                    worker.close()
            except Exception as error:  # noqa: BLE001 (an initializer may raise anything)
                failures += 1
                self._not_started(error, failures)
                self._closed.wait(PAUSE)

    def _initialize(self, worker: Worker) -> None:
        if self._closed.is_set():  # whoever closed the pool may not have seen this worker
            worker.kill()
        try:
            reply = worker.call(initialize, self._initializer, self._backend.startup)
        except TimeoutError:
            raise LostWorkerError(f"it has not started within {self._backend.startup:g} s") from None
        if reply.failed:
            raise reply.value

    def _work(self, worker: Worker) -> None:
        """Have a worker run tasks until it has to be replaced, or the pool is closed."""
        while True:
            try:
                ticket = self._queue.get(timeout=PAUSE)
            except Empty:
                if self._closed.is_set():
                    return
                if worker.is_alive():
                    continue
                self._count("restarts", "an idle worker died")
                return
            if self._closed.is_set():
                ticket.result.cancel()
                return
            if ticket.result.done():  # nobody waits for it any more
                continue
            self._count("tasks")
            try:
                reply = worker.call(ticket.function, ticket.task, self._limits.timeout)
            except TimeoutError:
                message = f"not done within {self._limits.timeout:g} s"
                self._count("restarts", f"a task was {message}")
                ticket.fail(TaskTimeoutError(message))
                return
            except LostWorkerError as error:
                self._lost(ticket, error)
                return
            except Exception as error:  # noqa: BLE001 (a task that cannot be pickled)
                ticket.fail(error)
                continue
            (ticket.fail if reply.failed else ticket.settle)(reply.value)
            if self._limits.memory is not None and reply.memory > self._limits.memory:
                self._count("renewals")
                return

    def _lost(self, ticket: _Ticket, error: LostWorkerError) -> None:
        """A worker died over a task, which may be tried again, or not."""
        if self._closed.is_set():
            ticket.result.cancel()
            return
        self._count("restarts", str(error))
        ticket.attempts += 1
        if ticket.attempts < self._backend.attempts:
            self._queue.put(ticket)
        else:
            ticket.fail(WorkerDiedError(f"{ticket.attempts} workers died while they ran the same task ({error})"))

    def _count(self, what: str, reason: str = "") -> None:
        with self._lock:
            self.counts[what] += 1
        if reason:
            LOG.warning("%s; the worker is replaced", reason)

    def _not_started(self, error: Exception, failures: int) -> None:
        """A worker does not start. If no other is running, all waiting tasks fail."""
        if self._closed.is_set():
            return
        LOG.error("a worker does not start (%s); trying again", error)
        cause = NoWorkerError(f"no worker can be started: {error}") if isinstance(error, LostWorkerError) else error
        if self.workers or (cause is not error and failures < self._backend.attempts):
            return
        with suppress(InvalidStateError):
            self._started.set_exception(cause)
        for ticket in self._tickets():
            ticket.fail(cause)
