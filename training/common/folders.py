"""Folders that appear completely or not at all."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from safetensors import SafetensorError

from proof_r1_formal.outputs import writing


def write_folder(folder: Path, write: Callable[[Path], object]) -> None:
    """Write a folder, which appears completely or not at all.

    Args:
        folder: path; an existing folder is replaced.
        write: fills an empty folder.

    Raises:
        DataError: it cannot be written; what was written of it is removed.
    """
    new = folder.parent / f".{folder.name}.new"
    with writing(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir()
        try:
            write(new)
            for path in [*new.rglob("*"), new]:
                _flush(path)
        except (OSError, SafetensorError) as error:
            shutil.rmtree(new, ignore_errors=True)  # a full disk has room again
            number = re.search(r"os error (\d+)", str(error))
            if isinstance(error, OSError) or number is None:
                raise
            raise OSError(int(number[1]), os.strerror(int(number[1]))) from error
    if folder.exists():
        shutil.rmtree(folder)
    new.rename(folder)
    _flush(folder.parent)


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
