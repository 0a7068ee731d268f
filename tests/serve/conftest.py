"""A running service, as its users run it: a process of its own on a free port."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

import pytest

from proof_r1_formal.serve.client import Client
from tests.patience import PATIENCE

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
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

    def workers(self) -> list[int]:
        """The ids of the worker processes."""
        own = self.process.pid
        return [int(child) for child in Path(f"/proc/{own}/task/{own}/children").read_text().split()]

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
        with Client(found[1]) as client:
            yield Running(process, found[1], int(found[2]), client, said, listener)
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


@pytest.fixture
def start() -> Iterator[Callable[..., Running]]:
    """Starts services with options; they end with the test."""
    opened = []

    def open_one(*options: str) -> Running:
        context = running("--workers", "1", *options)
        opened.append(context)
        return context.__enter__()

    yield open_one
    for context in opened:
        context.__exit__(None, None, None)
