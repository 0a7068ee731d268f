"""Work spread over processes, here or on a Ray cluster: its results in the order of the tasks, with bounded memory.

In: a function and tasks. Out: its results, one for each task, taken only a little ahead of who reads them. An *engine*
says where the work is done: ``processes`` are children of this one; ``ray`` and ``ray:ADDRESS`` are workers of a Ray
cluster, see :mod:`proof_r1_formal.cluster`.
"""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from itertools import islice
from types import TracebackType
from typing import Protocol, Self, TypeVar

from proof_r1_formal.errors import ProofR1Error

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")

PROCESSES, RAY = "processes", "ray"
"""The engines."""


class Workers(Protocol):
    """Those who do the work."""

    def in_order(self, function: Callable[[_Task], _Result], tasks: Iterable[_Task]) -> Iterator[_Result]:
        """The results of a function of a module for tasks, in their order; see :func:`in_order`."""


def in_order(
    function: Callable[[_Task], _Result],
    tasks: Iterable[_Task],
    workers: int,
    *,
    starter: Callable[[], object] | None = None,
    engine: str = PROCESSES,
) -> Iterator[_Result]:
    """The results of a function for tasks, in their order; the tasks are taken only a little ahead.

    Args:
        function: of a module, so that another process finds it; on a cluster it may be called again for a task whose
            worker died.
        tasks: any iterable, without end too.
        workers: how many.
        starter: what every worker does first.
        engine: where the workers are.

    Raises:
        ProofR1Error: see :func:`hired`; or a worker died; and what the function raises.
    """
    return _in_order(hired(workers, starter=starter, engine=engine), function, tasks)


def _in_order(
    opening: AbstractContextManager[Workers], function: Callable[[_Task], _Result], tasks: Iterable[_Task]
) -> Iterator[_Result]:
    with opening as workers:
        yield from workers.in_order(function, tasks)


def hired(
    count: int, *, starter: Callable[[], object] | None = None, engine: str = PROCESSES
) -> AbstractContextManager[Workers]:
    """Workers that last as long as a ``with`` statement; processes have all been started when it is entered.

    Args:
        count: how many; one that is a process is this one.
        starter: what every worker does first.
        engine: ``processes``, ``ray`` or ``ray:ADDRESS``.

    Raises:
        ProofR1Error: there is to be no worker, there is no such engine, or Ray is not installed.
    """
    if count < 1:
        raise ProofR1Error(f"{count} workers were asked for; at least 1 is needed")
    kind, _, address = engine.partition(":")
    if kind == RAY:
        from proof_r1_formal.cluster import ClusterWorkers  # which needs what is not always installed

        return ClusterWorkers(count, starter, address or None)
    if engine != PROCESSES:
        raise ProofR1Error(f"there is no engine {engine!r}; there are {PROCESSES}, {RAY} and {RAY}:ADDRESS")
    return _ThisProcess(starter) if count == 1 else _Processes(count, starter)


class _ThisProcess:
    """A worker that is whoever asks."""

    def __init__(self, starter: Callable[[], object] | None) -> None:
        self._starter = starter

    def __enter__(self) -> Self:
        if self._starter is not None:
            self._starter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing is left behind."""

    def in_order(self, function: Callable[[_Task], _Result], tasks: Iterable[_Task]) -> Iterator[_Result]:
        return map(function, tasks)


class _Processes:
    """Workers that are children of this process."""

    def __init__(self, count: int, starter: Callable[[], object] | None) -> None:
        methods = multiprocessing.get_all_start_methods()
        context = multiprocessing.get_context("fork" if "fork" in methods else "spawn")
        self._count = count
        self._pool = ProcessPoolExecutor(count, context, starter)

    def __enter__(self) -> Self:
        self._pool.submit(_ready)  # forks now, because the caller may start threads, which do not take to forks
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def in_order(self, function: Callable[[_Task], _Result], tasks: Iterable[_Task]) -> Iterator[_Result]:
        source = iter(tasks)
        waiting: deque[Future[_Result]] = deque()
        try:
            while True:
                for task in islice(source, 2 * self._count - len(waiting)):
                    waiting.append(self._pool.submit(function, task))
                if not waiting:
                    return
                yield waiting.popleft().result()
        except BrokenProcessPool as error:
            raise ProofR1Error("a worker process died (killed, or out of memory); what came so far is good") from error


def _ready() -> None:
    """Nothing; whoever gets to run this has started."""
