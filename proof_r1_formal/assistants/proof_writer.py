"""Proof terms as the text of a proof assistant: one walk over the lines, for Lean and for Isabelle.

In: the lines of a proof term. Out: what each line says, and the text that proves it in the language of the assistant. A
kind of :class:`ProofWriter` has one method per rule of the calculus, which writes it.

Wherever a line takes a formula apart, pairs of negations are taken off, and put back where one is put together
(``engine.lemmas``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Generic, TypeAlias, TypeVar, assert_never

from proof_r1_formal.engine.lemmas import elimination, introduction, negation_pairs
from proof_r1_formal.engine.lines import statement, theorems_of
from proof_r1_formal.errors import ProofError
from proof_r1_formal.kernel import term as t
from proof_r1_formal.kernel.pattern import Lambda, instance
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.kernel.signed import Signed, signed
from proof_r1_formal.kernel.syntax import (
    ENTITY,
    App,
    Binary,
    Binder,
    Eq,
    ForAll,
    Formula,
    Implies,
    Not,
    Quantified,
    Term,
    Top,
    Var,
)
from proof_r1_formal.kernel.transform import alpha_normal, instantiate
from proof_r1_formal.rules.manifest import in_theory

Known: TypeAlias = tuple[Signed, str]
"""The statement of an earlier line, and the name or term that proves it."""
_Text = TypeVar("_Text")


class ProofWriter(ABC, Generic[_Text]):
    """Writes the proof of one formula; knows which of its constants are bound where, and their sorts.

    The type of texts is that of a line's proof: a term, or the lines of a structured proof.

    Args:
        signature: of all that is around; what the proof names beyond it is one of its own constants.
    """

    def __init__(self, signature: Signature) -> None:
        self._signature = signature
        self._bound: dict[str, str] = {}
        self._loose: dict[str, str | None] = {}  # no sort until a use says it
        self._count = 0

    @property
    def loose(self) -> list[tuple[str, str]]:
        """The constants that stand for any element, each with its sort."""
        return [(constant, sort or ENTITY) for constant, sort in self._loose.items()]

    def premises(self, premises: Sequence[tuple[Formula, str]]) -> list[Known]:
        """Premises as known lines, each given with what proves it."""
        return [(signed(formula), self.without_pairs(formula, proof)) for formula, proof in premises]

    def line(self, known: Sequence[Known], line: t.Line) -> tuple[Signed, str | _Text]:
        """The statement of a line, and its proof; not of a witness, which opens the rest of its block."""
        return statement(line, lambda number: known[number][0]), self._proof(known, line)

    def _proof(self, known: Sequence[Known], line: t.Line) -> str | _Text:
        match line:
            case t.Repeat(premise):
                return known[premise][1]
            case t.Eliminate(main, side, other):
                return self._eliminate(known[main], side, None if other is None else known[other])
            case t.Introduce(formula, premises):
                return self._introduce(alpha_normal(formula), [known[number] for number in premises])
            case t.Instance(main, term):
                quantified, sign, proof = _require_quantified(known[main])
                raw = instantiate(quantified, term)
                value = self.term(term, quantified.variable.sort)
                return self.without_pairs(raw if sign else Not(raw), self.instance(quantified, sign, proof, value))
            case t.Generalise(formula, premise, term):
                whole = alpha_normal(formula)
                assert isinstance(whole, Binder)
                raw = instantiate(whole, term)
                shown = self.with_pairs(Not(raw) if isinstance(whole, ForAll) else raw, known[premise][1])
                return self.generalise(whole, self.term(term, whole.variable.sort), shown)
            case t.Arbitrary(formula, constant, block):
                whole = alpha_normal(formula)
                assert isinstance(whole, Binder)
                raw = self._bind(constant, whole)
                text = self.arbitrary(known, whole, constant, block, raw if isinstance(whole, ForAll) else Not(raw))
                del self._bound[constant.function]
                return text
            case t.Suppose(formula, block):
                implication = alpha_normal(formula)
                assert isinstance(implication, Implies)
                return self.suppose(known, implication.left, block, implication.right)
            case t.Absurd(formula, block):
                return self.refute(known, signed(formula), block)
            case t.Contradiction(first, second):
                (says, one), (_, two) = known[first], known[second]
                return self.contradiction(two, one) if says.sign else self.contradiction(one, two)
            case t.Truth(formula):
                return self.truth(isinstance(formula, Top))
            case t.Reflexivity(term):
                return self.reflexivity(self.term(term, None))
            case t.Leibniz(formula):
                law = alpha_normal(formula)
                assert isinstance(law, Implies) and isinstance(law.left, Eq)
                return self.leibniz(law, law.left)
            case t.Apply(theorem, substitution, numbers):
                given = [
                    self.with_pairs(instance(pattern, substitution), known[number][1])
                    for pattern, number in zip(theorem.premises, numbers, strict=True)
                ]
                return self.without_pairs(instance(theorem.conclusion, substitution), self.apply(line, given))
            case t.Witness():
                raise AssertionError("a witness opens the rest of its block")
        assert_never(line)

    def witness(self, known: list[Known], line: t.Witness) -> tuple[Quantified, str, str, Formula]:
        """Make known what holds of a witness.

        Returns:
            The quantified formula, the proof that it has a witness, the name of the fact about that, and the fact.
        """
        quantified, sign, proof = _require_quantified(known[line.main])
        if not sign:
            proof = self.false_of_some(quantified, proof)
        raw = self._bind(line.constant, quantified)
        part = raw if sign else Not(raw)
        name = self.name()
        known.append((signed(part), self.without_pairs(part, name)))
        return quantified, proof, name, part

    def assume(self, known: Sequence[Known], formula: Formula) -> tuple[str, list[Known]]:
        """A name for an assumption, and what is known under it."""
        name = self.name()
        return name, [*known, (signed(formula), self.without_pairs(formula, name))]

    def name(self) -> str:
        """A fresh name for what a line says."""
        self._count += 1
        return f"h{self._count}"

    def argument(self, value: Lambda | Term) -> str:
        """A value of a theorem's pattern variable."""
        return self.function(value.variables, value.body) if isinstance(value, Lambda) else self.term(value, ENTITY)

    # -- pairs of negations -------------------------------------------------------------------------------------------

    def without_pairs(self, formula: Formula, proof: str) -> str:
        """From a proof of a formula, one of what it says as a line."""
        for _ in range(negation_pairs(formula)):
            proof = self.lemma("not_not_elim", proof)
        return proof

    def with_pairs(self, formula: Formula, proof: str) -> str:
        """From a proof of what a formula says as a line, one of the formula."""
        for _ in range(negation_pairs(formula)):
            proof = self.lemma("not_not_intro", proof)
        return proof

    def goal(self, known: Known, goal: Formula) -> str:
        """A proof of the goal from the last line: what it says, or anything if it is a contradiction."""
        says, proof = known
        return self.with_pairs(goal, proof) if says == signed(goal) else self.explosion(proof)

    # -- truth tables -------------------------------------------------------------------------------------------------

    def _eliminate(self, main: Known, side: str, other: Known | None) -> str:
        says, proof = (None, "") if other is None else other
        applied = elimination(main[0], side, says)
        if applied is None:
            return proof
        given = (main[1],) if applied.other is None else (main[1], self.with_pairs(applied.other, proof))
        return self.without_pairs(applied.conclusion, self.lemma(applied.lemma, *given))

    def _introduce(self, formula: Formula, premises: Sequence[Known]) -> str:
        assert isinstance(formula, Binary)
        applied = introduction(formula, [says for says, _ in premises])
        given = [self.with_pairs(part, premises[number][1]) for number, part in applied.premises]
        return self.lemma(applied.lemma, *given)

    # -- constants ----------------------------------------------------------------------------------------------------

    def term(self, term: Term, sort: str | None) -> str:
        """A ground term; a constant that nothing binds stands for any element, and is noted."""
        self._note(term, sort)
        return self.term_text(term)

    def sort(self, term: App) -> str:
        """The sort of a ground term."""
        type_ = self._signature.functions.get(term.function)
        if type_ is not None:
            return type_.result
        return self._bound.get(term.function) or self._loose.get(term.function) or ENTITY

    def _note(self, term: Term, sort: str | None) -> None:
        if isinstance(term, Var):
            raise ProofError("a term has a variable")
        type_ = self._signature.functions.get(term.function)
        if type_ is None and term.function not in self._bound:
            self._loose[term.function] = self._loose.get(term.function) or sort
        for argument, place in zip(term.arguments, type_.arguments if type_ else (), strict=False):
            self._note(argument, place)

    def _bind(self, constant: App, quantified: Quantified) -> Formula:
        self._bound[constant.function] = quantified.variable.sort
        return instantiate(quantified, constant)

    def unbind(self, constants: Sequence[str]) -> None:
        """End the scope of witnesses."""
        for constant in constants:
            del self._bound[constant]

    # -- what a proof assistant writes --------------------------------------------------------------------------------

    @abstractmethod
    def lemma(self, name: str, *given: str) -> str:
        """A lemma of the theory, applied to proofs of its premises."""

    @abstractmethod
    def explosion(self, contradiction: str) -> str:
        """A proof of anything."""

    @abstractmethod
    def instance(self, quantified: Quantified, sign: bool, proof: str, value: str) -> str:
        """From ∀x A, A of a term; from ¬∃x A, its negation."""

    @abstractmethod
    def generalise(self, whole: Quantified, value: str, proof: str) -> str:
        """From A of a term, ∃x A; from its negation, ¬∀x A."""

    @abstractmethod
    def arbitrary(
        self, known: Sequence[Known], whole: Quantified, constant: App, block: t.Block, part: Formula
    ) -> str | _Text:
        """∀x A, or ¬∃x A, from a block that shows its part of a constant."""

    @abstractmethod
    def false_of_some(self, quantified: Quantified, proof: str) -> str:
        """From ¬∀x A, that something is a witness."""

    @abstractmethod
    def suppose(self, known: Sequence[Known], formula: Formula, block: t.Block, goal: Formula) -> str | _Text:
        """An implication, from a block that supposes a formula and shows a goal."""

    @abstractmethod
    def refute(self, known: Sequence[Known], says: Signed, block: t.Block) -> str | _Text:
        """The opposite of what leads to a contradiction."""

    @abstractmethod
    def contradiction(self, negation: str, proof: str) -> str:
        """From ¬A and A."""

    @abstractmethod
    def truth(self, true: bool) -> str:
        """⊤, or ¬⊥."""

    @abstractmethod
    def reflexivity(self, term: str) -> str:
        """t = t."""

    @abstractmethod
    def leibniz(self, law: Formula, equation: Eq) -> str:
        """s = t → (A → B), where A and B differ in places where one has s and the other t."""

    @abstractmethod
    def apply(self, line: t.Apply, given: Sequence[str]) -> str:
        """A theorem, applied to proofs of the instances of its premises."""

    @abstractmethod
    def term_text(self, term: Term) -> str:
        """A ground term."""

    @abstractmethod
    def function(self, variables: Sequence[Var], body: Formula) -> str:
        """A function to truth values; without variables the formula itself."""


def _require_quantified(known: Known) -> tuple[Quantified, bool, str]:
    says, proof = known
    if not isinstance(says.formula, Binder):
        raise ProofError("the formula is not quantified")
    return says.formula, says.sign, proof


# -- theorems that the theory does not have ---------------------------------------------------------------------------


def is_own(theorem: t.Theorem) -> bool:
    """Whether a theorem is one that a catalogue brings along, and the theory does not have."""
    return not in_theory(theorem.name, theorem.premises, theorem.conclusion)


def own_theorems(block: t.Block) -> Iterator[t.Theorem]:
    """The theorems that a proof applies and the theory does not have, each after those that its proof applies."""
    return theorems_of(block, is_own)
