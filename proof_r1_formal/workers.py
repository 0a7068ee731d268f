"""Work spread over processes, its results in the order of the tasks and with bounded memory."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import TypeVar

from proof_r1_formal.errors import ProofR1Error

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")


def in_order(
    function: Callable[[_Task], _Result],
    tasks: Iterable[_Task],
    workers: int,
    *,
    starter: Callable[[], object] | None = None,
) -> Iterator[_Result]:
    """The results of a function for tasks, in their order; the tasks are taken only a little ahead.

    Args:
        function: of a module, so that another process finds it.
        tasks: any iterable, without end too.
        workers: processes to use; 1 means this one.
        starter: what every process does first.

    Raises:
        ProofR1Error: there is to be no worker, or one died; and what the function raises.
    """
    if workers < 1:
        raise ProofR1Error(f"{workers} workers were asked for; at least 1 is needed")
    if workers > 1:
        return _in_workers(function, tasks, workers, starter)
    if starter is not None:
        starter()
    return map(function, tasks)


def _in_workers(
    function: Callable[[_Task], _Result],
    tasks: Iterable[_Task],
    workers: int,
    starter: Callable[[], object] | None,
) -> Iterator[_Result]:
    source = iter(tasks)
    waiting: deque[Future[_Result]] = deque()
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if "fork" in methods else "spawn")
    pool = ProcessPoolExecutor(workers, context, starter)
    try:
        while True:
            for task in islice(source, 2 * workers - len(waiting)):
                waiting.append(pool.submit(function, task))
            if not waiting:
                return
            yield waiting.popleft().result()
    except BrokenProcessPool as error:
        raise ProofR1Error("a worker process died (killed, or out of memory); what came so far is good") from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
