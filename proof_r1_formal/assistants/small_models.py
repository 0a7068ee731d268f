"""Which finite structures become theorems of a proof assistant: bounds, and the rows of their tables.

Small ones become proofs part by part: Lean's writer (``assistants.lean_model``) and Isabelle's
(``assistants.isabelle_model``) share these bounds. Larger ones become data that Lean evaluates
(``assistants.reflection``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from math import prod

from proof_r1_formal.kernel.model import Structure, evaluation_steps
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.kernel.syntax import Formula

MAX_ELEMENTS = 4
"""The largest domain; ``theories/`` declares a type for each size up to it."""
MAX_ATOMS = 128
"""The most entries of all tables of predicates."""
MAX_VALUES = 256
"""The most entries of all tables of functions; with 1,024, Isabelle needs two seconds, with 4,096 seventeen."""
MAX_PARTS = 20_000
"""The most parts of formulas, counted at all elements that quantifiers range over."""
_MAX_EVALUATED = 8
"""The largest domain of a structure that Lean evaluates."""
MAX_ENTRIES = 4_096
"""The most entries of all tables of a structure that Lean evaluates."""


def is_small(signature: Signature, structure: Structure) -> bool:
    """Whether the domains and tables of the structure for these symbols and sorts are within the bounds."""
    atoms = _entries(structure, signature.predicates.values())
    values = _entries(structure, [type_.arguments for type_ in signature.functions.values()])
    return _largest(signature, structure) <= MAX_ELEMENTS and atoms <= MAX_ATOMS and values <= MAX_VALUES


def is_evaluable(signature: Signature, structure: Structure, formulas: Sequence[Formula]) -> bool:
    """Whether Lean can evaluate the formulas of a claim, which have that signature, in the structure."""
    tables = (*signature.predicates.values(), *[type_.arguments for type_ in signature.functions.values()])
    parts = sum(evaluation_steps(formula, structure) for formula in formulas)
    entries = _entries(structure, tables)
    return _largest(signature, structure) <= _MAX_EVALUATED and entries <= MAX_ENTRIES and parts <= MAX_PARTS


def _entries(structure: Structure, tables: Iterable[Sequence[str]]) -> int:
    """The number of entries of tables, given the sorts of each table's arguments."""
    return sum(prod(structure.domains[sort] for sort in sorts) for sorts in tables)


def _largest(signature: Signature, structure: Structure) -> int:
    return max((structure.domains[sort] for sort in signature.sorts), default=1)


def points(structure: Structure, sorts: Sequence[str]) -> Iterator[tuple[int, ...]]:
    """The rows of a symbol's table, in lexicographic order."""
    return product(*[range(structure.domains[sort]) for sort in sorts])
