"""What the truth table of a connective forces: from the values of some of its places, the value of another."""

from __future__ import annotations

from itertools import combinations, product
from typing import TypeAlias

from proof_r1_formal.evidence.term import TRUTH_TABLES
from proof_r1_formal.logic.syntax import Connective

_Values: TypeAlias = tuple[bool | None, bool | None, bool | None]
LEFT, RIGHT, WHOLE = range(3)
"""The places of a connective: its sides, and the formula itself."""


def _forced(kind: type[Connective], values: _Values) -> tuple[tuple[int, bool, tuple[int, ...]], ...]:
    """What is forced: the place, its value, and a smallest set of places whose values force it, the whole first.

    Places whose value is as it must be are left out, so what is left is new or a contradiction.
    """
    found = []
    for place in (LEFT, RIGHT, WHOLE):
        known = [p for p in (WHOLE, LEFT, RIGHT) if p != place and values[p] is not None]
        for reason in (subset for count in range(len(known) + 1) for subset in combinations(known, count)):
            rows = [row for row in TRUTH_TABLES[kind] if all(row[p] == values[p] for p in reason)]
            forced = {row[place] for row in rows}
            if len(forced) == 1:
                (value,) = forced
                if values[place] != value:
                    found.append((place, value, reason))
                break
    return tuple(found)


FORCED = {
    (kind, left, right, whole): _forced(kind, (left, right, whole))
    for kind in TRUTH_TABLES
    for left, right, whole in product((None, False, True), repeat=3)
}
"""What each connective forces for all values of its places."""
