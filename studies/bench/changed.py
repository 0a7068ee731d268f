"""The test files of what differs from the branch main, one a line: ``make check`` runs them.

In: the files that git says differ from where this branch left main, committed or not. Out: the test files among them,
and for each module the test file of its name, and the test files of its room that import it. A change of a fixture
counts as one of the test files in its folder.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {"proof_r1_formal": "tests", "training": "tests/training", "studies": "tests"}
"""Where the tests of a package are."""


def differing(root: Path, base: str = "main") -> list[str]:
    """The files that differ from where the branch left ``base``, untracked ones too.

    Raises:
        subprocess.CalledProcessError: git does not know the folder, or the branch.
    """

    def git(*arguments: str) -> list[str]:
        command = ["git", "-C", str(root), *arguments]
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()

    (left,) = git("merge-base", base, "HEAD")
    return sorted({*git("diff", "--name-only", left), *git("ls-files", "--others", "--exclude-standard")})


def files_of(root: Path, files: Iterable[str]) -> list[str]:
    """The test files for files that changed, relative to the project; none twice."""
    found: set[Path] = set()
    for name in files:
        path = PurePosixPath(name)
        if path.suffix != ".py":
            continue
        if path.parts[0] == "tests":
            found |= {root / path} if path.name.startswith("test_") else set((root / path.parent).glob("test_*.py"))
        elif path.parts[0] in PACKAGES:
            room = root / PACKAGES[path.parts[0]] / PurePosixPath(*path.parts[1:-1])
            found |= set(room.glob(f"test_{path.stem}.py"))
            found |= {test for test in room.glob("test_*.py") if _imports(test, path)}
    return sorted([str(test.relative_to(root)) for test in found if test.is_file()])


def _imports(test: Path, module: PurePosixPath) -> bool:
    package, name = ".".join(module.parts[:-1]), module.stem
    text = test.read_text(encoding="utf-8")
    return (
        f"{package}.{name} import" in text
        or f"import {package}.{name}" in text
        or f"from {package} import {name}" in text
    )


if __name__ == "__main__":
    sys.stdout.writelines(f"{test}\n" for test in files_of(ROOT, differing(ROOT)))
