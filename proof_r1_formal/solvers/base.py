"""What every solver takes and gives: a query ``Γ ⊨ φ``, and one of three answers.

``Unknown`` is an answer of its own. Nothing in the package turns it into yes or no. A solver starts with
:func:`checked_signature`, so that no query makes it raise.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Protocol, TypeAlias, assert_never

from proof_r1_formal.errors import SignatureError, StructureError
from proof_r1_formal.evidence.term import Proof
from proof_r1_formal.logic.model import Structure, evaluate
from proof_r1_formal.logic.signature import Signature
from proof_r1_formal.logic.symbols import symbols
from proof_r1_formal.logic.syntax import (
    ENTITY,
    And,
    App,
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
    Var,
    Xor,
)

MAX_DEPTH = 300
"""The deepest nesting of formulas and terms that solvers take: what the parser reads, and room to combine some."""


@dataclass(frozen=True, slots=True)
class Query:
    """Do the dependencies entail the conclusion? All formulas are closed; domains are non-empty."""

    dependencies: tuple[Formula, ...]
    conclusion: Formula

    @property
    def assertions(self) -> tuple[Formula, ...]:
        """The dependencies and the negated conclusion: they have a common model exactly if there is no entailment."""
        return (*self.dependencies, Not(self.conclusion))


@dataclass(frozen=True, slots=True)
class Entailed:
    """Every structure in which the dependencies hold is one in which the conclusion holds.

    Attributes:
        proof: a proof term, its premises being the dependencies; None if the answer is the solver's word.
    """

    proof: Proof | None = None


@dataclass(frozen=True, slots=True)
class Refuted:
    """Some structure makes the dependencies true and the conclusion false.

    Attributes:
        model: that structure, confirmed by the reference evaluator; None when the solver could not give one that is
            finite and confirmed (the answer is then the solver's word).
    """

    model: Structure | None = None


class Reason(StrEnum):
    """Why a query stayed undecided."""

    BUDGET = "budget"
    TIMEOUT = "timeout"
    INCOMPLETE = "incomplete"
    UNSUPPORTED = "unsupported"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Unknown:
    """The solver did not decide: its budget ran out, its method is incomplete here, or it broke.

    Attributes:
        reason: the class of the cause.
        detail: one sentence for people; holds nothing that varies from run to run.
    """

    reason: Reason
    detail: str = ""


Answer: TypeAlias = Entailed | Refuted | Unknown


@dataclass(frozen=True, slots=True)
class Limits:
    """How much work a query may cost.

    Attributes:
        steps: budget in the solver's own unit (Z3 ``rlimit``, fortieths of cvc5's, branches); decides verdicts, so that
            they do not depend on the load of the machine.
        seconds: wall-clock limit, a last resort that only ever yields ``Unknown``.
        memory_mb: memory limit in MiB where the solver knows one.
    """

    steps: int = 4_000_000
    seconds: float = 30.0
    memory_mb: int = 1024


class Solver(Protocol):
    """Decides queries. Implementations are stateless between queries: the same query has the same answer."""

    @property
    def name(self) -> str:
        """Name and version, for reports: ``z3 4.13.0``."""
        ...

    def decide(self, query: Query) -> Answer:
        """Answer one query; never raises for what the query is, only ``SolverError`` for a broken tool."""
        ...


def is_countermodel(query: Query, structure: Structure) -> bool:
    """Whether the reference evaluator finds all dependencies true and the conclusion false in ``structure``.

    Raises:
        StructureError: the structure does not interpret a symbol of the query, or a function has a value that is no
            element of its sort.
        SignatureError: the query uses a symbol in two ways.
    """
    _require_elements(query, structure)
    return all(evaluate(formula, structure) for formula in query.dependencies) and not evaluate(
        query.conclusion, structure
    )


def _require_elements(query: Query, structure: Structure) -> None:
    """Refuse a structure with a function that leads out of the domain: quantifiers would not see its values."""
    formulas = (*query.dependencies, query.conclusion)
    sorts = {name: ENTITY for formula in formulas for name in symbols(formula).functions}
    if not all(symbols(formula).sorts <= {ENTITY} for formula in formulas):
        sorts = {name: type_.result for name, type_ in Signature.infer(formulas).functions.items()}
    for name, sort in sorts.items():
        if sort not in structure.domains:
            raise StructureError(f"the structure has no domain for sort {sort!r}")
        size = structure.domains[sort]
        for value in structure.functions.get(name, {}).values():
            if not 0 <= value < size:
                raise StructureError(f"the value {value} of {name!r} is no element of the domain")


# -- which queries can be asked ---------------------------------------------------------------------------------------


def checked_signature(query: Query) -> Signature | Unknown:
    """The symbols of the query, or why it is no query that a solver can take.

    That is: a formula is not closed or is nested deeper than ``MAX_DEPTH``, or a symbol is used in two ways.
    """
    if flaw := flaw_of(query):
        return flaw
    try:
        return Signature.infer((*query.dependencies, query.conclusion))
    except SignatureError as error:
        return Unknown(Reason.UNSUPPORTED, str(error))


def flaw_of(query: Query) -> Unknown | None:
    """Why a formula of the query is none that a solver can take; None if all can be taken."""
    for formula in (*query.dependencies, query.conclusion):
        if flaw := _flaw(formula):
            return Unknown(Reason.UNSUPPORTED, flaw)
    return None


@lru_cache(maxsize=1 << 14)
def _flaw(formula: Formula) -> str:
    """What no solver takes about one formula; empty if there is nothing."""
    stack: list[tuple[Formula | Term, frozenset[Var], int]] = [(formula, frozenset(), 1)]
    while stack:
        part, bound, depth = stack.pop()
        if depth > MAX_DEPTH:
            return f"a formula is nested deeper than {MAX_DEPTH}"
        match part:
            case Top() | Bottom():
                pass
            case Var():
                if part not in bound:
                    return f"variable {part.name!r} is free"
            case Atom(_, arguments) | App(_, arguments):
                stack.extend((argument, bound, depth + 1) for argument in arguments)
            case Not(body):
                stack.append((body, bound, depth + 1))
            case ForAll(variable, body) | Exists(variable, body):
                stack.append((body, bound | {variable}, depth + 1))
            case (Eq() | And() | Or() | Xor() | Implies() | Iff()) as pair:
                stack += ((pair.left, bound, depth + 1), (pair.right, bound, depth + 1))
            case _:
                assert_never(part)
    return ""
