"""Files of failures, read and written: the samples for which a model gave no completion, a JSON object a line.

In: a path, mostly one beside a file of completions (``completions.beside``). Out: :class:`Failure`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import msgspec

from proof_r1_formal.errors import DataError
from proof_r1_formal.outputs import write_output


class Failure(msgspec.Struct, frozen=True):
    """A sample that came to nothing: whose it was, and why."""

    problem_id: str
    sample: int
    problem: str


def read_failures(path: Path) -> list[Failure]:
    """The failures of a file; none if it is not there.

    Raises:
        DataError: the file cannot be read, or a line holds none.
    """
    try:
        lines = path.read_bytes().splitlines() if path.exists() else []
    except OSError as error:
        raise DataError(str(path), f"the file cannot be read: {error.strerror}") from error
    failures = []
    for number, line in enumerate(lines, 1):
        try:
            failures.append(msgspec.convert(json.loads(line), Failure))
        except (ValueError, RecursionError) as error:
            raise DataError(str(path), f"no failure: {error}", line=number) from error
    return failures


def write_failures(path: Path, failures: Iterable[Failure]) -> None:
    """Write failures, one per line, in ASCII, so that unpaired surrogates are kept; without any, no file is left.

    Raises:
        DataError: the file cannot be written.
    """
    text = "".join(f"{json.dumps(msgspec.to_builtins(failure))}\n" for failure in failures)
    if text:
        write_output(path, text.encode("ascii"))
        return
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise DataError(str(path), f"the file cannot be removed: {error.strerror}") from error
