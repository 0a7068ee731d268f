"""What a worker pool is, for those who use one, and for its parts: scheduler, backends, workers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar

from proof_r1_formal.errors import ProofR1Error

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")
Function: TypeAlias = Callable[[Any], Any]
Initializer: TypeAlias = Callable[[], object]


class WorkerError(ProofR1Error):
    """A task that the workers could not do."""


class TaskTimeoutError(WorkerError):
    """A task took longer than the pool allows."""


class WorkerDiedError(WorkerError):
    """Worker after worker died while it ran a task."""


class NoWorkerError(WorkerError):
    """No worker can be started."""


class LostWorkerError(Exception):
    """A worker died, or cannot be talked to."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What tasks and workers may take.

    Attributes:
        timeout: seconds of wall-clock time per task, counted from when its worker begins it; unlimited if None.
        memory: MiB of its own that a worker may hold between two tasks; unlimited if None.
    """

    timeout: float | None = None
    memory: float | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What a worker says when it has run a task.

    Attributes:
        value: the result, or an exception.
        failed: whether the value is an exception that the function raised.
        memory: MiB that the worker holds and shares with no file or other process; 0 where the system does not say.
    """

    value: Any
    failed: bool
    memory: float


class Worker(Protocol):
    """A worker that has started, as the scheduler sees it."""

    def send(self, function: Function, task: Any) -> None:
        """Send a task; does not wait.

        Raises:
            LostWorkerError: the worker died.
        """

    def receive(self) -> Awaitable[Reply]:
        """The reply to the next task, in the order in which they were sent.

        Raises:
            LostWorkerError: the worker died, also if it has nothing to do.
        """

    async def end(self) -> None:
        """End the worker at once, with all that it started."""


class Backend(Protocol):
    """Where workers come from.

    Attributes:
        attempts: how often a task is tried if its worker dies.
        startup: seconds that a worker may take to start; unlimited if None.
    """

    attempts: int
    startup: float | None

    async def start(self) -> Worker:
        """Start a worker, whose first reply is that of its initializer.

        Raises:
            LostWorkerError: it does not start.
        """

    def close(self) -> None:
        """Release what the workers shared, when the last has ended."""


class WorkerPool(Protocol):
    """Workers that run functions of modules."""

    def submit(self, function: Callable[[_Task], _Result], task: _Task) -> Future[_Result]:
        """Run a function on a task, in turn.

        Returns:
            The result, or the exception that the function raised, or a :class:`WorkerError`.
        """

    def map(self, function: Callable[[_Task], _Result], tasks: Iterable[_Task]) -> Iterator[_Result]:
        """The results of a function in the order of the tasks, which may be endless: few are taken ahead.

        Raises:
            WorkerError: in the turn of a task that could not be done; and what the function raises.
        """
