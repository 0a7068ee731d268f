"""Workers that are processes of this machine: fresh interpreters, each in a process group of its own, on two pipes.

A fresh interpreter works where a fork does not (threads, CUDA), and does not run the caller's program again. It imports
from the same path. Each worker has pipes of its own, so that one that is killed blocks no other; in pebble 5.2, whose
workers share a pipe and a lock, killing an idle worker breaks the pool, and killing one that sends blocks it.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from proof_r1_formal.workers.protocol import Function, Initializer, LostWorkerError, Reply
from proof_r1_formal.workers.worker import HEADER, initialize

START = 120.0
"""Seconds that a worker may take to start."""
_ROOT = Path(__file__).resolve().parents[2]


class Processes:
    """The backend of local processes.

    Args:
        initializer: every worker calls it first.
    """

    attempts = 2
    startup: float | None = START

    def __init__(self, initializer: Initializer | None = None) -> None:
        self._initializer = _frame(initialize, initializer)

    async def start(self) -> Process:
        """See :class:`~proof_r1_formal.workers.protocol.Backend`."""
        process = await Process.start()
        with suppress(LostWorkerError):  # its first reply says so
            process.write(self._initializer)
        return process

    def close(self) -> None:
        """See :class:`~proof_r1_formal.workers.protocol.Backend`; processes share nothing."""


class Process:
    """A worker process and the pipes to it.

    Args:
        child: the process, which leads a group of its own.
        folder: for the temporary files of what it starts.
    """

    def __init__(self, child: asyncio.subprocess.Process, folder: TemporaryDirectory[str]) -> None:
        assert child.stdin is not None and child.stdout is not None
        self.pid = child.pid
        self._child, self._folder = child, folder
        self._tasks, self._replies = child.stdin, child.stdout

    @classmethod
    async def start(cls) -> Self:
        """Start a process.

        Raises:
            LostWorkerError: the system refuses.
        """
        folder = TemporaryDirectory(prefix="proof-r1-worker-", ignore_cleanup_errors=True)
        start = asyncio.create_subprocess_exec(
            sys.executable,
            "-P",  # the current folder is on the path only if it is on ours
            "-c",
            "from proof_r1_formal.workers.worker import main; main()",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": _path(), "TMPDIR": folder.name},
            start_new_session=True,  # Ctrl-C is for the process that owns the pool
        )
        starting = asyncio.create_task(start)
        try:
            return cls(await asyncio.shield(starting), folder)
        except OSError as error:
            folder.cleanup()
            raise LostWorkerError(f"a worker process cannot be started: {error.strerror}") from error
        except asyncio.CancelledError:
            await cls(await starting, folder).end()
            raise

    def send(self, function: Function, task: Any) -> None:
        """See :class:`~proof_r1_formal.workers.protocol.Worker`; the pipe takes the bytes when it can."""
        self.write(_frame(function, task))

    def write(self, frame: bytes) -> None:
        """Send a frame."""
        try:
            if self._child.returncode is None:
                self._tasks.write(frame)
                return
        except (ConnectionError, RuntimeError):  # the latter is how uvloop says that the pipe is closed
            pass
        raise self._lost()

    async def receive(self) -> Reply:
        """See :class:`~proof_r1_formal.workers.protocol.Worker`."""
        try:
            (length,) = HEADER.unpack(await self._replies.readexactly(HEADER.size))
            frame = await self._replies.readexactly(length)
        except (asyncio.IncompleteReadError, ConnectionError):
            raise self._lost() from None
        try:
            reply = pickle.loads(frame)
        except Exception as error:
            raise LostWorkerError(f"the reply of worker {self.pid} cannot be read ({error})") from error
        assert isinstance(reply, Reply)
        return reply

    def _lost(self) -> LostWorkerError:
        return LostWorkerError(f"worker {self.pid} died")

    async def end(self) -> None:
        """End it, with all that it started: a Lean that is checking something would go on alone."""
        with suppress(ProcessLookupError):  # they ended by themselves
            os.killpg(self.pid, signal.SIGKILL)
        self._tasks.close()
        await self._child.wait()
        await self._replies.read()
        with suppress(ConnectionError):
            await self._tasks.wait_closed()
        self._folder.cleanup()


def _path() -> str:
    """Where this process finds modules, and this package."""
    return os.pathsep.join([*(entry or str(Path.cwd()) for entry in sys.path), str(_ROOT)])


def _frame(function: Function, task: Any) -> bytes:
    content = pickle.dumps((function, task))
    return HEADER.pack(len(content)) + content
