r"""Countermodels as Isabelle theorems: a finite structure shows that the premises do not entail the conclusion.

In: premises, a conclusion and a structure. Out: a theorem that there are predicates and functions over the types
``dom1`` … ``dom4`` of ``theories/isabelle`` for which the premises hold and the conclusion does not. The proof gives
them, predicates as sets of tuples and functions as case distinctions; ``simp`` computes the rest, with the lemmas that
turn a quantifier over such a type into a conjunction or a disjunction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proof_r1_formal.assistants.isabelle import IsabelleTheorem
from proof_r1_formal.assistants.small_models import MAX_PARTS, is_small, points
from proof_r1_formal.kernel.model import Structure
from proof_r1_formal.kernel.signature import FunctionType, Signature
from proof_r1_formal.kernel.syntax import Binary, Binder, Formula, Not
from proof_r1_formal.render import isabelle


def refutation(premises: Sequence[Formula], conclusion: Formula, structure: Structure) -> IsabelleTheorem | None:
    """The theorem that the structure makes the premises true and the conclusion false; None if it is too large.

    Args:
        premises, conclusion: closed formulas.
        structure: a countermodel, by the reference evaluator.

    Raises:
        SignatureError: the formulas use a symbol in two ways.
    """
    claims = (*premises, Not(conclusion))
    signature = Signature.infer(claims)
    if not is_small(signature, structure) or sum(_parts(claim, structure) for claim in claims) > MAX_PARTS:
        return None
    types = {sort: f"dom{structure.domains[sort]}" for sort in signature.sorts}
    witnesses = _witnesses(signature, structure, types)
    bound = "\n     ".join([f"({name} :: {type_})" for name, type_ in isabelle.symbol_types(signature, types).items()])
    texts = [isabelle.formula_text(claim, types) for claim in claims]
    claimed = "\n     \\<and> ".join(texts)
    lemmas = [f"{type_}_{kind}" for type_ in sorted(set(types.values())) for kind in ("all", "ex")]
    steps = [f'rule exI[where x = "{witness}"]' for witness in witnesses]
    steps.append(f"simp add: {' '.join(lemmas)}")
    opening = f"\\<exists>{bound}.\n     " if bound else ""
    applied = ",\n      ".join(steps)
    return IsabelleTheorem(f'  "{opening}{claimed}"\n', f"  by ({applied})\n")


def _parts(formula: Formula, structure: Structure) -> int:
    """How many formulas ``simp`` meets when all quantifiers are replaced by their instances."""
    if isinstance(formula, Not):
        return 1 + _parts(formula.body, structure)
    if isinstance(formula, Binary):
        return 1 + _parts(formula.left, structure) + _parts(formula.right, structure)
    if isinstance(formula, Binder):
        return 1 + structure.domains[formula.variable.sort] * _parts(formula.body, structure)
    return 1


def _witnesses(signature: Signature, structure: Structure, types: Mapping[str, str]) -> list[str]:
    """A term for each symbol, in the order in which :func:`isabelle.symbol_types` names them."""

    def element(sort: str, number: int) -> str:
        return f"D{structure.domains[sort]}_{number}"

    def cases(values: Mapping[tuple[int, ...], int], type_: FunctionType, row: tuple[int, ...] = ()) -> str:
        """The value of a function whose first arguments are a row of elements: one case distinction per further one."""
        if len(row) == len(type_.arguments):
            return element(type_.result, values[row])
        sort = type_.arguments[len(row)]
        places = range(structure.domains[sort])
        branches = [rf"{element(sort, e)} \<Rightarrow> {cases(values, type_, (*row, e))}" for e in places]
        return f"(case a{len(row)} of {' | '.join(branches)})"

    tables = []
    for name, sorts in signature.predicates.items():
        rows = [row for row in points(structure, sorts) if row in structure.predicates[name]]
        if not sorts:
            tables.append("True" if rows else "False")
            continue
        tuples = [_tuple([element(sort, e) for sort, e in zip(sorts, row, strict=True)]) for row in rows]
        arguments = _tuple([f"a{place}" for place in range(len(sorts))])
        tables.append(rf"{_abstraction(sorts, types)}{arguments} \<in> {{{', '.join(tuples)}}}")
    for name, type_ in signature.functions.items():
        tables.append(_abstraction(type_.arguments, types) + cases(structure.functions[name], type_))
    return tables


def _abstraction(sorts: Sequence[str], types: Mapping[str, str]) -> str:
    bound = " ".join([f"(a{place} :: {types[sort]})" for place, sort in enumerate(sorts)])
    return rf"\<lambda>{bound}. " if bound else ""


def _tuple(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"
