"""Files of data as users have them: compressed, from standard input, damaged."""

from __future__ import annotations

import gzip
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof_r1_formal.data import read_problems
from proof_r1_formal.data.completions import read_completions
from proof_r1_formal.data.sources import open_to_read
from proof_r1_formal.errors import DataError
from tests.build import COMPLETIONS, PROBLEMS


@given(parts=st.lists(st.binary(max_size=300), min_size=1, max_size=4))
def test_gzip_of_several_parts_is_read_as_it_was_written(
    parts: list[bytes], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("gzip") / "data"
    path.write_bytes(b"".join(map(gzip.compress, parts)))
    with open_to_read(path) as file:
        assert file.read() == b"".join(parts)


def test_compressed_files_hold_the_same_problems_and_completions(tmp_path: Path) -> None:
    problems, completions = tmp_path / "problems.jsonl.gz", tmp_path / "completions.jsonl.gz"
    problems.write_bytes(gzip.compress(PROBLEMS.read_bytes()))
    completions.write_bytes(gzip.compress(COMPLETIONS.read_bytes()))
    assert read_problems(problems) == read_problems(PROBLEMS)
    assert list(read_completions(completions)) == list(read_completions(COMPLETIONS))


@pytest.mark.parametrize(("damage", "reason"), [("cut", "cut short"), ("changed", "damaged")])
def test_damaged_files_are_not_read_as_if_they_were_whole(damage: str, reason: str, tmp_path: Path) -> None:
    content = gzip.compress(COMPLETIONS.read_bytes())
    path = tmp_path / "completions.jsonl.gz"
    path.write_bytes(content[:-20] if damage == "cut" else content[:-8] + bytes(4) + content[-4:])
    with pytest.raises(DataError, match=reason):
        list(read_completions(path))
    with pytest.raises(DataError, match=reason):
        read_problems(path)


ZSTANDARD = bytes.fromhex("28b52ffd2007390000") + b"{}\n{}\n\n"  # a raw block of seven bytes


@pytest.mark.skipif(importlib.util.find_spec("zstandard") is not None, reason="zstandard is installed")
def test_missing_zstandard_is_a_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl.zst"
    path.write_bytes(ZSTANDARD)
    with pytest.raises(DataError, match="pip install zstandard"):
        open_to_read(path)


def test_zstandard(tmp_path: Path) -> None:
    pytest.importorskip("zstandard")
    path = tmp_path / "data.jsonl.zst"
    path.write_bytes(ZSTANDARD * 2)
    with open_to_read(path) as file:
        assert file.read() == b"{}\n{}\n\n" * 2
    path.write_bytes(ZSTANDARD[:-3])
    with open_to_read(path) as file, pytest.raises(OSError, match="cut short"):
        file.read()


def test_completions_come_from_standard_input(tmp_path: Path) -> None:
    def run(*arguments: str, given: bytes) -> subprocess.CompletedProcess[bytes]:
        command = (sys.executable, "-c", "from proof_r1_formal.cli import main; main()", *arguments)
        return subprocess.run(command, input=given, capture_output=True, check=False, cwd=tmp_path)

    whole = run("verify", "-p", str(PROBLEMS), "-c", str(COMPLETIONS), "-o", "-", given=b"")
    assert whole.returncode == 0, whole.stderr
    for given_ in (COMPLETIONS.read_bytes(), gzip.compress(COMPLETIONS.read_bytes())):
        found = run("verify", "-p", str(PROBLEMS), "-c", "-", "-o", "-", given=given_)
        assert (found.returncode, found.stdout) == (0, whole.stdout)
    problems = run("verify", "-p", "-", "-c", str(COMPLETIONS), "-o", "out", given=PROBLEMS.read_bytes())
    assert (problems.returncode, (tmp_path / "out").read_bytes()) == (0, whole.stdout)
    twice = run("verify", "-p", "-", "-c", "-", "-o", "-", given=b"")
    assert twice.returncode == 2
    assert b"only one input can be standard input" in twice.stderr
