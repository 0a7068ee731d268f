"""What a step on a card found: what it checked, what it measured, and why it did not run.

A step runs in an environment of its own and writes this as JSON; ``studies.gpu`` reads it.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

FILE = "found.json"


class Check(msgspec.Struct, frozen=True):
    """A value that must be in a range, both ends included.

    Attributes:
        value: what was found; an infinite number and NaN are None in the file, and fail.
        low, high: the range; None leaves that end open.
    """

    value: float | None
    low: float | None = None
    high: float | None = None

    @property
    def holds(self) -> bool:
        """Whether the value is in the range."""
        if self.value is None:
            return False
        return (self.low is None or self.low <= self.value) and (self.high is None or self.value <= self.high)


class Found(msgspec.Struct, frozen=True):
    """What a step found.

    Attributes:
        checks: by name; the step passes if there is one and all hold.
        numbers: measurements by name, with the unit in the name.
        notes: what a reader of the verdict must know.
        not_run: why the step could not run here; empty if it ran.
    """

    checks: dict[str, Check] = {}
    numbers: dict[str, float | None] = {}
    notes: list[str] = []
    not_run: str = ""

    def write(self, folder: Path) -> None:
        """Write the file of a step."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FILE).write_bytes(msgspec.json.encode(self))  # a number that is not finite becomes null


def read(folder: Path) -> Found | None:
    """What the step of a folder wrote; None if it wrote nothing."""
    file = folder / FILE
    return msgspec.json.decode(file.read_bytes(), type=Found) if file.exists() else None
