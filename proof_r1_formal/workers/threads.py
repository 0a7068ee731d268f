"""A worker pool for code without an event loop: the scheduler runs in a thread with a loop of its own."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from itertools import islice
from threading import Thread
from typing import TypeVar

from proof_r1_formal.workers.pool import Pool

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")

AHEAD = 4
"""How many tasks per worker an ordered map takes ahead of the result that it waits for."""


class ThreadedPool:
    """A pool whose tasks are submitted from any thread.

    Args:
        pool: has not started.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="worker pool", daemon=True)

    def start(self) -> None:
        """Start the workers; see :meth:`~proof_r1_formal.workers.pool.Pool.start`."""
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._pool.start(), self._loop).result()

    def close(self) -> None:
        """End the workers; what is unfinished is cancelled."""
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        await self._pool.close()
        waiting = asyncio.all_tasks() - {asyncio.current_task()}
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    def submit(self, function: Callable[[_Task], _Result], task: _Task) -> Future[_Result]:
        """See :class:`~proof_r1_formal.workers.protocol.WorkerPool`."""
        return asyncio.run_coroutine_threadsafe(self._result(function, task), self._loop)

    async def _result(self, function: Callable[[_Task], _Result], task: _Task) -> _Result:
        return await self._pool.submit(function, task)

    def map(self, function: Callable[[_Task], _Result], tasks: Iterable[_Task]) -> Iterator[_Result]:
        """See :class:`~proof_r1_formal.workers.protocol.WorkerPool`."""
        source = iter(tasks)
        futures: deque[Future[_Result]] = deque()
        try:
            while True:
                for task in islice(source, AHEAD * self._pool.count - len(futures)):
                    futures.append(self.submit(function, task))
                if not futures:
                    return
                yield futures.popleft().result()
        finally:
            for future in futures:  # not needed any more
                future.cancel()
