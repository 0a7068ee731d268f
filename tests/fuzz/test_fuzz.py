"""The readers of text from outside, against a corpus and a few thousand changes of it; ``make fuzz`` looks for more."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from studies.bench.fuzz_targets import TARGETS

FOLDER = Path(__file__).parent
CORPUS = sorted(path for path in (FOLDER / "corpus").glob("*/*") if path.is_file())
CHANGES = {"completion": 10_000, "formula": 4_000, "repair": 3_000, "smtlib": 20_000, "lean": 15_000}
LONGEST = 600


def words() -> list[bytes]:
    """The words of the dictionary that libFuzzer gets, too."""
    lines = (FOLDER / "words.dict").read_text(encoding="ascii").splitlines()
    quoted = [line[1:-1] for line in lines if line.startswith('"')]
    return [re.sub(r"\\x(..)|\\(.)", _unescaped, word).encode("latin-1") for word in quoted]


def _unescaped(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else match[2]


def changed(data: bytes, other: bytes, random: Random, dictionary: list[bytes]) -> bytes:
    """The bytes with a few of them dropped, doubled, turned, or with a word or a piece of ``other`` put in."""
    for _ in range(random.randint(1, 4)):
        start = random.randint(0, len(data))
        end = min(len(data), start + random.choice([0, 1, 1, 2, 4, 16]))
        match random.randrange(5):
            case 0:
                new = b""
            case 1:
                new = data[start:end] * random.choice([2, 3, 40])
            case 2:
                new = bytes(random.randrange(256) for _ in range(random.randint(1, 3)))
            case 3:
                new = random.choice(dictionary)
            case _:
                cut = sorted(random.randint(0, len(other)) for _ in range(2))
                new = other[cut[0] : cut[1]]
        data = (data[:start] + new + data[end:])[:LONGEST]
    return data


@pytest.mark.parametrize("path", CORPUS, ids=[f"{path.parent.name}/{path.name}" for path in CORPUS])
def test_the_corpus(path: Path) -> None:
    TARGETS[path.parent.name](path.read_bytes())


@pytest.mark.parametrize("name", TARGETS)
def test_changes_of_the_corpus(name: str) -> None:
    random = Random(name)
    dictionary = words()
    known = [path.read_bytes() for path in CORPUS if path.parent.name == name]
    for _ in range(CHANGES[name]):
        data = changed(random.choice(known), random.choice(known), random, dictionary)
        try:
            TARGETS[name](data)
        except Exception as error:
            raise AssertionError(f"{name} fails on {data!r}") from error
