"""The theorems of rule schemata, and proof terms that use them.

In: a schema, or the instance of one that a step is. Out: the theorem that the schema states, derived in the calculus
once; the proof term of the step, which applies it to the terms of its premises.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from msgspec import structs

from proof_r1_formal.engine.prover import search
from proof_r1_formal.errors import CatalogueError
from proof_r1_formal.kernel.checker import shown
from proof_r1_formal.kernel.pattern import Lambda, instance
from proof_r1_formal.kernel.signed import signed
from proof_r1_formal.kernel.syntax import App, ForAll, Formula, Implies, Term, Var
from proof_r1_formal.kernel.term import Apply, Arbitrary, Line, Proof, Repeat, Suppose, Theorem, renumber
from proof_r1_formal.kernel.transform import instantiate, map_terms
from proof_r1_formal.rules.check import Match
from proof_r1_formal.rules.forms import conjunctive_parts
from proof_r1_formal.rules.schema import Schema


@lru_cache(maxsize=1 << 10)
def theorem(schema: Schema) -> Theorem:
    """The theorem that a schema states: its principal and minor premises give its conclusion.

    Raises:
        CatalogueError: no proof of it is found.
    """
    premises = schema.premises
    proof = search(premises, schema.conclusion).proof
    if proof is None:
        raise CatalogueError(f"schema {schema.name!r}: its conclusion is not found to follow from its premises")
    return Theorem(schema.name, premises, schema.conclusion, proof)


def instance_proof(match: Match, dependencies: Sequence[Formula], conclusion: Formula) -> Proof | None:
    """The proof term of a step that is an instance of a schema.

    Of a step under hypotheses, it supposes them of arbitrary elements, and applies the theorem there. None if the
    search for a part of it ends, or shows the part only by a contradiction between the dependencies.

    Args:
        match: the instance.
        dependencies, conclusion: of the step.
    """
    if any(constant.sort is not None for constant in match.constants):
        match = _with_plain_constants(match)
    return _under(match, dependencies, conclusion, match.constants, len(match.hypotheses))


def _with_plain_constants(match: Match) -> Match:
    """The match with arbitrary elements that name no sort: in a proof they have that of the quantifier."""

    def plain(term: Term) -> Term:
        if not isinstance(term, App):
            return term
        sort = None if term in match.constants else term.sort
        return App(term.function, tuple(map(plain, term.arguments)), sort)

    def changed(value: Lambda | Term) -> Lambda | Term:
        return Lambda(value.variables, map_terms(value.body, plain)) if isinstance(value, Lambda) else plain(value)

    substitution = {name: changed(value) for name, value in match.substitution.items()}
    constants = tuple([App(constant.function, ()) for constant in match.constants])
    return structs.replace(match, substitution=substitution, constants=constants)


def _under(
    match: Match, known: Sequence[Formula], goal: Formula, constants: Sequence[App], hypotheses: int
) -> Proof | None:
    """The proof of a goal with that many parts of hypotheses, and with those elements that are not yet introduced."""
    block: Proof | None
    if constants and isinstance(goal, ForAll):
        block = _under(match, known, instantiate(goal, constants[0]), constants[1:], hypotheses)
        return None if block is None else (Arbitrary(goal, constants[0], block),)
    if hypotheses and isinstance(goal, Implies):
        left = hypotheses - len(conjunctive_parts(goal.left))
        block = _under(match, (*known, goal.left), goal.right, constants, left)
        return None if block is None else (Suppose(goal, block),)
    return _applied(match, known, goal)


def _applied(match: Match, dependencies: Sequence[Formula], conclusion: Formula) -> Proof | None:
    """The proof that applies the theorem to what is known."""
    applied = theorem(match.schema)
    substitution = {  # a theorem's variables keep their names
        name: Var(name, value.sort) if isinstance(value, Var) else value for name, value in match.substitution.items()
    }
    lines: list[Line] = []

    def derive(known: Sequence[Formula], numbers: Sequence[int], goal: Formula) -> int | None:
        """The number of a line that says the goal, derived from what the numbered lines say."""
        for number, formula in zip(numbers, known, strict=True):
            if signed(formula) == signed(goal):
                return number
        first = len(dependencies) + len(lines)
        proof = search(known, goal, fresh=f"␣{len(lines)}c").proof
        if proof is None or shown(proof, known, goal)[0] != signed(goal):
            return None
        lines.extend(renumber(proof, numbers, first))
        return len(dependencies) + len(lines) - 1

    given: list[int] = []
    for pattern in applied.premises:
        number = derive(dependencies, range(len(dependencies)), instance(pattern, substitution))
        if number is None:
            return None
        given.append(number)
    lines.append(Apply(applied, substitution, tuple(given)))
    applied_at = len(dependencies) + len(lines) - 1
    end = derive((instance(applied.conclusion, substitution),), (applied_at,), conclusion)
    if end is None:
        return None
    if end != len(dependencies) + len(lines) - 1:
        lines.append(Repeat(end))
    return tuple(lines)
