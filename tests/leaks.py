"""What a piece of code leaves open: tasks, asynchronous generators, files, sockets, processes and threads."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

_PROCESS = Path("/proc/self")


@dataclass
class Abandoned:
    """What event loops had to clean up, as nobody had closed it.

    Attributes:
        generators: asynchronous generators that the garbage collector or the end of the loop closed.
        tasks: tasks that were under way when their loop ended.
    """

    generators: list[str] = field(default_factory=list)
    tasks: list[str] = field(default_factory=list)


@contextmanager
def watched_loops() -> Iterator[Abandoned]:
    """Record what the event loops that run in this context clean up."""
    found = Abandoned()
    loop, runners = asyncio.BaseEventLoop, asyncio.runners
    collect, shut_down = loop._asyncgen_finalizer_hook, loop.shutdown_asyncgens  # type: ignore[attr-defined]
    cancel = runners._cancel_all_tasks  # type: ignore[attr-defined]

    def collected(self: asyncio.BaseEventLoop, generator: AsyncGenerator[object, None]) -> None:
        found.generators.append(generator.__qualname__)  # type: ignore[attr-defined]
        collect(self, generator)

    async def ended(self: asyncio.BaseEventLoop) -> None:
        found.generators.extend(each.__qualname__ for each in self._asyncgens if each.ag_frame)  # type: ignore[attr-defined]
        await shut_down(self)

    def cancelled(loop: asyncio.AbstractEventLoop) -> None:
        found.tasks.extend(str(task.get_coro()) for task in asyncio.all_tasks(loop))
        cancel(loop)

    with (
        patch.object(loop, "_asyncgen_finalizer_hook", collected),
        patch.object(loop, "shutdown_asyncgens", ended),
        patch.object(runners, "_cancel_all_tasks", cancelled),
    ):
        yield found


def descriptors() -> dict[int, str]:
    """The open file descriptors of this process, with what each is; none where the system does not tell."""
    found: dict[int, str] = {}
    for entry in (_PROCESS / "fd").glob("*"):
        try:
            found[int(entry.name)] = os.readlink(entry)  # noqa: PTH115 (a socket is no path)
        except OSError:  # the one that lists the folder
            continue
    return found


def children() -> set[str]:
    """The numbers of the processes that this process has started and not waited for, where the system tells."""
    found: set[str] = set()
    for entry in (_PROCESS / "task").glob("*/children"):
        with suppress(OSError):  # a thread that has ended since
            found.update(entry.read_text().split())
    return found


@contextmanager
def nothing_left_open(*, seconds: float = 60.0) -> Iterator[None]:
    """Fail if what runs in this context leaves anything open.

    Args:
        seconds: how long a thread may take to end.

    Raises:
        AssertionError: it names what was left.
    """
    before = descriptors()
    threads = set(threading.enumerate())
    processes = children()
    with watched_loops() as abandoned:
        yield
    for thread in set(threading.enumerate()) - threads:
        thread.join(seconds)  # one that was told to end may still be ending
    left = {
        "generators": abandoned.generators,
        "tasks": abandoned.tasks,
        "descriptors": [f"{n}: {what}" for n, what in descriptors().items() if before.get(n) != what],
        "threads": [thread.name for thread in threading.enumerate() if thread not in threads],
        "processes": sorted(children() - processes),
    }
    if left := {kind: each for kind, each in left.items() if each}:
        raise AssertionError(f"left open: {left}")
