"""Open files of data to read: files, pipes and standard input, plain or compressed with gzip or Zstandard.

In: a path; ``-`` is standard input. Out: a stream of the plain bytes. The first bytes tell how a file is compressed.
"""

from __future__ import annotations

import errno
import io
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Protocol

from proof_r1_formal.errors import DataError
from proof_r1_formal.outputs import STANDARD_STREAM

_CHUNK = 1 << 16


def open_to_read(path: Path) -> BinaryIO:
    """Open a file of data. Reading from the stream raises OSError where compressed data are damaged.

    Raises:
        DataError: it cannot be opened, or it is compressed with Zstandard and ``zstandard`` is not installed.
    """
    standard = path == STANDARD_STREAM
    try:
        file = open(0 if standard else path, "rb", closefd=not standard)  # noqa: SIM115 (the caller closes it)
        start = file.peek(4)
    except OSError as error:
        raise DataError(str(path), f"the file cannot be read: {error.strerror}") from error
    except ValueError as error:  # a null character in the path
        raise DataError(str(path), f"not a valid path: {error}") from None
    if start.startswith(b"\x1f\x8b"):
        import zlib

        return io.BufferedReader(_Expanded(file, lambda: zlib.decompressobj(wbits=31), zlib.error))
    if start.startswith(b"\x28\xb5\x2f\xfd"):
        try:
            import zstandard
        except ImportError:
            file.close()
            reason = "the file is compressed with Zstandard, and reading it requires zstandard: pip install zstandard"
            raise DataError(str(path), reason) from None
        return io.BufferedReader(_Expanded(file, zstandard.ZstdDecompressor().decompressobj, zstandard.ZstdError))
    return file


def stem(path: Path) -> str:
    """The name of a file of data without its endings.

    >>> [stem(Path(name)) for name in ("a/dev.jsonl", "dev.jsonl.gz", "dev.json.zst", "-")]
    ['dev', 'dev', 'dev', 'stdin']
    """
    return "stdin" if path == STANDARD_STREAM else Path(path.name.removesuffix(".gz").removesuffix(".zst")).stem


class _Decompressor(Protocol):
    """The interface that ``zlib`` and ``zstandard`` share."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


class _Expanded(io.RawIOBase):
    """The plain bytes of compressed data, which may consist of several parts, each with a decompressor of its own."""

    def __init__(self, file: BinaryIO, start: Callable[[], _Decompressor], damaged: type[Exception]) -> None:
        self._file = file
        self._start = start
        self._damaged = damaged
        self._part = start()
        self._plain = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._plain:
            following = self._part.unused_data if self._part.eof else b""
            if self._part.eof and (following or self._file.peek(1)):  # type: ignore[attr-defined]
                self._part = self._start()
            data = following or self._file.read(_CHUNK)
            if not data:
                if not self._part.eof:
                    raise OSError(errno.EIO, "the compressed data are cut short")
                return 0
            try:
                self._plain = self._part.decompress(data)
            except self._damaged as error:
                raise OSError(errno.EIO, f"the compressed data are damaged: {error}") from error
        size = min(len(buffer), len(self._plain))
        buffer[:size], self._plain = self._plain[:size], self._plain[size:]
        return size

    def close(self) -> None:
        self._file.close()
        super().close()
