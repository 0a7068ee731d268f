"""The shared part of the searches of this room: examples from a seed, tried in chunks, findings, and failures.

In: a number of examples. Out: the findings of each chunk; a chunk has its own source of random numbers and is the unit
of work of a process, so the examples depend only on the seed, not on the number of processes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

import msgspec

from proof_r1_formal.data.completions import Completion, write_completions
from proof_r1_formal.data.native import from_json, write_problems
from proof_r1_formal.workers import ordered_map


class Failure(msgspec.Struct, frozen=True):
    """An example on which the library is wrong.

    Attributes:
        fault: what is wrong.
        kind: how the example was made; the kind of the last line of a forged proof.
        problem: its record in JSON; the premises and the conclusion of a forged proof in Python.
        completion: the text; the forged proof in Python.
    """

    fault: str
    kind: str
    problem: str
    completion: str


def reproducer_paths(out: Path) -> tuple[Path, Path]:
    """The files of problems and of completions beside a report: of ``a.json``, ``a.problems.jsonl`` and the like."""
    return out.with_suffix(".problems.jsonl"), out.with_suffix(".completions.jsonl")


def write_reproducers(out: Path, failures: Sequence[Failure]) -> tuple[Path, Path]:
    """Write the failures, steps and traces, as problems and completions that every command takes, beside the report.

    Raises:
        DataError: a file cannot be written.
    """
    problems, completions = reproducer_paths(out)
    named = [(f"{out.stem}/{number}", failure) for number, failure in enumerate(failures, 1)]
    write_problems(problems, [replace(from_json(failure.problem), id=name) for name, failure in named])
    write_completions(completions, [Completion(problem_id=name, completion=one.completion) for name, one in named])
    return problems, completions


class Findings(msgspec.Struct):
    """The results of some examples: how many of each kind, accepted ones, and outcomes of other checks. All adds up."""

    examples: Counter[str] = msgspec.field(default_factory=Counter)
    accepted: Counter[str] = msgspec.field(default_factory=Counter)
    outcomes: Counter[str] = msgspec.field(default_factory=Counter)
    failures: list[Failure] = msgspec.field(default_factory=list)


F = TypeVar("F", bound=Findings)


def total(found: F, more: Iterable[F]) -> F:
    """All findings together: ``found``, to which the others are added."""
    for other in more:
        for field in found.__struct_fields__:
            setattr(found, field, getattr(found, field) + getattr(other, field))
    return found


class Search(ABC, Generic[F]):
    """A search; its attributes are its settings, and ``size``, the number of examples in a chunk."""

    size: ClassVar[int]

    def run(self, examples: int, *, workers: int = 1) -> Iterator[F]:
        """The results of each chunk of examples, in order; the workers are processes.

        Raises:
            SolverError: a solver is unknown or not installed.
            ProofR1Error: something else is missing, the number of workers is 0, or a worker died.
        """
        chunks = [range(examples)[start : start + self.size] for start in range(0, examples, self.size)]
        return ordered_map(self.chunk, chunks, workers)

    @abstractmethod
    def chunk(self, examples: range) -> F:
        """The results of one chunk of examples."""
