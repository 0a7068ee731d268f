"""Where the time of a step goes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from training.common.logs import Seconds

GIB = 1 << 30


class Stopwatch:
    """Adds up the wall-clock time of parts of a step; on a GPU it waits for what was started.

    Args:
        device: that works.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._parts: dict[str, float] = {}
        self._start = time.perf_counter()

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count what happens inside for a part, see :class:`~training.common.logs.Seconds`."""
        start = time.perf_counter()
        yield
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
        self._parts[name] = self._parts.get(name, 0.0) + time.perf_counter() - start

    def seconds(self) -> Seconds:
        """The times so far."""
        return Seconds(**self._parts, total=time.perf_counter() - self._start)

    def memory(self) -> float:
        """Most memory of the GPU that was used, in GiB."""
        return torch.cuda.max_memory_allocated(self._device) / GIB if self._device.type == "cuda" else 0.0
