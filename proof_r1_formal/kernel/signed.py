"""Signed formulas: what a line of a proof states, that a formula is true or that it is false."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from proof_r1_formal.kernel.syntax import BOTTOM, And, Connective, Formula, Iff, Implies, Not, Or, Xor, once
from proof_r1_formal.kernel.transform import alpha_normal


class Signed(msgspec.Struct, frozen=True, gc=False):
    """A formula that does not begin with ¬, and whether it is true; formulas are alpha-normal."""

    formula: Formula
    sign: bool

    # both written out, as the compiler drops ``frozen`` and would compare by identity

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Signed) and self.formula is other.formula and self.sign == other.sign

    def __hash__(self) -> int:
        return hash((self.formula, self.sign))

    def opposite(self) -> Signed:
        return Signed(self.formula, not self.sign)


def signed(formula: Formula) -> Signed:
    """The signed formula which states that a formula is true."""
    sign = True
    while isinstance(formula, Not):
        formula, sign = formula.body, not sign
    return Signed(alpha_normal(formula) if formula.quantifiers else formula, sign)


@once
def sides(formula: Connective) -> tuple[Signed, Signed]:
    """The statements that the left side is true, and that the right side is."""
    return signed(formula.left), signed(formula.right)


FALSUM: Final = Signed(BOTTOM, True)
"""The statement of a contradiction."""

_OPERATIONS: Final[Mapping[type[Connective], Callable[[bool, bool], bool]]] = {
    And: lambda x, y: x and y,
    Or: lambda x, y: x or y,
    Xor: lambda x, y: x != y,
    Implies: lambda x, y: y or not x,
    Iff: lambda x, y: x == y,
}
TRUTH_TABLES: Final = {
    kind: tuple([(x, y, holds(x, y)) for x in (False, True) for y in (False, True)])
    for kind, holds in _OPERATIONS.items()
}
"""Connective -> its rows (left, right, whole)."""
