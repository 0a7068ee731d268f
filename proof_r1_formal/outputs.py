"""Every file that a command writes is opened here: whole files, streams, folders, and files that a later run resumes.

A path ``-`` is standard output. Pipes, devices and the file that standard output is are written as streams. A link is
followed to its target. Any other file appears whole or not at all. A command checks its outputs before it starts to
work: it refuses an output that is a folder, whose folder is missing, that may not be written, or that is an input. Two
runs never append to one file: the first locks it.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Self

import msgspec

from proof_r1_formal.errors import DataError
from proof_r1_formal.version import __version__

STANDARD_STREAM = Path("-")
"""Standard input or standard output, as commands name them."""


def check_output(path: Path, *, inputs: Iterable[Path] = ()) -> None:
    """Refuse an output that cannot be written, or that is an input, by whatever link or name; changes nothing.

    Raises:
        DataError: see above.
    """
    target = _target(path)
    if target is None:
        if path != STANDARD_STREAM and not os.access(path, os.W_OK):
            raise DataError(str(path), "the file cannot be written: Permission denied")
        return
    for given in inputs:
        if target.exists() and given.exists() and target.samefile(given):
            raise DataError(str(path), f"the output would overwrite the input {given}; name another file")
    if target.exists() and not os.access(target, os.W_OK):
        raise DataError(str(path), "the file cannot be written: Permission denied")
    _check_folder(path, target.parent)


def check_folder(path: Path) -> None:
    """Make a folder for outputs, unless it is there.

    Raises:
        DataError: it cannot be made, or no file can be written into it.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise DataError(str(path), f"the folder cannot be made: {_why(error)}") from error
    _check_folder(path, path)


@contextmanager
def output(path: Path) -> Iterator[BinaryIO]:
    """The file to write an output to. If the block ends with an exception, a regular file stays as it was.

    Raises:
        DataError: the file cannot be written.
        BrokenPipeError: the reader of a stream has gone.
    """
    target = _target(path)
    with writing(path):
        if target is None:
            with _stream(path) as file:
                yield file
            return
        partial = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            with partial.open("wb") as file:
                yield file
            _put(partial, target)
        finally:
            partial.unlink(missing_ok=True)


def write_output(path: Path, content: bytes) -> None:
    """Write a whole output; it raises what :func:`output` raises."""
    with output(path) as file:
        file.write(content)


def open_alone(path: Path) -> BinaryIO:
    """The file at a path, made if need be, to read and append to. No other run opens it in this way until it is closed.

    Raises:
        DataError: the path leads to a stream, another run has the file open, or see :func:`check_output`.
    """
    check_output(path)
    if (target := _target(path)) is None:
        raise DataError(str(path), "this is not a regular file, so its contents cannot be reused; name another file")
    with writing(path):
        return _lock(target, path)


class LineFile:
    """An output of lines that an interrupted run resumes; use as a context manager.

    While a regular file grows it is a hidden file beside its target, named after what it is made from (inputs and
    settings). A later run with the same inputs and settings finds it and continues. Leaving the context without an
    exception puts the file in place; until then the hidden file is locked. A stream, or a file that is made from one,
    is not resumed.

    Attributes:
        done: how many lines it holds.
    """

    def __init__(
        self, path: Path, file: BinaryIO, *, target: Path | None = None, partial: Path | None = None, done: int = 0
    ) -> None:
        self.done = done
        self._path, self._target, self._partial = path, target, partial
        self._file = file  # of a regular file, it holds the lock
        self._resumable = True

    @property
    def is_resumable(self) -> bool:
        """Whether a later run with the same inputs and settings continues after the lines that there are."""
        return self._partial is not None and self._resumable and self.done > 0

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        inputs: Iterable[Path],
        settings: object,
        read: Callable[[bytes], object] = msgspec.json.decode,
    ) -> Self:
        """Start a file, or resume one that an interrupted run left.

        Args:
            path: where the whole file will be.
            inputs: the files that the lines are made from.
            settings: whatever else they depend on; its ``repr`` must tell settings apart.
            read: is given each line that is there already; one that it cannot decode, and all after it, are dropped.

        Raises:
            DataError: an input cannot be read, another run writes the file, or see :func:`check_output`.
        """
        inputs = tuple(inputs)
        check_output(path, inputs=inputs)
        with writing(path):
            if (target := _target(path)) is None:
                return cls(path, _stream(path))
            key = _key(inputs, settings)
            partial = target.with_name(f".{target.name}.{key or os.getpid()}.partial")
            file = _lock(partial, path)
            try:
                done, size = _whole_lines(partial, read) if key else (0, 0)
                file.truncate(size)
            except BaseException:
                file.close()
                raise
        lines = cls(path, file, target=target, partial=partial, done=done)
        lines._resumable = key is not None
        return lines

    def append_line(self, line: bytes) -> None:
        """Add a line, given without its end, and hand it to the system; it raises what :func:`output` raises."""
        with writing(self._path):
            self._file.write(line + b"\n")
            self._file.flush()
        self.done += 1

    def discard(self) -> None:
        """Do not keep the lines for a later run if the context is left with an exception: it could not continue."""
        self._resumable = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_error: object) -> None:
        placed = False
        try:
            if kind is None and self._partial is not None and self._target is not None:
                with writing(self._path):
                    if sys.platform == "win32":
                        self._file.close()  # an open file cannot be renamed there, and it locks nothing
                    _put(self._partial, self._target)
                placed = True  # another run may make a new partial file when this one's lock ends
        finally:
            if self._partial is not None and not placed and not self.is_resumable:  # nothing to resume
                self._partial.unlink(missing_ok=True)
            with suppress(OSError):  # what could not be written has been said
                self._file.close()


def _whole_lines(path: Path, read: Callable[[bytes], object]) -> tuple[int, int]:
    """How many whole lines a file starts with, and how many bytes they take; a file that is not there has none.

    A line that is cut short, or that ``read`` cannot decode, does not count, nor do all after it.
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


# -- one run at a time ------------------------------------------------------------------------------------------------


_LOCKLESS = (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK)  # of file systems that lock no files


def _lock(file: Path, path: Path) -> BinaryIO:
    """A file, made if need be, that other runs cannot lock until it is closed, or this process and its forks end.

    Windows and some file systems lock nothing. Worker processes are new programs, which do not inherit the file. If
    another run has locked it, the error names the output at ``path``.
    """
    while True:
        opened = file.open("a+b")
        if sys.platform == "win32":
            return opened
        import fcntl

        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in _LOCKLESS:
                opened.close()
                if not isinstance(error, BlockingIOError):
                    raise
                advice = "wait for it, or name another output"
                raise DataError(str(path), f"another run is writing this file; {advice}") from None
        if _is_same(file, opened.fileno()):
            return opened
        opened.close()  # the run that had locked it has put it in place, or removed it


# -- what a path is ---------------------------------------------------------------------------------------------------


def is_standard_output(path: Path) -> bool:
    """Whether a path leads to standard output: ``-``, ``/dev/stdout``, or the file that it is."""
    return path == STANDARD_STREAM or _is_same(path, 1)


def is_stream(path: Path) -> bool:
    """Whether a path leads to a pipe, a device or standard output."""
    return _target(path) is None


def is_null(path: Path) -> bool:
    """Whether a path leads to the null device, which keeps nothing; ``-`` does if standard output is that device."""
    null = Path(os.devnull)
    return _is_same(null, 1) if path == STANDARD_STREAM else path.exists() and path.samefile(null)


def _target(path: Path) -> Path | None:
    """The file that a path leads to, which need not be there; None for a stream.

    Raises:
        DataError: it leads to a folder, or nowhere.
    """
    if is_standard_output(path):
        return None
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return Path(os.path.realpath(path))
    except (OSError, ValueError) as error:
        raise DataError(str(path), f"the file cannot be written: {_why(error)}") from error
    if stat.S_ISDIR(mode):
        raise DataError(str(path), "this is a folder; name a file to write")
    return Path(os.path.realpath(path)) if stat.S_ISREG(mode) else None


def _is_same(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except (OSError, ValueError):
        return False


def _stream(path: Path) -> BinaryIO:
    if is_standard_output(path):
        sys.stdout.flush()
        return os.fdopen(os.dup(1), "wb")
    return path.open("wb")


def _check_folder(path: Path, folder: Path) -> None:
    """Refuse a folder that no file can be written into, by trying: root has all permissions, yet disks may refuse."""
    if not folder.is_dir():
        raise DataError(str(path), f"there is no folder {folder} to write it into; make it, or name another")
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise DataError(str(path), f"no file can be written into {folder}: {error.strerror}") from error


def _put(partial: Path, target: Path) -> None:
    """Put a finished file in place, with the permissions of what it replaces."""
    if target.exists():
        shutil.copymode(target, partial)
    partial.replace(target)


def _key(inputs: Iterable[Path], settings: object) -> str | None:
    """A key that tells a run from others; None if an input is a stream, which cannot be read twice."""
    key = hashlib.sha256(f"{__version__} {settings!r}".encode())
    for path in inputs:
        try:
            if path == STANDARD_STREAM or not stat.S_ISREG(path.stat().st_mode):
                return None
            with path.open("rb") as source:
                key.update(hashlib.file_digest(source, "sha256").digest())
        except OSError as error:
            raise DataError(str(path), f"the file cannot be read: {error.strerror}") from error
    return key.hexdigest()[:16]


NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""The errors of writing to a device."""


def unwritable(path: Path | str, error: OSError) -> DataError:
    """The error of an output that cannot be written; a text names an output that has no path."""
    full = isinstance(path, Path) and error.errno in NO_ROOM and path != STANDARD_STREAM and not path.is_char_device()
    advice = "; make room there, or name another disk, and repeat the command" if full else ""
    return DataError(str(path), f"the file cannot be written: {_why(error)}{advice}")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Give the errors of a block the name of the file that it writes.

    Raises:
        DataError: the file cannot be written.
        BrokenPipeError: the reader of a stream has gone.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise unwritable(path, error) from error


def _why(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
