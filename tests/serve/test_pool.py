"""The pool under the event loop that the service runs in: workers that die, hang or grow, and jobs that wait."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import uvloop

from proof_r1_formal import read_problems
from proof_r1_formal.data.native import to_json
from proof_r1_formal.serve.messages import Done, Outcome, Parse, Refused, Verify
from proof_r1_formal.serve.pool import BusyError, Pool, PoolSettings, TooManyError
from proof_r1_formal.workers import Limits, processes
from proof_r1_formal.workers import pool as scheduler
from proof_r1_formal.workers.processes import Process
from tests.patience import PATIENCE

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
RECORD = to_json(read_problems(EXAMPLES / "problems.jsonl")["garden/1"]).encode()

Check = Callable[[Pool], Coroutine[Any, Any, None]]


@pytest.fixture(params=[asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def loop_factory(request: pytest.FixtureRequest) -> Callable[[], asyncio.AbstractEventLoop]:
    factory: Callable[[], asyncio.AbstractEventLoop] = request.param
    return factory


def with_pool(
    check: Check, settings: PoolSettings, loop_factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
) -> None:
    """Run a check on a pool that has been started."""

    async def run() -> None:
        pool = Pool(settings)
        try:
            await pool.start()
            async with asyncio.timeout(PATIENCE):
                await until(lambda: len(pool.workers) == settings.workers)
                await check(pool)
        finally:
            await pool.close()

    with asyncio.Runner(loop_factory=loop_factory) as runner:
        runner.run(run())


def pids(pool: Pool) -> list[int]:
    """The workers."""
    return [worker.pid for worker in pool.workers if isinstance(worker, Process)]


def mebibytes(pid: int) -> float:
    """The memory that a process shares with no other."""
    _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text().split()
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE") / 2**20


def parse(number: int) -> Parse:
    return Parse(f"cat(tom{number})", False)


def verify(number: int) -> Verify:
    """A job that takes a little, and makes a worker grow."""
    actions = [{"id": f"s{n}", "conclusion": f"p{number}(tom{n})", "rule": "none"} for n in range(200)]
    return Verify(RECORD, f"<summary>{json.dumps(actions)}</summary>", 0, "train", True)


def is_done(outcome: Outcome) -> bool:
    return isinstance(outcome, Done)


async def until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0.01)


def test_an_idle_worker_that_dies_is_replaced(loop_factory: Any) -> None:
    async def check(pool: Pool) -> None:
        for turn in range(1, 3):
            before = pids(pool)
            for pid in before:
                os.kill(pid, signal.SIGKILL)
            assert all(map(is_done, await pool.do([parse(number) for number in range(4)])))
            await until(lambda: pool.counts.restarts == 2 * turn and len(pool.workers) == 2)  # noqa: B023 (until then)
            assert not set(before) & set(pids(pool))
        for pid in pids(pool):  # and with no job to show it
            os.kill(pid, signal.SIGKILL)
        await until(lambda: pool.counts.restarts == 6 and len(pool.workers) == 2)

    with_pool(check, PoolSettings(2), loop_factory)


def test_what_a_dead_worker_had_in_hand_is_done_by_others_that_are_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    async def check(pool: Pool) -> None:
        stopped, _ = pids(pool)
        os.kill(stopped, signal.SIGSTOP)
        replies = [asyncio.create_task(pool.do([parse(number)])) for number in range(8)]
        await until(lambda: sum(reply.done() for reply in replies) >= 6 and not pool.waiting)
        monkeypatch.setattr(sys, "executable", "/no/such/python")  # nobody comes in its place
        os.kill(stopped, signal.SIGKILL)
        outcomes = [outcome for reply in replies for outcome in await reply]
        assert all(map(is_done, outcomes))

    with_pool(check, PoolSettings(2))


def test_a_worker_that_hangs_holds_up_at_most_one_other_job() -> None:
    async def check(pool: Pool) -> None:
        stopped, _ = pids(pool)
        os.kill(stopped, signal.SIGSTOP)
        replies = [asyncio.create_task(pool.do([parse(number)])) for number in range(30)]
        await until(lambda: sum(reply.done() for reply in replies) >= 28)
        os.kill(stopped, signal.SIGCONT)
        outcomes = [outcome for reply in replies for outcome in await reply]
        assert all(map(is_done, outcomes))

    with_pool(check, PoolSettings(2))


def test_more_jobs_than_can_ever_wait_are_told_apart_from_too_many_now() -> None:
    async def check(pool: Pool) -> None:
        with pytest.raises(TooManyError):
            await pool.do([parse(number) for number in range(9)])
        os.kill(pids(pool)[0], signal.SIGSTOP)
        waiting = asyncio.create_task(pool.do([parse(number) for number in range(8)]))
        await until(lambda: pool.counts.tasks == 2)
        with pytest.raises(BusyError):
            await pool.do([parse(number) for number in range(8)])
        os.kill(pids(pool)[0], signal.SIGCONT)
        assert all(map(is_done, await waiting))

    with_pool(check, PoolSettings(1, waiting=8))


def test_a_request_may_take_longer_than_each_of_its_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    async def check(pool: Pool) -> None:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        assert is_done((await pool.do([verify(-1)]))[0])
        pool.limits = Limits(timeout := 6 * (loop.time() - begun))
        monkeypatch.setattr(processes, "START", 0.0)  # which is for starting alone
        begun = loop.time()
        while loop.time() - begun < timeout:
            assert all(map(is_done, await pool.do([verify(number) for number in range(60)])))

    with_pool(check, PoolSettings(1))


def test_where_no_worker_starts_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    async def check(pool: Pool) -> None:
        monkeypatch.setattr(sys, "executable", "/no/such/python")
        [worker] = pids(pool)
        os.kill(worker, signal.SIGSTOP)
        reply = asyncio.create_task(pool.do([parse(number) for number in range(3)]))
        await until(lambda: pool.counts.tasks == 2)
        os.kill(worker, signal.SIGKILL)
        for outcome in await reply:
            assert isinstance(outcome, Refused)
            assert (outcome.status, outcome.trouble.code) == (503, "busy")
        monkeypatch.undo()
        monkeypatch.setattr(scheduler, "PAUSE", 0.0)
        await until(lambda: len(pool.workers) == 1)
        assert is_done((await pool.do([parse(1)]))[0])

    with_pool(check, PoolSettings(1))


def test_a_worker_that_has_grown_too_large_is_replaced_and_loses_no_job() -> None:
    async def check(pool: Pool) -> None:
        first = pids(pool)
        outcomes = await pool.do([parse(number) for number in range(50)])
        assert all(map(is_done, outcomes))
        assert pids(pool) == first
        pool.limits = Limits(memory=mebibytes(first[0]) + 8)
        assert all(map(is_done, await pool.do([verify(number) for number in range(100)])))
        assert pool.counts.renewals > 0
        assert pool.counts.restarts == 0
        assert not set(first) & set(pids(pool))

    with_pool(check, PoolSettings(1))
