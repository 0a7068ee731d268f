"""A file of lines that appears whole or not at all, and that an interrupted run goes on with.

While it grows it is a hidden file beside its target, named after what it is made from (inputs and settings). A later
run with the same inputs and settings finds it and goes on; one with others starts anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import msgspec

from proof_r1_formal import __version__
from proof_r1_formal.errors import DataError


class LineFile:
    """Lines of JSON being written; use as a context manager. Leaving it without an exception puts the file in place.

    Attributes:
        done: how many lines it holds.
    """

    def __init__(self, target: Path, partial: Path, file: BinaryIO, done: int) -> None:
        self.done = done
        self._target = target
        self._partial = partial
        self._file = file

    @classmethod
    def open(
        cls,
        target: Path,
        *,
        inputs: Iterable[Path],
        settings: object,
        read: Callable[[bytes], object] = msgspec.json.decode,
    ) -> Self:
        """Start a file, or go on with one that an interrupted run left.

        Args:
            target: where the whole file will be.
            inputs: the files that the lines are made from.
            settings: whatever else they depend on; its ``repr`` must tell settings apart.
            read: is given each line that is there already; one that it cannot decode, and all after it, are dropped.

        Raises:
            DataError: an input cannot be read, or the folder of the target cannot be written.
        """
        key = hashlib.sha256(f"{__version__} {settings!r}".encode())
        for path in inputs:
            try:
                with path.open("rb") as source:
                    key.update(hashlib.file_digest(source, "sha256").digest())
            except OSError as error:
                raise DataError(str(path), f"the file cannot be read: {error.strerror}") from error
        partial = target.with_name(f".{target.name}.{key.hexdigest()[:16]}.partial")
        try:
            done, size = whole_lines(partial, read)
            file = partial.open("ab")
            file.truncate(size)
        except OSError as error:
            raise DataError(str(target), f"the file cannot be written: {error.strerror}") from error
        return cls(target, partial, file, done)

    def append_line(self, line: bytes) -> None:
        """Add a line, given without its end; it is on disk before this returns."""
        self._file.write(line + b"\n")
        self._file.flush()
        self.done += 1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        if kind is None:
            self._partial.replace(self._target)
        elif not self.done:  # nothing to go on with
            self._partial.unlink()


def whole_lines(path: Path, read: Callable[[bytes], object]) -> tuple[int, int]:
    """How many whole lines a file starts with, and how many bytes they take; a line cut short does not count.

    Args:
        path: of the file; one that is not there has none.
        read: is given each line; one that it cannot decode, and all after it, do not count.
    """
    done = size = 0
    if path.exists():
        with path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                try:
                    read(line)
                except msgspec.DecodeError:
                    break
                done += 1
                size += len(line)
    return done, size
