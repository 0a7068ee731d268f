"""Theorems by reflection: Lean's own checker (``theories/lean/ProofR1/Checker``) runs on proofs as data.

In: claims with proof terms or structures. Out: theorems about the data, each proved by one evaluation. They are a
second way to a theorem, independent of ``lean_term`` and ``lean_model``: there, each line becomes an application of a
lemma; here, the checker reads the lines, and a theorem of Lean says that what it accepts is so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from proof_r1_formal.assistants.lean import Definition, LeanTheorem
from proof_r1_formal.assistants.lean_data import (
    Lemmas,
    Numbers,
    claim_data,
    derivation_data,
    formula_data,
    proof_data,
)
from proof_r1_formal.assistants.lean_tree import Tree, list_text, numbers_text, text_of
from proof_r1_formal.errors import ProofError
from proof_r1_formal.kernel.model import Structure
from proof_r1_formal.kernel.signature import Signature, mangle
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.kernel.term import Proof

Step: TypeAlias = tuple[str, tuple[str, ...], Formula, Proof]
"""A step of a trace: its id, those of what it depends on, its conclusion, and the proof from them."""

_CHECKER = "ProofR1.Checker"
_EVALUATED = "(by decide +kernel)"
"""The proof that an evaluation gives ``true``: the kernel alone evaluates; for ``rfl`` the elaborator does so first."""


def entailment(premises: Sequence[Formula], conclusion: Formula, proof: Proof) -> LeanTheorem:
    """The theorem that the premises entail the conclusion.

    Raises:
        ProofError: the proof cannot be written as data.
        SignatureError: the formulas use a symbol in two ways.
    """
    claim, data, legend = _claim_and_proof(premises, conclusion, proof)
    return LeanTheorem(
        f": {_CHECKER}.Claim.Holds {claim}", f"{_CHECKER}.check_sound (p := {data}) {_EVALUATED}", legend
    )


def answer(
    premises: Mapping[str, Formula], steps: Sequence[Step], goal: Formula, model: Structure | None = None
) -> LeanTheorem:
    """The theorem that the premises, by id, entail the goal, by the steps of a trace, the last of which concludes it.

    With a model it also says that the premises have one. The problem has a definition. So have the symbols, the
    premises and the goal, unless there are more than :data:`MOST_NAMED` steps. More steps are numbers.

    Raises:
        ProofError: a proof cannot be written as data, or two premises or steps have the same id.
        SignatureError: the formulas use a symbol in two ways.
        StructureError: the model does not interpret a symbol of the premises.
    """
    every = (*premises.values(), *[formula for _, _, formula, _ in steps], goal)
    formulas = {**premises, **{id_: formula for id_, _, formula, _ in steps}}
    if len(formulas) < len(premises) + len(steps):
        raise ProofError("two premises or steps have the same id")
    named = len(steps) <= MOST_NAMED
    numbers = Numbers(every, named=named)
    places = {id_: number for number, id_ in enumerate(formulas)}
    lemmas = Lemmas([proof for _, _, _, proof in steps])
    given = _formulas(premises, goal, numbers)
    written: list[Tree] = []
    for _, dependencies, formula, proof in steps:
        derivation = derivation_data(proof, [formulas[each] for each in dependencies], formula, numbers, lemmas)
        written.append(([places[each] for each in dependencies], formula_data(formula, numbers), derivation))
    last = len(formulas) - 1
    if named:
        trace = text_of((lemmas.data, written, last, 0))
    else:
        trace = f"{_CHECKER}.Trace.ofNumbers {text_of(lemmas.data)} {last} {numbers_text(written)}"
    entails, proof_ = f"{_CHECKER}.Problem.Entails problem 0", f"{_CHECKER}.trace_sound (t := {trace}) {_EVALUATED}"
    if model is not None:
        tables = _tables(model, Signature.infer(every), numbers)
        entails = f"And ({entails}) ({_CHECKER}.Problem.Consistent problem)"
        proof_ = f"{_CHECKER}.answer_sound (t := {trace}) (T := {tables}) {_EVALUATED} {_EVALUATED}"
    *known, says = [each.name if named else each.value for each in given]
    problem = f"⟨{text_of(numbers.declarations())}, {list_text(known)}, {list_text([says])}⟩"
    definitions = (*numbers.definitions(), *given) if named else ()
    legend = "; ".join([f"{id_} is number {number}" for id_, number in places.items()])
    return LeanTheorem(
        f": {entails}",
        proof_,
        legend if named else f"{numbers.legend()}; {legend}",
        definitions=(*definitions, Definition("problem", f"{_CHECKER}.Problem", problem)),
    )


MOST_NAMED = 100
"""The most steps of an answer whose symbols have names: Lean unfolds a name wherever it reads one."""
GOAL = "goal"
"""The name of the definition of the goal."""


def premise_name(id_: str) -> str:
    """The name of the definition of a premise."""
    return mangle(id_, "h")


def _formulas(premises: Mapping[str, Formula], goal: Formula | None, numbers: Numbers) -> list[Definition]:
    """The definitions of the premises and of the goal, if there is one."""
    named = {premise_name(id_): formula for id_, formula in premises.items()}
    named |= {} if goal is None else {GOAL: goal}
    return [
        Definition(name, f"{_CHECKER}.Formula", text_of(formula_data(each, numbers))) for name, each in named.items()
    ]


def verdict(premises: Sequence[Formula], conclusion: Formula, proof: Proof, accepted: bool) -> LeanTheorem:
    """The theorem that Lean's checker accepts the proof, or that it does not.

    Raises:
        ProofError: the proof cannot be written as data.
        SignatureError: the formulas use a symbol in two ways.
    """
    claim, data, _ = _claim_and_proof(premises, conclusion, proof)
    return LeanTheorem(f": {_CHECKER}.Answers {claim} {data} {str(accepted).lower()}", "(rfl)")


def _claim_and_proof(premises: Sequence[Formula], conclusion: Formula, proof: Proof) -> tuple[str, str, str]:
    numbers = Numbers((*premises, conclusion))
    data = proof_data(proof, premises, conclusion, numbers)  # before the claim, which declares what the proof names
    return text_of(claim_data(premises, conclusion, numbers)), text_of(data), numbers.legend()


def refutation(premises: Sequence[Formula], conclusion: Formula, structure: Structure) -> LeanTheorem:
    """The theorem that the structure makes the premises true and the conclusion false.

    Raises:
        SignatureError: the formulas use a symbol in two ways.
        StructureError: the structure does not interpret a symbol.
    """
    formulas = (*premises, conclusion)
    numbers = Numbers(formulas)
    claim = text_of(claim_data(premises, conclusion, numbers))
    tables = _tables(structure, Signature.infer(formulas), numbers)
    return LeanTheorem(
        f": {_CHECKER}.Claim.Fails {claim}", f"{_CHECKER}.refutes_sound (T := {tables}) {_EVALUATED}", numbers.legend()
    )


def failure(
    premises: Mapping[str, Formula], goal: Formula | None, structure: Structure, *, negated: bool = False
) -> LeanTheorem:
    """The theorem that the premises, by id, do not entail the goal, or its negation, as the structure shows.

    Without a goal, they do not entail ⊥. The definitions are the same for a goal and for its negation.

    Raises:
        SignatureError: the formulas use a symbol in two ways.
        StructureError: the structure does not interpret a symbol of the premises.
    """
    formulas = (*premises.values(), *(() if goal is None else (goal,)))
    numbers = Numbers(formulas, named=True)
    given = _formulas(premises, goal, numbers)
    sorts = Definition("sorts", f"List {_CHECKER}.Declaration", text_of(numbers.declarations()))
    known = Definition("premises", f"List {_CHECKER}.Formula", list_text([premise_name(id_) for id_ in premises]))
    tables = _tables(structure, Signature.infer(formulas), numbers)
    says = ".bottom" if goal is None else f"(.not {GOAL})" if negated else GOAL
    return LeanTheorem(
        f": {_CHECKER}.Claim.Fails ⟨sorts, premises, {says}⟩",
        f"{_CHECKER}.refutes_sound (T := {tables}) {_EVALUATED}",
        definitions=(*numbers.definitions(), *given, sorts, known),
    )


def _tables(structure: Structure, signature: Signature, numbers: Numbers) -> str:
    """The structure as tables for the symbols and sorts that were written so far.

    A symbol that it does not interpret has the value 0 everywhere, which is an element of each sort.
    """

    def table(sorts: Sequence[str], value: Callable[[tuple[int, ...]], int], row: tuple[int, ...] = ()) -> str:
        if len(row) == len(sorts):
            return f"(.value {value(row)})"
        rows = [table(sorts, value, (*row, n)) for n in range(structure.domains.get(sorts[len(row)], 1))]
        while len(rows) > 1 and rows[-1] == rows[-2] and rows[-1].startswith("(.value"):
            rows.pop()  # a value serves all arguments that are left
        last = rows.pop()
        if not last.startswith("(.value"):
            last = f"(.cases {last} (.value 0))"
        return "".join([f"(.cases {each} " for each in rows]) + last + ")" * len(rows)

    def truth(name: str) -> Callable[[tuple[int, ...]], int]:
        rows = structure.predicates.get(name, frozenset())
        return lambda row: int(row in rows)

    last = [str(structure.domains.get(sort, 1) - 1) for sort in numbers.sorts]
    predicates = [
        table(signature.predicates[name], truth(name)) if name in structure.predicates else "(.value 0)"
        for name in numbers.predicates
    ]
    functions = [
        table(signature.functions[name].arguments, structure.functions[name].__getitem__)
        if name in structure.functions
        else "(.value 0)"
        for name, _ in numbers.functions
    ]
    return f"⟨{list_text(last)}, {_choice(functions)}, {_choice(predicates)}⟩"


def _choice(tables: Sequence[str], first: int = 0) -> str:
    """The choice of a table by its number, of which this is the first."""
    if len(set(tables)) <= 1:
        return f"(.one {tables[0] if tables else '(.value 0)'})"
    half = len(tables) // 2
    low, high = _choice(tables[:half], first), _choice(tables[half:], first + half)
    return f"(.upTo {first + half - 1} {low} {high})"
