"""Countermodels as Lean theorems: that the premises do not entail the conclusion, because a finite structure says so.

In: premises, a conclusion and a structure. Out: a theorem ``¬ ∀ types and symbols, premises → conclusion`` whose proof
gives the types ``D1`` … ``D4`` of ``theories/lean``, tables for the symbols, and the truth of each part, step by step.
Of a larger structure, the theorem that Lean gets by evaluation (``assistants.reflection``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import assert_never

from proof_r1_formal.assistants import reflection
from proof_r1_formal.assistants.lean import LeanTheorem
from proof_r1_formal.assistants.small_models import MAX_PARTS, is_evaluable, is_small, points
from proof_r1_formal.engine.lemmas import lemma_of_introduction
from proof_r1_formal.kernel.model import Structure, evaluate, value_of
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.kernel.syntax import Atom, Bottom, Eq, Exists, ForAll, Formula, Not, Quantified, Top, Var
from proof_r1_formal.render import lean


def refutation(premises: Sequence[Formula], conclusion: Formula, structure: Structure) -> LeanTheorem | None:
    """The theorem that the structure makes the premises true and the conclusion false; None if it is too large.

    Args:
        premises, conclusion, structure: closed formulas, and a countermodel by the reference evaluator.

    Raises:
        SignatureError: the formulas use a symbol in two ways.
        StructureError: the structure does not interpret a symbol.
    """
    formulas = (*premises, conclusion)
    shallow = shallow_refutation(premises, conclusion, structure)
    if shallow is None and is_evaluable(Signature.infer(formulas), structure, formulas):
        return reflection.refutation(premises, conclusion, structure)
    return shallow


def shallow_refutation(premises: Sequence[Formula], conclusion: Formula, structure: Structure) -> LeanTheorem | None:
    """The same with a proof part by part, which Lean does not evaluate; None if the structure is too large for it."""
    small = is_small(Signature.infer((*premises, conclusion)), structure)
    return _shallow(premises, conclusion, structure) if small else None


def _shallow(premises: Sequence[Formula], conclusion: Formula, structure: Structure) -> LeanTheorem | None:
    """The theorem with a proof part by part; None if there are too many parts."""
    signature = Signature.infer((*premises, conclusion))
    writer = _Writer(structure, signature)
    try:
        facts = [writer.proof(formula, {}) for formula in premises]
        refuted = writer.proof(conclusion, {})
    except _TooLongError:
        return None
    applied = "\n    ".join(["all", *_interpretation(signature, structure), *facts])
    return LeanTheorem(
        f": Not ({lean.entailment(premises, conclusion)})", f"fun all => absurd\n    ({applied})\n    {refuted}"
    )


# -- the structure ----------------------------------------------------------------------------------------------------


def _interpretation(signature: Signature, structure: Structure) -> Iterator[str]:
    """Types, elements and tables, in the order of the statement's binders."""
    for sort in signature.sorts:
        yield _domain(structure, sort)
        yield f"{_domain(structure, sort)}.e0"
    for name, sorts in signature.predicates.items():
        rows = structure.predicates[name]
        yield _table(structure, sorts, "Prop", {p: str(p in rows) for p in points(structure, sorts)})
    for name, type_ in signature.functions.items():
        result = _domain(structure, type_.result)
        table = {point: f"{result}.e{structure.functions[name][point]}" for point in points(structure, type_.arguments)}
        yield _table(structure, type_.arguments, result, table)


def _table(structure: Structure, sorts: Sequence[str], type_: str, values: Mapping[tuple[int, ...], str]) -> str:
    """A function by its values: one case distinction per argument."""

    def cases(point: tuple[int, ...]) -> str:
        if len(point) == len(sorts):
            return values[point]
        domain = _domain(structure, sorts[len(point)])
        branches = " ".join(cases((*point, element)) for element in range(structure.domains[sorts[len(point)]]))
        return f"({domain}.rec (motive := fun h => {type_}) {branches} x{len(point)})"

    bound = " ".join(f"(x{n} : {_domain(structure, sort)})" for n, sort in enumerate(sorts))
    return f"(fun {bound} => {cases(())})" if sorts else cases(())


def _domain(structure: Structure, sort: str) -> str:
    return f"{lean.NAMESPACE}.D{structure.domains[sort]}"


# -- truth in it ------------------------------------------------------------------------------------------------------


class _TooLongError(Exception):
    """The proof would have too many parts."""


class _Writer:
    """Writes proofs of formulas or of their negations, whichever is true in the structure."""

    def __init__(self, structure: Structure, signature: Signature) -> None:
        self._structure = structure
        self._signature = signature
        self._left = MAX_PARTS

    def proof(self, formula: Formula, values: Mapping[Var, int]) -> str:
        """A Lean term that proves the formula if it is true, and its negation if it is false."""
        self._left -= 1
        if self._left < 0:
            raise _TooLongError
        holds = evaluate(formula, self._structure, values)
        match formula:
            case Top() | Bottom() | Atom():
                return "True.intro" if holds else "(fun h => h)"
            case Eq():
                return "(Eq.refl _)" if holds else self._distinct(formula, values)
            case Not(body):
                shown = self.proof(body, values)
                return shown if holds else f"({lean.NAMESPACE}.not_not_intro {shown})"
            case ForAll() | Exists():
                return self._quantify(formula, values, holds)
            case _:
                sides = (formula.left, formula.right)
                truth = [evaluate(side, self._structure, values) for side in sides]
                lemma = lemma_of_introduction(type(formula), *truth)
                assert lemma is not None  # both sides are known
                words = lemma.split("_of_")[1].split("_")
                proofs = [self.proof(side, values) for side, word in zip(sides, words, strict=True) if word != "any"]
                return f"({lean.NAMESPACE}.{lemma} {' '.join(proofs)})"
        assert_never(formula)

    def _distinct(self, equation: Eq, values: Mapping[Var, int]) -> str:
        """A proof that two elements differ: a predicate that is true of the one only."""
        left = equation.left
        sort = left.sort if isinstance(left, Var) else self._signature.functions[left.function].result
        element = value_of(left, self._structure, values)
        cases = " ".join(str(n == element) for n in range(self._structure.domains[sort]))
        domain = _domain(self._structure, sort)
        table = f"{domain}.rec (motive := fun h => Prop) {cases} x0"
        return f"(fun h => Eq.ndrec (a := {domain}.e{element}) (motive := fun x0 => {table}) True.intro h)"

    def _quantify(self, formula: Quantified, values: Mapping[Var, int], holds: bool) -> str:
        variable, body, universal = formula.variable, formula.body, isinstance(formula, ForAll)
        domain = _domain(self._structure, variable.sort)
        elements = range(self._structure.domains[variable.sort])
        if universal == holds:
            each = " ".join(self.proof(body, {**values, variable: element}) for element in elements)
            all_ = f"({domain}.all {each})"
            return all_ if universal else f"({lean.NAMESPACE}.exists_false_of_all {all_})"
        element = next(e for e in elements if evaluate(body, self._structure, {**values, variable: e}) == holds)
        lemma = f"{lean.NAMESPACE}.forall_false_of_instance" if universal else "Exists.intro"
        return f"({lemma} {domain}.e{element} {self.proof(body, {**values, variable: element})})"
