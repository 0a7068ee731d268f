"""What the tests of worker pools have workers do: good tasks and faults."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import NamedTuple

from proof_r1_formal.errors import ParseError, ProofR1Error

HELD: list[bytes] = []
"""What a leaking worker does not let go."""
MIB = 2**20


class Done(NamedTuple):
    """A result, and which process it is from, of those that the initializer prepared."""

    number: int
    process: int
    prepared: str | None


class UnreadableError(Exception):
    """An exception that another process cannot rebuild."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"{first} and {second}")


def prepare() -> None:
    os.environ["PREPARED"] = "yes"


def refuse_to_start() -> None:
    raise ProofR1Error("nothing is prepared")


def die_at_start() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def work(number: int) -> Done:
    return Done(number, os.getpid(), os.environ.get("PREPARED"))


def refuse(number: int) -> int:
    if number == 7:
        raise ProofR1Error(f"not {number}")
    return number


def refuse_formula(text: str) -> None:
    raise ParseError(text, 1, "not a formula")


def refuse_unreadably(number: int) -> None:
    raise UnreadableError(number, number)


def refuse_to_be_sent(number: int) -> object:
    return lambda: number


def die(number: int) -> int:
    if number == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def leave(number: int) -> int:
    if number == 7:
        sys.exit(3)
    return number


def hang(number: int) -> int:
    if number == 7:
        signal.pause()
    return number


def die_at_first(task: tuple[Path, int]) -> int:
    """Kill the worker so many times; the file holds how often that was done."""
    file, times = task
    died = int(file.read_text()) if file.exists() else 0
    if died < times:
        file.write_text(f"{died + 1}")
        os.kill(os.getpid(), signal.SIGKILL)
    return died


def leak(mebibytes: int) -> int:
    """Hold more and more memory."""
    HELD.append(os.urandom(MIB) * mebibytes)
    return os.getpid()


def flood(mebibytes: int) -> int:
    """Print much, to both streams, also past Python."""
    for descriptor in (1, 2):
        os.write(descriptor, b"noise\n" * 1000)
    print("noise " * 1000)  # noqa: T201
    sys.stdout.flush()
    return mebibytes


def much(mebibytes: int) -> bytes:
    return b"x" * (mebibytes * MIB)


def read_input(number: int) -> str:
    """What standard input holds for a task."""
    return sys.stdin.read()


def take(seconds: float) -> float:
    time.sleep(seconds)
    return seconds
