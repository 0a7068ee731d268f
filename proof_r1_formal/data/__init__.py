"""Read problem files of every known format: :func:`read_problems`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from proof_r1_formal.data import folio, native, prontoqa, proofwriter, prover9, proverqa, ruletaker, tptp
from proof_r1_formal.data.draft import Origin, read_parts
from proof_r1_formal.data.problem import Problem, ProblemSet, Rejected
from proof_r1_formal.data.records import Broken, JsonObject, Record, read_bytes, read_records, records_of
from proof_r1_formal.data.sources import stem
from proof_r1_formal.errors import DataError
from proof_r1_formal.outputs import STANDARD_STREAM
from proof_r1_formal.text.conventions import NotationName

Format: TypeAlias = Literal[
    "auto", "native", "proverqa", "folio", "proofwriter", "ruletaker", "prontoqa", "tptp", "prover9"
]


class _Records(NamedTuple):
    """How records of a format are recognised and read, their keys, for errors, and the questions in one."""

    recognises: Callable[[JsonObject], bool]
    read_record: Callable[[JsonObject, Origin], Problem | Rejected]
    keys: str
    parts: Callable[[JsonObject], Iterable[JsonObject]] = lambda record: (record,)
    repair: bool = False


class _Text(NamedTuple):
    """How a text of a format is recognised and read, and what it looks like, for errors."""

    recognises: Callable[[str], bool]
    read_text: Callable[[str, Origin], Iterable[Problem | Rejected]]
    looks: str


_RECORDS: Mapping[str, _Records] = {
    "proverqa": _Records(proverqa.recognises, proverqa.read_record, "nl2fol, conclusion_fol"),
    "folio": _Records(folio.recognises, folio.read_record, "premises-FOL, conclusion-FOL", repair=True),
    "native": _Records(native.recognises, native.read_record, "premises, options"),
    "proofwriter": _Records(proofwriter.recognises, proofwriter.read_record, proofwriter.KEYS, parts=proofwriter.parts),
    "ruletaker": _Records(ruletaker.recognises, ruletaker.read_record, ruletaker.KEYS, parts=ruletaker.parts),
    "prontoqa": _Records(prontoqa.recognises, prontoqa.read_record, prontoqa.KEYS, parts=prontoqa.parts),
}
_TEXTS: Mapping[str, _Text] = {
    "tptp": _Text(tptp.recognises, tptp.read_text, "fof(…), cnf(…) or tff(…)"),
    "prover9": _Text(prover9.recognises, prover9.read_text, "formulas(…). … end_of_list."),
}


def read_problems(
    source: Path | str | Iterable[Mapping[str, object]],
    *,
    format: Format = "auto",  # noqa: A002 (the word that users of a reader look for)
    repair: bool | None = None,
    notation: NotationName = "auto",
    progress: Callable[[int, int], None] | None = None,
) -> ProblemSet:
    """Read the problems of a file, or of records in memory.

    Args:
        source: the path of a JSON array of records, of one record per line, of a CSV table, or of a TPTP or Prover9
            problem; ``-`` is standard input. The file may be compressed with gzip or Zstandard. Or the records
            themselves: a ``datasets.Dataset``, or any iterable of mappings.
        format: the format of the records; ``auto`` recognises it by the keys of the first record with known keys.
        repair: whether to repair formulas that do not parse, with notes; None is the format's default: yes for
            noisy data (folio), no for all others.
        notation: the notation of formulas, for what notations read differently; ``auto`` is that of the format, which
            has none for the known formats of records, so that such a formula is rejected. TPTP and Prover9 have
            grammars of their own, with no other notation and no repair.
        progress: called with the number of records read and their total.

    Returns:
        The problems by id, in order, and every rejected record with the reasons.

    Raises:
        DataError: the file cannot be read or contains no record, the format is unknown, or it has no such notation or
            repair.
    """
    path = Path(source) if isinstance(source, Path | str) else None
    name = group = str(getattr(source, "split", None) or "records")
    if path is not None:
        name, group = str(path), stem(path)
    if format != "auto" and format not in (*_RECORDS, *_TEXTS):
        raise DataError(name, f"Unknown format {format!r}. Known: auto, {', '.join((*_RECORDS, *_TEXTS))}")
    data = None if path is None else read_bytes(path)
    found: list[tuple[int, Iterable[Problem | Rejected]]]
    if data is not None and (text := _text(data, name, format)) is not None:
        own, content = text
        if repair or notation not in ("auto", own):
            raise DataError(name, f"{own} has a grammar of its own: its formulas are read without repair or notation")
        file = None if path == STANDARD_STREAM else path
        found = [(1, _TEXTS[own].read_text(content, Origin(group, 1, repair=False, path=file)))]
    else:
        records = records_of(source, name) if data is None else read_records(data, name)
        reader = _recognise(name, records) if format == "auto" else _RECORDS[format]
        noisy = reader.repair if repair is None else repair
        found = [
            (each.line, read_parts(each, reader.read_record, Origin(group, each.line, noisy, notation), reader.parts))
            for each in records
        ]
    problems: dict[str, Problem] = {}
    lines: dict[str, int] = {}
    rejected: list[Rejected] = []
    for done, (line, results) in enumerate(found, 1):
        for result in results:
            if isinstance(result, Rejected):
                rejected.append(result)
            elif result.id in problems:
                reason = f"line {lines[result.id]} already has the id {result.id!r}"
                rejected.append(Rejected(result.id, line, (reason,)))
            else:
                problems[result.id] = result
                lines[result.id] = line
        if progress is not None:
            progress(done, len(found))
    return ProblemSet(problems, tuple(rejected))


def _text(data: bytes, name: str, format_: Format) -> tuple[str, str] | None:
    """The format of a text that holds no records, and the text; None for records."""
    if format_ in _RECORDS:
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        if format_ == "auto":
            return None
        raise DataError(name, f"not UTF-8 (at byte {error.start}); convert the file to UTF-8") from None
    if format_ != "auto":
        return format_, text
    return next(((own, text) for own, reader in _TEXTS.items() if reader.recognises(text)), None)


def _recognise(name: str, records: list[Record | Broken]) -> _Records:
    objects = [r.value for r in records if isinstance(r, Record) and isinstance(r.value, JsonObject)]
    if not objects:
        broken = next(record for record in records if isinstance(record, Broken))
        raise DataError(name, f"no record can be read; the first, record {broken.line}: {broken.problem}")
    for members in objects:
        for reader in _RECORDS.values():
            if reader.recognises(members):
                return reader
    known = "; ".join(
        [f"{name} (keys {reader.keys})" for name, reader in _RECORDS.items()]
        + [f"{name} (a text of {text.looks})" for name, text in _TEXTS.items()]
    )
    keys = dict.fromkeys([key for key, _ in next((each.members for each in objects if each.members), ())])
    found = f"with the keys {', '.join(keys)}" if keys else "without keys"
    raise DataError(name, f"unknown format, {found}; known formats: {known}; name a format to read the records as such")
