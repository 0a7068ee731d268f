"""Proofs by unit propagation: the search that finds nearly all proofs, and at once.

In: premises and a conclusion. Out: a proof for ``evidence.checker``, or None. What truth tables force is drawn, up and
down the graph of subformulas, and true ∀ and false ∃ have their instances; if that does not reach the conclusion, the
conclusion is supposed false. There are no cuts, no witnesses and no equality, so what is not found here may still have
a proof (``search.prover``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from proof_r1_formal.evidence.term import (
    Absurd,
    Contradiction,
    Eliminate,
    Instance,
    Introduce,
    Line,
    Proof,
    Repeat,
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
    Not,
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

_LONG: Final = 8
"""An instance takes one step more for each time that its formula has so many parts."""

_PREMISE: Final = -1
_SUPPOSED: Final = -2
_INSTANCE: Final = -3
_TRUTH: Final = -4
_CONTRADICTION: Final = -5


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
        # of each fact: the formula, its value, the kind of line that shows it, and the facts it follows from
        self._formulas: list[Formula] = []
        self._signs: list[bool] = []
        self._kinds: list[int] = []
        self._reasons: list[tuple[int, ...]] = []
        self._term_of: dict[int, Term] = {}
        self._facts: dict[Formula, int] = {}
        self._entered: set[Formula] = set()
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
            supposed = len(self._signs)
            self._hold(self._goal.formula, not self._goal.sign, _SUPPOSED, ())
            end = self._propagate() if len(self._signs) > supposed else -1  # it may be known to be false already
        return None if end < 0 else self._written(end, supposed)

    def _hold(self, formula: Formula, sign: bool, kind: int, reason: tuple[int, ...]) -> None:
        """Add a fact about a formula that does not begin with ¬, unless it is known."""
        known = self._facts.get(formula)
        if known is not None and self._signs[known] == sign:
            return
        number = len(self._signs)
        self._formulas.append(formula)
        self._signs.append(sign)
        self._kinds.append(kind)
        self._reasons.append(reason)
        if known is None:
            self._facts[formula] = number
            if not isinstance(formula, Atom):
                self._enter(formula)
        elif self._conflict < 0:
            self._conflict = number + 1
            self._formulas.append(formula)
            self._signs.append(True)
            self._kinds.append(_CONTRADICTION)
            self._reasons.append((known, number))

    def _enter(self, formula: Formula) -> None:
        """Bring a formula that does not begin with ¬ into the graph, with what is inside it."""
        if isinstance(formula, Binary):
            if formula not in self._entered:
                self._entered.add(formula)
                for side in sides(formula):
                    self._parents.setdefault(side.formula, []).append(formula)
                    if not isinstance(side.formula, Atom):
                        self._enter(side.formula)
        elif isinstance(formula, Top | Bottom):
            self._hold(formula, isinstance(formula, Top), _TRUTH, ())

    def _propagate(self) -> int:
        """Draw what follows until that is the goal or a contradiction; its number, or -1 if nothing is left."""
        facts, signs = self._facts, self._signs
        goal, sign = self._goal.formula, self._goal.sign
        while self._conflict < 0:
            reached = facts.get(goal)
            if reached is not None and signs[reached] == sign:
                return reached
            if self._next >= len(signs) or len(signs) > MOST or self.steps > MOST_STEPS:
                return -1
            number = self._next
            self._next += 1
            formula = self._formulas[number]
            if isinstance(formula, Binary):
                self._draw(formula)
            elif isinstance(formula, Quantified) and isinstance(formula, ForAll) == signs[number]:
                self._instantiate(formula, number)
            for parent in self._parents.get(formula, ()):
                self._draw(parent)
        return self._conflict

    def _instantiate(self, formula: ForAll | Exists, number: int) -> None:
        if self._terms is None:
            self._terms = ground_terms((*self._premises, self._conclusion))
        for term in self._terms.get(formula.variable.sort, ()):
            self.steps += formula.size // _LONG
            if self.steps > MOST_STEPS:
                return
            before = len(self._signs)
            part = signed(instantiate(formula, term))
            self._hold(part.formula, part.sign == self._signs[number], _INSTANCE, (number,))
            if len(self._signs) > before:
                self._term_of[before] = term

    def _draw(self, formula: Connective) -> None:
        """Draw what the truth table of a connective forces."""
        self.steps += 1
        left, right = sides(formula)
        one, other, whole = self._facts.get(left.formula), self._facts.get(right.formula), self._facts.get(formula)
        signs = self._signs
        forced = FORCED[
            type(formula),
            None if one is None else signs[one] == left.sign,
            None if other is None else signs[other] == right.sign,
            None if whole is None else signs[whole],
        ]
        for place, value, reason in forced:
            numbers = (one, other, whole)
            because = tuple([number for at in reason if (number := numbers[at]) is not None])
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
        needed = [False] * (end + 1)
        needed[end] = True
        for number in range(end, -1, -1):
            if needed[number] and self._kinds[number] != _PREMISE:
                for reason in self._reasons[number]:
                    needed[reason] = True
        in_block = supposed >= 0 and needed[supposed]
        numbers: dict[int, int] = {}
        following = len(self._premises)
        outside: list[Line] = []
        inside: list[Line] = []
        for number in range(end + 1):
            if not needed[number]:
                continue
            kind = self._kinds[number]
            if kind == _PREMISE:
                (numbers[number],) = self._reasons[number]
                continue
            numbers[number] = following
            following += 1
            if kind != _SUPPOSED:
                lines = inside if in_block and number > supposed else outside
                lines.append(self._line(number, [numbers[reason] for reason in self._reasons[number]]))
        if in_block:
            goal = Not(self._goal.formula) if self._goal.sign else self._goal.formula
            outside.append(Absurd(goal, tuple(inside)))
        elif not outside:
            outside.append(Repeat(numbers[end]))
        return tuple(outside)

    def _line(self, number: int, given: list[int]) -> Line:
        formula = self._formulas[number]
        kind = self._kinds[number]
        if kind == _INSTANCE:
            return Instance(given[0], self._term_of[number])
        if kind == _CONTRADICTION:
            return Contradiction(given[0], given[1])
        if kind == _TRUTH:
            assert isinstance(formula, Top | Bottom)
            return Truth(formula)
        if kind == WHOLE:
            assert isinstance(formula, Binary)
            return Introduce(formula, tuple(given))
        return Eliminate(given[0], "left" if kind == LEFT else "right", *given[1:])
