"""A worker: runs functions on tasks, and replies with their results.

As a process (:func:`main`) it reads pickled pairs of a function and a task from a connection of ``multiprocessing``,
and writes a pickled reply for each. It ends when the other end of the connection is closed.
"""

from __future__ import annotations

import os
import pickle
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from proof_r1_formal.workers.protocol import Function, Initializer, Reply, WorkerError

_PAGE = os.sysconf("SC_PAGE_SIZE")


def main(descriptor: int) -> None:
    """Run tasks until the pool is gone, to which the descriptor is a connection."""
    with suppress(EOFError, OSError), Connection(descriptor) as pool:
        while True:
            pool.send_bytes(_pickle(run(_unpickle, pool.recv_bytes())))


def run(function: Function, task: Any) -> Reply:
    """Run a function on a task; an exception is a reply, too."""
    try:
        return Reply(function(task), failed=False, memory=_memory())
    except Exception as error:  # noqa: BLE001 (it is raised where the result is wanted)
        return Reply(_portable(error), failed=True, memory=_memory())


def initialize(initializer: Initializer | None) -> None:
    """Call an initializer: what a worker is sent first."""
    if initializer is not None:
        initializer()


def _unpickle(frame: bytes) -> Any:
    function, task = pickle.loads(frame)
    return function(task)


def _pickle(reply: Reply) -> bytes:
    try:
        return pickle.dumps(reply)
    except Exception as error:  # noqa: BLE001 (a result that cannot be sent is the task's own failure)
        cause = WorkerError(f"the result of a task cannot be sent: {type(error).__name__}: {error}")
        return pickle.dumps(Reply(cause, failed=True, memory=reply.memory))


def _portable(error: Exception) -> Exception:
    """The exception, or one that says the same, if another process could not read it."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 (whatever its own methods do)
        return WorkerError(f"a worker failed: {type(error).__name__}: {error}")
    return error


def _memory() -> float:
    try:
        _, resident, shared, *_ = Path("/proc/self/statm").read_text(encoding="ascii").split()
    except OSError:
        return 0.0
    return (int(resident) - int(shared)) * _PAGE / 2**20
