"""Workers of a Ray cluster that may die: every task still has one result, in the order of the tasks.

In: a starter, a function and tasks, like ``workers``, whose engine ``ray`` this is. Out: the results. A worker is an
actor that keeps what its starter made. When one dies, another is hired and the tasks that it held are given out again,
up to ``ATTEMPTS`` times each, now to a worker that has nothing else; what it had sent back is not asked for again.

An address is what ``ray.init`` takes: ``HOST:PORT``, ``auto`` for the cluster of this machine, ``local`` for a private
one that has a processor per worker, listens on this machine only, has no dashboard, reports no usage, and ends with the
work. Without an address it is the cluster that the variable ``RAY_ADDRESS`` names (Ray sets it in jobs), or a private
one. A process that is connected to a cluster stays with that. This package must be installed wherever workers are.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import islice
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from proof_r1_formal.errors import ProofR1Error

if TYPE_CHECKING:
    from ray import ObjectRef
    from ray.actor import ActorHandle

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")

LOCAL = "local"
"""The address of a private cluster."""
PRIVATE = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # whose meaning on Linux is: listen on the loopback address only
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # the default to be, about which Ray warns otherwise
}
"""The environment in which Ray is imported to start a private cluster, where nothing else is set."""
ATTEMPTS = 4
"""How often a task is given out: workers that die may have been killed from outside, but one task may kill them all."""
PLACES = 2
"""How many tasks a worker holds: one that it does, and the next."""
AHEAD = 4
"""How many tasks per worker are taken ahead of the result that is waited for: those held, and what is done early."""


class _Actor:
    """A worker as it is on the cluster."""

    def start(self, starter: Callable[[], object] | None) -> None:
        if starter is not None:
            starter()

    def run(self, function: Callable[[_Task], _Result], task: _Task) -> _Result:
        return function(task)


@dataclass(slots=True, eq=False)
class _Job:
    """A task, and its result when there is one."""

    function: Callable[[Any], object]
    task: object
    attempts: int = 0
    result: Future[Any] = field(default_factory=Future)

    @property
    def places(self) -> int:
        """How many of a worker's places it takes: all, if it was lost, as that may have been its neighbour's fault."""
        return PLACES if self.attempts else 1


class ClusterWorkers:
    """Workers of a Ray cluster; use as a context manager.

    Args:
        count: how many, each with a CPU of its own; those that the cluster has no room for wait until it has.
        starter: what every worker does first.
        address: of the cluster.

    Raises:
        ProofR1Error: Ray is not installed; when it is entered, there is no cluster at the address.
    """

    def __init__(self, count: int, starter: Callable[[], object] | None, address: str | None) -> None:
        if find_spec("ray") is None:
            raise ProofR1Error("Ray is not installed: pip install 'proof-r1-formal[ray]'")
        self._count = count
        self._starter = starter
        self._address = address
        self._load: dict[ActorHandle[_Actor], int] = {}
        self._running: dict[ObjectRef[Any], tuple[ActorHandle[_Actor], _Job | None]] = {}
        self._todo: deque[_Job] = deque()
        self._lost_in_starting = 0

    def __enter__(self) -> Self:
        self._ray, self._connected = _connected(self._address, self._count)
        self._starter_there = self._ray.put(self._starter)  # once, however large it is
        self._hire = self._ray.remote(_Actor).options(num_cpus=1).remote
        for _ in range(self._count):
            self._start_one()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for actor in self._load:
            self._ray.kill(actor)
        if self._connected:
            self._ray.shutdown()

    def in_order(self, function: Callable[[_Task], _Result], tasks: Iterable[_Task]) -> Iterator[_Result]:
        source = iter(tasks)
        waiting: deque[_Job] = deque()
        while True:
            for task in islice(source, AHEAD * self._count - len(waiting)):
                job = _Job(function, task)
                waiting.append(job)
                self._todo.append(job)
            if not waiting:
                return
            self._advance(wait=not waiting[0].result.done())
            if waiting[0].result.done():
                yield waiting.popleft().result.result()

    # -- who does what ------------------------------------------------------------------------------------------------

    def _advance(self, *, wait: bool) -> None:
        """Give out tasks, and take results: those that are there, or the next one."""
        self._give_out()
        running = list(self._running)
        done, _ = self._ray.wait(running, num_returns=1 if wait else len(running), timeout=None if wait else 0)
        for reference in done:
            self._settle(reference)
        self._give_out()

    def _give_out(self) -> None:
        while self._todo and self._load:
            actor, load = min(self._load.items(), key=lambda item: item[1])
            if load + self._todo[0].places > PLACES:
                return
            job = self._todo.popleft()
            self._load[actor] += job.places
            self._running[actor.run.remote(job.function, job.task)] = (actor, job)

    def _settle(self, reference: ObjectRef[Any]) -> None:
        """Take what came of a task, or of starting a worker."""
        from ray.exceptions import RayError, RayTaskError, UnserializableException

        actor, job = self._running.pop(reference)
        try:
            value = self._ray.get(reference)
        except (RayTaskError, UnserializableException) as error:  # what the worker was given to do went wrong
            unread = ProofR1Error(f"a worker failed, and its error cannot be read here: {error}")
            cause = error.cause if isinstance(error, RayTaskError) else unread
            if job is None:
                raise cause from error
            self._free(actor, job)
            job.result.set_exception(cause)
        except RayError as error:
            self._replace(actor)
            self._try_again(job, error)
        else:
            if job is None:
                self._load[actor] = 0
                self._lost_in_starting = 0
            else:
                self._free(actor, job)
                job.result.set_result(value)

    def _free(self, actor: ActorHandle[_Actor], job: _Job) -> None:
        if actor in self._load:  # and has not died since
            self._load[actor] -= job.places

    def _try_again(self, job: _Job | None, error: Exception) -> None:
        if job is None:
            self._lost_in_starting += 1
            if self._lost_in_starting >= ATTEMPTS * self._count:
                raise ProofR1Error(f"the cluster can start no worker: {error}") from error
            return
        job.attempts += 1
        if job.attempts < ATTEMPTS:
            self._todo.appendleft(job)
            return
        lost = ProofR1Error(f"{ATTEMPTS} workers died of the same task; what came so far is good: {error}")
        lost.__cause__ = error
        job.result.set_exception(lost)

    def _start_one(self) -> None:
        actor = self._hire()
        self._load[actor] = PLACES  # until it has started
        self._running[actor.start.remote(self._starter_there)] = (actor, None)

    def _replace(self, actor: ActorHandle[_Actor]) -> None:
        if actor in self._load:  # and has not been replaced, when its other task was lost
            del self._load[actor]
            self._ray.kill(actor)
            self._start_one()


def keep_private() -> None:
    """See that a cluster which this process starts is a private one; it has no effect once Ray is imported."""
    if "ray" not in sys.modules:
        for name, value in PRIVATE.items():
            os.environ.setdefault(name, value)


def _connected(address: str | None, count: int) -> tuple[ModuleType, bool]:
    """Ray, connected to a cluster, and whether that was done here."""
    address = address or os.environ.get("RAY_ADDRESS") or LOCAL
    if address == LOCAL:
        keep_private()
    import ray

    if ray.is_initialized():
        return ray, False
    try:
        if address == LOCAL:
            ray.init(LOCAL, num_cpus=count, include_dashboard=False, logging_level=logging.WARNING)
        else:
            _call(address)
            ray.init(address, logging_level=logging.WARNING)
    except Exception as error:  # Ray raises nothing more special when a node takes too long to start
        raise ProofR1Error(f"there is no Ray cluster at {address}: {error}") from error
    return ray, True


def _call(address: str) -> None:
    """Raise an OSError if nobody listens at HOST:PORT; Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if port.isdigit():
        socket.create_connection((host, int(port)), timeout=10).close()
