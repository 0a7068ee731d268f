"""Which tests ``make check`` runs."""

from __future__ import annotations

import subprocess
from pathlib import Path

from studies.bench.changed import differing, files_of

ROOT = Path(__file__).resolve().parent.parent


def test_which_tests_a_module_has() -> None:
    found = files_of(ROOT, ["proof_r1_formal/kernel/checker.py"])
    assert {"tests/kernel/test_checker.py", "tests/kernel/test_checker_corruptions.py"} <= set(found)
    assert "tests/text/test_parse.py" not in found
    assert files_of(ROOT, ["proof_r1_formal/credit/terms.py"])[0].startswith("tests/credit/")
    assert files_of(ROOT, ["tests/text/test_parse.py", "tests/text/test_deleted.py"]) == ["tests/text/test_parse.py"]


def test_what_differs_is_committed_edited_or_new(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        names = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", "-C", str(tmp_path), *names, *arguments], check=True, capture_output=True)

    def write(name: str, text: str) -> None:
        (tmp_path / name).write_text(text)

    git("init", "-b", "main")
    for name in ("kept", "edited", "committed"):
        write(name, "before")
    git("add", ".")
    git("commit", "-m", "one")
    git("checkout", "-b", "work")
    write("committed", "after")
    git("commit", "-a", "-m", "two")
    write("edited", "after")
    write("new", "after")
    assert differing(tmp_path) == ["committed", "edited", "new"]
