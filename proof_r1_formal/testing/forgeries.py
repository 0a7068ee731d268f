"""Random proof objects: every rule and every theorem, with valid and invalid arguments.

In: a source of random numbers. Out: proofs of the right types with premises and a claimed conclusion, most of which
follow from nothing. They are not changed from valid proofs: lines are drawn one by one, and a line stays if the checker
accepts it, so later lines build on it. The names of predicates, constants, functions, variables, sorts and of a
theorem's letters come from one small pool in half of the examples; terms and formulas are sometimes open. Conclusions
are what the checker says that a line shows, or something near to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import NamedTuple

from proof_r1_formal.engine.lemmas import formula_of
from proof_r1_formal.engine.prover import search
from proof_r1_formal.errors import CatalogueError, ProofError, SignatureError
from proof_r1_formal.kernel import term as t
from proof_r1_formal.kernel.checker import shown
from proof_r1_formal.kernel.pattern import Lambda, instance
from proof_r1_formal.kernel.signature import symbols
from proof_r1_formal.kernel.signed import signed
from proof_r1_formal.kernel.syntax import (
    BOTTOM,
    ENTITY,
    TOP,
    App,
    Atom,
    Binary,
    Binder,
    Eq,
    Exists,
    ForAll,
    Formula,
    Implies,
    Not,
    Or,
    Quantified,
    Term,
    Var,
)
from proof_r1_formal.kernel.transform import constants, map_terms, subformulas, substitute_term
from proof_r1_formal.rules.catalogue import FOLIO
from proof_r1_formal.rules.theorems import theorem
from proof_r1_formal.testing.formulas import CONNECTIVES, QUANTIFIERS
from proof_r1_formal.testing.hostile import POOL, HostileFormulas, capturing_instance, hostile_vocabulary

_HOLE = Var("␣hole", ENTITY)
"""Marks the places of a term."""


class Forgery(NamedTuple):
    """A proof and its claim."""

    proof: t.Proof
    premises: tuple[Formula, ...]
    conclusion: Formula


class Forger(HostileFormulas):
    """Draws forgeries."""

    def __init__(self, source: Random) -> None:
        super().__init__(source)
        self._depth = 0
        self._theorems = [theorem(schema) for rule in FOLIO.rules for schema in rule.schemata]

    def forgeries(self) -> Iterator[Forgery]:
        """Forgeries without end."""
        while True:
            yield from self._forgeries()

    def _forgeries(self) -> Iterator[Forgery]:
        """The forgeries of one set of premises: a proof that grows, and at each step a conclusion of it."""
        source = self.random
        self.vocabulary = hostile_vocabulary(source)
        self.oddity = 0.0 if self.chance(0.95) else 0.06
        premises = [self.formula(source.randint(1, 6)) for _ in range(source.randrange(4))]
        self.oddity = 0.06
        if premises and self.chance(0.1):
            premises.append(Not(premises[0]))
        planned: list[t.Line] = []
        single = self.single()
        if len(self.vocabulary.sorts) > 1 and self.chance(0.4):
            premises.append(single)
        if self.chance(0.5):
            line, given = self._application(len(premises))
            planned.append(line)
            premises += given
        if single in premises:
            planned += self._of_any_sort(single, premises)
        proof, known = list[t.Line](), list(premises)
        for _ in range(source.randint(3, 12)):
            line = planned.pop() if planned else self._line(known)
            says = self._says((*proof, line), premises)
            if says is not None:
                proof.append(line)
                known.append(says)
            lines = tuple(proof) if says is not None else (*proof, line)
            yield Forgery(lines, tuple(premises), self._claimed(says, known))

    def _claimed(self, says: Formula | None, known: Sequence[Formula]) -> Formula:
        """The alleged conclusion of a line: mostly the true one, else something near to it, or a known formula."""
        choice = self.random.random()
        if says is None or choice < 0.05:
            return self.random.choice(known) if known else BOTTOM
        if choice < 0.1:
            return Not(says)
        if choice < 0.2:
            return self.renamed(says)
        return says

    @staticmethod
    def _says(lines: Sequence[t.Line], known: Sequence[Formula]) -> Formula | None:
        """The statement of the last line; None if the checker refuses it."""
        try:
            return formula_of(shown(tuple(lines), known)[0])
        except ProofError:
            return None

    # -- lines --------------------------------------------------------------------------------------------------------

    def _line(self, known: Sequence[Formula]) -> t.Line:
        """A line of a random kind."""
        if not known or self.chance(0.14):
            again = t.Repeat(self.random.randrange(len(known) + 1))
            return self.random.choice((self._from_nothing(), self._any_application(known), again))
        ways: list[Callable[[Sequence[Formula]], t.Line]] = [self._eliminate, self._introduce, self._instance] * 2
        ways += [self._witness, self._generalise, self._contradiction, self._any_application]
        ways += [self._suppose, self._arbitrary] * 2 if self._depth < 2 else []
        return self.random.choice(ways)(known)

    def _number(self, known: Sequence[Formula], *kinds: type) -> int:
        """The number of a line, of one of the kinds if there is one; sometimes of none."""
        if self.odd():
            return self.random.choice((-1, len(known), len(known) + 1))
        fitting = [number for number, formula in enumerate(known) if isinstance(signed(formula).formula, kinds)]
        return self.random.choice(fitting or range(max(1, len(known))))

    def _from_nothing(self) -> t.Line:
        """A line that needs no other."""
        left, right = self.any_term(), self.any_term()
        before = self.formula(1 if self.chance(0.9) else 3)
        marked = self.abstracted(before, left, _HOLE, 0.6)
        after = map_terms(marked, lambda term: substitute_term(term, {_HOLE: right}))
        if self.chance(0.5):
            before, after = after, before
        if self.chance(0.2):
            after = self.formula(1)
        leibniz = t.Leibniz(Implies(Eq(left, right), Implies(before, after)))
        return self.random.choice((t.Truth(TOP), t.Truth(BOTTOM), t.Reflexivity(left), leibniz, leibniz))

    def _eliminate(self, known: Sequence[Formula]) -> t.Line:
        main = self._number(known, *CONNECTIVES)
        other: int | None = None
        if self.chance(0.6):
            formula = signed(known[main]).formula if 0 <= main < len(known) else TOP
            sides = {signed(formula.left).formula, signed(formula.right).formula} if isinstance(formula, Binary) else {}
            fitting = [number for number, each in enumerate(known) if signed(each).formula in sides]
            other = self.random.choice(fitting) if fitting else self._number(known)
        return t.Eliminate(main, self.random.choice(("left", "right")), other)

    def _introduce(self, known: Sequence[Formula]) -> t.Line:
        source = self.random
        first, second = self._number(known), self._number(known)
        sides = [known[n] if 0 <= n < len(known) else TOP for n in (first, second)]
        given: tuple[int, ...] = (first, second)
        if self.chance(0.4):
            sides[1], given = self.formula(source.randint(1, 3)), (first,)
        sides = [Not(side) if self.chance(0.25) else side for side in sides]
        if self.chance(0.5):
            sides.reverse()
        return t.Introduce(source.choice(CONNECTIVES)(*sides), given)

    def _instance(self, known: Sequence[Formula]) -> t.Line:
        """An instance by a term, mostly of the sort of the quantifier, or a constant that a witness may have."""
        main = self._number(known, ForAll, Exists)
        formula = signed(known[main]).formula if 0 <= main < len(known) else TOP
        fitting = self.term(formula.variable.sort) if isinstance(formula, Binder) else self.any_term()
        choices = (self._constant(), self._constant(), fitting, fitting, self.any_term())
        return t.Instance(main, self.random.choice(choices))

    def _constant(self) -> App:
        """A constant that may be new, or may not."""
        if self.odd():
            return App(self.random.choice(POOL), (), self.random.choice(self.vocabulary.sorts))
        name = f"w{self.random.randrange(4)}" if self.chance(0.85) else self.constants()[0][0]
        return App(name, ())

    def _witness(self, known: Sequence[Formula]) -> t.Line:
        return t.Witness(self._number(known, ForAll, Exists), self._constant())

    def _quantified(self, says: Formula, term: Term, *, share: float, universal: bool) -> Quantified:
        """A quantified formula with an instance that says something, if the quantifier is the right one."""
        stated = signed(says)
        variable = self.variable()
        quantifier = ForAll if stated.sign == universal else Exists
        if self.chance(0.1):
            quantifier = Exists if quantifier is ForAll else ForAll
        return quantifier(variable, self.abstracted(stated.formula, term, variable, share))

    def _generalise(self, known: Sequence[Formula]) -> t.Line:
        number = self._number(known)
        says = known[number] if 0 <= number < len(known) else TOP
        found = [*constants(says), *[term for term in symbols(says).ground_terms if term.arguments]]
        term: Term = self.random.choice(found) if found else self.any_term()
        return t.Generalise(self._quantified(says, term, share=0.7, universal=False), number, term)

    def _contradiction(self, known: Sequence[Formula]) -> t.Line:
        opposites = {signed(formula): number for number, formula in enumerate(known)}
        pairs = [(n, opposites[says]) for n, f in enumerate(known) if (says := signed(f).opposite()) in opposites]
        return t.Contradiction(*(self.random.choice(pairs) if pairs else (self._number(known), self._number(known))))

    # -- lines with blocks --------------------------------------------------------------------------------------------

    def _block(self, known: Sequence[Formula]) -> tuple[t.Block, Formula]:
        """A few lines, each of which the checker takes after the lines that are known, and what the last one says."""
        lines: list[t.Line] = []
        inside = list(known)
        self._depth += 1
        for _ in range(self.random.randint(2, 6)):
            line = self._contradiction(inside) if self.chance(0.25) else self._line(inside)
            says = self._says((*lines, line), known)
            if says is not None:
                lines.append(line)
                inside.append(says)
        self._depth -= 1
        return (tuple(lines), inside[-1]) if lines else ((t.Repeat(len(known) - 1),), known[-1])

    def _suppose(self, known: Sequence[Formula]) -> t.Line:
        """A formula is supposed, or the opposite of one that is known or of a part of it."""
        supposed = self.formula(self.random.randint(1, 3))
        if self.chance(0.5):
            supposed = Not(self.random.choice(list(subformulas(self.random.choice(known)))))
        block, says = self._block([*known, supposed])
        return self.random.choice((t.Suppose(Implies(supposed, says), block), t.Absurd(supposed, block)))

    def _arbitrary(self, known: Sequence[Formula]) -> t.Line:
        block, says = self._block(known)
        found = [App(part, ()) for part in sorted(symbols(says).functions)]
        constant = self.random.choice(found) if found and self.chance(0.8) else self._constant()
        share = 1.0 if self.chance(0.8) else 0.5
        return t.Arbitrary(self._quantified(says, constant, share=share, universal=True), constant, block)

    def _of_any_sort(self, single: ForAll, premises: Sequence[Formula]) -> list[t.Line]:
        """Lines that say of any sort what a premise says of one; the last comes first."""
        constant, variable = App("w0", ()), self.variable()
        body = map_terms(single.body, lambda term: substitute_term(term, {single.variable: variable}))
        all_are = ForAll(variable, body)
        inside = t.Arbitrary(all_are, constant, (t.Instance(premises.index(single), constant),))
        (only,) = constants(single)
        other = Var("u", variable.sort)
        exists = Exists(other, self.abstracted(all_are, only, other, 1.0))
        return [t.Generalise(exists, len(premises), only), inside]

    # -- theorems -----------------------------------------------------------------------------------------------------

    def _any_application(self, known: Sequence[Formula]) -> t.Line:
        used = self._theorem()
        premises = tuple([self._number(known) for _ in used.premises]) if known else ()
        return t.Apply(used, self._substitution(used), premises)

    def _application(self, first: int) -> tuple[t.Line, list[Formula]]:
        """An instance of a theorem, and its premises, which get the numbers from ``first`` on."""
        used = self._theorem()
        substitution = self._substitution(used)
        is_open = any(isinstance(value, Var) for value in substitution.values())
        make = capturing_instance if is_open and self.chance(0.8) else instance
        try:
            premises = [make(pattern, substitution) for pattern in used.premises]
        except CatalogueError:
            premises = [self.formula(2) for _ in used.premises]
        return t.Apply(used, substitution, tuple(range(first, first + len(premises)))), premises

    def _theorem(self) -> t.Theorem:
        """A theorem of a rule, or one about random patterns with the proof that the search finds."""
        source, words = self.random, self.vocabulary
        if self.chance(0.5):
            self.vocabulary, self.oddity = hostile_vocabulary(source, patterns=True), 0.0
            found = next(filter(None, (self._searched() for _ in range(8))), None)
            self.vocabulary, self.oddity = words, 0.06
            if found is not None:
                self._theorems[source.randrange(len(self._theorems))] = found
                return found
        return source.choice(self._theorems)

    def _searched(self) -> t.Theorem | None:
        """A random theorem, if the search finds that it is one."""
        source = self.random
        if self.chance(0.3):
            premises, conclusion = self._vacuous()
        else:
            count = source.randint(1, 2)
            premises = tuple([self.formula(source.randint(1, 4)) for _ in range(count)])
            follows = self.chance(0.6)
            conclusion = self._weakened(premises[0]) if follows else self.formula(3)
        try:
            proof = search(premises, conclusion, budget=150).proof
        except SignatureError:
            return None
        return None if proof is None else t.Theorem("forged", premises, conclusion, proof)

    def _vacuous(self) -> tuple[tuple[Formula, ...], Formula]:
        """Patterns that differ in the order of quantifiers, of which one binds nothing but has the name of a letter."""
        source, outer, inner = self.random, self.variable(), Var("v", ENTITY)
        letter = App(outer.name, ())
        body: Formula = Atom("B", (inner, letter))
        if self.chance(0.3):
            drawn = self.formula(source.randint(1, 3), (inner,))
            body = map_terms(drawn, lambda term: letter if isinstance(term, App) else term)
        first, second = source.choice(((ForAll, Exists), (ForAll, Exists), (Exists, ForAll), (Exists, Exists)))
        return (first(outer, second(inner, body)),), second(inner, first(outer, body))

    def _weakened(self, formula: Formula) -> Formula:
        """A pattern that often follows from one: an instance, a quantified one, a part."""
        source, variable = self.random, self.variable()
        part = source.choice(list(subformulas(formula)))
        match part:
            case ForAll(bound, body) | Exists(bound, body) if self.chance(0.5):
                term = App(source.choice((bound.name, *[name for name, _ in self.constants()])), ())
                return map_terms(body, lambda each: substitute_term(each, {bound: term}))
            case _ if self.chance(0.7):
                return source.choice(QUANTIFIERS)(variable, formula)
        return Or(formula, part)

    def _substitution(self, used: t.Theorem) -> dict[str, Lambda | Term]:
        """Something for each letter: mostly of the right kind, and sometimes open, of another kind, or not there."""
        source = self.random
        patterns = (*used.premises, used.conclusion)
        bound = {part.variable.name for each in patterns for part in subformulas(each) if isinstance(part, Binder)}
        sort = source.choice(self.vocabulary.sorts)
        values: dict[str, Lambda | Term] = {}
        for name, (kind, arity) in dict.fromkeys(use for each in patterns for use in symbols(each).uses):
            if kind == "predicate":
                holes = tuple([Var(source.choice(self.vocabulary.variables), sort) for _ in range(arity)])
                scope = (*holes, self.variable()) if self.odd() else holes
                atoms = [predicate for predicate, sorts in self.vocabulary.predicates if len(sorts) == arity]
                body = self.formula(source.randint(1, 4), scope)
                if atoms and self.chance(0.5):
                    body = Atom(source.choice(atoms), tuple(source.sample(holes, arity)))
                values[name] = Lambda(holes, body)
            else:
                open_term: Term = Var(name if name in bound else source.choice(sorted(bound) or ["x"]), sort)
                share = 0.5 if name in bound else 0.1
                values[name] = open_term if self.chance(share) else self.term(sort)
        for name in sorted(bound):
            if sort != ENTITY or self.chance(0.15):
                values[name] = Var(name if self.chance(0.8) else source.choice(self.vocabulary.variables), sort)
        if self.odd():
            values[source.choice((*POOL, *values))] = self.any_term()
        return values
