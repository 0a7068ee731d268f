"""Proofs by unit propagation: the search that finds nearly all proofs, and at once.

In: premises and a conclusion. Out: a proof for ``kernel.checker``, or None. The search derives what truth tables
force, up and down the graph of subformulas, and instantiates true ∀ and false ∃. If that does not reach the conclusion,
it assumes that the conclusion is false, and goes on. It makes no cuts, no witnesses and no steps by equality, so it
misses some proofs; ``engine.prover`` finds most of those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from typing import Final, TypeAlias

from proof_r1_formal.engine.lemmas import formula_of
from proof_r1_formal.engine.solver import instance_price
from proof_r1_formal.kernel.signature import ground_terms
from proof_r1_formal.kernel.signed import TRUTH_TABLES, sides, signed
from proof_r1_formal.kernel.syntax import (
    BOTTOM,
    TOP,
    Atom,
    Binary,
    Connective,
    Exists,
    ForAll,
    Formula,
    Not,
    Term,
    once,
)
from proof_r1_formal.kernel.term import (
    Absurd,
    Contradiction,
    Eliminate,
    Instance,
    Introduce,
    Line,
    Proof,
    Repeat,
    Truth,
)
from proof_r1_formal.kernel.transform import instantiate

# -- what truth tables force -------------------------------------------------------------------------------------------


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


# -- the search --------------------------------------------------------------------------------------------------------


MOST: Final = 2_000
"""The most facts that are drawn."""
MOST_STEPS: Final = 5_000
"""The steps after which the search ends."""

_INSTANCE: Final = -1
_TRUTH: Final = -2
_SUPPOSED: Final = -3
_PREMISE: Final = 3
"""The kind of the first premise; the next ones follow. The kinds of what truth tables force are places."""

_Places: TypeAlias = tuple[Formula, ...]
"""The sides of a connective, without the ¬ that they begin with, and the connective; or other formulas."""
_Connected: TypeAlias = tuple[_Places, Table]
"""The places of a connective, and what is forced there."""
_Why: TypeAlias = tuple[int, _Places, tuple[int, ...], Term | None]
"""Why a fact holds: the kind of line that shows it, some formulas, the places of those among them that it follows from,
and the term of an instance."""


class Propagation:
    """The facts that hold, in the order in which they came to hold, each with what it follows from.

    A fact is the value of a formula that does not begin with ¬.

    Args:
        premises, conclusion: closed formulas.

    Attributes:
        steps: how many formulas were looked at for what they force, and instances made, long ones counting for more.
    """

    def __init__(self, premises: Sequence[Formula], conclusion: Formula) -> None:
        self.steps = 0
        self._premises = premises
        self._conclusion = conclusion
        self._goal = signed(conclusion)
        self._terms: Mapping[str, tuple[Term, ...]] | None = None  # by sort, once there is something to instantiate
        self._facts: list[Formula] = []
        self._value_of: dict[Formula, bool] = {}
        self._why: dict[Formula, _Why] = {}
        self._graph: dict[Formula, _Connected] = {}
        self._parents: dict[Formula, list[_Connected]] = {}
        self._clash: Not | None = None  # of the formula that has both values; stands for the second one

    def proof(self) -> Proof | None:
        """The proof that is found."""
        for kind, premise in enumerate(self._premises, _PREMISE):
            stated = signed(premise)
            self._hold(stated.formula, stated.sign, (kind, (), (), None))
        goal, sign = self._goal.formula, self._goal.sign
        if not isinstance(goal, Atom):
            self._enter(goal)
        end = self._propagate(goal, sign, 0)
        if end is None:
            supposed = len(self._facts)
            self._hold(goal, not sign, (_SUPPOSED, (), (), None))  # unless it is known to be false already
            end = self._propagate(goal, sign, supposed)
        return None if end is None else self._lines(end)

    def _hold(self, formula: Formula, value: bool, why: _Why) -> None:
        """Add a fact, unless it is known."""
        known = self._value_of.get(formula)
        if known is None:
            self._value_of[formula] = value
            self._why[formula] = why
            self._facts.append(formula)
            if not isinstance(formula, Atom):
                self._enter(formula)
        elif known != value and self._clash is None:
            self._clash = Not(formula)
            self._why[self._clash] = why
            self._facts.append(self._clash)

    def _enter(self, formula: Formula) -> None:
        """Bring a formula that does not begin with ¬ into the graph, with what is inside it, but for atoms."""
        if isinstance(formula, Binary):
            if formula not in self._graph:
                left, right, table = forcing(formula)
                self._graph[formula] = found = (left, right, formula), table
                for part in (left, right):
                    self._parents.setdefault(part, []).append(found)
                    if not isinstance(part, Atom):
                        self._enter(part)
        elif formula is TOP or formula is BOTTOM:
            self._hold(formula, formula is TOP, (_TRUTH, (formula,), (), None))

    def _propagate(self, goal: Formula, sign: bool, number: int) -> Formula | None:
        """Draw what follows from that fact and those after it, until it is the goal or a contradiction."""
        facts, value_of = self._facts, self._value_of
        while self._clash is None:
            if value_of.get(goal) == sign:
                return goal
            if number >= len(facts) or len(facts) > MOST or self.steps > MOST_STEPS:
                return None
            formula = facts[number]
            number += 1
            own = self._graph.get(formula)
            if own is not None:
                self._draw(own)
            elif isinstance(formula, ForAll if value_of[formula] else Exists):
                self._instantiate(formula, value_of[formula])
            for parent in self._parents.get(formula, ()):
                self._draw(parent)
        return self._clash

    def _instantiate(self, formula: ForAll | Exists, value: bool) -> None:
        if self._terms is None:
            self._terms = ground_terms((*self._premises, self._conclusion))
        price = instance_price(formula)
        for term in self._terms.get(formula.variable.sort, ()):
            self.steps += price
            if self.steps > MOST_STEPS:
                return
            part = signed(instantiate(formula, term))
            self._hold(part.formula, part.sign == value, (_INSTANCE, (formula,), (0,), term))

    def _draw(self, connective: _Connected) -> None:
        """Draw what the truth table of a connective forces."""
        self.steps += 1
        places, table = connective
        value_of = self._value_of
        left, right, whole = places
        for place, value, reasons in table[value_of.get(left), value_of.get(right), value_of.get(whole)]:
            self._hold(places[place], value, (place, places, reasons, None))

    def _lines(self, end: Formula) -> Proof:
        """The lines that the end rests on; those after the supposition, if it needs one, in its block."""
        needed = {end} if self._clash is None else {end, self._clash.body}
        order: list[Formula] = []
        for fact in reversed(self._facts):
            if fact in needed:
                order.append(fact)
                _, places, reasons, _ = self._why[fact]
                for place in reasons:
                    needed.add(places[place])
        line_of: dict[Formula, int] = {}
        following = len(self._premises)
        outside: list[Line] = []
        lines = outside
        for fact in reversed(order):
            kind, places, reasons, term = self._why[fact]
            if kind >= _PREMISE:
                line_of[fact] = kind - _PREMISE
                continue
            line_of[fact] = following
            following += 1
            if kind == _SUPPOSED:
                lines = []  # of the block
            elif kind == _TRUTH:
                lines.append(Truth(TOP if places[0] is TOP else BOTTOM))
            elif kind == WHOLE:
                whole = places[WHOLE]
                assert isinstance(whole, Binary)
                lines.append(Introduce(whole, tuple([line_of[places[place]] for place in reasons])))
            elif term is None:
                other = line_of[places[reasons[1]]] if len(reasons) > 1 else None
                lines.append(Eliminate(line_of[places[reasons[0]]], "left" if kind == LEFT else "right", other))
            else:
                lines.append(Instance(line_of[places[0]], term))
        if self._clash is not None:
            lines.append(Contradiction(line_of[self._clash.body], line_of[self._clash]))
        if lines is not outside:
            outside.append(Absurd(formula_of(self._goal.opposite()), tuple(lines)))
        elif not outside:
            outside.append(Repeat(line_of[end]))
        return tuple(outside)
