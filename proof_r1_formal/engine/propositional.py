"""Ground formulas, decided: by truth tables in integers up to twelve atoms, by a SAT solver above.

In: closed formulas with the value that each must have, and what stands for the quantified ones. Out: an assignment of
the atoms under which all have it, or that there is none.

Truth of a *quantified* formula here means that its instances have the value. It must not be compared with anything: two
quantified formulas whose instances agree need not be equivalent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from operator import and_, or_
from typing import Final, TypeAlias

from proof_r1_formal.engine.congruence import orient, simplify
from proof_r1_formal.engine.grounding import Grounding, Signed
from proof_r1_formal.engine.solver import BudgetSpentError
from proof_r1_formal.engine.truth_table import MAX_ATOMS, Ground, Table, canonical_equation
from proof_r1_formal.kernel.syntax import (
    And,
    Atom,
    Bottom,
    Eq,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Term,
    Top,
    Xor,
)
from proof_r1_formal.kernel.transform import terms

BUDGET: Final = 50_000
"""The most ground formulas that are looked at for one question; an instance of a long formula counts for several."""
CONFLICTS = 100_000
"""The most conflicts that the SAT solver may run into for one question; less in proportion to a smaller budget."""
_PROPAGATIONS: Final = 8_000_000
"""The most literals that the SAT solver may propagate for one question; less in proportion to a smaller budget."""
_SYMBOLS_PER_FORMULA: Final = 64
"""How many symbols of an atom cost as much as one ground formula, where equations are applied to it."""
GROUND_PRICE: Final = 5
"""Steps of one ground formula."""
_PROPAGATIONS_PER_STEP: Final = 25
"""How many literals the SAT solver propagates at the price of one step."""

Assignment: TypeAlias = Mapping[Ground, bool]


def _instances_of_leibniz(atoms: Mapping[Ground, int], spend: Callable[[int], None]) -> Iterator[Formula]:
    """The laws that make the equations among the atoms an equality on all of them; atoms may be added on the way.

    ``spend`` charges for the symbols of an atom that is looked at, in ground formulas.
    """
    seen = 0
    having: dict[Term, dict[Atom | Eq, None]] = {}
    price: dict[Atom | Eq, int] = {}
    while seen < len(atoms):
        known = list(atoms)
        for atom in known[seen:]:
            within = list(terms(atom))
            price[atom] = len(within) // _SYMBOLS_PER_FORMULA
            for term in within:
                having.setdefault(term, {})[atom] = None
        seen = len(known)
        for equation in [atom for atom in known if isinstance(atom, Eq)]:
            for atom in having.get(orient(equation)[1], ()):
                spend(price[atom])
                for changed in simplify(atom, equation):
                    yield Implies(equation, Iff(atom, changed))


class TruthTable(Table):
    """A table that takes quantified formulas for what stands for them.

    Args:
        grounding: what stands for quantified formulas.
        width: the most atoms it takes, ``FEW_ATOMS`` or ``MAX_ATOMS``.
        budget: the most ground formulas that it looks at.
    """

    __slots__ = ("_budget", "_grounding", "_instances", "_longer")

    def __init__(self, grounding: Grounding, width: int = MAX_ATOMS, budget: int = BUDGET) -> None:
        super().__init__(width)
        self._budget = budget
        self._grounding = grounding
        self._instances: dict[Signed, int] = {}
        self._longer = 0

    @property
    def looked_at(self) -> int:
        """How many ground formulas it has looked at, which is what it costs."""
        return len(self.atoms) + len(self._known) + len(self._instances) + self._longer

    @property
    def steps(self) -> int:
        """The price so far, in the steps of :mod:`~proof_r1_formal.kernel.answer`."""
        return GROUND_PRICE * self.looked_at

    def satisfying_assignment(self, formulas: Sequence[Signed]) -> Assignment | None:
        """Truth values of atoms under which every formula of the grounding has its value, or None.

        Raises:
            TooManyAtomsError: there is no room for their atoms.
            BudgetSpentError: there are too many ground formulas.
        """
        models = self.every
        for formula, sign in formulas:
            models &= self.truth(formula, sign)
        if self.equations:
            for law in _instances_of_leibniz(self.atoms, self._lengthen):
                models &= self.truth(law, True)
        if not models:
            return None
        row = models & -models
        return {atom: bool(row & column) for atom, column in self.atoms.items()}

    def _lengthen(self, price: int) -> None:
        self._longer += price

    def truth(self, formula: Formula, sign: bool) -> int:
        """The assignments under which the formula, or the instances it stands for, has the value ``sign``."""
        if not formula.quantifiers:
            truth = self.ground(formula)
            if self.looked_at > self._budget:
                raise BudgetSpentError(f"more than {self._budget} ground formulas")
            return truth if sign else self.every ^ truth
        known = self._instances.get((formula, sign))
        if known is None:
            known = self._instances[formula, sign] = self._quantify(formula, sign)
        return known

    def _quantify(self, formula: Formula, sign: bool) -> int:
        """The assignments under which the instances of quantified formulas give a formula the value ``sign``."""
        truth = self.truth
        match formula:
            case ForAll() | Exists():
                self._longer += self._grounding.price(formula, sign)
                parts = [truth(part, sign) for part in self._grounding.parts(formula, sign)]
                return reduce(and_ if isinstance(formula, ForAll) == sign else or_, parts)
            case Not(body):
                return truth(body, not sign)
            case And(left, right) | Or(left, right):
                if isinstance(formula, And) == sign:
                    return truth(left, sign) & truth(right, sign)
                return truth(left, sign) | truth(right, sign)
            case Implies(left, right):
                return truth(left, False) | truth(right, True) if sign else truth(left, True) & truth(right, False)
            case Xor(left, right) | Iff(left, right):
                same = sign == isinstance(formula, Iff)
                one = truth(left, True) & truth(right, same)
                return one | (truth(left, False) & truth(right, not same))
            case _:
                raise AssertionError("a formula without quantifiers has no instances")


class Clauses:
    """Ground formulas as clauses; a signed formula has a literal that implies it (Plaisted and Greenbaum, 1986).

    Args:
        grounding: what stands for quantified formulas.
        budget: the most ground formulas that it looks at.

    Attributes:
        steps: the price so far, in the steps of :mod:`~proof_r1_formal.kernel.answer`.
    """

    def __init__(self, grounding: Grounding, budget: int = BUDGET) -> None:
        self.steps = 0
        self._grounding = grounding
        self._atoms: dict[Ground, int] = {}
        self._literals: dict[Signed, int] = {}
        self._budget = self._left = budget
        self._count = 1
        self._clauses = [[1]]  # the literal of what is true

    def satisfying_assignment(self, formulas: Sequence[Signed]) -> Assignment | None:
        """Truth values of atoms under which every formula of the grounding has its value, or None.

        Raises:
            BudgetSpentError: the formulas are too large, or too hard, to tell.
        """
        from pysat.solvers import Minisat22

        for formula, sign in formulas:
            self._assert(formula, sign)
        if any(isinstance(atom, Eq) for atom in self._atoms):
            for law in _instances_of_leibniz(self._atoms, self._spend):
                self._assert(law, True)
        with Minisat22(bootstrap_with=self._clauses) as solver:
            conflicts, propagations = [most * self._budget // BUDGET for most in (CONFLICTS, _PROPAGATIONS)]
            solver.conf_budget(conflicts)
            solver.prop_budget(propagations)
            satisfiable = solver.solve_limited()
            counts = solver.accum_stats()
            self.steps += counts["conflicts"] + counts["propagations"] // _PROPAGATIONS_PER_STEP
            if satisfiable is None:
                most = f"{conflicts} conflicts" if counts["conflicts"] >= conflicts else f"{propagations} propagations"
                raise BudgetSpentError(f"more than {most} in the SAT solver")
            if not satisfiable:
                return None
            true = set(solver.get_model())
        return {atom: variable in true for atom, variable in self._atoms.items()}

    def _assert(self, formula: Formula, sign: bool) -> None:
        """Add the clauses that give a formula its value; what is joined by ∧ has no literal of its own."""
        while isinstance(formula, Not):
            formula, sign = formula.body, not sign
        if (isinstance(formula, And | ForAll) and sign) or (isinstance(formula, Or | Exists) and not sign):
            self._spend(1)
            if isinstance(formula, And | Or):
                parts = [formula.left, formula.right]
            else:
                self._spend(self._grounding.price(formula, sign))
                parts = self._grounding.parts(formula, sign)
            for part in parts:
                self._assert(part, sign)
        elif isinstance(formula, Implies):
            self._spend(1)
            if sign:
                self._clauses.append([self._literal(formula.left, False), self._literal(formula.right, True)])
            else:
                self._assert(formula.left, True)
                self._assert(formula.right, False)
        elif isinstance(formula, And | Or):
            self._spend(1)
            self._clauses.append([self._literal(formula.left, sign), self._literal(formula.right, sign)])
        else:
            self._clauses.append([self._literal(formula, sign)])

    def _literal(self, formula: Formula, sign: bool) -> int:
        while isinstance(formula, Not):
            formula, sign = formula.body, not sign
        if isinstance(formula, Atom):
            variable = self._atoms.get(formula)
            if variable is None:
                self._spend(1)
                variable = self._atoms[formula] = self._variable()
            return variable if sign else -variable
        known = self._literals.get((formula, sign))
        if known is None:
            self._spend(1)
            known = self._literals[formula, sign] = self._new_literal(formula, sign)
        return known

    def _spend(self, price: int) -> None:
        self._left -= price
        self.steps += GROUND_PRICE * price
        if self._left < 0:
            raise BudgetSpentError(f"more than {self._budget} ground formulas")

    def _new_literal(self, formula: Formula, sign: bool) -> int:
        literal = self._literal
        match formula:
            case Top() | Bottom():
                return 1 if isinstance(formula, Top) == sign else -1
            case Eq(left, right) if left is right:
                return 1 if sign else -1
            case Eq():
                equation = canonical_equation(formula)
                variable = self._atoms.get(equation) or self._atoms.setdefault(equation, self._variable())
                return variable if sign else -variable
            case And(left, right) | Or(left, right):
                return self._all_or_any([literal(left, sign), literal(right, sign)], isinstance(formula, And) == sign)
            case Implies(left, right):
                return self._all_or_any([literal(left, not sign), literal(right, sign)], not sign)
            case Xor(left, right) | Iff(left, right):
                same = sign == isinstance(formula, Iff)
                some = self._all_or_any([literal(left, True), literal(right, not same)], False)
                other = self._all_or_any([literal(left, False), literal(right, same)], False)
                return self._all_or_any([some, other], True)
            case ForAll() | Exists():
                self._spend(self._grounding.price(formula, sign))
                parts = [literal(part, sign) for part in self._grounding.parts(formula, sign)]
                return self._all_or_any(parts, isinstance(formula, ForAll) == sign)
            case _:
                raise AssertionError("negations and atoms have no literal of their own")

    def _all_or_any(self, literals: list[int], all_: bool) -> int:
        """A literal that implies all, or one, of the literals."""
        variable = self._variable()
        self._clauses += [[-variable, literal] for literal in literals] if all_ else [[-variable, *literals]]
        return variable

    def _variable(self) -> int:
        self._count += 1
        return self._count
