"""The interfaces of the parts of a worker pool: scheduler, backends, workers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from proof_r1_formal.errors import ProofR1Error

Function: TypeAlias = Callable[[Any], Any]
Initializer: TypeAlias = Callable[[], object]
"""A function that every worker calls first."""


class WorkerError(ProofR1Error):
    """A task that the workers could not do."""


class TaskTimeoutError(WorkerError):
    """A task took longer than the pool allows."""


class WorkerDiedError(WorkerError):
    """Every worker that ran a task died."""


class NoWorkerError(WorkerError):
    """No worker can be started."""


class LostWorkerError(Exception):
    """A worker died, or does not respond."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of tasks and workers.

    Attributes:
        timeout: seconds of wall-clock time per task, from its start in the worker; unlimited if None.
        memory: MiB of private memory of a worker between two tasks; unlimited if None.
    """

    timeout: float | None = None
    memory: float | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A worker's reply to a task.

    Attributes:
        value: the result, or an exception.
        failed: whether the value is an exception that the function raised.
        memory: MiB that the worker holds and shares with no file or other process; 0 where the system does not say.
    """

    value: Any
    failed: bool
    memory: float


class Worker(Protocol):
    """A worker, as the scheduler sees it. One thread asks it; any thread may kill it."""

    def call(self, function: Function, task: Any, timeout: float | None) -> Reply:
        """Have it run a function on a task.

        Raises:
            TimeoutError: the worker did not reply within ``timeout`` seconds.
            LostWorkerError: the worker died.
            Exception: the task cannot be sent.
        """

    def is_alive(self) -> bool:
        """Whether it is not known to have died while it had nothing to do."""

    def kill(self) -> None:
        """End the worker at once, with all that it started."""

    def close(self) -> None:
        """Kill it, and release what belonged to it."""


@dataclass(frozen=True, slots=True)
class Backend:
    """Where workers come from.

    Attributes:
        start: starts a worker, or raises LostWorkerError.
        attempts: maximum number of attempts of a task whose worker dies.
        startup: seconds that a worker may take to start; unlimited if None.
    """

    start: Callable[[], Worker]
    attempts: int
    startup: float | None
