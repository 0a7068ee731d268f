"""What the searches of this room share: examples from a seed, tried in chunks, and findings that add up.

In: a number of examples. Out: the findings of each chunk; a chunk has its own source of random numbers and is the unit
of work of a process, so the examples depend only on the seed, not on the number of processes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import ClassVar, Generic, TypeVar

import msgspec

from proof_r1_formal.workers import ordered_map


class Findings(msgspec.Struct):
    """The results of some examples. Every field adds up.

    Attributes:
        examples: number of examples, by kind.
    """

    examples: Counter[str] = msgspec.field(default_factory=Counter)


F = TypeVar("F", bound=Findings)


def total(found: F, more: Iterable[F]) -> F:
    """All findings together: ``found``, to which the others are added."""
    for other in more:
        for field in found.__struct_fields__:
            setattr(found, field, getattr(found, field) + getattr(other, field))
    return found


class Search(ABC, Generic[F]):
    """A search; its attributes are its settings.

    Attributes:
        size: number of examples in a chunk.
    """

    size: ClassVar[int]

    def run(self, examples: int, *, workers: int = 1) -> Iterator[F]:
        """The results of each chunk of examples, in order.

        Args:
            examples: number of examples.
            workers: processes to use.

        Raises:
            SolverError: a solver is unknown or not installed.
            ProofR1Error: something else is missing, the number of workers is 0, or a worker died.
        """
        chunks = [range(examples)[start : start + self.size] for start in range(0, examples, self.size)]
        return ordered_map(self.chunk, chunks, workers)

    @abstractmethod
    def chunk(self, examples: range) -> F:
        """The results of one chunk of examples."""
