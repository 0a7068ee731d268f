"""The interface of solvers: what decides queries, within which limits, and which queries can be asked.

A solver starts with :func:`checked_signature`, so that no query makes it raise. A search of the package's own pays for
its steps from a :class:`Budget`; a step costs the same on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Final, Protocol

from proof_r1_formal.errors import SignatureError
from proof_r1_formal.kernel.answer import Answer, Query, Reason, Unknown
from proof_r1_formal.kernel.signature import Signature, SignatureBuilder
from proof_r1_formal.kernel.syntax import Formula, once
from proof_r1_formal.kernel.transform import terms

MAX_DEPTH: Final = 300
"""The deepest nesting of formulas and terms that solvers take: what the parser reads, and room to combine some."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Budget of a query.

    Attributes:
        steps: budget in the solver's own unit (Z3 ``rlimit``, fortieths of cvc5's, branches); decides verdicts, so that
            they do not depend on the load of the machine.
        seconds: wall-clock limit, a last resort that only ever yields ``Unknown``.
        memory_mb: memory limit in MiB where the solver knows one.

    Raises:
        ValueError: one of them is negative, infinite or no number.
    """

    steps: int = 4_000_000
    seconds: float = 30.0
    memory_mb: int = 1024

    def __post_init__(self) -> None:
        for name in ("steps", "seconds", "memory_mb"):
            value = getattr(self, name)
            if not 0 <= value < inf:
                raise ValueError(f"the limit {name} must be a finite number that is not negative, but is {value}")


class Solver(Protocol):
    """Decides queries. Implementations are stateless between queries: the same query has the same answer."""

    @property
    def name(self) -> str:
        """Name and version, for reports: ``z3 4.13.0``."""
        ...

    def decide(self, query: Query) -> Answer:
        """Answer one query; never raises for what the query is, only ``SolverError`` for a broken tool."""
        ...


def engine_of(answer: Answer, solver: Solver) -> str:
    """The name of what decided: the engine that the answer names, or the solver without its version."""
    named = "" if isinstance(answer, Unknown) else answer.engine
    return named or solver.name.partition(" ")[0]


# -- which queries can be asked ---------------------------------------------------------------------------------------


def checked_signature(query: Query) -> Signature | Unknown:
    """The symbols of the query, or why no solver can decide the query.

    That is: a formula is not closed or is nested deeper than ``MAX_DEPTH``, or a symbol is used in two ways.
    """
    known = known_symbols(query)
    return known if isinstance(known, Unknown) else known.signature()


def known_symbols(query: Query) -> SignatureBuilder | Unknown:
    """The symbols for :func:`checked_signature`, for solvers that do not always need the signature."""
    formulas = query.formulas
    for formula in formulas:
        if formula.height > MAX_DEPTH:
            return Unknown(Reason.UNSUPPORTED, f"a formula is nested deeper than {MAX_DEPTH}")
        if formula.free:
            name = min(variable.name for variable in formula.free)
            return Unknown(Reason.UNSUPPORTED, f"variable {name!r} is free")
    try:
        return SignatureBuilder(formulas)
    except SignatureError as error:
        return Unknown(Reason.UNSUPPORTED, str(error))


# -- the budget of a search --------------------------------------------------------------------------------------------


class BudgetSpentError(Exception):
    """The search has cost as much as it may; the message, if there is one, names the budget."""


class Budget:
    """Counts the steps of a search; those that are ``spent`` are never more than ``most``."""

    __slots__ = ("_most", "spent")

    def __init__(self, most: int) -> None:
        self._most = most
        self.spent = 0

    @property
    def left(self) -> int:
        """How many steps it may still take."""
        return self._most - self.spent

    def spend(self, steps: int = 1) -> None:
        """Take steps.

        Raises:
            BudgetSpentError: fewer are left, and none is left from then on.
        """
        self.spent += steps
        if self.spent > self._most:
            self.spent = self._most
            raise BudgetSpentError


@once
def instance_price(formula: Formula) -> int:
    """The price of an instance of a quantified formula, above that of a short one: more if it is long, or deep.

    To substitute under a quantifier takes longer the more variables it is in the scope of.
    """
    length = formula.size + len(list(terms(formula)))
    return length * (4 + formula.quantifiers) // 64
