"""Which finite structures become theorems of a proof assistant: bounds, and the rows of their tables.

Lean's writer (``assistants.lean_model``) and Isabelle's (``assistants.isabelle_model``) share them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

from proof_r1_formal.kernel.model import Structure
from proof_r1_formal.kernel.signature import Signature

MAX_ELEMENTS = 4
"""The largest domain; ``theories/`` declares a type for each size up to it."""
MAX_ATOMS = 64
"""The most entries of all tables of predicates."""
MAX_PARTS = 20_000
"""The most parts of formulas, counted at all elements that quantifiers range over."""


def is_small(signature: Signature, structure: Structure) -> bool:
    """Whether the structure's domains and tables are within the bounds.

    Args:
        signature: the symbols and sorts that count.
        structure: interprets them.
    """
    atoms = sum(prod(structure.domains[sort] for sort in sorts) for sorts in signature.predicates.values())
    largest = max((structure.domains[sort] for sort in signature.sorts), default=1)
    return largest <= MAX_ELEMENTS and atoms <= MAX_ATOMS


def points(structure: Structure, sorts: Sequence[str]) -> Iterator[tuple[int, ...]]:
    """The rows of a symbol's table, in lexicographic order."""
    return product(*[range(structure.domains[sort]) for sort in sorts])
