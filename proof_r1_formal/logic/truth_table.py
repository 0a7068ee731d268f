"""Truth tables as integers, and what they say of one formula: its semantic key.

A table over n atoms has 2ⁿ rows. The truth values of a formula in all of them are the bits of one integer: bit i is for
the row in which the atom of index k is true exactly if i has bit k.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from proof_r1_formal.logic.syntax import And, Atom, Bottom, Formula, Iff, Implies, Not, Or, Top, Xor, once

FEW_ATOMS = 6
"""The atoms of a small table, whose 64 rows fit a machine word."""
MAX_ATOMS = 12
"""The most atoms of a table."""

ROWS = {atoms: (1 << (1 << atoms)) - 1 for atoms in (FEW_ATOMS, MAX_ATOMS)}
"""For each number of atoms the bits of a formula that is true in every row."""
COLUMNS = {
    atoms: tuple([every // ((1 << (1 << index)) + 1) << (1 << index) for index in range(atoms)])
    for atoms, every in ROWS.items()
}
"""For each number of atoms the bits of the atom at each index."""

_Columns: TypeAlias = Mapping[Formula, int]


class SemanticKey(NamedTuple):
    """What a formula without quantifiers and equations says: equal exactly for equivalent ones.

    Attributes:
        atoms: those that its truth depends on, in an order of this process.
        truth: the rows of the smallest table over them in which it is true.
    """

    atoms: tuple[Atom, ...]
    truth: int

    @property
    def valid(self) -> bool:
        """Whether the formula is a tautology."""
        return not self.atoms and self.truth != 0

    @property
    def contradictory(self) -> bool:
        """Whether no row makes the formula true."""
        return not self.truth


def semantic_key(formula: Formula) -> SemanticKey | None:
    """The semantic key; None for a formula with a quantifier or an equation, or with more than ``MAX_ATOMS`` atoms."""
    if isinstance(formula, Atom):
        return SemanticKey((formula,), COLUMNS[FEW_ATOMS][0])
    return None if formula.quantifiers else _compound_key(formula)


@once
def _compound_key(formula: Formula) -> SemanticKey | None:
    atoms = _atoms(formula)
    if atoms is None:
        return None
    width = FEW_ATOMS if len(atoms) <= FEW_ATOMS else MAX_ATOMS
    columns = dict[Formula, int](zip(atoms, COLUMNS[width], strict=False))
    truth = _truth(formula, columns, ROWS[width])
    essential = sorted([atom for atom in atoms if _depends(truth, columns[atom], ROWS[width])], key=id)
    if essential != atoms:
        width = FEW_ATOMS if len(essential) <= FEW_ATOMS else MAX_ATOMS
        columns = {**dict.fromkeys(atoms, 0), **dict(zip(essential, COLUMNS[width], strict=False))}
        truth = _truth(formula, columns, ROWS[width])
    return SemanticKey(tuple(essential), truth)


def _atoms(formula: Formula) -> list[Atom] | None:
    """The atoms in order of first occurrence; None if there is an equation, or if there are too many."""
    found: dict[Atom, None] = {}
    pending: list[Formula] = [formula]
    while pending:
        match pending.pop():
            case Atom() as atom:
                found[atom] = None
                if len(found) > MAX_ATOMS:
                    return None
            case Not(body):
                pending.append(body)
            case And() | Or() | Xor() | Implies() | Iff() as binary:
                pending += (binary.right, binary.left)
            case Top() | Bottom():
                pass
            case _:
                return None
    return list(found)


def _depends(truth: int, column: int, every: int) -> bool:
    """Whether the truth values differ between the rows in which an atom is true and the same rows with it false."""
    shift = (column & -column).bit_length() - 1
    return (truth & column) >> shift != truth & (every ^ column)


def _truth(formula: Formula, columns: _Columns, every: int) -> int:
    match formula:
        case Atom():
            return columns[formula]
        case Not(body):
            return every ^ _truth(body, columns, every)
        case And(left, right):
            return _truth(left, columns, every) & _truth(right, columns, every)
        case Or(left, right):
            return _truth(left, columns, every) | _truth(right, columns, every)
        case Implies(left, right):
            return (every ^ _truth(left, columns, every)) | _truth(right, columns, every)
        case Xor(left, right):
            return _truth(left, columns, every) ^ _truth(right, columns, every)
        case Iff(left, right):
            return every ^ _truth(left, columns, every) ^ _truth(right, columns, every)
        case Bottom():
            return 0
        case _:
            return every
