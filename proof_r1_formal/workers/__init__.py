"""Pools of workers: functions that run in other processes, on this machine or on a Ray cluster.

In: a function of a module and tasks. Out: a future per task, or the results in the order of the tasks. A task that
fails raises its exception here. A task that takes too long, or during which workers die repeatedly, fails
(:class:`TaskTimeoutError`, :class:`WorkerDiedError`). Its worker is replaced, and other tasks are not affected. A
worker beyond its memory limit is replaced between two tasks.

The *executor* says where the workers are: ``processes`` are children of this process
(:mod:`~proof_r1_formal.workers.processes`); ``ray`` and ``ray:ADDRESS`` are actors of a Ray cluster
(:mod:`~proof_r1_formal.workers.cluster`). Code under an event loop awaits ``asyncio.wrap_future`` of a future.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TypeVar

from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.executors import PROCESSES, RAY
from proof_r1_formal.workers.pool import Pool, WorkerPool
from proof_r1_formal.workers.processes import BACKEND
from proof_r1_formal.workers.protocol import (
    Initializer,
    Limits,
    NoWorkerError,
    TaskTimeoutError,
    WorkerDiedError,
    WorkerError,
)

__all__ = [
    "PROCESSES",
    "RAY",
    "Limits",
    "NoWorkerError",
    "TaskTimeoutError",
    "WorkerDiedError",
    "WorkerError",
    "WorkerPool",
    "ordered_map",
    "worker_pool",
]

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")


def ordered_map(
    function: Callable[[_Task], _Result],
    tasks: Iterable[_Task],
    workers: int,
    *,
    initializer: Initializer | None = None,
    executor: str = PROCESSES,
) -> Iterator[_Result]:
    """The results of a function in the order of the tasks, from a temporary pool; see :func:`worker_pool`.

    Raises:
        ProofR1Error: see :func:`worker_pool` and :meth:`WorkerPool.map`; at once for a wrong count or executor.
    """
    _check(workers, executor)
    return _map(worker_pool(workers, initializer=initializer, executor=executor), function, tasks)


def _map(
    opening: AbstractContextManager[WorkerPool], function: Callable[[_Task], _Result], tasks: Iterable[_Task]
) -> Iterator[_Result]:
    with opening as pool:
        yield from pool.map(function, tasks)


def _check(count: int, executor: str) -> None:
    if count < 1:
        raise ProofR1Error(f"a pool of {count} workers was requested; at least 1 is needed")
    if executor != PROCESSES and executor.partition(":")[0] != RAY:
        raise ProofR1Error(f"unknown executor {executor!r}; the executors are {PROCESSES}, {RAY} and {RAY}:ADDRESS")


@contextmanager
def worker_pool(
    count: int, *, initializer: Initializer | None = None, executor: str = PROCESSES, limits: Limits | None = None
) -> Iterator[WorkerPool]:
    """A pool for a ``with`` statement. At its end, unfinished tasks are cancelled.

    Args:
        count: number of workers. One process without limits is this process, which runs a task when it is submitted.
        initializer: every worker calls it first.
        executor: ``processes``, ``ray`` or ``ray:ADDRESS``.
        limits: of time and memory; none if None.

    Raises:
        ProofR1Error: the count is below one, the executor is unknown, Ray is not installed or does not answer, or the
            initializer fails; NoWorkerError if no worker can be started.
    """
    _check(count, executor)
    if count == 1 and executor == PROCESSES and limits is None:
        if initializer is not None:
            initializer()
        yield WorkerPool()
        return
    with ExitStack() as stack:
        backend = BACKEND
        if executor != PROCESSES:
            from proof_r1_formal.workers.cluster import cluster  # its library is optional

            backend = stack.enter_context(cluster(count, executor.partition(":")[2] or None))
        pool = Pool(backend, count, limits or Limits(), initializer)
        stack.callback(pool.close)
        pool.start()
        yield pool
