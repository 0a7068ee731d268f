"""Ground formulas, decided: by truth tables in integers up to twelve atoms, by a SAT solver above.

In: closed formulas with the value that each shall have, and what stands for the quantified ones. Out: an assignment of
the atoms under which all have it, or that there is none.

Truth of a *quantified* formula here means that its instances have the value. It must not be compared with anything: two
quantified formulas whose instances agree need not be equivalent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from pysat.solvers import Minisat22

from proof_r1_formal.logic.syntax import (
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
from proof_r1_formal.logic.transform import simplified, terms
from proof_r1_formal.logic.truth_table import COLUMNS, FEW_ATOMS, MAX_ATOMS, ROWS
from proof_r1_formal.solvers.grounding import Grounding, Signed

BUDGET = 50_000
"""The most ground formulas that are looked at for one question; an instance of a long formula counts for several."""
CONFLICTS = 100_000
"""The most conflicts that the SAT solver may run into for one question."""
PROPAGATIONS = 8_000_000
"""The most literals that the SAT solver may propagate for one question."""
GROUND_PRICE = 5
"""Steps of one ground formula."""
PROPAGATIONS_PER_STEP = 25
"""How many literals the SAT solver propagates at the price of one step."""

Ground: TypeAlias = Atom | Eq
Assignment: TypeAlias = Mapping[Ground, bool]


class TooManyAtomsError(Exception):
    """A truth table is full."""


class BudgetSpentError(Exception):
    """The question costs more than it may; the message says what of."""


class Meter:
    """Adds up what questions cost.

    Attributes:
        steps: the price so far, in the steps of :mod:`~proof_r1_formal.solvers.base`.
    """

    __slots__ = ("steps",)

    def __init__(self) -> None:
        self.steps = 0


def satisfying_assignment(
    formulas: Sequence[Signed], grounding: Grounding, meter: Meter | None = None
) -> Assignment | None:
    """Truth values of atoms under which every formula has its value; None if there are none.

    Args:
        formulas: closed, each with the value it shall have.
        grounding: of these formulas.
        meter: what the search costs is added to it, also if it raises.

    Raises:
        BudgetSpentError: the formulas are too large, or too hard, to tell.
    """
    meter = meter or Meter()
    for atoms in (FEW_ATOMS, MAX_ATOMS):
        try:
            return TruthTable(grounding, atoms, meter=meter).satisfying_assignment(formulas)
        except TooManyAtomsError:
            continue
    return _Clauses(grounding, meter).satisfying_assignment(formulas)


def _instances_of_leibniz(atoms: Mapping[Ground, int]) -> Iterator[Formula]:
    """The laws that make the equations among the atoms an equality on all of them; atoms may be added on the way."""
    seen = 0
    having: dict[Term, dict[Ground, None]] = {}
    while seen < len(atoms):
        known = list(atoms)
        for atom in known[seen:]:
            for term in terms(atom):
                having.setdefault(term, {})[atom] = None
        seen = len(known)
        for equation in [atom for atom in known if isinstance(atom, Eq)]:
            for atom in {**having.get(equation.left, {}), **having.get(equation.right, {})}:
                for changed in simplified(atom, equation):
                    yield Implies(equation, Iff(atom, changed))


def _canonical(equation: Eq) -> Eq:
    """The equation or its mirror image, the same one for both."""
    return min(equation, Eq(equation.right, equation.left), key=repr)


class TruthTable:
    """Truth values of ground formulas under all assignments at once, as the bits of integers.

    Args:
        grounding: what stands for quantified formulas.
        atoms: the most atoms it takes, ``FEW_ATOMS`` or ``MAX_ATOMS``.
        meter: what the table costs is added to it.

    Attributes:
        every: the bits of a formula that is true under every assignment.
    """

    def __init__(self, grounding: Grounding, atoms: int = MAX_ATOMS, *, meter: Meter | None = None) -> None:
        self.every = ROWS[atoms]
        self._columns = COLUMNS[atoms]
        self._grounding = grounding
        self._meter = meter or Meter()
        self._atoms: dict[Ground, int] = {}
        self._equations = False
        self._known: dict[Formula, int] = {}
        self._instances: dict[Signed, int] = {}
        self._left = BUDGET

    def satisfying_assignment(self, formulas: Sequence[Signed]) -> Assignment | None:
        """The first assignment in the order of bits."""
        models = self.models(formulas)
        if not models:
            return None
        number = (models & -models).bit_length() - 1
        return {atom: bool(number >> index & 1) for index, atom in enumerate(self._atoms)}

    def models(self, formulas: Sequence[Signed]) -> int:
        """The assignments under which every formula has its value.

        Raises:
            TooManyAtomsError: there are more atoms than the table takes.
            BudgetSpentError: there are too many ground formulas.
        """
        models = self.every
        for formula, sign in formulas:
            models &= self.truth(formula, sign)
        if self._equations:
            for law in _instances_of_leibniz(self._atoms):
                models &= self.truth(law, True)
        return models

    def truth(self, formula: Formula, sign: bool) -> int:
        """The assignments under which the formula, or the instances it stands for, has the value ``sign``."""
        if not formula.quantifiers:
            return self._ground(formula) if sign else self.every ^ self._ground(formula)
        known = self._instances.get((formula, sign))
        if known is None:
            self._spend(1)
            known = self._instances[formula, sign] = self._quantified(formula, sign)
        return known

    def _spend(self, price: int) -> None:
        self._left -= price
        self._meter.steps += GROUND_PRICE * price
        if self._left < 0:
            raise BudgetSpentError(f"more than {BUDGET} ground formulas")

    def _ground(self, formula: Formula) -> int:
        """The assignments under which a formula without quantifiers is true."""
        known = self._known.get(formula)
        if known is not None:
            return known
        self._spend(1)
        match formula:
            case Atom():
                truth = self._column(formula)
            case Not(body):
                truth = self.every ^ self._ground(body)
            case And(left, right):
                truth = self._ground(left) & self._ground(right)
            case Or(left, right):
                truth = self._ground(left) | self._ground(right)
            case Implies(left, right):
                truth = (self.every ^ self._ground(left)) | self._ground(right)
            case Xor(left, right):
                truth = self._ground(left) ^ self._ground(right)
            case Iff(left, right):
                truth = self.every ^ self._ground(left) ^ self._ground(right)
            case Eq(left, right):
                self._equations = True
                truth = self.every if left is right else self._column(_canonical(formula))
            case Bottom():
                truth = 0
            case _:
                truth = self.every
        self._known[formula] = truth
        return truth

    def _quantified(self, formula: Formula, sign: bool) -> int:
        """The assignments under which the instances of quantified formulas give a formula the value ``sign``."""
        truth = self.truth
        match formula:
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
            case ForAll() | Exists():
                result = self.every
                self._spend(self._grounding.price(formula, sign))
                for part in self._grounding.parts(formula, sign):
                    result &= truth(part, sign)
                return result
            case _:
                raise AssertionError("a formula without quantifiers has no instances")

    def _column(self, atom: Ground) -> int:
        index = self._atoms.setdefault(atom, len(self._atoms))
        if index >= len(self._columns):
            raise TooManyAtomsError
        return self._columns[index]


class _Clauses:
    """Ground formulas as clauses; a signed formula has a literal that implies it (Plaisted and Greenbaum, 1986)."""

    def __init__(self, grounding: Grounding, meter: Meter) -> None:
        self._grounding = grounding
        self._meter = meter
        self._atoms: dict[Ground, int] = {}
        self._literals: dict[Signed, int] = {}
        self._left = BUDGET
        self._count = 1
        self._clauses = [[1]]  # the literal of what is true

    def satisfying_assignment(self, formulas: Sequence[Signed]) -> Assignment | None:
        """What the SAT solver finds."""
        self._clauses += [[self._literal(formula, sign)] for formula, sign in formulas]
        if any(isinstance(atom, Eq) for atom in self._atoms):
            self._clauses += [[self._literal(law, True)] for law in _instances_of_leibniz(self._atoms)]
        with Minisat22(bootstrap_with=self._clauses) as solver:
            solver.conf_budget(CONFLICTS)
            solver.prop_budget(PROPAGATIONS)
            satisfiable = solver.solve_limited()
            counts = solver.accum_stats()
            self._meter.steps += counts["conflicts"] + counts["propagations"] // PROPAGATIONS_PER_STEP
            if satisfiable is None:
                most = f"{CONFLICTS} conflicts" if counts["conflicts"] >= CONFLICTS else f"{PROPAGATIONS} propagations"
                raise BudgetSpentError(f"more than {most} in the SAT solver")
            if not satisfiable:
                return None
            true = set(solver.get_model())
        return {atom: variable in true for atom, variable in self._atoms.items()}

    def _literal(self, formula: Formula, sign: bool) -> int:
        known = self._literals.get((formula, sign))
        if known is None:
            self._spend(1)
            known = self._literals[formula, sign] = self._new_literal(formula, sign)
        return known

    def _spend(self, price: int) -> None:
        self._left -= price
        self._meter.steps += GROUND_PRICE * price
        if self._left < 0:
            raise BudgetSpentError(f"more than {BUDGET} ground formulas")

    def _new_literal(self, formula: Formula, sign: bool) -> int:
        literal = self._literal
        match formula:
            case Top() | Bottom():
                return 1 if isinstance(formula, Top) == sign else -1
            case Eq(left, right) if left is right:
                return 1 if sign else -1
            case Atom() | Eq():
                atom = formula if isinstance(formula, Atom) else _canonical(formula)
                variable = self._atoms.get(atom) or self._atoms.setdefault(atom, self._variable())
                return variable if sign else -variable
            case Not(body):
                return literal(body, not sign)
            case And(left, right) | Or(left, right):
                return self._all_or_any([literal(left, sign), literal(right, sign)], isinstance(formula, And) == sign)
            case Implies(left, right):
                return self._all_or_any([literal(left, not sign), literal(right, sign)], not sign)
            case Xor(left, right) | Iff(left, right):
                same = sign == isinstance(formula, Iff)
                some = self._all_or_any([literal(left, True), literal(right, not same)], False)
                return self._all_or_any(
                    [some, self._all_or_any([literal(left, False), literal(right, same)], False)], True
                )
            case ForAll() | Exists():
                self._spend(self._grounding.price(formula, sign))
                return self._all_or_any([literal(part, sign) for part in self._grounding.parts(formula, sign)], True)

    def _all_or_any(self, literals: list[int], all_: bool) -> int:
        """A literal that implies all, or one, of the literals."""
        variable = self._variable()
        self._clauses += [[-variable, literal] for literal in literals] if all_ else [[-variable, *literals]]
        return variable

    def _variable(self) -> int:
        self._count += 1
        return self._count
