"""Read problem files of every known format: :func:`read_problems`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from proof_r1_formal.data import folio, native, prontoqa, proofwriter, proverqa
from proof_r1_formal.data.draft import Origin
from proof_r1_formal.data.problem import Problem, ProblemSet, Rejected
from proof_r1_formal.data.records import Broken, JsonObject, Record, describe, read_records
from proof_r1_formal.data.sources import stem
from proof_r1_formal.errors import DataError
from proof_r1_formal.text.conventions import NotationName

Format: TypeAlias = Literal["auto", "native", "proverqa", "folio", "proofwriter", "prontoqa"]


@dataclass(frozen=True, slots=True)
class _Reader:
    """A format: how its records are recognised and read, whether its formulas are repaired, and their notation."""

    recognises: Callable[[JsonObject], bool]
    read_record: Callable[[JsonObject, Origin], Problem | Rejected]
    keys: str
    repair: bool
    notation: NotationName = "auto"


_READERS: dict[str, _Reader] = {
    "proverqa": _Reader(proverqa.recognises, proverqa.read_record, "nl2fol, conclusion_fol", repair=False),
    "folio": _Reader(folio.recognises, folio.read_record, "premises-FOL, conclusion-FOL", repair=True),
    "native": _Reader(native.recognises, native.read_record, "premises, options", repair=False),
    "proofwriter": _Reader(
        proofwriter.recognises, proofwriter.read_record, f"context, question '… {proofwriter.QUESTION}'", repair=False
    ),
    "prontoqa": _Reader(
        prontoqa.recognises, prontoqa.read_record, f"context, question '{prontoqa.QUESTION}'", repair=False
    ),
}


def read_problems(
    path: Path | str,
    *,
    format: Format = "auto",  # noqa: A002 (the word that users of a reader look for)
    repair: bool | None = None,
    notation: NotationName = "auto",
    progress: Callable[[int, int], None] | None = None,
) -> ProblemSet:
    """Read the problems of a file.

    Args:
        path: a JSON array of records, or one record per line; ``-`` is standard input. The file may be compressed
            with gzip or Zstandard.
        format: the format of the records; ``auto`` recognises it by the keys of the first record with known keys.
        repair: whether to repair formulas that do not parse, with notes; None is the format's default: yes for
            noisy data (folio), no for all others.
        notation: the notation of formulas, for what notations read differently; ``auto`` is that of the format, which
            has none for the known formats, so that such a formula is rejected.
        progress: called with the number of records read and their total.

    Returns:
        The problems by id, in order, and every rejected record with the reasons.

    Raises:
        DataError: the file cannot be read or contains no record, or the format is unknown.
    """
    path = Path(path)
    if format != "auto" and format not in _READERS:
        raise DataError(str(path), f"Unknown format {format!r}. Known: auto, {', '.join(_READERS)}")
    records = read_records(path)
    reader = _recognised(path, records) if format == "auto" else _READERS[format]
    repair = reader.repair if repair is None else repair
    notation = reader.notation if notation == "auto" else notation
    problems: dict[str, Problem] = {}
    lines: dict[str, int] = {}
    rejected: list[Rejected] = []
    for done, record in enumerate(records, 1):
        result = _read(record, reader, Origin(stem(path), record.line, repair, notation))
        if isinstance(result, Problem) and result.id in problems:
            reason = f"line {lines[result.id]} already has the id {result.id!r}"
            result = Rejected(result.id, record.line, (reason,))
        if isinstance(result, Rejected):
            rejected.append(result)
        else:
            problems[result.id] = result
            lines[result.id] = record.line
        if progress is not None:
            progress(done, len(records))
    return ProblemSet(problems, tuple(rejected))


def _read(record: Record | Broken, reader: _Reader, origin: Origin) -> Problem | Rejected:
    match record:
        case Broken(_, problem):
            return Rejected(origin.fallback_id, origin.line, (problem,))
        case Record(_, JsonObject() as members):
            if repeated := members.repeated():
                return Rejected(origin.fallback_id, origin.line, (f"the key {repeated[0]!r} occurs twice",))
            return reader.read_record(members, origin)
        case Record(_, value):
            return Rejected(origin.fallback_id, origin.line, (f"a record must be an object, not {describe(value)}",))


def _recognised(path: Path, records: list[Record | Broken]) -> _Reader:
    objects = [r.value for r in records if isinstance(r, Record) and isinstance(r.value, JsonObject)]
    if not objects:
        broken = next(record for record in records if isinstance(record, Broken))
        raise DataError(str(path), f"no record can be read; the first, record {broken.line}: {broken.problem}")
    for members in objects:
        for reader in _READERS.values():
            if reader.recognises(members):
                return reader
    known = "; ".join(f"{name} (keys {reader.keys})" for name, reader in _READERS.items())
    keys = dict.fromkeys([key for key, _ in next((each.members for each in objects if each.members), ())])
    found = f"with the keys {', '.join(keys)}" if keys else "without keys"
    raise DataError(
        str(path), f"unknown format, {found}; known formats: {known}; name a format to read the records as such"
    )
