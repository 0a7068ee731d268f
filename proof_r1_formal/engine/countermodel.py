"""Countermodels: those with one element in each sort, and those that solvers report, confirmed by the evaluator.

In: a query, and maybe a solver's model. Out: a structure in which the dependencies hold and the conclusion fails. A
solver's model is never taken on trust.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Final, TypeAlias

from proof_r1_formal.engine.truth_table import COLUMNS, MAX_ATOMS, ROWS, combine
from proof_r1_formal.errors import StructureError
from proof_r1_formal.kernel.answer import Query, Refuted, TooLargeError, checking_steps, refutes
from proof_r1_formal.kernel.model import Element, Structure
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.kernel.syntax import Atom, Binary, Binder, Bottom, Formula, Not

MAX_ENTRIES: Final = 20_000
"""The most table entries that are read from a model."""
VISITS_PER_STEP: Final = 8
"""How many subformulas the evaluator visits at the price of one step."""

Row: TypeAlias = tuple[Element, ...]


def countermodel(
    query: Query,
    signature: Signature,
    domains: Mapping[str, int],
    holds: Callable[[str, Row], bool],
    value: Callable[[str, Row], Element],
    steps: int = 0,
) -> Refuted | None:
    """The refutation by the structure that the solver's model describes, if it is small enough and a countermodel.

    Args:
        query, signature: what the solver refuted, and its symbols.
        domains: number of elements of each sort of the signature.
        holds, value: of a predicate, or of a function, at a row of elements; ``StructureError`` if the model does not
            tell.
        steps: the price of finding the model.
    """

    def rows(sorts: tuple[str, ...]) -> Iterator[Row]:
        return product(*[range(domains[sort]) for sort in sorts])

    places = (*signature.predicates.values(), *[type_.arguments for type_ in signature.functions.values()])
    if sum(prod(domains[sort] for sort in sorts) for sorts in places) > MAX_ENTRIES:
        return None
    predicates, functions = signature.predicates.items(), signature.functions.items()
    try:
        tables = {name: frozenset([row for row in rows(sorts) if holds(name, row)]) for name, sorts in predicates}
        values = {name: {row: value(name, row) for row in rows(type_.arguments)} for name, type_ in functions}
        structure = Structure(domains, tables, values)
    except StructureError:
        return None
    return confirm_structure(query, structure, signature, steps)


def confirm_structure(query: Query, structure: Structure, signature: Signature, steps: int = 0) -> Refuted | None:
    """The refutation by a structure; None if the evaluator does not confirm it, or if it is too large to check.

    To the price of finding the structure, that of checking it is added, once here and once by who rechecks it.

    Raises:
        StructureError: the structure does not interpret a symbol of the query.
    """
    try:
        price = 2 * checking_steps(query, structure) // VISITS_PER_STEP
    except TooLargeError:
        return None
    return Refuted(structure, steps + price) if refutes(query, structure, signature) else None


# -- one element in each sort ------------------------------------------------------------------------------------------


_EVERY: Final = ROWS[MAX_ATOMS]
_NOWHERE: Final[frozenset[tuple[int, ...]]] = frozenset()


class OneElement:
    """The search for a structure with one element in each sort, which most consistent premises have.

    In such a structure a quantified formula is as true as its body and all atoms of a predicate have one truth value.
    So the formulas are propositional over their predicates, and the cost does not depend on the number of constants.

    Literals give their predicates a truth value. The next ``MAX_ATOMS`` predicates get the columns of a truth table;
    those after them are taken to be false.

    Attributes:
        looked_at: how many formulas were looked at, which is what the search costs.
    """

    def __init__(self) -> None:
        self.looked_at = 0
        self._columns: dict[str, int] = {}
        self._free = list(reversed(COLUMNS[MAX_ATOMS]))

    def model(self, formulas: Sequence[Formula], signature: Signature) -> Structure | None:
        """The first structure that is found in which all of the formulas, closed ones of that signature, are true."""
        compound = [formula for formula in formulas if not self._assume(formula)]
        rows = _EVERY
        for formula in compound:
            rows &= self._rows(formula)
            if not rows:
                return None
        row = rows & -rows
        everywhere = {len(sorts): frozenset([(0,) * len(sorts)]) for sorts in signature.predicates.values()}
        return Structure(
            dict.fromkeys(signature.sorts, 1),
            {
                name: everywhere[len(sorts)] if row & self._columns.get(name, 0) else _NOWHERE
                for name, sorts in signature.predicates.items()
            },
            {name: {(0,) * len(type_.arguments): 0} for name, type_ in signature.functions.items()},
        )

    def _assume(self, formula: Formula) -> bool:
        """Give the predicate of a literal its truth value; whether that makes the formula true."""
        self.looked_at += 1
        value = _EVERY
        while not isinstance(formula, (Atom, Binary)):
            if isinstance(formula, Not):
                value ^= _EVERY
            elif not isinstance(formula, Binder):
                return False
            formula = formula.body
        return isinstance(formula, Atom) and self._columns.setdefault(formula.predicate, value) == value

    def _rows(self, formula: Formula) -> int:
        """The rows of the truth table in which a formula is true."""
        if isinstance(formula, Atom):
            column = self._columns.get(formula.predicate)
            if column is None:
                column = self._columns[formula.predicate] = self._free.pop() if self._free else 0
            return column
        if isinstance(formula, Binary):
            self.looked_at += 1
            return combine(formula, self._rows(formula.left), self._rows(formula.right), _EVERY)
        if isinstance(formula, Not):
            return _EVERY ^ self._rows(formula.body)
        if isinstance(formula, Binder):
            return self._rows(formula.body)
        return 0 if isinstance(formula, Bottom) else _EVERY  # an equation has one element on both sides
