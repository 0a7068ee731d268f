"""Queries ``Γ ⊨ φ``, the three answers to them, and the check of their evidence.

In: a query and a solver's answer. Out: the answer, and whether its evidence holds. Programs that are simpler than those
that found it recheck it: the proof checker, the reference evaluator, Lean's kernel. An answer whose evidence does not
hold counts as Unknown.

``Unknown`` is an answer of its own. Nothing in the package turns it into yes or no.

Each answer contains its price in *steps*, so caching does not change budgets. A step is one formula that the tableau
looks at, about 4 µs; the other engines convert their own counts to it. Prices do not take part in equality, nor does
the name of the engine that decided.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from operator import gt
from typing import Final, Literal, Protocol, TypeAlias

import msgspec

from proof_r1_formal.kernel.checker import check
from proof_r1_formal.kernel.compiling import mypyc_attr
from proof_r1_formal.kernel.errors import ProofError, SignatureError, StructureError
from proof_r1_formal.kernel.model import Structure, evaluate, evaluation_steps
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.kernel.syntax import Formula, Not
from proof_r1_formal.kernel.term import Proof


@mypyc_attr(native_class=False)
@dataclass(frozen=True, slots=True)
class Query:
    """Do the dependencies entail the conclusion? All formulas are closed; domains are non-empty."""

    dependencies: tuple[Formula, ...]
    conclusion: Formula

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """The dependencies and the conclusion."""
        return (*self.dependencies, self.conclusion)

    @property
    def assertions(self) -> tuple[Formula, ...]:
        """The dependencies and the negated conclusion: they have a common model exactly if there is no entailment."""
        return (*self.dependencies, Not(self.conclusion))


@mypyc_attr(native_class=False)
@dataclass(frozen=True, slots=True)
class Entailed:
    """Every structure in which the dependencies hold is one in which the conclusion holds.

    Attributes:
        proof: a proof term from the dependencies; None if only the solver supports the answer.
        steps: the price of the answer; 0 if the solver does not count.
        engine: what decided, if the solver has several engines; else empty.
    """

    proof: Proof | None = None
    steps: int = field(default=0, compare=False)
    engine: str = field(default="", compare=False)


@mypyc_attr(native_class=False)
@dataclass(frozen=True, slots=True)
class Refuted:
    """Some structure makes the dependencies true and the conclusion false.

    Attributes:
        model: that structure, confirmed by the reference evaluator; None when the solver could not give one that is
            finite and confirmed (the answer is then the solver's word).
        steps: the price of the answer; 0 if the solver does not count.
        engine: what decided, if the solver has several engines; else empty.
    """

    model: Structure | None = None
    steps: int = field(default=0, compare=False)
    engine: str = field(default="", compare=False)


class Reason(StrEnum):
    """The reason for an undecided query."""

    BUDGET = "budget"
    TIMEOUT = "timeout"
    INCOMPLETE = "incomplete"
    UNSUPPORTED = "unsupported"
    BROKEN = "broken"


@mypyc_attr(native_class=False)
@dataclass(frozen=True, slots=True)
class Unknown:
    """The solver did not decide: its budget ran out, its method is incomplete here, or it broke.

    Attributes:
        reason: the class of the cause.
        detail: one sentence for people, equal in every run.
        steps: the price of the attempt; 0 if the solver does not count.
    """

    reason: Reason
    detail: str = ""
    steps: int = field(default=0, compare=False)


Answer: TypeAlias = Entailed | Refuted | Unknown


# -- countermodels -----------------------------------------------------------------------------------------------------


MAX_EVALUATION: Final = 500_000
"""The most steps that checking a countermodel may need, and the most elements that it may have."""


class TooLargeError(StructureError):
    """A structure that takes more than ``MAX_EVALUATION`` steps to check."""


def is_countermodel(query: Query, structure: Structure) -> bool:
    """Whether the reference evaluator finds all dependencies true and the conclusion false in ``structure``.

    Raises:
        TooLargeError: the structure is too large for the query to be checked.
        StructureError: the structure does not interpret a symbol of the query, or not by elements of its sorts: every
            function must have a value of its sort at all arguments of theirs.
        SignatureError: the query uses a symbol in two ways.
    """
    checking_steps(query, structure)
    return refutes(query, structure, Signature.infer(query.formulas))


def refutes(query: Query, structure: Structure, signature: Signature) -> bool:
    """:func:`is_countermodel` of a query whose signature is known and of a structure that is not too large."""
    _require_interpreted(signature, structure)
    for formula in query.dependencies:
        if not evaluate(formula, structure):
            return False
    return not evaluate(query.conclusion, structure)


def checking_steps(query: Query, structure: Structure) -> int:
    """The most subformulas that the evaluator visits to check a countermodel, the conclusion's negation being one.

    Raises:
        TooLargeError: these are more than ``MAX_EVALUATION``, or there are more elements.
        StructureError: the structure has no domain for a sort.
    """
    steps = 1 + evaluation_steps(query.conclusion, structure)
    for formula in query.dependencies:
        steps += evaluation_steps(formula, structure)
    if max(steps, 0, *structure.domains.values()) > MAX_EVALUATION:
        raise TooLargeError(f"the structure takes more than {MAX_EVALUATION} steps to check, or has more elements")
    return steps


def _require_interpreted(signature: Signature, structure: Structure) -> None:
    """Refuse a structure that has too much or too little of a symbol: quantifiers would not see such values."""
    domains, functions = structure.domains, signature.functions
    for sort in {sort for type_ in functions.values() for sort in (*type_.arguments, type_.result)}:
        if sort not in domains:
            raise StructureError(f"the structure has no domain for sort {sort!r}")
    places = {*signature.predicates.values(), *[type_.arguments for type_ in functions.values()]}
    last = {sorts: tuple([domains.get(sort, 0) - 1 for sort in sorts]) for sorts in places}
    for name, sorts in signature.predicates.items():
        rows = structure.predicates.get(name)
        if rows is None:
            raise StructureError(f"the structure does not interpret predicate {name!r}")
        for row in rows:
            if len(row) != len(sorts) or any(map(gt, row, last[sorts])):
                raise StructureError(f"a tuple of {name!r} does not have {len(sorts)} elements of its sorts")
    for name, type_ in functions.items():
        table = structure.functions.get(name)
        if table is None or max(table) != last[type_.arguments]:  # it has no gaps, so its last tuple tells all
            raise StructureError(f"the structure does not interpret {name!r} at all elements of its sorts")
        if max(table.values()) >= domains[type_.result]:
            raise StructureError(f"a value of {name!r} is not an element of the domain of sort {type_.result!r}")


# -- evidence ----------------------------------------------------------------------------------------------------------


Evidence: TypeAlias = Literal["kernel", "checked", "unsupported"]
"""The support of an answer: a kernel's acceptance, a checked proof or countermodel, the solver's word."""

EvidenceLevel: TypeAlias = Literal["none", "checked", "kernel"]
"""How the evidence of answers is rechecked: by the small checkers, by a kernel as well, or not at all."""


class Judgement(Protocol):
    """The word of a kernel: whether it accepts the evidence, and why not."""

    @property
    def accepted(self) -> bool: ...

    @property
    def reason(self) -> str: ...


class Kernel(Protocol):
    """A second check of evidence."""

    def judge(self, query: Query, answer: Answer) -> Judgement | None:
        """The word of the kernel; None if it cannot be given this evidence."""


class BatchKernel(Kernel, Protocol):
    """A kernel that is quicker for many answers at once."""

    def prepare(self, answers: Iterable[tuple[Query, Answer]]) -> None:
        """Check all the answers in one batch, for later calls of :meth:`judge`."""


class Confirmation(msgspec.Struct, frozen=True, gc=False):
    """An answer whose evidence was checked, where it has any.

    Attributes:
        answer: the solver's; Unknown if its evidence does not hold.
        evidence: its support; a kernel's acceptance includes the checker's or the evaluator's.
        used: the dependencies, by index, that the proof uses; None without a proof.
    """

    answer: Answer
    evidence: Evidence = "unsupported"
    used: frozenset[int] | None = None

    @property
    def checked(self) -> bool:
        """Whether there is evidence, and it holds."""
        return self.evidence != "unsupported"


def confirm(query: Query, answer: Answer) -> Confirmation:
    """Check the proof or the countermodel of an answer."""
    if isinstance(answer, Entailed) and answer.proof is not None:
        try:
            return Confirmation(answer, "checked", check(answer.proof, query.dependencies, query.conclusion))
        except ProofError as error:
            return _broken(answer, f"the solver's proof does not hold: {error}")
    if isinstance(answer, Refuted) and answer.model is not None:
        try:
            holds = is_countermodel(query, answer.model)
        except TooLargeError as error:
            return Confirmation(Unknown(Reason.BUDGET, str(error), answer.steps))
        except (SignatureError, StructureError) as error:
            return _broken(answer, f"the solver's countermodel does not hold: {error}")
        return Confirmation(answer, "checked") if holds else _broken(answer, "the solver's countermodel does not hold")
    return Confirmation(answer)


def confirm_by(kernel: Kernel, query: Query, confirmation: Confirmation) -> Confirmation:
    """Have a kernel check evidence that was checked here; a countermodel that is too large for it stays ``checked``."""
    judgement = kernel.judge(query, confirmation.answer) if confirmation.checked else None
    if judgement is None:
        return confirmation
    if not judgement.accepted:
        return _broken(confirmation.answer, f"the kernel does not accept the evidence: {judgement.reason}")
    return Confirmation(confirmation.answer, "kernel", confirmation.used)


def _broken(answer: Answer, problem: str) -> Confirmation:
    return Confirmation(Unknown(Reason.BROKEN, problem, answer.steps))
