"""The spine of a dependency: what it says without case distinction.

In: a formula, the terms of the step, and who can tell which antecedents hold. Out: its :class:`Element` objects. The
spine holds the formula itself; instances of a leading ∀, and of a leading ¬∃, by the terms of the step; the conjuncts;
both directions of ↔; what ¬¬, ¬∨ and ¬→ give; and, after all of these, the consequents of implications whose
antecedents hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from proof_r1_formal.kernel.syntax import And, Atom, Exists, ForAll, Formula, Iff, Implies, Not, Or, Term, conjunction
from proof_r1_formal.kernel.transform import instantiate
from proof_r1_formal.text.equivalence import conjuncts

SPINE_BUDGET = 1_000
"""The most spine elements of a dependency that are looked at."""


class Element(msgspec.Struct, frozen=True, gc=False):
    """A spine element, and the antecedents of the implications on the way to it, the outermost first."""

    formula: Formula
    antecedents: tuple[Formula, ...] = ()


class Spine:
    """The spine of a dependency, found on demand and remembered.

    Args:
        formulas: whose spine it is: a dependency, or what it says under the hypotheses of a step.
        denials: whether ¬(A ∧ B) counts as A → ¬B and as B → ¬A; where steps may stand under hypotheses, it does.

    Attributes:
        elements: those found so far; those behind antecedents come last.
        complete: whether all elements are found.
        open_question: why there may be more of them than are ever found; empty without a reason.
    """

    def __init__(self, formulas: Iterable[Formula], *, denials: bool = False) -> None:
        self.elements = [Element(formula) for formula in dict.fromkeys(formulas)]
        self.complete = all(isinstance(element.formula, Atom) for element in self.elements)
        self.open_question = ""
        self._denials = denials
        self._frontier = self.elements  # the last of them, whose parts are not found yet
        self._implications: list[Element] = []  # whose antecedents were not asked about
        self._seen = {element.formula for element in self.elements}

    def grow_parts(self, terms_of_sort: Callable[[str], Iterable[Term]]) -> list[Element]:
        """Find the parts of the last elements; those that are new.

        Args:
            terms_of_sort: the terms by which leading quantifiers are instantiated.
        """
        found: list[Element] = []
        for element in self._frontier:
            if isinstance(element.formula, Implies):
                self._implications.append(element)
            for part in spine_parts(element.formula, terms_of_sort):
                self._enter(part, element.antecedents, found)
            for part in denied(element.formula) if self._denials else ():
                self._enter(part, element.antecedents, found)
        return self._grown(found)

    def grow_consequents(self, holds: Callable[[Formula], bool]) -> list[Element]:
        """Find the consequents of implications whose antecedents hold; those that are new.

        Args:
            holds: whether an antecedent holds.
        """
        found: list[Element] = []
        for element in self._implications:
            assert isinstance(element.formula, Implies)
            antecedent, consequent = element.formula.left, element.formula.right
            if holds(antecedent):
                self._enter(consequent, (*element.antecedents, antecedent), found)
        self._implications = []
        self.complete = not found
        return self._grown(found)

    def _grown(self, found: list[Element]) -> list[Element]:
        if len(self._seen) > SPINE_BUDGET:
            self.open_question = f"a dependency has more than {SPINE_BUDGET} parts and instances"
            found, self._implications = [], []
        self._frontier = found
        self.elements += found
        return found

    def _enter(self, formula: Formula, antecedents: tuple[Formula, ...], found: list[Element]) -> None:
        if formula not in self._seen:
            self._seen.add(formula)
            found.append(Element(formula, antecedents))


def spine_parts(element: Formula, terms_of_sort: Callable[[str], Iterable[Term]]) -> tuple[Formula, ...]:
    """The formulas that are in the spine of a dependency because ``element`` is, except consequents of implications.

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


def denied(element: Formula) -> tuple[Formula, ...]:
    """The implications that ¬(A ∧ B) says: from all conjuncts but one to the negation of that one."""
    match element:
        case Not(And() as body):
            parts = conjuncts(body)
            pairs = [(tuple([p for p in parts if p is not part]), part) for part in dict.fromkeys(parts)]
            return tuple([Implies(conjunction(rest), Not(part)) for rest, part in pairs if rest])
        case _:
            return ()
