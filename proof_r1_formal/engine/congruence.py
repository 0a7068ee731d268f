"""Ground equations: congruence closure, with the steps that lead from a term to an equal one; simpler atoms.

In: terms and equations between them. Out: whether two terms are equal, and a chain of terms in which each differs from
the one before by one equation (the proof forest of Nieuwenhuis and Oliveras, 2007).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from proof_r1_formal.kernel.syntax import App, Atom, Eq, Term, once
from proof_r1_formal.kernel.transform import subterms

_SIMPLIFIED: Final = 1 << 12
"""How many simplified atoms are cached."""


class Congruence:
    """Classes of equal terms.

    Args:
        terms: those that :meth:`close` looks at, with their arguments among them.
    """

    def __init__(self, terms: Sequence[Term]) -> None:
        self._terms = terms
        self._parent: dict[Term, Term] = {}
        self._link: dict[Term, tuple[Term, Eq | None]] = {}  # a neighbour, and why it is equal; None: by its arguments

    def find(self, term: Term) -> Term:
        """The term that stands for the class of ``term``."""
        while (parent := self._parent.get(term, term)) is not term:
            term = parent
        return term

    def unite(self, one: Term, other: Term, equation: Eq | None = None) -> bool:
        """Make two terms equal, because of an equation between them or of their arguments; whether they were not."""
        first, second = self.find(one), self.find(other)
        if first is second:
            return False
        self._parent[first] = second
        to = other
        while (following := self._link.get(one)) is not None:  # turn the links to the end of its tree round
            self._link[one] = to, equation
            to, (one, equation) = one, following
        self._link[one] = to, equation
        return True

    def close(self) -> None:
        """Make functions of equal arguments equal."""
        grown = True
        while grown:
            grown = False
            first: dict[tuple[object, ...], Term] = {}
            for term in self._terms:
                if isinstance(term, App) and term.arguments:
                    key = (term.function, *map(self.find, term.arguments))
                    grown |= self.unite(term, first.setdefault(key, term))

    def chain(self, one: Term, other: Term) -> Iterator[tuple[Eq, Term]]:
        """The terms that lead from a term to an equal one, the last one included, each with the equation it takes."""
        upward = self._upward(one)
        places = {term: place for place, (term, _) in enumerate(upward)}
        downward: list[tuple[Term, Eq | None]] = []
        for term, equation in self._upward(other):
            if term in places:
                break
            downward.append((term, equation))
        meeting = places[term]
        following = [term for term, _ in upward[1 : meeting + 1]]
        steps = [(to, link) for to, (_, link) in zip(following, upward, strict=False)]
        steps += reversed(downward)
        for to, equation in steps:
            if equation is not None:
                yield equation, to
            else:
                yield from self._by_arguments(one, to)
            one = to

    def _upward(self, term: Term) -> list[tuple[Term, Eq | None]]:
        """The terms from ``term`` to the end of its tree, each with why it is equal to the next one."""
        found: list[tuple[Term, Eq | None]] = []
        while (link := self._link.get(term)) is not None:
            found.append((term, link[1]))
            term = link[0]
        found.append((term, None))
        return found

    def _by_arguments(self, one: Term, other: Term) -> Iterator[tuple[Eq, Term]]:
        assert isinstance(one, App) and isinstance(other, App)
        for place, argument in enumerate(one.arguments):
            for equation, changed in self.chain(argument, other.arguments[place]):
                row = (*other.arguments[:place], changed, *one.arguments[place + 1 :])
                yield equation, one.on(row)


# -- simplification ---------------------------------------------------------------------------------------------------


@once
def orient(equation: Eq) -> tuple[Term, Term]:
    """The smaller and the larger side of an equation: by size, and then by text."""
    sides = (equation.left, equation.right)
    smaller, larger = sorted(sides, key=lambda term: (sum(1 for _ in subterms(term)), repr(term)))
    return smaller, larger


def arguments_of(atom: Atom | Eq) -> tuple[Term, ...]:
    """The arguments of an atom, or the sides of an equation."""
    return atom.arguments if isinstance(atom, Atom) else (atom.left, atom.right)


@lru_cache(maxsize=_SIMPLIFIED)
def simplify(atom: Atom | Eq, equation: Eq) -> tuple[Atom | Eq, ...]:
    """The ground atom with the smaller side of a ground equation for the larger one, in one argument at a time.

    So simplifying comes to an end, and atoms that some equations make equivalent have a common form that those
    equations, simplified by each other, lead to (ground completion: Knuth and Bendix, 1970).
    """
    new, old = orient(equation)
    arguments = arguments_of(atom)
    found: list[Atom | Eq] = []
    for index, argument in enumerate(arguments):
        changed = _in_term(argument, old, new)
        if changed is not argument:
            row = (*arguments[:index], changed, *arguments[index + 1 :])
            found.append(Atom(atom.predicate, row) if isinstance(atom, Atom) else Eq(row[0], row[1]))
    return tuple(found)


def _in_term(term: Term, old: Term, new: Term) -> Term:
    if term is old:
        return new
    if isinstance(term, App) and term.arguments:
        return term.on(tuple([_in_term(argument, old, new) for argument in term.arguments]))
    return term
