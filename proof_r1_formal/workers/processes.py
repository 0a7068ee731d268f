"""Workers that are processes of this machine: fresh interpreters, each in a process group of its own.

``subprocess`` starts them, and a connection of ``multiprocessing`` carries tasks and replies. A fresh interpreter works
where a fork does not (threads, CUDA), and does not run the caller's program again. It imports from the same path. Each
worker has a connection of its own, so that one that is killed blocks no other; in pebble 5.2, whose workers share a
pipe and a lock, killing an idle worker breaks the pool, and killing one that sends blocks it.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from contextlib import suppress
from multiprocessing import Pipe
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from proof_r1_formal.workers.protocol import Backend, Function, LostWorkerError, Reply

START = 120.0
"""Seconds that a worker may take to start."""
ATTEMPTS = 2
"""Maximum number of attempts of a task whose worker dies."""
_ROOT = Path(__file__).resolve().parents[2]


class Process:
    """A worker process and the connection to it.

    Raises:
        LostWorkerError: the system refuses to start it.
    """

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="proof-r1-worker-", ignore_cleanup_errors=True)
        self._connection, other = Pipe()
        program = f"from proof_r1_formal.workers.worker import main; main({other.fileno()})"
        path = os.pathsep.join([*(entry or str(Path.cwd()) for entry in sys.path), str(_ROOT)])
        try:
            self._child = subprocess.Popen(
                [sys.executable, "-P", "-c", program],  # -P: the current folder is on the path only if it is on ours
                stdin=subprocess.DEVNULL,
                stdout=2,  # a worker's standard output is not the pool's
                pass_fds=[other.fileno()],
                env={**os.environ, "PYTHONPATH": path, "TMPDIR": self._folder.name},
                start_new_session=True,  # Ctrl-C is for the process that owns the pool
            )
        except OSError as error:
            self._connection.close()
            self._folder.cleanup()
            raise LostWorkerError(f"a worker process cannot be started: {error.strerror}") from error
        finally:
            other.close()
        self.pid = self._child.pid

    def call(self, function: Function, task: Any, timeout: float | None) -> Reply:
        """See :class:`~proof_r1_formal.workers.protocol.Worker`."""
        frame = pickle.dumps((function, task))
        try:
            self._connection.send_bytes(frame)
            if not self._connection.poll(timeout):
                raise TimeoutError
            content = self._connection.recv_bytes()
        except TimeoutError:
            raise
        except (EOFError, OSError):
            raise LostWorkerError(f"worker {self.pid} died") from None
        try:
            reply = pickle.loads(content)
        except Exception as error:
            raise LostWorkerError(f"the reply of worker {self.pid} cannot be read ({error})") from error
        assert isinstance(reply, Reply)
        return reply

    def is_alive(self) -> bool:
        """See :class:`~proof_r1_formal.workers.protocol.Worker`; an idle worker sends nothing but its end."""
        return not self._connection.poll()

    def kill(self) -> None:
        """See :class:`~proof_r1_formal.workers.protocol.Worker`; a Lean that it started would go on alone."""
        with suppress(ProcessLookupError):  # they ended by themselves
            os.killpg(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """See :class:`~proof_r1_formal.workers.protocol.Worker`."""
        self.kill()
        self._child.wait()
        self._connection.close()
        self._folder.cleanup()


BACKEND = Backend(Process, ATTEMPTS, START)
"""The backend of local processes."""
