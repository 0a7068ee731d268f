"""Records of the study: the scores and answers of each model, in files of a folder or packed into two.

    python -m studies.teaching.records FOLDER TARGET

packs ``records`` and ``answers`` of FOLDER, and the records of its pilot, into ``records.jsonl.xz``,
``answers.jsonl.xz`` and ``pilot.jsonl.xz`` of TARGET, the same bytes each time. So the repository has a few hundred
kilobytes from which all tables and settings follow.
"""

from __future__ import annotations

import gzip
import lzma
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

PACKED, PACKED_ANSWERS, PACKED_PILOT = "records.jsonl.xz", "answers.jsonl.xz", "pilot.jsonl.xz"


class Record(msgspec.Struct, frozen=True):
    """The scores of a model.

    Attributes:
        run: that made the model.
        updates: of the run.
        seconds: of processor time of its training.
        scores: file -> column -> a number for each problem, summed over its answers. The file of greedy answers ends
            with ``-greedy``. Columns: ``answers``, ``Avg``, ``verified``, ``rule-verified``, the two parts of FVR and
            RVR, ``actions``, ``useless``, ``tokens``, ``entropy`` (mean over the tokens of each answer, in nats).
        log: the trainer's.
    """

    run: str
    updates: int
    seconds: float
    scores: dict[str, dict[str, tuple[float, ...]]]
    log: list[dict[str, float]]


class Answers(msgspec.Struct, frozen=True):
    """The first sampled and the greedy answer of a model to each problem, by file as in ``Record.scores``."""

    run: str
    answers: dict[str, list[str]]


def read_records(folder: Path) -> Iterator[Record]:
    """The records of a folder, packed or not, sorted by the names of their runs."""
    packed = folder / PACKED
    if packed.exists():
        yield from read_packed(packed)
    else:
        yield from [_DECODE(path.read_bytes()) for path in sorted(folder.glob("*.json"))]


def read_packed(path: Path) -> Iterator[Record]:
    """The records of a packed file."""
    return map(_DECODE, lzma.decompress(path.read_bytes()).splitlines())


_DECODE = msgspec.json.Decoder(Record).decode


def pack(folder: Path, target: Path) -> None:
    """Write the packed files of a folder of runs; runs without scores are left out, and the pilot without its start."""
    target.mkdir(parents=True, exist_ok=True)
    found = [record for record in read_records(folder / "records") if record.scores]
    _write(target / PACKED, map(msgspec.json.encode, found))
    read = [
        Answers(one.run, msgspec.json.decode(gzip.decompress(path.read_bytes())))
        for one in found
        if (path := folder / "answers" / f"{one.run}.json.gz").exists()
    ]
    _write(target / PACKED_ANSWERS, map(msgspec.json.encode, read))
    pilot = [record for record in read_records(folder / "pilot" / "records") if "tuning" in record.scores]
    _write(target / PACKED_PILOT, map(msgspec.json.encode, pilot))


def _write(path: Path, lines: Iterator[bytes]) -> None:
    path.write_bytes(lzma.compress(b"\n".join(lines), preset=9 | lzma.PRESET_EXTREME))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit("usage: python -m studies.teaching.records FOLDER TARGET")
    pack(Path(sys.argv[1]), Path(sys.argv[2]))
