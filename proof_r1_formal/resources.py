"""Locate the data files of the package: ``grammars/``, ``theories/`` and ``web/``, in a wheel or a checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def resource(folder: str) -> Path:
    """The folder ``grammars``, ``theories`` or ``web``: inside the installed package, or beside it in a checkout.

    Raises:
        FileNotFoundError: neither is there, so the installation is damaged.
    """
    for candidate in (_PACKAGE / folder, _PACKAGE.parent / folder):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"the package has no folder {folder}/; reinstall proof-r1-formal")
