"""Worker pools, on processes and on Ray alike: results in the order of the tasks, whatever happens to a worker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import count, islice, pairwise
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import pytest

from proof_r1_formal.errors import ParseError, ProofR1Error
from proof_r1_formal.workers import (
    PROCESSES,
    Limits,
    NoWorkerError,
    TaskTimeoutError,
    WorkerDiedError,
    WorkerError,
    cluster,
    ordered_map,
    processes,
    worker_pool,
)
from proof_r1_formal.workers import pool as scheduler
from proof_r1_formal.workers.pool import AHEAD, Pool
from proof_r1_formal.workers.protocol import Backend, Function, Reply
from proof_r1_formal.workers.worker import run
from tests.patience import PATIENCE
from tests.workers import tasks

pytestmark = pytest.mark.filterwarnings("ignore:unclosed file.*/dev/null:ResourceWarning")  # Ray leaves them

ENGINES = [PROCESSES, pytest.param("ray", marks=pytest.mark.slow)]


@pytest.fixture(params=ENGINES)
def executor(request: pytest.FixtureRequest) -> str:
    if request.param == PROCESSES:
        request.getfixturevalue("closed")  # Ray's own threads outlive a pool
        return PROCESSES
    return f"ray:{request.getfixturevalue('cluster').address}"


@pytest.fixture
def local(closed: None) -> str:
    """For what the scheduler and the worker do in the same way on every executor."""
    return PROCESSES


@pytest.fixture
def attempts(executor: str) -> int:
    return processes.ATTEMPTS if executor == PROCESSES else cluster.ATTEMPTS


def test_results_come_in_the_order_of_endless_tasks(executor: str) -> None:
    taken = []

    def numbers() -> Iterator[int]:
        for number in count():
            taken.append(number)
            yield number

    with worker_pool(2, initializer=tasks.prepare, executor=executor) as pool:
        results = list(islice(pool.map(tasks.work, numbers()), 100))
        assert [done.number for done in results] == list(range(100))
        assert len(taken) <= 100 + AHEAD * 2
        assert {done.prepared for done in results} == {"yes"}
        assert os.getpid() not in {done.process for done in results}
        assert [done.number for done in pool.map(tasks.work, range(5))] == list(range(5))  # the pool is still good
        assert list(pool.map(tasks.work, [])) == []


def test_all_workers_work(executor: str) -> None:
    seen: set[int] = set()
    with worker_pool(2, executor=executor) as pool:
        for done in pool.map(tasks.work, count()):
            seen.add(done.process)
            if len(seen) == 2:
                return


def test_a_killed_worker_costs_no_result_and_gives_none_twice(executor: str) -> None:
    results = []
    for done in ordered_map(tasks.work, range(400), 2, executor=executor, initializer=tasks.prepare):
        if done.number in (20, 150, 300):  # far apart: no task is in flight at two of them
            os.kill(done.process, signal.SIGKILL)
        results.append(done)
    assert [done.number for done in results] == list(range(400))
    assert {done.prepared for done in results} == {"yes"}
    assert len({done.process for done in results}) > 2


def test_an_idle_worker_that_is_killed_is_replaced_before_there_is_a_task() -> None:
    pool = Pool(processes.BACKEND, 1, Limits())
    try:
        pool.start()
        [first] = pool.workers
        first.kill()
        while first in pool.workers or not pool.workers:
            time.sleep(0.01)
        assert pool.counts == {"restarts": 1}
        assert pool.submit(tasks.refuse, 1).result() == 1
    finally:
        pool.close()
    with pytest.raises(WorkerError, match="the pool is closed"):
        pool.submit(tasks.work, 1)


def test_a_worker_killed_while_it_sends_much_costs_no_result(executor: str) -> None:
    with worker_pool(2, executor=executor) as pool:
        for turn in range(3):
            victim = pool.submit(tasks.work, turn).result().process
            replies = [pool.submit(tasks.much, 3) for _ in range(10)]
            os.kill(victim, signal.SIGKILL)
            assert {len(reply.result()) for reply in replies} == {3 * tasks.MIB}


# -- a broken task costs itself only ----------------------------------------------------------------------------------


def test_a_task_that_raises(executor: str) -> None:
    with worker_pool(2, executor=executor) as pool:
        results = pool.map(tasks.refuse, range(20))
        assert [next(results) for _ in range(7)] == list(range(7))
        with pytest.raises(ProofR1Error, match=r"^not 7$"):
            next(results)
        with pytest.raises(ParseError, match="not a formula at line 1, column 2"):
            pool.submit(tasks.refuse_formula, "PQ").result()
        with pytest.raises(WorkerError, match="UnreadableError: 3 and 3"):
            pool.submit(tasks.refuse_unreadably, 3).result()
        assert pool.submit(tasks.refuse, 1).result() == 1


def test_what_cannot_be_sent(executor: str) -> None:
    with worker_pool(1, executor=executor, limits=Limits(PATIENCE)) as pool:
        if executor == PROCESSES:  # Ray sends functions by value
            with pytest.raises(WorkerError, match="cannot be sent"):
                pool.submit(tasks.refuse_to_be_sent, 1).result()
            with pytest.raises(Exception, match="pickle"):
                pool.submit(lambda number: number, 1).result()
        assert pool.submit(tasks.refuse, 1).result() == 1


def test_a_task_that_ends_its_workers(executor: str, attempts: int) -> None:
    faults: list[Callable[[int], int]] = [tasks.die, tasks.leave]
    with worker_pool(2, executor=executor) as pool:
        tried = [[pool.submit(fault, number) for number in range(10)] for fault in faults]
        for replies in tried:
            assert [reply.result() for reply in replies if reply is not replies[7]] == [*range(7), 8, 9]
            with pytest.raises(WorkerDiedError, match=f"^{attempts} workers died while they ran the same task"):
                replies[7].result()


def test_a_task_that_hangs(executor: str) -> None:
    with worker_pool(2, executor=executor, limits=Limits(2.0)) as pool:
        replies = [pool.submit(tasks.hang, number) for number in range(20)]
        assert [reply.result() for reply in replies if reply is not replies[7]] == [*range(7), *range(8, 20)]
        with pytest.raises(TaskTimeoutError, match=r"^not done within 2 s$"):
            replies[7].result()


def test_a_task_is_tried_again_after_each_death_of_its_own(local: str, tmp_path: Path) -> None:
    deadly = processes.ATTEMPTS - 1
    deaths = [deadly, deadly, 0, deadly - 1, deadly]
    given = [(tmp_path / f"task-{number}", times) for number, times in enumerate(deaths)]
    with worker_pool(1, executor=local, limits=Limits(PATIENCE)) as pool:
        assert list(pool.map(tasks.die_at_first, given)) == deaths


def test_a_worker_that_leaks_is_replaced_between_tasks(local: str) -> None:
    with worker_pool(1, executor=local, limits=Limits(PATIENCE, memory=160)) as pool:
        processes = list(pool.map(tasks.leak, [40] * 12))
        assert 2 <= sum(before != after for before, after in pairwise(processes)) <= 4
        assert len(set(pool.map(tasks.leak, [0] * 12))) == 1


def test_what_a_task_prints_and_reads_is_not_the_pools(executor: str) -> None:
    with worker_pool(1, executor=executor, limits=Limits(PATIENCE)) as pool:
        assert list(pool.map(tasks.flood, range(20))) == list(range(20))
        assert pool.submit(tasks.read_input, 1).result() == ""


def test_a_worker_whose_pool_is_gone_ends_without_a_message() -> None:
    ours, theirs = Pipe()
    command = [sys.executable, "-c", f"from proof_r1_formal.workers.worker import main; main({theirs.fileno()})"]
    with theirs, ours:
        ours.send_bytes(b"???")  # cannot be read, so the worker replies at once
        process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stderr=subprocess.PIPE)
    with process:
        assert process.communicate()[1] == b""
    assert process.returncode == 0


class Deathless:
    """A worker in this process, of which nobody learns that it was killed while it was idle, as on Ray."""

    def call(self, function: Function, task: Any, timeout: float | None) -> Reply:
        return run(function, task)

    def is_alive(self) -> bool:
        return True

    def kill(self) -> None:
        pass

    close = kill


def test_every_idle_worker_ends_with_its_pool(local: str) -> None:
    for _ in range(20):
        pool = Pool(Backend(Deathless, 1, None), 4, Limits())
        pool.start()
        assert pool.submit(tasks.refuse, 1).result() == 1
        pool.close()


# -- wrong use --------------------------------------------------------------------------------------------------------


def test_workers_that_do_not_start(executor: str) -> None:
    with pytest.raises(ProofR1Error, match=r"^nothing is prepared$"):
        list(ordered_map(tasks.work, range(3), 2, executor=executor, initializer=tasks.refuse_to_start))
    with pytest.raises(NoWorkerError, match=r"^no worker can be started: .* died"):
        list(ordered_map(tasks.work, range(3), 2, executor=executor, initializer=tasks.die_at_start))


def test_where_no_worker_starts_any_more_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "PAUSE", 0.01)
    with worker_pool(1, limits=Limits()) as pool:
        process = pool.submit(tasks.work, 1).result().process
        with monkeypatch.context() as patched:
            patched.setattr(sys, "executable", "/no/such/python")
            replies = [pool.submit(tasks.work, number) for number in range(3)]
            os.kill(process, signal.SIGKILL)
            replies.append(pool.submit(tasks.work, 3))
            with pytest.raises(NoWorkerError, match="be started: a worker process cannot be started: No such file"):
                replies[3].result()
            assert all(reply.done() for reply in replies)
        assert pool.submit(tasks.work, 2).result().number == 2


def test_what_waits_when_a_pool_is_closed_is_cancelled() -> None:
    with worker_pool(1, limits=Limits()) as pool:
        replies = [pool.submit(tasks.hang, 7) for _ in range(3)]
    assert [reply.cancelled() for reply in replies] == [True] * 3


def test_wrong_arguments() -> None:
    for executor in (PROCESSES, "ray"):
        with pytest.raises(ProofR1Error, match="a pool of 0 workers"), worker_pool(0, executor=executor):
            pass
    with pytest.raises(ProofR1Error, match="unknown executor 'raygun'"), worker_pool(1, executor="raygun"):
        pass
    with (
        pytest.raises(ProofR1Error, match=r"no Ray cluster at 127\.0\.0\.1:1: "),
        worker_pool(1, executor="ray:127.0.0.1:1"),
    ):
        pass


def test_a_single_process_without_limits_is_this_one() -> None:
    [done] = ordered_map(tasks.work, [1], 1)
    assert done.process == os.getpid()
    with worker_pool(1) as pool:
        assert pool.submit(tasks.work, 2).result().process == os.getpid()
        with pytest.raises(ProofR1Error, match="not 7"):
            pool.submit(tasks.refuse, 7).result()
    with pytest.raises(ProofR1Error, match="nothing is prepared"):
        list(ordered_map(tasks.work, [1], 1, initializer=tasks.refuse_to_start))
