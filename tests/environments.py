"""Environments with the package and some of its extras, and nothing else that happens to be installed.

In: an empty folder, and the extras. Out: environment variables; ``python`` and ``proof-r1`` on their PATH see only the
package, what it depends on, and what those extras depend on. ``linked`` makes links to what is installed here, in less
than a second. ``installed`` lets pip install it, as a reader would.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.patience import PATIENCE

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
    """An environment of links.

    Raises:
        PackageNotFoundError: see :func:`installed_for`.
    """
    packages, programs = folder / "packages", folder / "bin"
    packages.mkdir()
    programs.mkdir()
    for name in sorted(set().union(*map(installed_for, ("", *extras)))):
        for path in _roots(name.partition("[")[0]):
            if not (packages / path.name).exists():
                (packages / path.name).symlink_to(path)
    for name in ("proof_r1_formal", "training"):
        (packages / name).symlink_to(ROOT / name)
    for name, arguments in (("python", "-S"), ("proof-r1", "-S -m proof_r1_formal")):
        program = programs / name
        # It sets the path itself: a program that starts it may hand on another environment, as clients of MCP do.
        script = f'#!/bin/sh\nexport PYTHONPATH={packages}\nexec {sys.executable} {arguments} "$@"\n'
        program.write_text(script, encoding="utf-8")
        program.chmod(0o755)
    found = os.pathsep.join((str(programs), os.environ["PATH"]))
    return {"PATH": found, "PYTHONPATH": str(packages), "PYTHONNOUSERSITE": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def installed(folder: Path, *extras: str) -> dict[str, str]:
    """An environment that pip fills: with the wheel, or with the checkout for extras that need one."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, timeout=PATIENCE)
    program = folder / "bin" / "python"
    from_checkout = [] if {"kernel", "train"}.isdisjoint(extras) else ["-e"]
    install = [str(program), "-m", "pip", "--disable-pip-version-check", "-q", "install", *from_checkout]
    settings = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PIP_CONSTRAINT")}
    subprocess.run([*install, f"{ROOT}[{','.join(extras)}]"], check=True, env=settings, timeout=PATIENCE)
    return {"PATH": os.pathsep.join((str(folder / "bin"), os.environ["PATH"])), "PYTHONNOUSERSITE": "1"}


@cache
def _roots(name: str) -> tuple[Path, ...]:
    """The files and folders of a distribution that lie directly in ``site-packages``."""
    found: Distribution = distribution(name)
    tops = {path.parts[0] for path in found.files or () if path.parts[0] not in ("..", "__pycache__")}
    return tuple([Path(str(found.locate_file(top))) for top in sorted(tops)])
