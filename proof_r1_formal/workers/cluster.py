"""Workers that are actors of a Ray cluster; those that the cluster has no room for wait until it has.

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
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.workers.protocol import Backend, Function, LostWorkerError, Reply, WorkerError
from proof_r1_formal.workers.worker import run

if TYPE_CHECKING:
    from ray.actor import ActorHandle

LOCAL = "local"
"""The address of a private cluster."""
ATTEMPTS = 4
"""Maximum number of attempts of a task whose worker dies: nodes come and go."""
PRIVATE = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # whose meaning on Linux is: listen on the loopback address only
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # the default to be, about which Ray warns otherwise
}
"""The environment in which Ray starts a private cluster, where nothing else is set."""


class _Actor:
    """A worker as it is on the cluster."""

    def run(self, function: Function, task: Any) -> Reply:
        return run(function, task)


class _ClusterWorker:
    """An actor."""

    def __init__(self, ray: ModuleType, actor: ActorHandle[_Actor]) -> None:
        self._ray, self._actor = ray, actor

    def call(self, function: Function, task: Any, timeout: float | None) -> Reply:
        """See :class:`~proof_r1_formal.workers.protocol.Worker`."""
        from ray.exceptions import GetTimeoutError, RayError, RayTaskError, UnserializableException

        try:
            reply: Reply = self._ray.get(self._actor.run.remote(function, task), timeout=timeout)
        except GetTimeoutError:
            raise TimeoutError from None
        except (RayTaskError, UnserializableException) as error:  # what the worker was to do could not be read there
            return Reply(WorkerError(f"a worker cannot read its task: {error}"), failed=True, memory=0.0)
        except RayError as error:
            raise LostWorkerError(f"a worker of the cluster died: {error}") from error
        return reply

    def is_alive(self) -> bool:
        """See :class:`~proof_r1_formal.workers.protocol.Worker`; Ray does not say that an idle worker died."""
        return True

    def kill(self) -> None:
        """See :class:`~proof_r1_formal.workers.protocol.Worker`."""
        self._ray.kill(self._actor)

    close = kill


@contextmanager
def cluster(count: int, address: str | None) -> Iterator[Backend]:
    """The backend of a Ray cluster, for workers that have a CPU each; it is left at the end if it was joined here.

    Raises:
        ProofR1Error: Ray is not installed, or there is no cluster at the address.
    """
    if find_spec("ray") is None:
        raise ProofR1Error("Ray is not installed: pip install 'proof-r1-formal[ray]'")
    ray, is_joined = _connect(address, count)
    actor = ray.remote(_Actor).options(num_cpus=1)
    try:
        yield Backend(lambda: _ClusterWorker(ray, actor.remote()), ATTEMPTS, None)
    finally:
        if is_joined:
            ray.shutdown()


def keep_private() -> None:
    """See that a cluster which this process starts is a private one."""
    for name, value in PRIVATE.items():
        os.environ.setdefault(name, value)
    if constants := sys.modules.get("ray._private.ray_constants"):  # which has read the environment
        vars(constants)["ENABLE_RAY_CLUSTER"] = os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] != "0"


def _connect(address: str | None, count: int) -> tuple[ModuleType, bool]:
    """Ray, connected to a cluster, and whether that was done here."""
    address = address or os.environ.get("RAY_ADDRESS") or LOCAL
    if "ray" in sys.modules and sys.modules["ray"].is_initialized():
        return sys.modules["ray"], False
    if address == LOCAL:
        keep_private()
    import ray

    try:
        if address == LOCAL:
            ray.init(LOCAL, num_cpus=count, include_dashboard=False, logging_level=logging.WARNING)
        else:
            host, _, port = address.removeprefix("ray://").rpartition(":")
            if port.isdigit():  # if nobody listens there, Ray itself would try for minutes
                socket.create_connection((host, int(port)), timeout=10).close()
            ray.init(address, logging_level=logging.WARNING)
    except Exception as error:  # Ray raises nothing more special when a node takes too long to start
        raise ProofR1Error(f"there is no Ray cluster at {address}: {error}") from error
    return ray, True
