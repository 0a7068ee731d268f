"""The interfaces of a worker pool and of its parts: scheduler, backends, workers."""

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
    """Starts workers.

    Attributes:
        attempts: maximum number of attempts of a task whose worker dies.
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
        """The results of a function in the order of the tasks, which may be infinite: few are taken ahead.

        Raises:
            WorkerError: in the turn of a task that could not be done; and what the function raises.
        """
