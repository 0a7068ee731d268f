"""Environments with the package and some of its extras, and nothing else that happens to be installed.

In: a folder, and the extras. Out: the environment variables under which ``python -S`` sees only the package, what it
depends on, and what those extras depend on. Each is a link, so an environment costs no download and no second.
"""

from __future__ import annotations

import os
import tomllib
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = {"": [], **PROJECT["optional-dependencies"]}
"""Name of an extra -> what it depends on besides the package's own dependencies, which the empty name has."""


def installed_for(extra: str) -> set[str]:
    """The distributions that an extra installs, by their normal names.

    Raises:
        PackageNotFoundError: one that the extra itself names is not installed here.
    """
    found: set[str] = set()
    for text in (*PROJECT["dependencies"], *EXTRAS[extra]):
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate():
            distribution(requirement.name)
            _add(requirement, found)
    return found


def _add(requirement: Requirement, found: set[str]) -> None:
    """Note a distribution and, once, all that it depends on; optional parts that are absent here are left out."""
    name = canonicalize_name(requirement.name)
    try:
        known = distribution(name)
    except PackageNotFoundError:
        return
    key = f"{name}[{','.join(sorted(requirement.extras))}]" if requirement.extras else name
    if key in found:
        return
    found |= {key, name}
    for inner in map(Requirement, known.requires or ()):
        if inner.marker is None or any(inner.marker.evaluate({"extra": one}) for one in ("", *requirement.extras)):
            _add(inner, found)


def linked(folder: Path, *extras: str) -> dict[str, str]:
    """The environment variables of an environment that is made in an empty folder.

    Raises:
        PackageNotFoundError: see :func:`installed_for`.
    """
    for name in sorted(set().union(*map(installed_for, ("", *extras)))):
        for path in _roots(name.partition("[")[0]):
            if not (folder / path.name).exists():
                (folder / path.name).symlink_to(path)
    for name in ("proof_r1_formal", "training"):
        (folder / name).symlink_to(ROOT / name)
    return {**os.environ, "PYTHONPATH": str(folder), "PYTHONNOUSERSITE": "1"}


@cache
def _roots(name: str) -> tuple[Path, ...]:
    """The files and folders of a distribution that lie directly in ``site-packages``."""
    found: Distribution = distribution(name)
    tops = {path.parts[0] for path in found.files or () if path.parts[0] not in ("..", "__pycache__")}
    return tuple([Path(str(found.locate_file(top))) for top in sorted(tops)])
