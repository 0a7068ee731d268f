"""Folders that appear completely or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path


def write_folder(folder: Path, write: Callable[[Path], object]) -> None:
    """Write a folder, which appears completely or not at all.

    Args:
        folder: path; an existing folder is replaced.
        write: fills an empty folder.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    new = folder.parent / f".{folder.name}.new"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    write(new)
    for path in [*new.rglob("*"), new]:
        _flush(path)
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
