"""Proofs by unit propagation: the search that finds nearly all proofs, and at once.

In: premises and a conclusion. Out: a proof for ``evidence.checker``, or None. The search derives what truth tables
force, up and down the graph of subformulas, and instantiates true ∀ and false ∃. If that does not reach the conclusion,
it assumes that the conclusion is false, and goes on. It makes no cuts, no witnesses and no steps by equality, so it
misses some proofs; ``search.prover`` finds most of those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from proof_r1_formal.budget import instance_price
from proof_r1_formal.evidence.lemmas import written
from proof_r1_formal.evidence.term import (
    Absurd,
    Contradiction,
    Eliminate,
    Instance,
    Introduce,
    Line,
    Proof,
    Repeat,
    Signed,
    Truth,
    sides,
    signed,
)
from proof_r1_formal.logic.signature import ground_terms
from proof_r1_formal.logic.syntax import (
    Atom,
    Binary,
    Bottom,
    Connective,
    Exists,
    ForAll,
    Formula,
    Quantified,
    Term,
    Top,
)
from proof_r1_formal.logic.transform import instantiate
from proof_r1_formal.search.forced import FORCED, LEFT, WHOLE

MOST: Final = 2_000
"""The most facts that are drawn."""
MOST_STEPS: Final = 5_000
"""The steps after which the search ends."""

_PREMISE: Final = -1
_SUPPOSED: Final = -2
_INSTANCE: Final = -3
_TRUTH: Final = -4
_CONTRADICTION: Final = -5


class _Fact(msgspec.Struct, frozen=True, gc=False):
    """A formula that does not begin with ¬, its value, the kind of line that shows it, and the facts it follows from.

    Facts are referred to by their numbers; a premise has its own in place of reasons.
    """

    number: int
    formula: Formula
    sign: bool
    kind: int
    reasons: tuple[int, ...]
    term: Term | None = None


class Propagation:
    """The facts that hold, in the order in which they came to hold, each with what it follows from.

    Args:
        premises, conclusion: closed formulas.

    Attributes:
        steps: how many formulas were looked at for what they force, and instances made, long ones counting for more.
    """

    def __init__(self, premises: Sequence[Formula], conclusion: Formula) -> None:
        self.steps = 0
        self._premises = premises
        self._conclusion = conclusion
        self._terms: Mapping[str, tuple[Term, ...]] | None = None  # by sort, once there is something to instantiate
        self._goal = signed(conclusion)
        self._facts: list[_Fact] = []
        self._fact_of: dict[Formula, _Fact] = {}
        self._sides: dict[Formula, tuple[Signed, Signed]] = {}  # of what is in the graph
        self._parents: dict[Formula, list[Connective]] = {}
        self._next = 0
        self._conflict = -1

    def proof(self) -> Proof | None:
        """The proof that is found."""
        for number, premise in enumerate(self._premises):
            stated = signed(premise)
            self._hold(stated.formula, stated.sign, _PREMISE, (number,))
        self._enter(self._goal.formula)
        supposed = -1
        end = self._propagate()
        if end < 0:
            supposed = len(self._facts)
            self._hold(self._goal.formula, not self._goal.sign, _SUPPOSED, ())
            end = self._propagate() if len(self._facts) > supposed else -1  # it may be known to be false already
        return None if end < 0 else self._written(end, supposed)

    def _hold(
        self, formula: Formula, sign: bool, kind: int, reasons: tuple[int, ...], term: Term | None = None
    ) -> None:
        """Add a fact, unless it is known."""
        known = self._fact_of.get(formula)
        if known is not None and known.sign == sign:
            return
        number = len(self._facts)
        fact = _Fact(number, formula, sign, kind, reasons, term)
        self._facts.append(fact)
        if known is None:
            self._fact_of[formula] = fact
            if not isinstance(formula, Atom):
                self._enter(formula)
        elif self._conflict < 0:
            self._conflict = number + 1
            self._facts.append(_Fact(number + 1, formula, True, _CONTRADICTION, (known.number, number)))

    def _enter(self, formula: Formula) -> None:
        """Bring a formula that does not begin with ¬ into the graph, with what is inside it."""
        if isinstance(formula, Binary):
            if formula not in self._sides:
                self._sides[formula] = both = sides(formula)
                for side in both:
                    part = side.formula
                    self._parents.setdefault(part, []).append(formula)
                    if not isinstance(part, Atom):
                        self._enter(part)
        elif isinstance(formula, Top | Bottom):
            self._hold(formula, isinstance(formula, Top), _TRUTH, ())

    def _propagate(self) -> int:
        """Draw what follows until that is the goal or a contradiction; its number, or -1 if nothing is left."""
        facts, goal, sign = self._facts, self._goal.formula, self._goal.sign
        while self._conflict < 0:
            reached = self._fact_of.get(goal)
            if reached is not None and reached.sign == sign:
                return reached.number
            if self._next >= len(facts) or len(facts) > MOST or self.steps > MOST_STEPS:
                return -1
            fact = facts[self._next]
            self._next += 1
            formula = fact.formula
            if isinstance(formula, Binary):
                self._draw(formula)
            elif isinstance(formula, Quantified) and isinstance(formula, ForAll) == fact.sign:
                self._instantiate(formula, fact)
            for parent in self._parents.get(formula, ()):
                self._draw(parent)
        return self._conflict

    def _instantiate(self, formula: ForAll | Exists, fact: _Fact) -> None:
        if self._terms is None:
            self._terms = ground_terms((*self._premises, self._conclusion))
        price = instance_price(formula)
        for term in self._terms.get(formula.variable.sort, ()):
            self.steps += price
            if self.steps > MOST_STEPS:
                return
            part = signed(instantiate(formula, term))
            self._hold(part.formula, part.sign == fact.sign, _INSTANCE, (fact.number,), term)

    def _draw(self, formula: Connective) -> None:
        """Draw what the truth table of a connective forces."""
        self.steps += 1
        left, right = self._sides[formula]
        fact_of = self._fact_of
        one, other, whole = fact_of.get(left.formula), fact_of.get(right.formula), fact_of.get(formula)
        forced = FORCED[
            type(formula),
            None if one is None else one.sign == left.sign,
            None if other is None else other.sign == right.sign,
            None if whole is None else whole.sign,
        ]
        for place, value, reason in forced:
            because = tuple([fact.number for at in reason if (fact := (one, other, whole)[at]) is not None])
            if place == WHOLE:
                self._hold(formula, value, WHOLE, because)
            elif left.formula is right.formula and len(because) > 1:
                continue  # the value of a side says nothing of the other one, which is the same
            elif place == LEFT:
                self._hold(left.formula, value == left.sign, place, because)
            else:
                self._hold(right.formula, value == right.sign, place, because)

    # -- writing it down ----------------------------------------------------------------------------------------------

    def _written(self, end: int, supposed: int) -> Proof:
        """The lines that the end rests on; those behind the supposition, if it needs one, in its block."""
        facts = self._facts
        needed = {end}
        for number in range(end, -1, -1):
            if number in needed and facts[number].kind != _PREMISE:
                needed.update(facts[number].reasons)
        in_block = supposed in needed
        numbers: dict[int, int] = {}
        following = len(self._premises)
        outside: list[Line] = []
        inside: list[Line] = []
        for number in sorted(needed):
            fact = facts[number]
            if fact.kind == _PREMISE:
                numbers[number] = fact.reasons[0]
                continue
            if fact.kind != _SUPPOSED:
                lines = inside if in_block and number > supposed else outside
                lines.append(_line(fact, [numbers[reason] for reason in fact.reasons]))
            numbers[number] = following
            following += 1
        if in_block:
            outside.append(Absurd(written(self._goal.opposite()), tuple(inside)))
        elif not outside:
            outside.append(Repeat(numbers[end]))
        return tuple(outside)


def _line(fact: _Fact, given: list[int]) -> Line:
    """The line that shows a fact.

    Args:
        fact: that is shown.
        given: the lines that show what it follows from.
    """
    formula, kind = fact.formula, fact.kind
    if kind == _INSTANCE:
        assert fact.term is not None
        return Instance(given[0], fact.term)
    if kind == _CONTRADICTION:
        return Contradiction(given[0], given[1])
    if kind == _TRUTH:
        assert isinstance(formula, Top | Bottom)
        return Truth(formula)
    if kind == WHOLE:
        assert isinstance(formula, Binary)
        return Introduce(formula, tuple(given))
    return Eliminate(given[0], "left" if kind == LEFT else "right", *given[1:])
