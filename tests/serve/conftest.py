"""A running service, as its users run it: a process of its own on a free port."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Thread

import pytest

from proof_r1_formal.serve.client import Client
from tests.build import EXAMPLES
from tests.patience import PATIENCE

HANGING = "started"
"""The file into which a Lean that hangs writes its process id."""
_ADDRESS = re.compile(r"running on (http://\S+:(\d+))")


@dataclass(frozen=True)
class Running:
    """A service that runs, and what it has said so far."""

    process: subprocess.Popen[str]
    url: str
    port: int
    client: Client
    said: list[str]
    listener: Thread
    folder: Path | None = None

    def workers(self) -> list[int]:
        """The ids of the worker processes."""
        threads = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        return [int(child) for children in threads for child in children.read_text().split()]

    def last_words(self) -> str:
        """All that it said, when it has ended."""
        self.process.wait(timeout=PATIENCE)
        self.listener.join()
        return "".join(self.said)


@contextmanager
def running(*options: str) -> Iterator[Running]:
    command = [str(Path(sys.executable).with_name("proof-r1")), "serve", "--port", "0", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    listener: Thread | None = None
    try:
        assert process.stderr is not None
        said: list[str] = []
        for line in process.stderr:
            said.append(line)
            if found := _ADDRESS.search(line):
                break
        else:
            pytest.fail("the service did not start: " + "".join(said))
        listener = Thread(target=said.extend, args=[process.stderr])  # it would wait for a pipe that is full
        listener.start()
        yield Running(process, found[1], int(found[2]), Client(found[1]), said, listener)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if listener is not None:
            listener.join()
        assert process.stderr is not None
        process.stderr.close()


@pytest.fixture(scope="session")
def service() -> Iterator[Running]:
    """A service with two workers, both started, that knows the problems of the examples."""
    with running("--workers", "2", "--problems", str(EXAMPLES / "problems.jsonl")) as one:
        late = time.monotonic() + PATIENCE
        while one.client.health().status != "ok":
            assert time.monotonic() < late
        yield one


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service with one worker and short limits of time, and with a Lean that hangs and writes its id into a file."""
    folder = tmp_path_factory.mktemp("hasty")
    lean = folder / "lean"
    says = f'[ "$1" = --version ] && exec echo "Lean (version 4.35.0)"\necho $$ > {HANGING}\nexec sleep 1000\n'
    lean.write_text(f"#!/bin/sh\n{says.replace(HANGING, str(folder / HANGING))}")
    lean.chmod(0o755)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PATH", str(folder), prepend=os.pathsep)
        environment.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        with running("--workers", "1", "--read-timeout", "2", "--timeout", "2") as one:
            yield replace(one, folder=folder)


@pytest.fixture(scope="module")
def small() -> Iterator[Running]:
    """A service with one worker, where little may wait and bodies are small."""
    with running("--workers", "1", "--waiting", "2", "--max-body", "2000") as one:
        yield one
