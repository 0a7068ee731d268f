"""The workers of the service. In: jobs. Out: outcomes. Jobs beyond the limit of the queue are rejected at once.

:mod:`proof_r1_formal.serve.desk` does the jobs, and :mod:`proof_r1_formal.workers` runs the workers.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from proof_r1_formal.serve.desk import Desk
from proof_r1_formal.serve.messages import Code, Job, Outcome, Refused, Trouble
from proof_r1_formal.workers import pool as scheduler
from proof_r1_formal.workers.processes import Processes
from proof_r1_formal.workers.protocol import Limits, NoWorkerError, TaskTimeoutError, WorkerDiedError


class BusyError(Exception):
    """The queue is full."""


class TooManyError(Exception):
    """The jobs do not fit into an empty queue."""


@dataclass(frozen=True, slots=True)
class PoolSettings:
    """Number and limits of the workers.

    Attributes:
        workers: number of processes.
        timeout: seconds that a job may take, from its start in a worker.
        waiting: maximum number of waiting jobs.
        max_actions: the most actions that a completion may have.
        memory: MiB of private memory above which a worker is replaced before its next job.
    """

    workers: int
    timeout: float = 60.0
    waiting: int = 1024
    max_actions: int = 512
    memory: int = 512


class Pool(scheduler.Pool):
    """The workers of a service.

    Args:
        settings: see there.
    """

    def __init__(self, settings: PoolSettings) -> None:
        backend = Processes(partial(_start, settings.max_actions))
        super().__init__(backend, settings.workers, Limits(settings.timeout, settings.memory))
        self.settings = settings

    async def do(self, jobs: Sequence[Job]) -> list[Outcome]:
        """The outcomes of jobs, in order.

        A request as a whole has no time limit: each job has its own.

        Raises:
            BusyError: the queue is full.
            TooManyError: the jobs do not fit into an empty queue.
        """
        if len(jobs) > self.settings.waiting:
            raise TooManyError
        if self.waiting + len(jobs) > self.settings.waiting:
            raise BusyError
        done = await asyncio.gather(*[self.submit(_do, job) for job in jobs], return_exceptions=True)
        return [_refused(outcome) if isinstance(outcome, BaseException) else outcome for outcome in done]


def _refused(error: BaseException) -> Refused:
    status: int
    code: Code
    match error:
        case TaskTimeoutError():
            status, code = 504, "too_slow"
        case WorkerDiedError():
            status, code = 500, "failed"
        case NoWorkerError():
            status, code = 503, "busy"
        case _:
            raise error
    return Refused(status, Trouble(code, str(error)))


# -- in a worker ------------------------------------------------------------------------------------------------------

_desk: Desk
"""The desk of a worker; set once, when it starts."""


def _start(max_actions: int) -> None:
    global _desk
    _desk = Desk(max_actions=max_actions)


def _do(job: Job) -> Outcome:
    try:
        return _desk.do(job)
    except Exception as error:  # noqa: BLE001 (a fault of ours must not cost other jobs anything; it is reported and logged)
        traceback.print_exc()
        return Refused(500, Trouble("failed", f"{type(error).__name__} in the service; its log says more"))
