"""A worker: runs functions on tasks, and replies with their results.

As a process (:func:`main`) it reads frames from standard input, each a function and its task, and
writes a frame with a reply for each to standard output. A frame is four bytes that hold its length, then a pickled
object. The worker ends when its input ends.
"""

from __future__ import annotations

import os
import pickle
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from proof_r1_formal.workers.protocol import Function, Initializer, Reply, WorkerError

HEADER = struct.Struct(">I")
"""The length of a frame."""
_PAGE = os.sysconf("SC_PAGE_SIZE")


def run(function: Function, task: Any) -> Reply:
    """Run a function on a task; an exception is a reply, too."""
    try:
        return Reply(function(task), failed=False, memory=_memory())
    except Exception as error:  # noqa: BLE001 (it is raised where the result is wanted)
        return Reply(_portable(error), failed=True, memory=_memory())


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


def main() -> None:
    """Run tasks until the input ends."""
    with (
        suppress(BrokenPipeError),  # the pool is gone; closing `out` may find that, too
        os.fdopen(os.dup(0), "rb") as source,
        os.fdopen(os.dup(1), "wb") as out,
        Path(os.devnull).open() as nothing,
    ):
        os.dup2(nothing.fileno(), 0)
        os.dup2(2, 1)  # output of libraries must not mix with replies
        _work(source, out)


def _work(source: BinaryIO, out: BinaryIO) -> None:
    while len(header := source.read(HEADER.size)) == HEADER.size:
        _write(out, run(_unpickled, source.read(HEADER.unpack(header)[0])))


def _unpickled(frame: bytes) -> Any:
    function, task = pickle.loads(frame)
    return function(task)


def initialize(initializer: Initializer | None) -> None:
    """Call an initializer: what a worker is sent first."""
    if initializer is not None:
        initializer()


def _write(out: BinaryIO, reply: Reply) -> None:
    try:
        frame = pickle.dumps(reply)
    except Exception as error:  # noqa: BLE001 (a result that cannot be sent is the task's own failure)
        cause = WorkerError(f"the result of a task cannot be sent: {type(error).__name__}: {error}")
        frame = pickle.dumps(Reply(cause, failed=True, memory=reply.memory))
    out.write(HEADER.pack(len(frame)) + frame)
    out.flush()
