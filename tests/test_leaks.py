"""What counts open things does see each kind of them."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import ExitStack

import pytest

from tests.leaks import nothing_left_open


async def numbers() -> AsyncGenerator[int, None]:
    for number in range(3):
        yield number


async def leaves_a_generator() -> None:
    async for _ in numbers():
        break


async def leaves_a_held_generator() -> AsyncGenerator[int, None]:
    held = numbers()
    await anext(held)
    return held


async def leaves_a_task() -> asyncio.Task[bool]:
    return asyncio.create_task(asyncio.Event().wait())


@pytest.mark.parametrize(
    ("work", "kind"),
    [(leaves_a_generator, "generators"), (leaves_a_held_generator, "generators"), (leaves_a_task, "Event.wait")],
)
def test_what_a_loop_has_to_clean_up_is_seen(work: Callable[[], Coroutine[object, object, object]], kind: str) -> None:
    with pytest.raises(AssertionError, match=kind), nothing_left_open():
        asyncio.run(work())


def test_descriptors_threads_and_processes_are_seen() -> None:
    over = threading.Event()
    with ExitStack() as stack, pytest.raises(AssertionError) as caught, nothing_left_open(seconds=0.01):
        stack.enter_context(socket.socket())
        thread = threading.Thread(target=over.wait, name="left")
        thread.start()
        stack.callback(thread.join)
        stack.callback(over.set)
        stack.enter_context(subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE))
    said = str(caught.value)
    assert all(kind in said for kind in ("socket", "left", "processes"))
