"""Folders that are written whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path


def write_folder(folder: Path, write: Callable[[Path], object]) -> None:
    """Have a folder written whole or not at all.

    Args:
        folder: its name; one that is there is replaced.
        write: given an empty folder, fills it.
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
