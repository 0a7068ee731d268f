"""Data to records: JSON arrays, JSON Lines, CSV and mappings, with every key of every object, repeated ones included.

In: the bytes of a file, or mappings. Out: the records in order, each with its place; one that cannot be read is a
:class:`Broken`. Data without readable records raise :class:`~proof_r1_formal.errors.DataError`.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NoReturn, TypeAlias

from proof_r1_formal.data.sources import open_to_read
from proof_r1_formal.errors import DataError, is_text

MAX_NESTING = 64
"""The deepest nesting of arrays and objects that is read."""


@dataclass(frozen=True, slots=True)
class JsonObject:
    """A JSON object. ``members`` keeps order and repeated keys, which a ``dict`` would drop silently."""

    members: tuple[tuple[str, Json], ...]

    def __contains__(self, key: str) -> bool:
        return any(name == key for name, _ in self.members)

    def get(self, key: str) -> Json:
        """The value of the first member of that key, or None."""
        return next((value for name, value in self.members if name == key), None)

    def repeats(self) -> tuple[str, ...]:
        """The keys that occur more than once, in order."""
        counts = Counter([name for name, _ in self.members])
        return tuple([name for name, count in counts.items() if count > 1])


Json: TypeAlias = bool | int | float | str | list["Json"] | JsonObject | None


@dataclass(frozen=True, slots=True)
class Record:
    """A record at its place: 1-based line (JSON Lines) or position in the array (JSON)."""

    line: int
    value: Json


@dataclass(frozen=True, slots=True)
class Broken:
    """A record that cannot be read as JSON, and why."""

    line: int
    problem: str


class BadJsonError(Exception):
    """Text that is not JSON, or JSON beyond the limits; :func:`read_records` adds the place."""

    def __init__(self, problem: str, *, line: int = 1) -> None:
        self.problem = problem
        self.line = line
        super().__init__(problem)


def read_records(data: bytes, name: str) -> list[Record | Broken]:
    """The records of a JSON array, of one JSON object, of one JSON value per line, or of a CSV table with a header.

    Errors have the name of the file.

    Raises:
        DataError: the data are empty, in none of these forms or not in UTF-8, or hold no object.
    """
    if not data.strip():
        raise DataError(name, "the file is empty; expected a JSON array or one JSON object per line")
    try:
        whole = decode_bytes(data)
    except BadJsonError as error:
        records = _read_table(data) or _read_lines(name, data, error)
    else:
        values = whole if isinstance(whole, list) else [whole]
        records = [check(position, value) for position, value in enumerate(values, 1)]
    return _with_objects(name, records)


def records_of(items: object, name: str) -> list[Record | Broken]:
    """The records of mappings, such as the rows of a ``datasets.Dataset``.

    Raises:
        DataError: they are not iterable, or none of them is a mapping.
    """
    if isinstance(items, Mapping) or not isinstance(items, Iterable):
        given = f"a {type(items).__name__}"
        if isinstance(items, Mapping):
            given += f" of {', '.join(map(repr, list(items)[:5]))}; name one of these"
        raise DataError(name, f"expected the path of a file or an iterable of mappings, not {given}")
    return _with_objects(name, [_record(number, partial(_from_python, item)) for number, item in enumerate(items, 1)])


def _record(line: int, read: Callable[[], Json]) -> Record | Broken:
    try:
        return check(line, read())
    except BadJsonError as error:
        return Broken(line, error.problem)


def _with_objects(name: str, records: list[Record | Broken]) -> list[Record | Broken]:
    if not any(isinstance(record, Broken) or isinstance(record.value, JsonObject) for record in records):
        raise DataError(name, "no record found; expected JSON objects, in an array or one per line, or mappings")
    return records


def _from_python(value: object, depth: int = 0) -> Json:
    if depth > MAX_NESTING:
        raise BadJsonError(f"not read: arrays or objects are nested deeper than {MAX_NESTING}")
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Mapping():
            return JsonObject(tuple([(str(key), _from_python(item, depth + 1)) for key, item in value.items()]))
        case list() | tuple():
            return [_from_python(item, depth + 1) for item in value]
        case _:
            raise BadJsonError(f"not read: a {type(value).__name__} is not a value of JSON")


def decode(text: str) -> Json:
    """The value of a JSON text, objects as :class:`JsonObject`.

    Raises:
        BadJsonError: the text is not JSON.
    """
    try:
        return _DECODER.decode(text)  # type: ignore[no-any-return]
    except json.JSONDecodeError as error:
        raise BadJsonError(f"not JSON: {error.msg} (column {error.colno})", line=error.lineno) from None
    except RecursionError:
        raise BadJsonError("not read: arrays or objects are nested too deeply") from None
    except ValueError as error:  # a number of thousands of digits, NaN
        raise BadJsonError(f"not read: {error}") from None


def decode_bytes(data: bytes) -> Json:
    """The value of a JSON text in UTF-8, as :func:`decode` returns it.

    Raises:
        BadJsonError: the bytes are not UTF-8, or the text is not JSON.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line, start = data.count(b"\n", 0, error.start) + 1, data.rfind(b"\n", 0, error.start) + 1
        problem = f"not UTF-8 (at byte {error.start - start} of the line); convert the file to UTF-8"
        raise BadJsonError(problem, line=line) from None
    return decode(text)


def plain(value: Json) -> object:
    """The value with objects as dictionaries.

    Raises:
        BadJsonError: a key occurs twice in an object.
    """
    match value:
        case JsonObject(members):
            if repeated := value.repeats():
                raise BadJsonError(f"the key {repeated[0]!r} occurs twice in one object")
            return {key: plain(member) for key, member in members}
        case list():
            return [plain(item) for item in value]
        case _:
            return value


def describe(value: Json) -> str:
    """The kind of a JSON value, for messages: ``a number``."""
    match value:
        case None:
            return "null"
        case bool():
            return "a truth value"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list():
            return "an array"
        case JsonObject():
            return "an object"


def no_constant(name: str) -> NoReturn:
    """Refuse what Python reads as a number and JSON does not: ``NaN``, ``Infinity``."""
    raise ValueError(f"{name} is not a JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=lambda members: JsonObject(tuple(members)), parse_constant=no_constant)


def read_bytes(path: Path) -> bytes:
    """The content of a file without a byte-order mark.

    Raises:
        DataError: the file cannot be read.
    """
    with open_to_read(path) as file:
        try:
            return file.read().removeprefix(codecs.BOM_UTF8)
        except OSError as error:
            raise DataError(str(path), f"the file cannot be read: {error.strerror}") from error


_HEADER = re.compile(r'"?[\w -]*"?(?:,"?[\w -]+"?)+\r?\n')


def _read_table(data: bytes) -> list[Record | Broken] | None:
    """The rows of a CSV table as objects of texts; None if the first line is not a header of several columns."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    if not _HEADER.match(text):
        return None
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    header, records, line = next(rows), list[Record | Broken](), 2
    try:
        for row in rows:
            if len(row) == len(header):
                records.append(check(line, JsonObject(tuple(zip(header, row, strict=True)))))
            elif row:
                records.append(Broken(line, f"the row has {len(row)} cells and the header {len(header)}"))
            line = rows.line_num + 1
    except csv.Error as error:
        records.append(Broken(line, f"not CSV: {error}; the rows from here on are not read"))
    return records


SUPPORTED = "supported are JSON, JSON Lines and CSV tables of records, and problems of TPTP (fof, tff, cnf) and Prover9"


def _read_lines(name: str, data: bytes, error: BadJsonError) -> list[Record | Broken]:
    """The records of data that are not one JSON value; ``error`` says why they are not."""
    lines = [(number, line) for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    records = [_record(number, partial(decode_bytes, line)) for number, line in lines]
    cut_array = lines[0][1].lstrip().startswith(b"[") and isinstance(records[0], Broken)
    if cut_array or not any(isinstance(r, Record) and isinstance(r.value, JsonObject) for r in records):
        is_json = data.lstrip().startswith((b"[", b"{", b'"'))
        raise DataError(name, error.problem if is_json else f"{error.problem}; {SUPPORTED}", line=error.line)
    return records


_Place: TypeAlias = "tuple[_Place, str | int] | None"
"""A key or position and the place that it is in; None for the record itself."""


def check(line: int, value: Json) -> Record | Broken:
    """The record, unless it is nested too deeply or contains a string that is not valid Unicode."""
    stack: list[tuple[Json, int, _Place]] = [(value, 0, None)]
    while stack:
        current, depth, place = stack.pop()
        if depth > MAX_NESTING:
            return Broken(line, f"not read: arrays or objects are nested deeper than {MAX_NESTING}")
        match current:
            case str() if not is_text(current):
                return Broken(line, f"not read: half of a surrogate pair, which is not a character, in {_path(place)}")
            case list():
                stack.extend([(item, depth + 1, (place, index)) for index, item in enumerate(current)])
            case JsonObject(members):
                if half := next((key for key, _ in members if not is_text(key)), None):
                    return Broken(line, f"not read: half of a surrogate pair in the key {half!r} of {_path(place)}")
                stack.extend([(member, depth + 1, (place, key)) for key, member in members])
    return Record(line, value)


def _path(place: _Place) -> str:
    """A place as text: ``premises[0].text``."""
    keys: list[str] = []
    while place is not None:
        place, key = place
        keys.append(f"[{key}]" if isinstance(key, int) else f".{key}")
    return "".join(reversed(keys)).removeprefix(".") or "the record"
