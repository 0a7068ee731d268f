"""The tableau with instances that were chosen beforehand, and equality by congruence closure.

In: a :class:`~proof_r1_formal.engine.herbrand.Plan`, next to what the tableau works on. Out: as there. All constants
are known from the start, as each witness gets its name before anything else: from nothing, some c is such that A(c) if
∃x A(x). So the tableau is finite, and the search on it ends.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from proof_r1_formal.engine.congruence import Congruence, arguments_of
from proof_r1_formal.engine.facts import Fact, Scope
from proof_r1_formal.engine.herbrand import Plan
from proof_r1_formal.engine.lemmas import formula_of
from proof_r1_formal.engine.solver import Budget
from proof_r1_formal.engine.tableau import Tableau
from proof_r1_formal.kernel.signed import FALSUM, Signed, sides, signed
from proof_r1_formal.kernel.syntax import App, Atom, Eq, Exists, Formula, Implies, Quantified, Term
from proof_r1_formal.kernel.term import Absurd, Contradiction, Eliminate, Instance, Leibniz, Line, Reflexivity, Witness
from proof_r1_formal.kernel.transform import instantiate, subterms


class PlannedTableau(Tableau):
    """A tableau whose instances and witnesses are those of a plan.

    Args:
        premises, conclusion, steps, fresh: see :class:`Tableau`.
        plan: instances that make the premises and the opposite of the conclusion contradictory.
    """

    def __init__(self, premises: Sequence[Formula], conclusion: Formula, steps: Budget, fresh: str, plan: Plan) -> None:
        self._plan = plan
        super().__init__(premises, conclusion, steps, fresh)
        for formula, constant in plan.witnesses.items():
            self._name_witness(formula, constant)

    def _range(self, formula: Quantified) -> Collection[Term]:
        return self._plan.instances.get(formula, ())

    def _rest(self, *, witnesses: bool) -> bool:
        return witnesses and self._draw_equal()

    def _name_witness(self, formula: Quantified, constant: App) -> None:
        """Hold that A(c) if ∃x A(x), or that ∀x A(x) if A(c): the "drinker's principle", by contradiction."""
        exists = isinstance(formula, Exists)
        body = Implies(formula, formula.body) if exists else Implies(formula.body, formula)
        drinker = signed(Exists(formula.variable, body))
        assert isinstance(drinker.formula, Exists)
        inside = Scope(1)

        def fact(what: Signed, premises: tuple[Fact, ...], line: Line | None) -> Fact:
            self._spend()
            self._serial += 1
            return Fact(what, inside, self._serial, premises, line, None)

        def denied(term: Term) -> tuple[Fact, Fact]:
            """The failure of the principle for a term: what the quantified formula and its instance are then."""
            assert isinstance(drinker.formula, Exists)
            failing = signed(instantiate(drinker.formula, term)).opposite()
            assert isinstance(failing.formula, Implies)
            whole = fact(failing, (supposed,), Instance(0, term))
            left, right = sides(failing.formula)
            parts = fact(left, (whole,), Eliminate(0, "left")), fact(right.opposite(), (whole,), Eliminate(0, "right"))
            return parts if exists else (parts[1], parts[0])

        supposed = fact(drinker.opposite(), (), None)
        quantified, _ = denied(self.new_constant(0))
        some = self.new_constant(0)
        part = signed(instantiate(formula, some))
        shown = fact(part if exists else part.opposite(), (quantified,), Witness(0, some))
        _, refuted = denied(some)
        end = fact(FALSUM, (shown, refuted), Contradiction(0, 0))
        principle = self.hold(drinker, (end,), Absurd(formula_of(drinker.opposite()), ()), inner=inside)
        self.hold(signed(instantiate(drinker.formula, constant)), (principle,), Witness(0, constant))

    def _draw_equal(self) -> bool:
        """Give atoms that the true equations make equivalent the same value; whether there is a new fact."""
        before = self._serial
        values = {atom: None if (fact := self.facts.get(atom)) is None else fact.what.sign for atom in self._unrelated}
        equations = [atom for atom, value in values.items() if isinstance(atom, Eq) and value]
        terms = dict.fromkeys([part for atom in values for side in arguments_of(atom) for part in subterms(side)])
        self._spend(len(terms))
        classes = Congruence(tuple(terms))
        for equation in equations:
            classes.unite(equation.left, equation.right, equation)
        classes.close()
        known: dict[tuple[object, ...], Atom] = {}
        for atom, value in values.items():
            if isinstance(atom, Atom) and value is not None:
                known.setdefault((atom.predicate, *map(classes.find, atom.arguments)), atom)
        for atom, value in values.items():
            if isinstance(atom, Eq):
                if not value and classes.find(atom.left) is classes.find(atom.right):
                    same = Eq(atom.left, atom.left)
                    self.hold(Signed(same, True), (), Reflexivity(atom.left))
                    self._rewrite(same, atom, classes, forward=True)
            else:
                equal = known.get((atom.predicate, *map(classes.find, atom.arguments)))
                if equal is not None and values[equal] != value:
                    self._rewrite(equal, atom, classes, forward=values[equal] is True)
        return self._serial > before

    def _rewrite(self, one: Atom | Eq, other: Atom | Eq, classes: Congruence, *, forward: bool) -> None:
        """Leibniz's law from an atom to an equal one, an equation at a time; backward, it is used for a false one."""
        row = list(arguments_of(one))
        for place, argument in enumerate(arguments_of(other)):
            for equation, term in classes.chain(row[place], argument) if row[place] is not argument else ():
                row[place] = term
                following = Eq(row[0], row[1]) if isinstance(one, Eq) else Atom(one.predicate, tuple(row))
                law = Implies(one, following) if forward else Implies(following, one)
                self.hold(Signed(Implies(equation, law), True), (), Leibniz(Implies(equation, law)))
                one = following
