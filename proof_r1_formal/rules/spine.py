"""The spine of a dependency: what it says without case distinction.

In: a formula, the terms of the step, and who can tell which antecedents hold. Out: its :class:`Element` objects. The
spine holds the formula itself; instances of a leading ∀, and of a leading ¬∃, by the terms of the step; the conjuncts;
both directions of ↔; what ¬¬, ¬∨ and ¬→ give; and, after all of these, the consequents of implications whose
antecedents hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from proof_r1_formal.logic.syntax import And, Exists, ForAll, Formula, Iff, Implies, Not, Or, Term
from proof_r1_formal.logic.transform import instantiate

SPINE_BUDGET = 1_000
"""The most spine elements of a dependency that are looked at."""


class Element(msgspec.Struct, frozen=True, gc=False):
    """A spine element, and the antecedents of the implications on the way to it, the outermost first."""

    formula: Formula
    antecedents: tuple[Formula, ...] = ()


class Spine:
    """The spine of a formula, found on demand and remembered.

    Args:
        formula: whose spine it is.

    Attributes:
        elements: those found so far; those behind antecedents come last.
        frontier: the last of them, whose parts are not found yet; empty if there are no more.
        open_question: why there may be more of them than are ever found; empty without a reason.
    """

    def __init__(self, formula: Formula) -> None:
        self.elements = [Element(formula)]
        self.frontier = self.elements
        self.open_question = ""
        self._seen = {formula}
        self._implications: list[Element] = []

    def grow(self, terms_of_sort: Callable[[str], Iterable[Term]], holds: Callable[[Formula], bool]) -> None:
        """Find what the last elements have in them.

        Args:
            terms_of_sort: the terms by which leading quantifiers are instantiated.
            holds: whether an antecedent holds; its consequent is in the spine then.
        """
        frontier: list[Element] = []
        for element in self.frontier:
            if isinstance(element.formula, Implies):
                self._implications.append(element)
            for part in spine_parts(element.formula, terms_of_sort):
                self._enter(part, element.antecedents, frontier)
        if not frontier:  # only now, with nothing else left, ask which implications are active
            inactive: list[Element] = []
            for element in self._implications:
                assert isinstance(element.formula, Implies)
                antecedent, consequent = element.formula.left, element.formula.right
                if holds(antecedent):
                    self._enter(consequent, (*element.antecedents, antecedent), frontier)
                else:
                    inactive.append(element)
            self._implications = inactive
        if len(self._seen) > SPINE_BUDGET:
            self.open_question = f"a dependency has more than {SPINE_BUDGET} parts and instances"
            frontier = []
        self.frontier = frontier
        self.elements += frontier

    def _enter(self, formula: Formula, antecedents: tuple[Formula, ...], frontier: list[Element]) -> None:
        if formula not in self._seen:
            self._seen.add(formula)
            frontier.append(Element(formula, antecedents))


def spine_parts(element: Formula, terms_of_sort: Callable[[str], Iterable[Term]]) -> tuple[Formula, ...]:
    """What is in the spine of a dependency because ``element`` is, except consequents of implications.

    Args:
        element: of the spine.
        terms_of_sort: the terms by which a leading quantifier of a sort is instantiated.
    """
    if isinstance(element, And):
        return element.left, element.right
    if isinstance(element, ForAll):
        return tuple([instantiate(element, term) for term in terms_of_sort(element.variable.sort)])
    if isinstance(element, Iff):
        return Implies(element.left, element.right), Implies(element.right, element.left)
    if not isinstance(element, Not):
        return ()
    match element.body:
        case Not(body):
            return (body,)
        case Or(left, right):
            return Not(left), Not(right)
        case Implies(left, right):
            return left, Not(right)
        case Exists(variable, _) as existential:
            return tuple([Not(instantiate(existential, term)) for term in terms_of_sort(variable.sort)])
        case _:
            return ()
