"""The baselines of the embedded engine: solvers as they are commonly used from Python.

Each takes the queries of the package. ``FreshZ3`` makes a new ``z3.Solver`` for every query and builds its terms with
z3py, as most verifiers of LLM output do; ``SimpleZ3`` saves what can be saved with a new solver for every query;
``SharedZ3`` keeps one solver and the terms, and pushes and pops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_never

import z3

from proof_r1_formal.kernel.answer import Answer, Entailed, Query, Reason, Refuted, Unknown
from proof_r1_formal.kernel.syntax import (
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

ENTITY = z3.DeclareSort("Entity")
TIMEOUT_MS = 30_000


class Translator:
    """Formulas of one sort to z3py terms; declares each symbol once, and with ``remember`` builds each formula once."""

    def __init__(self, *, remember: bool = False) -> None:
        self._known: dict[Formula, Any] | None = {} if remember else None
        self._symbols: dict[tuple[str, int, bool], Any] = {}

    def formula(self, formula: Formula) -> Any:
        """The z3py term of a closed formula."""
        if self._known is None:
            return self._formula(formula, {})
        if formula not in self._known:
            self._known[formula] = self._formula(formula, {})
        return self._known[formula]

    def _formula(self, formula: Formula, bound: dict[Var, Any]) -> Any:
        match formula:
            case Top() | Bottom():
                return z3.BoolVal(isinstance(formula, Top))
            case Atom(predicate, ()):
                return z3.Bool(predicate)
            case Atom(predicate, arguments):
                symbol = self._symbol(predicate, len(arguments), of_truth=True)
                return symbol(*[self._term(argument, bound) for argument in arguments])
            case Eq(left, right):
                return self._term(left, bound) == self._term(right, bound)
            case Not(body):
                return z3.Not(self._formula(body, bound))
            case And(left, right):
                return z3.And(self._formula(left, bound), self._formula(right, bound))
            case Or(left, right):
                return z3.Or(self._formula(left, bound), self._formula(right, bound))
            case Xor(left, right):
                return z3.Xor(self._formula(left, bound), self._formula(right, bound))
            case Implies(left, right):
                return z3.Implies(self._formula(left, bound), self._formula(right, bound))
            case Iff(left, right):
                return self._formula(left, bound) == self._formula(right, bound)
            case ForAll(variable, body) | Exists(variable, body):
                constant = z3.FreshConst(ENTITY, variable.name)
                quantifier = z3.ForAll if isinstance(formula, ForAll) else z3.Exists
                return quantifier([constant], self._formula(body, {**bound, variable: constant}))
        assert_never(formula)

    def _term(self, term: Term, bound: dict[Var, Any]) -> Any:
        match term:
            case Var():
                return bound[term]
            case App(function, arguments):
                symbol = self._symbol(function, len(arguments), of_truth=False)
                return symbol(*[self._term(argument, bound) for argument in arguments])
        assert_never(term)

    def _symbol(self, name: str, arity: int, *, of_truth: bool) -> Any:
        key = name, arity, of_truth
        if key not in self._symbols:
            self._symbols[key] = z3.Function(name, *[ENTITY] * arity, z3.BoolSort() if of_truth else ENTITY)
        return self._symbols[key]


class FreshZ3:
    """A new ``z3.Solver`` and new terms for every query."""

    name = "z3py, a fresh solver per query"

    def decide(self, query: Query) -> Answer:
        """Whether the assertions are unsatisfiable."""
        solver = z3.Solver()
        solver.set(timeout=TIMEOUT_MS)
        translator = Translator()
        solver.add(*[translator.formula(formula) for formula in query.assertions])
        return _answer(solver.check())


class SimpleZ3:
    """A new ``z3.SimpleSolver`` for every query, without Z3's choice of a strategy; symbols are declared once."""

    name = "z3py, a fresh simple solver per query"

    def __init__(self) -> None:
        self._translator = Translator()

    def decide(self, query: Query) -> Answer:
        """Whether the assertions are unsatisfiable."""
        solver = z3.SimpleSolver()
        solver.set(timeout=TIMEOUT_MS)
        solver.add(*[self._translator.formula(formula) for formula in query.assertions])
        return _answer(solver.check())


class SharedZ3:
    """One ``z3.Solver`` with ``push`` and ``pop``; terms are built once per formula."""

    name = "z3py, one solver with push and pop"

    def __init__(self) -> None:
        self._solver = z3.Solver()
        self._solver.set(timeout=TIMEOUT_MS)
        self._translator = Translator(remember=True)

    def decide(self, query: Query) -> Answer:
        """Whether the assertions are unsatisfiable."""
        self._solver.push()
        self._solver.add(*[self._translator.formula(formula) for formula in query.assertions])
        result = self._solver.check()
        self._solver.pop()
        return _answer(result)


class Remembering:
    """A solver with an exact cache: a query that was asked before is not asked again."""

    def __init__(self, decide: Callable[[Query], Answer], name: str) -> None:
        self.name = name
        self._decide = decide
        self._answers: dict[Query, Answer] = {}

    def decide(self, query: Query) -> Answer:
        """The answer, from memory if it is there."""
        if query not in self._answers:
            self._answers[query] = self._decide(query)
        return self._answers[query]


def _answer(result: z3.CheckSatResult) -> Answer:
    if result == z3.unsat:
        return Entailed()
    return Refuted() if result == z3.sat else Unknown(Reason.INCOMPLETE)
