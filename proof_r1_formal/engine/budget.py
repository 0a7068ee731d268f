"""The budget of a search, in counted steps: the same on every machine."""

from __future__ import annotations

from proof_r1_formal.kernel.syntax import Formula, once
from proof_r1_formal.kernel.transform import terms


class BudgetSpentError(Exception):
    """The search has cost as much as it may; the message, if there is one, names the budget."""


class Budget:
    """Counts the steps of a search; those that are ``spent`` are never more than ``most``."""

    __slots__ = ("_most", "spent")

    def __init__(self, most: int) -> None:
        self._most = most
        self.spent = 0

    @property
    def left(self) -> int:
        """How many steps it may still take."""
        return self._most - self.spent

    def spend(self, steps: int = 1) -> None:
        """Take steps.

        Raises:
            BudgetSpentError: fewer are left, and none is left from then on.
        """
        self.spent += steps
        if self.spent > self._most:
            self.spent = self._most
            raise BudgetSpentError


@once
def instance_price(formula: Formula) -> int:
    """The price of an instance of a quantified formula, above that of a short one: more if it is long, or deep.

    To substitute under a quantifier takes longer the more variables it is in the scope of.
    """
    length = formula.size + len(list(terms(formula)))
    return length * (4 + formula.quantifiers) // 64
