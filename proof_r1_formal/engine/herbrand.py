"""The Herbrand expansion of formulas, level by level: their ground instances, by ever larger terms.

In: premises and a conclusion. Out: ground clauses that have no model only if the premises entail the conclusion, and
the instances that they are of. A strong formula (a true ∃, a false ∀) has a constant as its witness. By Herbrand's
theorem, some level is large enough for every valid conclusion. Levels grow fast, so the budget ends most of them.

An instance costs what it takes to reach its formula and its term: a term of the formulas themselves costs 0, the
witness in an instance of cost n costs n + 1, and another term of it n + 2. A level has the instances of its cost.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from heapq import heappop, heappush
from typing import Final, NamedTuple, TypeAlias

from proof_r1_formal.engine.lemmas import formula_of
from proof_r1_formal.engine.solver import Budget, BudgetSpentError, instance_price
from proof_r1_formal.kernel.signature import Signature, symbols
from proof_r1_formal.kernel.signed import Signed, sides, signed
from proof_r1_formal.kernel.syntax import (
    And,
    App,
    Atom,
    Binary,
    Binder,
    ForAll,
    Formula,
    Iff,
    Implies,
    Or,
    Quantified,
    Term,
    Xor,
)
from proof_r1_formal.kernel.transform import instantiate

_MAX_LEVEL: Final = 10
"""The highest level."""


_Weak: TypeAlias = tuple[Quantified, bool]
"""A formula whose value makes each of its instances have the same value."""


class Plan(NamedTuple):
    """Instances that are enough for a proof: the terms for each quantified formula, or the new name of its witness."""

    instances: Mapping[Formula, tuple[Term, ...]]
    witnesses: Mapping[Quantified, App]


class Expansion:
    """The instances up to a level, which :meth:`grow` makes higher.

    Args:
        premises, conclusion, signature: closed formulas, and their symbols.
        budget: counts the formulas that are looked at.

    Attributes:
        clauses: ground formulas, in which an atom for each instance guards it.
        instances: guard -> the weak formula with its value, and the term.
    """

    def __init__(self, premises: Sequence[Formula], conclusion: Formula, signature: Signature, budget: Budget) -> None:
        self.clauses: list[Formula] = []
        self.instances: dict[Atom, tuple[_Weak, Term]] = {}
        self._spend = budget.spend
        self._signature = signature
        self._roots = [*map(signed, premises), signed(conclusion).opposite()]
        self._level = -1
        self._pending: list[tuple[int, int, _Weak, Term]] = []  # instances by cost, and then as they came
        self._pairs = 0
        self._weak: dict[_Weak, tuple[Atom, int]] = {}  # -> the atom that stands for it, and its cost
        self._terms: dict[str, dict[Term, int]] = {}  # sort -> its terms and their costs
        self._sorts: dict[str, str] = {}  # of new constants
        self._witnesses: dict[Quantified, App] = {}
        self._strong: list[Quantified] = []  # in the roots, or in the instance at hand
        self._strong_in: dict[Atom | None, list[Quantified]] = {}  # in the roots, and in the instance of each guard

    def grow(self) -> bool:
        """Go to the next level that has new instances; whether there is one, and budget for some of it."""
        before = len(self.instances)
        try:
            if self._level < 0:
                self.clauses += [self._ground(root, -1) for root in self._roots]
                self._strong_in[None], self._strong = self._strong, []
            while len(self.instances) == before and self._level < _MAX_LEVEL:
                self._level += 1
                self._instantiate()
        except BudgetSpentError:
            self._level = _MAX_LEVEL
        return len(self.instances) > before

    def plan(self, guards: Iterable[Atom]) -> Plan:
        """The instances that these guards stand for, and the witnesses in them."""
        instances: dict[Formula, tuple[Term, ...]] = {}
        strong = set(self._strong_in[None])
        for guard in guards:
            (formula, _), term = self.instances[guard]
            instances[formula] = (*instances.get(formula, ()), term)
            strong.update(self._strong_in[guard])
        return Plan(instances, {formula: name for formula, name in self._witnesses.items() if formula in strong})

    # -- instances ----------------------------------------------------------------------------------------------------

    def _instantiate(self) -> None:
        """The instances of the level."""
        for sort in dict.fromkeys([formula.variable.sort for formula, _ in self._weak]):
            if not self._terms.get(sort):
                self._add_term(self._constant("e", sort), sort, 0)
        for weak, (_, cost) in self._weak.items():
            found = self._terms[weak[0].variable.sort]
            self._spend(1 + len(found) // 16)
            for term, price in found.items():
                if cost + price == self._level:
                    self._pair(weak, term, self._level)
        while self._pending:
            cost, _, weak, term = heappop(self._pending)
            formula, sign = weak
            self._spend(1 + instance_price(formula))
            part = signed(instantiate(formula, term))
            guard = Atom(_new_name(f"␣i{len(self.instances)}", self._signature.predicates), ())
            clause = self._ground(part if sign else part.opposite(), cost)
            self._strong_in[guard], self._strong = self._strong, []
            self.clauses.append(Implies(And(self._weak[weak][0], guard), clause))
            self.instances[guard] = weak, term

    def _pair(self, weak: _Weak, term: Term, cost: int) -> None:
        if cost <= self._level:
            self._spend()
            self._pairs += 1
            heappush(self._pending, (cost, self._pairs, weak, term))

    def _add_term(self, term: Term, sort: str, cost: int) -> None:
        found = self._terms.setdefault(sort, {})
        if term not in found:
            found[term] = cost
            for weak, (_, price) in self._weak.items():
                if weak[0].variable.sort == sort:
                    self._pair(weak, term, cost + price)

    def _constant(self, stem: str, sort: str) -> App:
        name = _new_name(f"␣{stem}{len(self._sorts)}", self._signature.functions)
        self._sorts[name] = sort
        return App(name, ())

    # -- formulas -----------------------------------------------------------------------------------------------------

    def _ground(self, what: Signed, cost: int) -> Formula:
        """A ground formula in place of a closed one, which it follows from if witnesses are what their formulas say.

        The cost is that of the instance that it is a part of; -1 in a root.
        """
        self._spend()
        formula, sign = what.formula, what.sign
        if isinstance(formula, Binary) and formula.quantifiers:
            left, right = sides(formula)
            if isinstance(formula, Iff | Xor):
                right = right if isinstance(formula, Iff) == sign else right.opposite()
                one = Or(self._ground(left.opposite(), cost), self._ground(right, cost))
                return And(one, Or(self._ground(left, cost), self._ground(right.opposite(), cost)))
            left = left.opposite() if isinstance(formula, Implies) else left
            both = And if isinstance(formula, And) == sign else Or
            parts = (left, right) if sign else (left.opposite(), right.opposite())
            return both(self._ground(parts[0], cost), self._ground(parts[1], cost))
        for term in symbols(formula).ground_terms:
            sort = self._sorts.get(term.function) or self._signature.functions[term.function].result
            self._add_term(term, sort, 0 if cost < 0 else cost + 2)
        if not isinstance(formula, Binder):
            return formula_of(what)
        if isinstance(formula, ForAll) == sign:
            return self._guard((formula, sign), max(cost, 0))
        witness = self._witnesses.get(formula)
        if witness is None:
            witness = self._witnesses[formula] = self._constant("w", formula.variable.sort)
            self._add_term(witness, formula.variable.sort, cost + 1)
        self._strong.append(formula)
        self._spend(instance_price(formula))
        part = signed(instantiate(formula, witness))
        return self._ground(part if sign else part.opposite(), cost)

    def _guard(self, weak: _Weak, cost: int) -> Atom:
        """The atom that stands for a weak formula."""
        known = self._weak.get(weak)
        if known is None:
            name = _new_name(f"␣q{len(self._weak)}", self._signature.predicates)
            known = self._weak[weak] = Atom(name, ()), cost
            for term, price in self._terms.get(weak[0].variable.sort, {}).items():
                self._pair(weak, term, cost + price)
        return known[0]


def _new_name(name: str, taken: Container[str]) -> str:
    while name in taken:
        name += "␣"
    return name
