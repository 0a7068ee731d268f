"""Proof terms as Lean terms: each line one application of a lemma of ``theories/lean``, so Lean has nothing to search.

In: a proof, its premises with the Lean terms that prove them, and what it proves. Out: the text of a Lean term.

Wherever a line takes a formula apart, pairs of negations are taken off, and put back where one is put together
(``engine.lemmas``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, assert_never

import msgspec

from proof_r1_formal.engine.lemmas import along_equation, elimination, formula_of, introduction, negation_pairs
from proof_r1_formal.errors import ProofError
from proof_r1_formal.kernel.pattern import Lambda, Substitution, instance
from proof_r1_formal.kernel.signature import Signature, mangle
from proof_r1_formal.kernel.signed import FALSUM, Signed, signed
from proof_r1_formal.kernel.symbols import symbols
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
from proof_r1_formal.kernel.term import (
    Absurd,
    Apply,
    Arbitrary,
    Block,
    Contradiction,
    Eliminate,
    Generalise,
    Instance,
    Introduce,
    Leibniz,
    Line,
    Proof,
    Reflexivity,
    Repeat,
    Suppose,
    Theorem,
    Truth,
    Witness,
)
from proof_r1_formal.kernel.transform import alpha_normal, instantiate
from proof_r1_formal.render import lean
from proof_r1_formal.rules.manifest import in_theory

_INDENT = "  "
_INFERRED = (Eliminate, Instance, Repeat, Contradiction)
"""Lines whose terms Lean needs no type for; if they are used once, they stand where they are used."""
_Known: TypeAlias = tuple[Signed, str]
"""What a line says, and the Lean term that proves it."""


def lean_term(
    proof: Proof, premises: Sequence[tuple[Formula, str]], conclusion: Formula, signature: Signature, *, indent: int = 0
) -> str:
    """A Lean term whose type is the conclusion.

    Args:
        proof: as the checker accepts it.
        premises: each with a Lean term of its type.
        conclusion: what the proof proves.
        signature: of all that is around; what the proof names beyond it is one of its own constants.
        indent: how far lines after the first are indented.

    Raises:
        ProofError: a proof is not one of the calculus.
    """
    writer = _Writer(signature, Counter(_references(proof)))
    known = [(signed(formula), _without_pairs(formula, term)) for formula, term in premises]
    body = writer.block(known, proof, conclusion, indent)
    outside = [f"have {lean.function_name(c)} : {lean.sort_name(s)} := {lean.element_name(s)}" for c, s in writer.loose]
    return f"\n{_INDENT * indent}".join([*outside, body])


class _Writer:
    """Writes blocks; knows which constants of the proof are bound where."""

    def __init__(self, signature: Signature, uses: Mapping[int, int]) -> None:
        self._signature = signature
        self._uses = uses  # of a line's number; a number that several blocks give counts for all of them
        self._bound: set[str] = set()
        self._loose: dict[str, str | None] = {}  # no sort until a use says it
        self._count = 0

    @property
    def loose(self) -> list[tuple[str, str]]:
        """The constants that stand for any element, each with its sort."""
        return [(constant, sort or ENTITY) for constant, sort in self._loose.items()]

    def block(self, known: list[_Known], block: Block, goal: Formula | Signed, indent: int) -> str:
        """The lines of a block as ``have``, and a term of the goal's type behind them.

        Args:
            known: what holds outside, numbered; it stays as it is.
            block: its lines.
            goal: a formula as written, or a signed one.
            indent: of the lines.
        """
        if not block:
            raise ProofError("there are no lines")
        known = list(known)
        texts: list[str] = []
        opened: list[str] = []
        for number, line in enumerate(block, 1):
            if isinstance(line, Witness):
                texts.append(self._open_witness(known, line))
                opened.append(line.constant.function)
            else:
                says, term = self._line(known, line, indent)
                once = isinstance(line, _INFERRED) and self._uses[len(known)] <= 1
                if once or number == len(block):
                    known.append((says, term))
                    continue
                known.append((says, self._name()))
                texts.append(f"have {known[-1][1]} : {_type(says)} := {term}")
        self._bound.difference_update(opened)
        texts.append(_as_goal(known[-1], goal))
        return f"\n{_INDENT * indent}".join(texts) + ")" * len(opened)

    def _name(self) -> str:
        self._count += 1
        return f"h{self._count}"

    def _open_witness(self, known: list[_Known], line: Witness) -> str:
        """The beginning of what holds of a witness; the rest of the block is inside."""
        (quantified, sign), term = self._quantified(known, line.main)
        if not sign:
            term = _apply("forall_false_witness", term)
        raw = self._bind(line.constant, quantified)
        part = raw if sign else Not(raw)
        name = self._name()
        known.append((signed(part), _without_pairs(part, name)))
        constant = f"({lean.function_name(line.constant.function)} : {lean.sort_name(quantified.variable.sort)})"
        return f"Exists.elim {term} (fun {constant} ({name} : {lean.formula(part)}) =>"

    def _bind(self, constant: App, quantified: Quantified) -> Formula:
        self._bound.add(constant.function)
        return instantiate(quantified, constant)

    # -- lines --------------------------------------------------------------------------------------------------------

    def _line(self, known: list[_Known], line: Line, indent: int) -> _Known:
        """What a line says, and a Lean term for it."""
        match line:
            case Repeat(premise):
                return known[premise]
            case Eliminate(main, side, other):
                return _eliminated(known[main], side, None if other is None else known[other])
            case Introduce(formula, premises):
                return _introduced(alpha_normal(formula), [known[number] for number in premises])
            case Instance(main, term):
                (quantified, sign), proof = self._quantified(known, main)
                value = self._term(term, quantified.variable.sort)
                raw = instantiate(quantified, term)
                part = raw if sign else Not(raw)
                whole = f"({proof} {value})" if sign else _apply("exists_false_instance", proof, value)
                return signed(part), _without_pairs(part, whole)
            case Generalise(formula, premise, term):
                return self._generalised(alpha_normal(formula), known[premise], term)
            case Arbitrary(formula, constant, block):
                return self._arbitrary(known, alpha_normal(formula), constant, block, indent)
            case Suppose(formula, block):
                name = self._name()
                implication = alpha_normal(formula)
                assert isinstance(implication, Implies)
                supposed = (signed(implication.left), _without_pairs(implication.left, name))
                body = self.block([*known, supposed], block, implication.right, indent + 1)
                return Signed(implication, True), self._function(name, lean.formula(implication.left), body, indent)
            case Absurd(formula, block):
                supposed_ = signed(formula)
                name = self._name()
                body = self.block([*known, (supposed_, name)], block, FALSUM, indent + 1)
                refuted = self._function(name, _type(supposed_), body, indent)
                return supposed_.opposite(), refuted if supposed_.sign else _apply("not_not_elim", refuted)
            case Contradiction(first, second):
                (says, one), (_, two) = known[first], known[second]
                return FALSUM, f"({two} {one})" if says.sign else f"({one} {two})"
            case Truth(formula):
                true = isinstance(formula, Top)
                return Signed(formula, true), "True.intro" if true else "(fun h => h)"
            case Reflexivity(term):
                return Signed(Eq(term, term), True), f"(Eq.refl {self._term(term, None)})"
            case Leibniz(formula):
                return Signed(alpha_normal(formula), True), self._leibniz(alpha_normal(formula))
            case Apply():
                return self._applied(known, line)
            case Witness():
                raise AssertionError("a witness opens the rest of its block")
        assert_never(line)

    def _function(self, name: str, type_: str, body: str, indent: int) -> str:
        return f"(fun ({name} : {type_}) =>\n{_INDENT * (indent + 1)}{body})"

    @staticmethod
    def _quantified(known: list[_Known], number: int) -> tuple[tuple[Quantified, bool], str]:
        says, term = known[number]
        if not isinstance(says.formula, Binder):
            raise ProofError("the formula is not quantified")
        return (says.formula, says.sign), term

    def _generalised(self, formula: Formula, premise: _Known, term: Term) -> _Known:
        assert isinstance(formula, Binder)
        sort = formula.variable.sort
        raw = instantiate(formula, term)
        if isinstance(formula, ForAll):
            shown = _with_pairs(Not(raw), premise[1])
            motive = f"(P := fun {lean.variable_name(formula.variable)} => {lean.formula(formula.body)})"
            return Signed(formula, False), _apply("forall_false_of_instance", motive, self._term(term, sort), shown)
        return Signed(formula, True), f"(Exists.intro {self._term(term, sort)} {_with_pairs(raw, premise[1])})"

    def _arbitrary(self, known: list[_Known], formula: Formula, constant: App, block: Block, indent: int) -> _Known:
        assert isinstance(formula, Binder)
        universal = isinstance(formula, ForAll)
        raw = self._bind(constant, formula)
        body = self.block(known, block, raw if universal else Not(raw), indent + 1)
        self._bound.discard(constant.function)
        name, sort = lean.function_name(constant.function), lean.sort_name(formula.variable.sort)
        shown = self._function(name, sort, body, indent)
        return Signed(formula, universal), shown if universal else _apply("exists_false_of_all", shown)

    def _leibniz(self, formula: Formula) -> str:
        """Along s = t from A to B: first the places where A has s and B has t, then those the other way round."""
        assert isinstance(formula, Implies) and isinstance(formula.left, Eq)
        hole = App("␣hole", ())
        forward = along_equation(formula, hole, formula.left.right)
        backward = along_equation(formula, formula.left.right, hole)
        motive = f"(motive := fun {lean.function_name(hole.function)} => "
        first = f"(Eq.ndrec {motive}{lean.formula(forward)}) a e)"
        return f"(fun e a => Eq.ndrec {motive}{lean.formula(backward)}) {first} (Eq.symm e))"

    def _applied(self, known: list[_Known], line: Apply) -> _Known:
        theorem, substitution = line.theorem, line.substitution
        given = [
            _with_pairs(instance(pattern, substitution), known[number][1])
            for pattern, number in zip(theorem.premises, line.premises, strict=True)
        ]
        shown = instance(theorem.conclusion, substitution)
        names = lean.pattern_variables(theorem.premises, theorem.conclusion)
        values = {name: self._argument(substitution[name]) for name in names}
        if is_own(theorem):
            applied = self._own(theorem, substitution, values, given)
        else:
            arguments = [f"({name} := {values[name]})" for name in names if name not in _inferred(theorem)]
            applied = _apply(theorem.name, *arguments, *given)
        return signed(shown), _without_pairs(shown, applied)

    def _own(self, theorem: Theorem, substitution: Substitution, values: Mapping[str, str], given: list[str]) -> str:
        """A theorem that stands before the proof, applied to all that its statement binds, in that order."""
        signature = Signature.infer((*theorem.premises, theorem.conclusion))
        variables = [v for value in substitution.values() if isinstance(value, Lambda) for v in value.variables]
        sort = variables[0].sort if variables else self._signature.sorts[0]
        letters = [values[name] for name in (*signature.predicates, *signature.functions)]
        parts = [own_name(theorem), lean.sort_name(sort), lean.element_name(sort), *letters, *given]
        return f"({' '.join(parts)})"

    def _argument(self, value: Lambda | Term) -> str:
        if not isinstance(value, Lambda):
            return self._term(value, ENTITY)
        bound = [f"({lean.variable_name(v)} : {lean.sort_name(v.sort)})" for v in value.variables]
        body = lean.formula(value.body)
        return f"(fun {' '.join(bound)} => {body})" if bound else body

    # -- terms --------------------------------------------------------------------------------------------------------

    def _term(self, term: Term, sort: str | None) -> str:
        """A ground term; a constant that nothing binds stands for any element, and is noted."""
        self._note(term, sort)
        return lean.term(term)

    def _note(self, term: Term, sort: str | None) -> None:
        if isinstance(term, Var):
            raise ProofError("a term has a variable")
        type_ = self._signature.functions.get(term.function)
        if type_ is None and term.function not in self._bound:
            self._loose[term.function] = self._loose.get(term.function) or sort
        for argument, place in zip(term.arguments, type_.arguments if type_ else (), strict=False):
            self._note(argument, place)


# -- truth tables -----------------------------------------------------------------------------------------------------


def _eliminated(main: _Known, side: str, other: _Known | None) -> _Known:
    says, term = (None, "") if other is None else other
    applied = elimination(main[0], side, says)
    if applied is None:
        assert says is not None
        return says, term
    given = (main[1],) if applied.other is None else (main[1], _with_pairs(applied.other, term))
    return signed(applied.conclusion), _without_pairs(applied.conclusion, _apply(applied.lemma, *given))


def _introduced(formula: Formula, premises: Sequence[_Known]) -> _Known:
    assert isinstance(formula, Binary)
    applied = introduction(formula, [says for says, _ in premises])
    given = [_with_pairs(part, premises[number][1]) for number, part in applied.premises]
    return Signed(formula, applied.sign), _apply(applied.lemma, *given)


def _inferred(theorem: Theorem) -> frozenset[str]:
    """The pattern variables that Lean finds from the premises: propositions that stand in one."""
    propositions = [name for part in theorem.premises for name, use in symbols(part).uses if use == ("predicate", 0)]
    return frozenset(propositions)


def is_own(theorem: Theorem) -> bool:
    """Whether a theorem is one that a catalogue brings along, and the theory does not have."""
    return not in_theory(theorem.name, theorem.premises, theorem.conclusion)


def own_theorems(block: Block) -> Iterator[Theorem]:
    """The theorems that a proof applies and the theory does not have, each after those that its proof applies."""
    for line in block:
        match line:
            case Arbitrary() | Suppose() | Absurd():
                yield from own_theorems(line.block)
            case Apply(theorem) if is_own(theorem):
                yield from own_theorems(theorem.proof)
                yield theorem
            case _:
                pass


def own_name(theorem: Theorem) -> str:
    """The name of such a theorem where it stands before a proof."""
    return mangle(theorem.name, "t")


def _references(value: object) -> Iterator[int]:
    """The numbers of lines that lines refer to."""
    match value:
        case int():
            yield value
        case tuple():
            for item in value:
                yield from _references(item)
        case msgspec.Struct():
            for field in value.__struct_fields__:
                if field != "theorem":
                    yield from _references(getattr(value, field))


# -- text -------------------------------------------------------------------------------------------------------------


def _apply(lemma: str, *arguments: str) -> str:
    return f"({lean.NAMESPACE}.{lemma} {' '.join(arguments)})"


def _type(says: Signed) -> str:
    return lean.formula(formula_of(says))


def _without_pairs(formula: Formula, term: str) -> str:
    """From a proof of a formula, one of what it says as a line."""
    for _ in range(negation_pairs(formula)):
        term = _apply("not_not_elim", term)
    return term


def _with_pairs(formula: Formula, term: str) -> str:
    """From a proof of what a formula says as a line, one of the formula."""
    for _ in range(negation_pairs(formula)):
        term = _apply("not_not_intro", term)
    return term


def _as_goal(known: _Known, goal: Formula | Signed) -> str:
    """A term of the goal's type from the last line: what it says, or anything if it is a contradiction."""
    says, term = known
    wanted = goal if isinstance(goal, Signed) else signed(goal)
    if says != wanted:
        return f"(False.elim {term})"
    return term if isinstance(goal, Signed) else _with_pairs(goal, term)
