"""Values that the truth table of a connective forces: from the values of some of its places, the value of another."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, product
from typing import Final, TypeAlias

from proof_r1_formal.kernel.signed import TRUTH_TABLES, sides
from proof_r1_formal.kernel.syntax import Connective, Formula, once

LEFT, RIGHT, WHOLE = range(3)
"""The places of a connective: its sides, and the formula itself."""
_Values: TypeAlias = tuple[bool | None, ...]
_Forced: TypeAlias = tuple[tuple[int, bool, tuple[int, ...]], ...]
Table: TypeAlias = Mapping[_Values, _Forced]
"""Values that the values at the places force: a place, its value, and a smallest set of places whose values force it,
the whole first. Places whose value is as it must be are left out, so what is left is new or a contradiction."""


def _force(kind: type[Connective], values: _Values) -> _Forced:
    found = []
    for place in (LEFT, RIGHT, WHOLE):
        known = [p for p in (WHOLE, LEFT, RIGHT) if p != place and values[p] is not None]
        for reason in (subset for count in range(len(known) + 1) for subset in combinations(known, count)):
            forced = {row[place] for row in TRUTH_TABLES[kind] if all(row[p] == values[p] for p in reason)}
            if len(forced) == 1:
                (value,) = forced
                if values[place] != value:
                    found.append((place, value, reason))
                break
    return tuple(found)


_TABLES: Final = {
    kind: {values: _force(kind, values) for values in product((None, False, True), repeat=3)} for kind in TRUTH_TABLES
}


def _with_signs(table: Table, *signs: bool) -> Table:
    """The table for formulas that are true where the place has the value that is its sign."""
    return {
        tuple([None if value is None else value == sign for value, sign in zip(values, signs, strict=True)]): tuple(
            [(place, value == signs[place], reason) for place, value, reason in forced]
        )
        for values, forced in table.items()
    }


_SIGNED: Final = {
    (kind, left, right): _with_signs(table, left, right, True)
    for kind, table in _TABLES.items()
    for left, right in product((False, True), repeat=2)
}


@once
def forcing(formula: Connective) -> tuple[Formula, Formula, Table]:
    """The sides of a connective, without the ¬ that they begin with, and what their values and its value force."""
    left, right = sides(formula)
    table = _SIGNED[type(formula), left.sign, right.sign]
    if left.formula is right.formula:  # the value of a side says nothing of the other one, which is the same
        table = {key: tuple([f for f in forced if f[0] == WHOLE or len(f[2]) < 2]) for key, forced in table.items()}
    return left.formula, right.formula, table
