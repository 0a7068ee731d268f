"""What a command does, run in this process."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class Done(NamedTuple):
    """What a command did."""

    status: int
    stdout: str
    stderr: str


class Run(Protocol):
    """Runs a command in this process."""

    def __call__(self, *arguments: str) -> Done: ...
