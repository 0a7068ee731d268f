"""Search for proof terms: analytic tableaux that follow the goal's shape, and cut only when nothing else is left.

In: premises, a conclusion and a budget, and maybe a plan of instances. Out: a proof for ``kernel.checker``, or None.
Without a plan, a goal ∀ is shown of an arbitrary constant, a goal → under the supposition of its left side; any other
goal that the tableau does not reach is supposed false, with a plan every goal. When that does not end in a
contradiction, a subformula is supposed to have one value and refuted in turn. The proof holds only the lines that its
end rests on.

Complete for the effectively propositional class within the budget; outside it the budget ends the search. What is found
depends on the query only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from proof_r1_formal.engine.facts import Fact, Scope
from proof_r1_formal.engine.herbrand import Plan
from proof_r1_formal.engine.lemmas import formula_of
from proof_r1_formal.engine.planned import PlannedTableau
from proof_r1_formal.engine.solver import Budget, BudgetSpentError
from proof_r1_formal.engine.tableau import Tableau
from proof_r1_formal.kernel import term as t
from proof_r1_formal.kernel.signed import FALSUM, TRUTH_TABLES, Signed, sides, signed
from proof_r1_formal.kernel.syntax import And, Binary, Exists, ForAll, Formula, Implies, Or
from proof_r1_formal.kernel.transform import instantiate

BUDGET: Final = 100_000
"""How many steps of the tableau a search may take."""
_MAX_CUTS: Final = 60
"""How many suppositions may be nested."""


class Searched(NamedTuple):
    """The proof that a search found, if it found one, and the steps of the tableau that it took."""

    proof: t.Proof | None
    steps: int


def search(
    premises: Sequence[Formula],
    conclusion: Formula,
    *,
    cuts: bool = True,
    budget: int = BUDGET,
    fresh: str = "␣c",
    plan: Plan | None = None,
) -> Searched:
    """Look for a proof of the conclusion from the premises.

    Args:
        premises, conclusion: closed formulas whose symbols do not clash.
        cuts: whether to suppose more than that the goal is false; without, the search is quick and finds most proofs.
        budget: how many steps of the tableau it may take.
        fresh: how the names of new constants begin.
        plan: the instances to use; the conclusion is then supposed to be false at once.
    """
    steps = Budget(budget)
    goal = signed(conclusion)
    try:
        if plan is None:
            end = _Search(Tableau(premises, conclusion, steps, fresh), cuts=cuts).prove(goal)
        else:
            end = _Search(PlannedTableau(premises, conclusion, steps, fresh, plan), cuts=cuts).suppose_opposite(goal)
    except BudgetSpentError:
        end = None
    return Searched(None if end is None else _Writer(end).block(end.scope, end, len(premises)), steps.spent)


class _Search:
    """Goals and suppositions, on a tableau."""

    def __init__(self, tableau: Tableau, *, cuts: bool) -> None:
        self._tableau = tableau
        self._cuts = cuts

    def prove(self, goal: Signed) -> Fact | None:
        """A fact that says the goal, or a contradiction; None if there is no way on."""
        formula, sign = goal.formula, goal.sign
        tableau = self._tableau
        reached = tableau.propagate(goal, witnesses=False)
        if reached is not None:
            return reached
        match formula:
            case Implies() if sign:
                scope = tableau.open(signed(formula.left))
                shown = self.prove(signed(formula.right))
                return self._close(scope, shown, goal, t.Suppose(formula, ()))
            case ForAll() | Exists() if sign == isinstance(formula, ForAll):
                scope = tableau.open()
                constant = tableau.new_constant(scope.depth)
                tableau.add_terms(constant, formula)
                part = signed(instantiate(formula, constant))
                shown = self.prove(part if sign else part.opposite())
                return self._close(scope, shown, goal, t.Arbitrary(formula, constant, ()))
            case And() | Or() | Implies() if sign == isinstance(formula, And):
                left, right = sides(formula)
                left = left.opposite() if isinstance(formula, Or) else left
                for part in (left, right if sign else right.opposite()):
                    shown = self.prove(part)
                    if shown is None or shown.what == FALSUM:
                        return shown
                return tableau.propagate(goal)
            case _:
                reached = tableau.propagate(goal)
                return self.suppose_opposite(goal) if reached is None else reached

    def suppose_opposite(self, goal: Signed) -> Fact | None:
        """A fact that says the goal, as its opposite leads to a contradiction, or a contradiction; or None."""
        supposed = goal.opposite()
        scope = self._tableau.open(supposed)
        return self._close(scope, self._refute(), goal, t.Absurd(formula_of(supposed), ()))

    def _refute(self) -> Fact | None:
        """A contradiction from what holds; None if there is no way on."""
        while True:
            conflict = self._tableau.propagate()
            if conflict is not None or not self._cuts:
                return conflict
            supposed = self._cut()
            if supposed is None or self._tableau.depth > _MAX_CUTS:
                return None
            opposite = self.suppose_opposite(supposed.opposite())
            if opposite is None or opposite.what == FALSUM:
                return opposite

    def _close(self, scope: Scope, shown: Fact | None, goal: Signed, line: t.Line) -> Fact | None:
        """Close the scope, and say what its block shows; None if it shows nothing."""
        tableau = self._tableau
        tableau.close()
        if shown is None or (shown.what == FALSUM and shown.scope.depth < scope.depth):
            return shown
        return tableau.hold(goal, (shown,), line, depth=tableau.outside(shown, scope), inner=scope)

    def _cut(self) -> Signed | None:
        """A side of a formula whose value its sides do not explain yet, with the sign that would not explain it."""
        best: Signed | None = None
        weight = -1
        for formula, fact in self._tableau.facts.items():
            if isinstance(formula, Binary):
                left, right = sides(formula)
                if left.formula in self._tableau.facts or right.formula in self._tableau.facts:
                    continue
                for side, place in ((left, 0), (right, 1)):
                    occurrences = self._tableau.occurrences(side.formula)
                    if occurrences > weight:
                        value = next(row[place] for row in TRUTH_TABLES[type(formula)] if row[2] != fact.what.sign)
                        best, weight = side if value else side.opposite(), occurrences
        return best


class _Writer:
    """Writes down what a fact rests on, scope by scope, and numbers it."""

    def __init__(self, end: Fact) -> None:
        self._numbers: dict[Fact, int] = {}
        self._of_scope: dict[Scope | None, list[Fact]] = {}
        for fact in sorted(end.rests_on(), key=lambda fact: fact.serial):
            self._of_scope.setdefault(fact.scope, []).append(fact)

    def block(self, scope: Scope | None, end: Fact, number: int) -> t.Block:
        """The lines of a scope that show its end; theirs are the numbers from ``number`` on."""
        lines: list[t.Line] = []
        for fact in self._of_scope.get(scope, ()):
            match fact.line:
                case None:
                    self._numbers[fact] = number - 1  # what the block assumes
                case int(premise):
                    self._numbers[fact] = premise
                case line:
                    self._numbers[fact] = number + len(lines)
                    lines.append(self._line(fact, line, number + len(lines)))
        if not lines or self._numbers[end] != number + len(lines) - 1:
            lines.append(t.Repeat(self._numbers[end]))
        return tuple(lines)

    def _line(self, fact: Fact, line: t.Line, number: int) -> t.Line:
        """The line of a fact, with the numbers of its premises."""
        match line:
            case t.Arbitrary(formula, constant):
                return t.Arbitrary(formula, constant, self.block(fact.inner, fact.premises[0], number))
            case t.Suppose(formula) | t.Absurd(formula):
                return type(line)(formula, self.block(fact.inner, fact.premises[0], number + 1))
        given = tuple([self._numbers[premise] for premise in fact.premises])
        match line:
            case t.Eliminate(_, side):
                return t.Eliminate(given[0], side, *given[1:])
            case t.Introduce(formula):
                return t.Introduce(formula, given)
            case t.Instance(_, term):
                return t.Instance(given[0], term)
            case t.Witness(_, constant):
                return t.Witness(given[0], constant)
            case t.Generalise(formula, _, term):
                return t.Generalise(formula, given[0], term)
            case t.Contradiction():
                return t.Contradiction(*given)
        return line
