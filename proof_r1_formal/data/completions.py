"""Read and write files of completions: a JSON object ``{"problem_id": …, "sample": 0, "completion": "…"}`` a line,
with an optional ``cost``.

In: a path. Out: completions one at a time, in order; a :class:`BadLine` for a line that is not a completion. The
longest line bounds the memory. The text of a completion is kept exactly, with null characters and unpaired surrogates.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, BinaryIO

import msgspec

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
    """

    problem_id: Annotated[str, msgspec.Meta(min_length=1)]
    sample: Annotated[int, msgspec.Meta(ge=0, lt=2**31)] = 0
    completion: str
    cost: Cost | None = None


class BadLine(msgspec.Struct, frozen=True):
    """A line that is not a completion: its 1-based number, and the error."""

    line: int
    problem: str


def read_completions(path: Path | str) -> Iterator[Completion | BadLine]:
    """The completions of a file. Blank lines are skipped, and unknown keys ignored.

    Raises:
        DataError: the file cannot be read (when the iteration starts), or is empty (when it ends).
    """
    return (item for _, item in numbered_completions(path))


def numbered_completions(path: Path | str) -> Iterator[tuple[int, Completion | BadLine]]:
    """The items of :func:`read_completions`, each with the 1-based number of its line.

    Raises:
        DataError: see :func:`read_completions`.
    """
    path = Path(path)
    empty = True
    try:
        with open_to_read(path) as file:
            for number, line in enumerate(_lines(file), 1):
                if line is None or line.strip():
                    empty = False
                    yield number, _read_line(number, line)
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


def _read_line(number: int, line: bytes | None) -> Completion | BadLine:
    if line is None:
        return BadLine(number, f"not read: the line is longer than {MAX_LINE} bytes")
    try:
        record = decode_bytes(line)
        if not isinstance(record, JsonObject):
            return BadLine(number, f"expected an object, not {describe(record)}")
        if repeated := record.repeats():
            return BadLine(number, f"the key {repeated[0]!r} occurs twice")
        members: dict[str, object] = dict(record.members)
        if isinstance(cost := record.get("cost"), JsonObject):
            members["cost"] = dict(cost.members)
        completion = msgspec.convert(members, Completion)
    except (BadJsonError, msgspec.ValidationError) as error:
        return BadLine(number, str(error))
    if not completion.problem_id.isprintable():
        return BadLine(number, f"the problem_id {completion.problem_id!r} contains a control character")
    return completion


def encode(completion: Completion) -> bytes:
    """The completion as one line of ASCII, without the newline."""
    record = msgspec.to_builtins(completion)
    if completion.cost is None:
        del record["cost"]
    return json.dumps(record).encode("ascii")


def write_completions(path: Path, completions: Iterable[Completion]) -> None:
    """Write completions, one per line, in ASCII, so that unpaired surrogates are kept; an existing file is replaced.

    Raises:
        DataError: the file cannot be written.
    """
    with output(path) as file:
        file.writelines(encode(completion) + b"\n" for completion in completions)
