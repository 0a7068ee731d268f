"""The spine of a dependency: what it says without case distinction.

In: a formula, the terms of the step, and who can tell which antecedents hold. Out: its :class:`Element` objects. The
spine holds the formula itself; instances of a leading ∀, and of a leading ¬∃, by the terms of the step; the conjuncts;
both directions of ↔; what ¬¬, ¬∨ and ¬→ give; and, after all of these, the consequents of implications whose
antecedents hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from proof_r1_formal.logic.syntax import And, Exists, ForAll, Formula, Iff, Implies, Not, Or, Term
from proof_r1_formal.logic.transform import instantiate

SPINE_BUDGET = 1_000
"""The most spine elements of a dependency that are looked at."""


@dataclass(frozen=True, slots=True)
class Element:
    """A spine element, and the antecedents of the implications on the way to it, the outermost first."""

    formula: Formula
    antecedents: tuple[Formula, ...] = ()


class Spine:
    """The spine of a formula, found on demand and remembered.

    Args:
        formula: whose spine it is.
        terms_of_sort: the terms by which leading quantifiers are instantiated.
        holds: whether an antecedent holds; its consequent is in the spine then.
        overflow: called with the limit when the spine is larger.
    """

    def __init__(
        self,
        formula: Formula,
        terms_of_sort: Callable[[str], Iterable[Term]],
        holds: Callable[[Formula], bool],
        overflow: Callable[[int], None],
    ) -> None:
        self._formula = formula
        self._terms_of_sort = terms_of_sort
        self._holds = holds
        self._overflow = overflow
        self._found: list[Element] = []
        self._source = self._generate()

    def elements(self) -> Iterator[Element]:
        """The elements in order; those behind antecedents come last."""
        position = 0
        while True:
            while position < len(self._found):
                yield self._found[position]
                position += 1
            element = next(self._source, None)
            if element is None:
                return
            self._found.append(element)

    def plain(self) -> Iterator[Formula]:
        """The elements behind no antecedent."""
        for element in self.elements():
            if element.antecedents:
                return
            yield element.formula

    def _generate(self) -> Iterator[Element]:
        seen = {self._formula}
        implications: list[Element] = []
        frontier = [Element(self._formula)]
        while frontier:
            yield from frontier
            implications.extend(element for element in frontier if isinstance(element.formula, Implies))
            grown = [
                Element(part, element.antecedents)
                for element in frontier
                for part in spine_parts(element.formula, self._terms_of_sort)
            ]
            frontier = _unseen(grown, seen)
            if not frontier:  # only now, with nothing else left, ask which implications are active
                active = [element for element in implications if self._holds(_sides(element)[0])]
                implications = [element for element in implications if element not in active]
                grown = [Element(_sides(e)[1], (*e.antecedents, _sides(e)[0])) for e in active]
                frontier = _unseen(grown, seen)
            if len(seen) > SPINE_BUDGET:
                self._overflow(SPINE_BUDGET)
                return


def _unseen(elements: Iterable[Element], seen: set[Formula]) -> list[Element]:
    """The elements whose formulas are new, which are seen from now on."""
    new: list[Element] = []
    for element in elements:
        if element.formula not in seen:
            seen.add(element.formula)
            new.append(element)
    return new


def _sides(element: Element) -> tuple[Formula, Formula]:
    assert isinstance(element.formula, Implies)
    return element.formula.left, element.formula.right


def spine_parts(element: Formula, terms_of_sort: Callable[[str], Iterable[Term]]) -> Iterator[Formula]:
    """What is in the spine of a dependency because ``element`` is, except consequents of implications.

    Args:
        element: of the spine.
        terms_of_sort: the terms by which a leading quantifier of a sort is instantiated.
    """
    match element:
        case ForAll(variable, _):
            for term in terms_of_sort(variable.sort):
                yield instantiate(element, term)
        case Not(Exists(variable, _) as existential):
            for term in terms_of_sort(variable.sort):
                yield Not(instantiate(existential, term))
        case And(left, right):
            yield left
            yield right
        case Iff(left, right):
            yield Implies(left, right)
            yield Implies(right, left)
        case Not(Not(body)):
            yield body
        case Not(Or(left, right)):
            yield Not(left)
            yield Not(right)
        case Not(Implies(left, right)):
            yield left
            yield Not(right)
