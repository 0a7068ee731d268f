"""Z3 and cvc5, put to the same tests: against the reference evaluator, against each other, and against themselves."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof_r1_formal.engine.cvc5 import Cvc5Solver
from proof_r1_formal.engine.solver import Limits
from proof_r1_formal.engine.z3 import Z3Solver
from proof_r1_formal.errors import SolverError
from proof_r1_formal.kernel.answer import Answer, Entailed, Query, Reason, Refuted, Unknown, confirm, is_countermodel
from proof_r1_formal.kernel.model import Structure, evaluate
from proof_r1_formal.kernel.signature import FunctionType, Signature
from proof_r1_formal.kernel.syntax import ENTITY, Var, atom, const
from proof_r1_formal.testing import strategies
from proof_r1_formal.text.parse import parse_formula
from tests.build import INFINITE, pigeons, sequent, shown
from tests.finite import structures
from tests.patience import PATIENCE
from tests.solvers import model_of, reason_of

SolverType: TypeAlias = type[Z3Solver] | type[Cvc5Solver]

SOLVERS: tuple[SolverType, ...] = (Z3Solver, Cvc5Solver)
SMALL = Limits(steps=100_000)

needs_cvc5 = pytest.mark.skipif(find_spec("cvc5") is None, reason="cvc5 is not installed (the extra [solvers])")
each_solver = pytest.mark.parametrize("solver_type", [Z3Solver, pytest.param(Cvc5Solver, marks=needs_cvc5)])


def check_model(query: Query, answer: Answer) -> None:
    """The attached structure, if there is one, is complete and refutes the query."""
    assert not isinstance(answer, Refuted) or answer.model is None or is_countermodel(query, answer.model)


# -- worked examples --------------------------------------------------------------------------------------------------

ENTAILED = [
    sequent("∀x (human(x) → mortal(x))", "human(socrates)", "mortal(socrates)"),
    sequent("∀x p(x)", "∃x p(x)"),  # domains are not empty
    sequent("∀x:Ghost scary(x)", "∃x:Ghost scary(x)"),  # nor is the domain of a sort without constants
    sequent("a = b", "f(a) = f(b)"),
    sequent("∀x:A ∃y:B r(x, y)", "∀y:B ∀x:A ¬r(x, y)", "⊥"),
]
REFUTED = [
    sequent("∀x (human(x) → mortal(x))", "mortal(socrates)", "human(socrates)"),
    sequent("p", "q"),  # without terms
    sequent("p(a)", "p(b)"),  # constants need not differ
    sequent("¬(a = b)"),  # nor be equal
    sequent("∀x:A p(x)", "∀x:B q(x)", "∃x:A ∃y:B r(x, y)"),
    sequent("∀x ¬(f(x) = x)", "∀x f(f(x)) = x", "∃x f(x) = x"),
]


@each_solver
@pytest.mark.parametrize("query", ENTAILED, ids=shown)
def test_entailed(solver_type: SolverType, query: Query) -> None:
    answer = solver_type().decide(query)
    assert isinstance(answer, Entailed)
    assert confirm(query, answer).answer is answer  # a proof, if there is one, holds


@each_solver
@pytest.mark.parametrize("query", REFUTED, ids=shown)
def test_refuted_with_a_model(solver_type: SolverType, query: Query) -> None:
    answer = solver_type().decide(query)
    assert model_of(answer)
    check_model(query, answer)


# -- undecided --------------------------------------------------------------------------------------------------------


@each_solver
@pytest.mark.parametrize("query", [INFINITE, pigeons(9, 8)], ids=["infinite", "pigeons"])
@pytest.mark.parametrize("steps", [0, 40, 10_000])
def test_a_spent_budget_is_unknown(solver_type: SolverType, query: Query, steps: int) -> None:
    assert reason_of(solver_type(Limits(steps=steps)).decide(query)) is Reason.BUDGET


@each_solver
def test_the_budget_decides_and_the_clock_does_not(solver_type: SolverType) -> None:
    answers = {
        solver_type(Limits(steps=200_000, seconds=seconds)).decide(INFINITE) for seconds in (PATIENCE, 2 * PATIENCE)
    }
    (answer,) = answers
    assert isinstance(answer, Unknown)


@each_solver
def test_spent_time_is_unknown(solver_type: SolverType) -> None:
    assert reason_of(solver_type(Limits(steps=10**12, seconds=0.02)).decide(INFINITE)) is Reason.TIMEOUT


def test_spent_memory_is_unknown() -> None:
    answer = Z3Solver(Limits(memory_mb=1)).decide(INFINITE)
    assert answer == Unknown(Reason.BUDGET, "Z3 used its memory")


@each_solver
@pytest.mark.parametrize(
    "query", [Query((atom("p", Var("x", ENTITY)),), atom("q")), sequent("p(a)", "p(a, b)")], ids=shown
)
def test_what_is_no_query_is_unsupported(solver_type: SolverType, query: Query) -> None:
    assert reason_of(solver_type().decide(query)) is Reason.UNSUPPORTED


@each_solver
def test_a_model_with_huge_tables_is_not_attached(solver_type: SolverType) -> None:
    query = Query((parse_formula("¬(a = b)"),), atom("p", *[const("a")] * 16))
    assert solver_type().decide(query) == Refuted(None)


@each_solver
def test_a_text_that_the_tool_does_not_read_is_an_error(
    solver_type: SolverType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{solver_type.__module__}.script", lambda formulas: "(assert undeclared)")
    with pytest.raises(SolverError, match="undeclared"):
        solver_type().decide(sequent("p", "q"))


# -- against the evaluator --------------------------------------------------------------------------------------------


@each_solver
@settings(max_examples=60)
@given(data=st.data())
def test_answers_hold_in_random_structures(solver_type: SolverType, data: st.DataObject) -> None:
    signature = data.draw(strategies.signatures(symbols=strategies.names()))
    query = data.draw(strategies.queries(signature))
    structure = data.draw(strategies.structures(signature))
    answer = solver_type(SMALL).decide(query)
    check_model(query, answer)
    if isinstance(answer, Entailed):
        assert not all(evaluate(formula, structure) for formula in query.assertions)


MONADIC = Signature({"p": (ENTITY,), "q": (ENTITY,), "r": ()}, {"c": FunctionType((), ENTITY)})


@cache
def monadic_structures() -> tuple[Structure, ...]:
    """Every structure of ``MONADIC`` that a formula without equality can tell from the others.

    An element is told from another by ``p`` and ``q`` only, so at most four are needed, each of another kind.
    """

    def kinds(found: Structure) -> list[tuple[bool, bool]]:
        return [((i,) in found.predicates["p"], (i,) in found.predicates["q"]) for i in range(found.domains[ENTITY])]

    every = [found for size in range(1, 5) for found in structures(MONADIC, {ENTITY: size})]
    return tuple([found for found in every if kinds(found) == sorted(set(kinds(found)))])


@each_solver
@settings(max_examples=150)
@given(query=strategies.queries(MONADIC, equality=False, max_size=10))
def test_monadic_queries_are_decided_as_by_trying_everything(solver_type: SolverType, query: Query) -> None:
    refutable = any(
        all(evaluate(formula, structure) for formula in query.assertions) for structure in monadic_structures()
    )
    answer = solver_type().decide(query)
    check_model(query, answer)
    assert isinstance(answer, Refuted if refutable else Entailed)
    assert isinstance(answer, Entailed) or answer.model is not None


# -- against each other -----------------------------------------------------------------------------------------------


@needs_cvc5
@settings(max_examples=150)
@given(strategies.signatures(symbols=strategies.names()).flatmap(strategies.queries))
def test_the_solvers_agree(query: Query) -> None:
    answers = [solver_type(SMALL).decide(query) for solver_type in SOLVERS]
    kinds = {type(answer) for answer in answers} - {Unknown}
    assert len(kinds) <= 1


# -- against themselves -----------------------------------------------------------------------------------------------

MANY = [*ENTAILED, *REFUTED, INFINITE] + [
    sequent(*[f"∀x (p{i}(x) → p{i + 1}(x))" for i in range(length)], "p0(a)", f"∃x p{goal}(x) ∧ ¬p{goal + 1}(b)")
    for length in range(1, 9)
    for goal in range(10)
]


@each_solver
def test_answers_do_not_depend_on_what_is_asked_before_or_meanwhile(solver_type: SolverType) -> None:
    solver = solver_type(SMALL)
    alone = [solver_type(SMALL).decide(query) for query in MANY]
    assert [solver.decide(query) for query in MANY] == alone
    assert [solver.decide(query) for query in reversed(MANY)] == alone[::-1]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(solver.decide, MANY)) == alone
