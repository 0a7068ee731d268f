"""The tableau that proof search works on: signed formulas that hold, and what follows from them without supposing more.

In: formulas that hold, and scopes opened and closed. Out: facts, each with the line of a proof term and the facts it
follows from. Every value that the truth table of a connective forces is drawn, up and down the graph of subformulas;
∀ is instantiated by the ground terms at hand; ∃ gets a witness once nothing else is left to draw.

A fact belongs to the *outermost* scope in which all it follows from holds, wherever it was found: what does not depend
on a supposition stays when the supposition goes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Sequence

from proof_r1_formal.engine.congruence import simplify
from proof_r1_formal.engine.facts import Fact, Scope
from proof_r1_formal.engine.propagation import LEFT, WHOLE, forcing
from proof_r1_formal.engine.solver import Budget, instance_price
from proof_r1_formal.kernel.signature import Signature, ground_terms, symbols
from proof_r1_formal.kernel.signed import FALSUM, Signed, sides, signed
from proof_r1_formal.kernel.syntax import (
    App,
    Atom,
    Binary,
    Binder,
    Bottom,
    Connective,
    Eq,
    Exists,
    ForAll,
    Formula,
    Implies,
    Not,
    Quantified,
    Term,
    Top,
)
from proof_r1_formal.kernel.term import (
    Contradiction,
    Eliminate,
    Generalise,
    Instance,
    Introduce,
    Leibniz,
    Line,
    Reflexivity,
    Truth,
    Witness,
)
from proof_r1_formal.kernel.transform import functions_within, instantiate


class Tableau:
    """The subformula graph, the facts that hold, and what is still to be drawn from them.

    Args:
        premises: facts from the start.
        conclusion: its subformulas are in the graph, too.
        steps: counts formulas that enter the graph or get a value, and looks at what follows.
        fresh: how the names of new constants begin.

    Attributes:
        facts: formula that does not begin with ¬ -> the fact about it; in the order in which they came to hold.
    """

    def __init__(self, premises: Sequence[Formula], conclusion: Formula, steps: Budget, fresh: str) -> None:
        self.facts: dict[Formula, Fact] = {}
        self._spend = steps.spend
        self._serial = 0
        self._scopes = [Scope(0)]
        self._conflict: Fact | None = None
        self._changed: deque[Formula] = deque()
        self._wanting: deque[Quantified] = deque()  # may want a witness
        self._witnessed: dict[Quantified, Fact] = {}
        self._graph: set[Formula] = set()
        self._connectives_of: dict[Formula, list[Connective]] = {}
        self._instance_of: dict[Formula, list[tuple[Quantified, Term]]] = {}
        self._quantified: list[Quantified] = []
        self._equations: list[Eq] = []
        self._related: list[Atom | Eq] = []  # atoms that Leibniz's law was applied to
        self._unrelated: deque[Atom | Eq] = deque()
        self._given = (*premises, conclusion)
        self._signature: Signature | None = None
        self._terms = {sort: dict.fromkeys(found) for sort, found in ground_terms((*premises, conclusion)).items()}
        self._names = set[str]().union(*[symbols(f).functions for f in (*premises, conclusion)])
        self._local: dict[str, int] = {}  # constant that is known in a scope only -> depth of the scope
        self._stem = fresh
        self._fresh = 0
        for number, formula in enumerate(premises):
            self.hold(signed(formula), (), number)
        self._enter(signed(conclusion).formula)

    # -- scopes -------------------------------------------------------------------------------------------------------

    @property
    def depth(self) -> int:
        """How many scopes are open."""
        return len(self._scopes) - 1

    def open(self, supposed: Signed | None = None) -> Scope:
        """Begin a scope in which ``supposed`` holds."""
        scope = Scope(len(self._scopes))
        self._scopes.append(scope)
        if supposed is not None:
            self.hold(supposed, (), None, depth=scope.depth)
        return scope

    def close(self) -> None:
        """End the innermost scope: forget what holds in it only, and look again at what that stood in the way of."""
        depth = self._scopes.pop().depth
        gone = [formula for formula, fact in self.facts.items() if fact.scope.depth >= depth]
        for formula in gone:
            del self.facts[formula]
        self._changed.extend(gone)
        self._conflict = None
        local = {name for name, level in self._local.items() if level >= depth}
        for name in local:
            del self._local[name]
        for found in self._terms.values() if local else ():
            for term in [term for term in found if not local.isdisjoint(functions_within(term))]:
                del found[term]

    def outside(self, shown: Fact, scope: Scope) -> int:
        """The depth of the innermost scope outside ``scope`` that holds something ``shown`` rests on."""
        rests_on = shown.rests_on(within=scope.depth)
        depths = [fact.scope.depth for fact in rests_on if fact.scope.depth < scope.depth]
        terms_ = [fact.line.term for fact in rests_on if isinstance(fact.line, Instance | Generalise)]
        return max([*depths, *[self._depth_of(functions_within(term)) for term in terms_]], default=0)

    def _depth_of(self, names: Iterable[str]) -> int:
        """The depth of the innermost scope that one of the names is local to."""
        return max([self._local.get(name, 0) for name in names], default=0) if self._local else 0

    # -- facts --------------------------------------------------------------------------------------------------------

    def hold(
        self,
        what: Signed,
        premises: tuple[Fact, ...],
        line: Line | int | None,
        *,
        depth: int = 0,
        inner: Scope | None = None,
    ) -> Fact:
        """The fact that ``what`` holds; if its opposite holds already, there is a contradiction from now on.

        Args:
            what, premises, line, inner: see :class:`Fact`.
            depth: of the scope it holds in, if what it follows from does not tell.
        """
        formula, sign = what.formula, what.sign
        known = self.facts.get(formula)
        if known is not None and known.what.sign == sign:
            return known
        self._spend()
        if inner is None:
            for premise in premises:
                if premise.scope.depth > depth:
                    depth = premise.scope.depth
        if self._local:
            depth = max(depth, self._depth_of(symbols(formula).functions))
        self._serial += 1
        fact = Fact(what, self._scopes[depth], self._serial, premises, line, inner)
        if known is not None:
            self._serial += 1
            scope = max(known.scope, fact.scope, key=lambda scope: scope.depth)
            self._conflict = Fact(FALSUM, scope, self._serial, (known, fact), Contradiction(0, 0), None)
        else:
            self.facts[formula] = fact
            self._enter(formula)
            self._changed.append(formula)
        return fact

    def propagate(self, goal: Signed = FALSUM, *, witnesses: bool = True) -> Fact | None:
        """Draw what follows until that is the goal or a contradiction, which is returned, or nothing is left.

        Args:
            goal: what to look out for.
            witnesses: whether to bring in constants for ∃, and for domains that no term is known of.
        """
        while self._conflict is None:
            reached = self.facts.get(goal.formula)
            if reached is not None and reached.what.sign == goal.sign:
                return reached
            if self._changed:
                self._draw(self._changed.popleft())
            elif not self._rest(witnesses=witnesses):
                return None
        return self._conflict

    def _rest(self, *, witnesses: bool) -> bool:
        """Continue once nothing is left to draw. Returns whether there was anything to do."""
        if self._unrelated:
            self._relate(self._unrelated.popleft())
            return True
        return witnesses and self._bring_in_constant()

    def _range(self, formula: Quantified) -> Collection[Term]:
        """The terms that a quantified formula is instantiated by."""
        return self._terms.get(formula.variable.sort, ())

    def _draw(self, formula: Formula) -> None:
        """Draw what the value of a formula, or its lack of one, leads to."""
        if isinstance(formula, Binary):
            self._draw_forced(formula)
        elif isinstance(formula, Binder):
            fact = self.facts.get(formula)
            if fact is not None and fact.what.sign != isinstance(formula, ForAll):
                self._wanting.append(formula)
            elif fact is not None:
                for term in tuple(self._range(formula)):
                    self._draw_instance(formula, term)
        for connective in self._connectives_of.get(formula, ()):
            self._draw_forced(connective)
        for quantified, term in self._instance_of.get(formula, ()):
            self._draw_instance(quantified, term)

    def _draw_forced(self, formula: Connective) -> None:
        """Draw what the truth table of a connective forces."""
        if self._conflict is not None:
            return
        self._spend()
        left, right, table = forcing(formula)
        facts = one, other, whole = self.facts.get(left), self.facts.get(right), self.facts.get(formula)
        values = (
            None if one is None else one.what.sign,
            None if other is None else other.what.sign,
            None if whole is None else whole.what.sign,
        )
        for place, value, reason in table[values]:
            premises = tuple([fact for p in reason if (fact := facts[p]) is not None])
            line = Introduce(formula, ()) if place == WHOLE else Eliminate(0, "left" if place == LEFT else "right")
            self.hold(Signed((left, right, formula)[place], value), premises, line)

    # -- quantifiers --------------------------------------------------------------------------------------------------

    def _draw_instance(self, formula: Quantified, term: Term) -> None:
        """From a quantified formula to an instance or back."""
        if self._conflict is not None or term not in self._range(formula):
            return
        self._spend()
        part = signed(instantiate(formula, term))
        universal = isinstance(formula, ForAll)
        fact, instance = self.facts.get(formula), self.facts.get(part.formula)
        depth = self._depth_of(functions_within(term))
        if fact is not None and fact.what.sign == universal:
            self.hold(part if universal else part.opposite(), (fact,), Instance(0, term), depth=depth)
        elif instance is not None and (instance.what.sign == part.sign) != universal:
            self.hold(Signed(formula, not universal), (instance,), Generalise(formula, 0, term), depth=depth)

    def _bring_in_constant(self) -> bool:
        """A witness for a true ∃ or false ∀ that wants one, or an element of a domain that no term is known of."""
        while self._wanting:
            formula = self._wanting.popleft()
            fact = self.facts.get(formula)
            has_one = fact is None or isinstance(fact.line, Generalise) or self._witnessed.get(formula) is fact
            if fact is not None and not has_one and fact.what.sign != isinstance(formula, ForAll):
                self._witnessed[formula] = fact
                constant = self.new_constant(fact.scope.depth)
                part = signed(instantiate(formula, constant))
                self.hold(part if fact.what.sign else part.opposite(), (fact,), Witness(0, constant))
                self.add_terms(constant, formula)  # only now, so that no line before uses it
                return True
        for formula in self._quantified:
            if not self._terms.get(formula.variable.sort):
                self.add_term(self.new_constant(0), formula.variable.sort)
                return True
        return False

    def new_constant(self, depth: int) -> App:
        """A constant that occurs nowhere, known in the open scope of that depth."""
        self._fresh += 1
        while f"{self._stem}{self._fresh}" in self._names:
            self._fresh += 1
        name = f"{self._stem}{self._fresh}"
        if depth:
            self._local[name] = depth
        return App(name, ())

    def add_terms(self, constant: App, formula: Quantified) -> None:
        """Instantiate by a new constant, and by the terms that it makes in an instance of the formula."""
        self.add_term(constant, formula.variable.sort)
        for term in symbols(instantiate(formula, constant)).ground_terms:
            if term.arguments and constant.function in functions_within(term):
                if self._signature is None:
                    self._signature = Signature.infer(self._given)
                self.add_term(term, self._signature.functions[term.function].result)

    def add_term(self, term: Term, sort: str) -> None:
        """Instantiate by one more term."""
        self._terms.setdefault(sort, {})[term] = None
        for formula in tuple(self._quantified):
            if formula.variable.sort == sort:
                self._enter_instance(formula, term)

    # -- the graph ----------------------------------------------------------------------------------------------------

    def occurrences(self, formula: Formula) -> int:
        """Of how many formulas of the graph it is a side."""
        return len(self._connectives_of.get(formula, ()))

    def _enter(self, formula: Formula) -> None:
        """Bring a formula that does not begin with ¬, and what is inside it, into the graph."""
        if formula in self._graph:
            return
        self._spend()
        self._graph.add(formula)
        match formula:
            case Atom() | Eq():
                self._unrelated.append(formula)
            case Top() | Bottom():
                self.hold(Signed(formula, isinstance(formula, Top)), (), Truth(formula))
            case ForAll() | Exists():
                self._quantified.append(formula)
                for term in tuple(self._range(formula)):
                    self._enter_instance(formula, term)
            case Not():
                raise AssertionError("a formula that begins with ¬ has no node of its own")
            case Binary():
                for side in dict.fromkeys(side.formula for side in sides(formula)):
                    self._connectives_of.setdefault(side, []).append(formula)
                    self._enter(side)
                    if side in self.facts:
                        self._changed.append(side)

    def _enter_instance(self, formula: Quantified, term: Term) -> None:
        self._spend(instance_price(formula))
        part = signed(instantiate(formula, term)).formula
        self._instance_of.setdefault(part, []).append((formula, term))
        self._enter(part)
        if formula in self.facts or part in self.facts:
            self._changed.append(part)

    # -- equality -----------------------------------------------------------------------------------------------------

    def _relate(self, atom: Atom | Eq) -> None:
        """Leibniz's law for an atom that is new in the graph, with each equation there, one argument at a time."""
        pairs = [(equation, atom) for equation in self._equations]
        if isinstance(atom, Eq):
            if atom.left is atom.right:
                self.hold(Signed(atom, True), (), Reflexivity(atom.left))
            else:
                self._equations.append(atom)
                pairs += [(atom, other) for other in self._related]
                pairs.append((atom, atom))
        self._related.append(atom)
        for equation, other in pairs:
            self._spend()
            for simpler in simplify(other, equation):
                for law in (Implies(other, simpler), Implies(simpler, other)):
                    self.hold(Signed(Implies(equation, law), True), (), Leibniz(Implies(equation, law)))
