"""The exceptions of the package: one root class, typed fields, and messages that say what to do.

The root class and the exceptions of the kernel are defined in ``kernel.errors``, and every other module imports them
from here.

Verdicts about a model's proof are never exceptions (they are data, see ``proof.report``). An exception means that the
*caller* gave something unusable or that a *tool* is missing or broken.
"""

from __future__ import annotations

import re
from collections.abc import Sized
from dataclasses import dataclass

from proof_r1_formal.kernel.errors import CatalogueError as CatalogueError
from proof_r1_formal.kernel.errors import ProofError as ProofError
from proof_r1_formal.kernel.errors import ProofR1Error as ProofR1Error
from proof_r1_formal.kernel.errors import SignatureError as SignatureError
from proof_r1_formal.kernel.errors import StructureError as StructureError

_HALF = re.compile("[\ud800-\udfff]")  # Python joins whole pairs, so any surrogate that is left is half of one


def require_type(value: object, kind: type, name: str, hint: str) -> None:
    """Check the argument ``name`` of a public function; the hint says how to get a value of that type.

    Raises:
        TypeError: it has another type.
    """
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__}, but is a {type(value).__name__}; {hint}")


def require_equal_lengths(**arguments: Sized) -> None:
    """Check that arguments of a public function, given by name, have one entry each for every item.

    Raises:
        ValueError: their lengths differ.
    """
    if len(set(map(len, arguments.values()))) > 1:
        lengths = ", ".join(f"{name} has {len(argument)}" for name, argument in arguments.items())
        raise ValueError(f"the arguments must have equally many entries, but {lengths}")


def is_text(string: str) -> bool:
    """Whether a string is text, which UTF-8 can encode: it holds no half of a surrogate pair, which is not a character.

    Python and JSON strings may hold one. Each reader of text from outside asks this once, where it enters.

    >>> [is_text(string) for string in ("é", "\\U0001f408", "\\ud83d")]
    [True, True, False]
    """
    return string.isascii() or _HALF.search(string) is None


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a text: 0-based character offset, 1-based line and column."""

    offset: int
    line: int
    column: int

    @classmethod
    def of(cls, text: str, offset: int) -> Location:
        """Locate ``offset`` (clamped to the text) in ``text``."""
        offset = max(0, min(offset, len(text)))
        line_start = text.rfind("\n", 0, offset) + 1
        return cls(offset, text.count("\n", 0, offset) + 1, offset - line_start + 1)


class ParseError(ProofR1Error):
    """A formula that does not parse: what is wrong, where, what was expected, and the text with a caret."""

    _CONTEXT = 60  # characters of the line that are shown on each side of the caret

    def __init__(self, text: str, offset: int, problem: str, *, expected: tuple[str, ...] = ()) -> None:
        self.text, self.problem, self.expected = text, problem, expected
        self.location = Location.of(text, offset)
        super().__init__(self._message())

    @property
    def summary(self) -> str:
        """The error in one line, without the caret picture."""
        wanted = f"; expected {', '.join(self.expected)}" if self.expected else ""
        return f"{self.problem} at line {self.location.line}, column {self.location.column}{wanted}"

    def _message(self) -> str:
        start = self.text.rfind("\n", 0, self.location.offset) + 1
        end = self.text.find("\n", self.location.offset)
        end = len(self.text) if end < 0 else end
        left = max(start, self.location.offset - self._CONTEXT)
        right = min(end, self.location.offset + self._CONTEXT)
        shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in self.text[left:right])
        return f"{self.summary}\n  {shown}\n  {' ' * (self.location.offset - left)}^"


class EnglishError(ProofR1Error):
    """A formula that no sentence of the templated English expresses."""

    def __init__(self, formula: str, problem: str) -> None:
        self.formula, self.problem = formula, problem
        super().__init__(f"no sentence expresses {formula}: {problem}")


class SolverError(ProofR1Error):
    """A solver that is missing, rejects its input or breaks its protocol (never an undecided query)."""

    def __init__(self, solver: str, problem: str) -> None:
        self.solver, self.problem = solver, problem
        super().__init__(f"solver {solver}: {problem}")


class DataError(ProofR1Error):
    """An invalid file: the path, the line if known, the reason."""

    def __init__(self, path: str, problem: str, *, line: int | None = None) -> None:
        self.path, self.problem, self.line = path, problem, line
        super().__init__(f"{path}{'' if line is None else f', line {line}'}: {problem}")


class ServiceError(ProofR1Error):
    """A service that does not answer, or that reports an error: its address, the HTTP status (or 0), the reason."""

    def __init__(self, url: str, status: int, problem: str) -> None:
        self.url, self.status, self.problem = url, status, problem
        super().__init__(f"service {url}: {problem}{f' (status {status})' if status else ''}")
