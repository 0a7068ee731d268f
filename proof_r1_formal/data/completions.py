"""Read and write files of completions: a JSON object ``{"problem_id": …, "sample": 0, "completion": "…"}`` a line,
with an optional ``cost``; or a file in another layout of ``data.layouts``.

In: a path. Out: completions one at a time, in order; a :class:`BadLine` for a line that is not a completion. The
longest line and the number of problems bound the memory. The text of a completion is kept exactly, with null characters
and unpaired surrogates.
"""

from __future__ import annotations

import codecs
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, BinaryIO

import msgspec

from proof_r1_formal.data.layouts import Fields, Found, LayoutError, find, is_cut_off
from proof_r1_formal.data.records import BadJsonError, JsonObject, decode_bytes, describe
from proof_r1_formal.data.sources import open_to_read
from proof_r1_formal.errors import DataError
from proof_r1_formal.outputs import output

MAX_LINE = 16 * 1024 * 1024
"""The longest line that is read, in bytes."""


class Cost(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The cost of a completion; None is unknown.

    Attributes:
        tokens: written by the model, in all its calls.
        prompt_tokens: read by the model, in all its calls.
        seconds: during which at least one call was running.
        calls: number of calls of the model.
    """

    tokens: Annotated[int, msgspec.Meta(ge=0)] | None = None
    prompt_tokens: Annotated[int, msgspec.Meta(ge=0)] | None = None
    seconds: Annotated[float, msgspec.Meta(ge=0.0)] | None = None
    calls: Annotated[int, msgspec.Meta(ge=0)] | None = None


class Completion(msgspec.Struct, frozen=True, kw_only=True):
    """The text that a model wrote for a problem.

    Attributes:
        problem_id: the id of the problem.
        sample: number of the completion among those of the problem, from 0.
        completion: the text.
        cost: as far as it is known.
        truncated: whether the file says that the model was stopped at its limit of tokens.
    """

    problem_id: Annotated[str, msgspec.Meta(min_length=1)]
    sample: Annotated[int, msgspec.Meta(ge=0, lt=2**31)] = 0
    completion: str
    cost: Cost | None = None
    truncated: bool = False


class BadLine(msgspec.Struct, frozen=True):
    """A line that is not a completion: its 1-based number, and the error."""

    line: int
    problem: str


def read_completions(path: Path | str, fields: Fields | None = None) -> Iterator[Completion | BadLine]:
    """The completions of a file. Blank lines are skipped, and unknown keys ignored.

    Answers without a number get one, in the order of the file.

    Args:
        path: of the file.
        fields: paths of the parts of a record, where their keys do not say what they are.

    Raises:
        DataError: the file cannot be read (when the iteration starts), or is empty (when it ends).
    """
    return (item for _, item in numbered_completions(path, fields))


def numbered_completions(path: Path | str, fields: Fields | None = None) -> Iterator[tuple[int, Completion | BadLine]]:
    """The items of :func:`read_completions`, each with the 1-based number of its line.

    Raises:
        DataError: see :func:`read_completions`.
    """
    path = Path(path)
    reader = _Reader(fields)
    empty = True
    try:
        with open_to_read(path) as file:
            for number, line in enumerate(_lines(file), 1):
                if line is None or line.strip():
                    empty = False
                    for item in reader.read(number, line):
                        yield number, item
    except OSError as error:
        raise DataError(str(path), f"the file cannot be read: {error.strerror}") from error
    if empty:
        raise DataError(str(path), "the file is empty; expected one completion per line")


def _lines(file: BinaryIO) -> Iterator[bytes | None]:
    """The lines without a byte-order mark; None for one that is too long."""
    line = file.readline(MAX_LINE + 1).removeprefix(codecs.BOM_UTF8)
    while line:
        if len(line) > MAX_LINE and not line.endswith(b"\n"):
            yield None
            while line and not line.endswith(b"\n"):
                line = file.readline(MAX_LINE)
        else:
            yield line
        line = file.readline(MAX_LINE + 1)


class _Reader:
    """Reads the lines of a file, and numbers the answers to each problem that have no number."""

    def __init__(self, fields: Fields | None) -> None:
        self._fields = fields
        self._numbers: Counter[str] = Counter()
        self._filter: str | None = None

    def read(self, number: int, line: bytes | None) -> Iterable[Completion | BadLine]:
        """The completions of a line."""
        if line is None:
            return [BadLine(number, f"not read: the line is longer than {MAX_LINE} bytes")]
        try:
            record = decode_bytes(line)
            if not isinstance(record, JsonObject):
                return [BadLine(number, f"expected an object, not {describe(record)}")]
            if repeated := record.repeats():
                return [BadLine(number, f"the key {repeated[0]!r} occurs twice")]
            if self._fields is None and _is_own(record):
                found = [self._own(record)]
            else:
                found = self._foreign(find(record, self._fields or Fields()))
        except (BadJsonError, LayoutError, msgspec.ValidationError) as error:
            return [BadLine(number, str(error))]
        if not found[0].problem_id.isprintable():
            return [BadLine(number, f"the problem_id {found[0].problem_id!r} contains a control character")]
        return found

    def _own(self, record: JsonObject) -> Completion:
        members: dict[str, object] = dict(record.members)
        if isinstance(cost := record.get("cost"), JsonObject):
            members["cost"] = dict(cost.members)
        one = msgspec.convert({**members, "truncated": is_cut_off(record)}, Completion)
        if "sample" not in record:
            one = msgspec.structs.replace(one, sample=self._numbers[one.problem_id])
        self._numbers[one.problem_id] = max(self._numbers[one.problem_id], one.sample + 1)
        return one

    def _foreign(self, found: Found) -> list[Completion]:
        self._filter = found.filter if self._filter is None else self._filter
        if found.filter != self._filter:
            raise LayoutError(f"the filter {found.filter!r} repeats the answers of the filter {self._filter!r}")
        first = self._numbers[found.problem_id] if found.sample is None else found.sample
        self._numbers[found.problem_id] = max(self._numbers[found.problem_id], first + len(found.answers))
        return [
            Completion(problem_id=found.problem_id, sample=sample, completion=one.text, truncated=one.truncated)
            for sample, one in enumerate(found.answers, first)
        ]


def _is_own(record: JsonObject) -> bool:
    """Whether the line has the keys of the package's own layout."""
    return isinstance(record.get("problem_id"), str) and isinstance(record.get("completion"), str)


def encode(completion: Completion) -> bytes:
    """The completion as one line of ASCII, without the newline."""
    record = msgspec.to_builtins(completion)
    if completion.cost is None:
        del record["cost"]
    if not completion.truncated:
        del record["truncated"]
    return json.dumps(record).encode("ascii")


def write_completions(path: Path, completions: Iterable[Completion]) -> None:
    """Write completions, one per line, in ASCII, so that unpaired surrogates are kept; an existing file is replaced.

    Raises:
        DataError: the file cannot be written.
    """
    with output(path) as file:
        file.writelines(encode(completion) + b"\n" for completion in completions)
