"""The program that a worker process runs."""

from __future__ import annotations

import subprocess
import sys

from proof_r1_formal.workers.worker import HEADER


def test_a_worker_whose_pool_is_gone_ends_without_a_message() -> None:
    """Its replies cannot be written, at the latest when its output is closed."""
    command = [sys.executable, "-c", "from proof_r1_formal.workers.worker import main; main()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(HEADER.pack(3) + b"???")  # cannot be read, so the worker replies at once
        process.stdin.close()
        message = process.stderr.read()
    assert process.returncode == 0
    assert message == b""
