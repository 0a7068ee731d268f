"""The scheduler of a worker pool, with a backend whose workers forget what they did when they die."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

import pytest

from proof_r1_formal.workers.pool import Pool
from proof_r1_formal.workers.protocol import Function, Limits, LostWorkerError, Reply, WorkerDiedError
from proof_r1_formal.workers.worker import initialize, run


class Deadly(Exception):  # noqa: N818 (it stands for a death)
    """What a task raises that ends its worker."""


def die(number: int) -> int:
    if number in (7, 8, 12):
        raise Deadly
    return number


class Forgetful:
    """A worker that runs all that it was sent before it replies, so its death destroys the replies to earlier tasks."""

    def __init__(self) -> None:
        self._replies: deque[Reply] = deque()
        self._sent: list[tuple[Function, Any]] = [(initialize, None)]

    def send(self, function: Function, task: Any) -> None:
        self._sent.append((function, task))

    async def receive(self) -> Reply:
        while not self._sent and not self._replies:
            await asyncio.sleep(0)
        replies = [run(*sent) for sent in self._sent]
        self._sent.clear()
        if any(isinstance(reply.value, Deadly) for reply in replies):
            raise LostWorkerError("a worker died")
        self._replies.extend(replies)
        return self._replies.popleft()

    async def end(self) -> None:
        pass


class Backend:
    """Forgetful workers in this process."""

    attempts = 2
    startup: float | None = None

    async def start(self) -> Forgetful:
        return Forgetful()

    def close(self) -> None:
        pass


@pytest.mark.parametrize("count", [1, 2, 3])
def test_no_task_fails_because_a_neighbour_ends_their_worker(count: int) -> None:
    async def results() -> list[Any]:
        pool = Pool(Backend(), count, Limits())
        await pool.start()
        replies = [pool.submit(die, number) for number in range(20)]
        done = await asyncio.gather(*replies, return_exceptions=True)
        await pool.close()
        return done

    done = asyncio.run(results())
    failed = [number for number, result in enumerate(done) if isinstance(result, WorkerDiedError)]
    assert failed == [7, 8, 12]
    assert [result for result in done if isinstance(result, int)] == [n for n in range(20) if n not in failed]
