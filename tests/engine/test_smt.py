"""Z3 and cvc5, put to the same tests: against the reference evaluator, against each other, and against themselves."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from itertools import islice, product
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof_r1_formal.engine.cvc5 import Cvc5Solver
from proof_r1_formal.engine.solver import Limits
from proof_r1_formal.engine.z3 import Z3Solver
from proof_r1_formal.errors import ParseError, SignatureError, SolverError
from proof_r1_formal.kernel.answer import Answer, Entailed, Reason, Refuted, Unknown
from proof_r1_formal.kernel.confirm import confirm
from proof_r1_formal.kernel.model import Structure, evaluate
from proof_r1_formal.kernel.query import Query
from proof_r1_formal.kernel.signature import FunctionType, Signature
from proof_r1_formal.kernel.syntax import ENTITY, Exists, ForAll, Formula, Var, atom, const
from proof_r1_formal.testing import strategies
from proof_r1_formal.text.parse import parse_formula
from tests.builders import INFINITE, ask, model_of, pigeons, reason_of, shown
from tests.finite import structures
from tests.patience import PATIENCE

SolverType: TypeAlias = type[Z3Solver] | type[Cvc5Solver]

SOLVERS: tuple[SolverType, ...] = (Z3Solver, Cvc5Solver)
SMALL = Limits(steps=100_000)

needs_cvc5 = pytest.mark.skipif(find_spec("cvc5") is None, reason="cvc5 is not installed (the extra [solvers])")
each_solver = pytest.mark.parametrize("solver_type", [Z3Solver, pytest.param(Cvc5Solver, marks=needs_cvc5)])


def check_model(query: Query, answer: Answer) -> None:
    """The attached structure, if there is one, is complete and refutes the query."""
    if not isinstance(answer, Refuted) or answer.model is None:
        return
    model, signature = answer.model, Signature.infer(query.assertions)
    assert set(model.domains) == set(signature.sorts)
    for name, sorts in signature.predicates.items():
        assert model.predicates[name] <= set(product(*[range(model.domains[sort]) for sort in sorts]))
    for name, type_ in signature.functions.items():
        assert set(model.functions[name]) == set(product(*[range(model.domains[sort]) for sort in type_.arguments]))
        assert set(model.functions[name].values()) <= set(range(model.domains[type_.result]))
    assert all(evaluate(formula, model) for formula in query.dependencies)
    assert not evaluate(query.conclusion, model)


# -- worked examples --------------------------------------------------------------------------------------------------

ENTAILED = [
    ask("∀x (human(x) → mortal(x))", "human(socrates)", "mortal(socrates)"),
    ask("p ⊕ q", "p", "¬q"),
    ask("∀x p(x)", "∃x p(x)"),  # domains are not empty
    ask("∀x:Ghost scary(x)", "∃x:Ghost scary(x)"),  # nor is the domain of a sort without constants
    ask("a = b", "f(a) = f(b)"),
    ask("∃x ∀y likes(x, y)", "∀y ∃x likes(x, y)"),
    ask("⊥", "anything"),
    ask("p ∨ ¬p"),
    ask("∀x ∀y x = y", "p(a)", "∀x p(x)"),
    ask("∀x:A ∃y:B r(x, y)", "∀y:B ∀x:A ¬r(x, y)", "⊥"),
]
REFUTED = [
    ask("∀x (human(x) → mortal(x))", "mortal(socrates)", "human(socrates)"),
    ask("p"),
    ask("⊥"),
    ask("p(a)", "∀x p(x)"),
    ask("∀y ∃x likes(x, y)", "∃x ∀y likes(x, y)"),
    ask("p(a)", "p(b)"),  # constants need not differ
    ask("¬(a = b)"),  # nor be equal
    ask("∃x p(x)", "∃x ¬p(x)", "∀x ∀y x = y"),
    ask("∀x:A p(x)", "∀x:B q(x)", "∃x:A ∃y:B r(x, y)"),
    ask("∀x ¬(f(x) = x)", "∀x f(f(x)) = x", "∃x f(x) = x"),
    ask("p → q", "q → p"),
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


@each_solver
def test_variables_of_one_name_and_two_sorts(solver_type: SolverType) -> None:
    cat, dog = Var("x", "Cat"), Var("x", "Dog")
    chased = ForAll(cat, Exists(dog, atom("chases", dog, cat)))
    some_chases = Exists(dog, Exists(cat, atom("chases", dog, cat)))
    one_chases_all = Exists(dog, ForAll(cat, atom("chases", dog, cat)))
    solver = solver_type()
    assert isinstance(solver.decide(Query((chased,), some_chases)), Entailed)
    assert isinstance(solver.decide(Query((chased,), one_chases_all)), Refuted)


@each_solver
def test_the_model_of_a_query_without_terms(solver_type: SolverType) -> None:
    assert solver_type().decide(ask("p", "q")) == Refuted(
        Structure({ENTITY: 1}, {"p": frozenset({()}), "q": frozenset()}, {})
    )


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
@pytest.mark.parametrize("query", [Query((atom("p", Var("x", ENTITY)),), atom("q")), ask("p(a)", "p(a, b)")], ids=shown)
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
        solver_type().decide(ask("p", "q"))


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


def real_queries(folder: Path) -> Iterator[Query]:
    """Premises and goal of every fifth problem of ProverQA and of FOLIO, where all of them parse."""
    records: list[tuple[list[str], str]] = []
    for name in ("easy", "medium", "hard"):
        problems = json.loads((folder / "proverqa" / f"{name}.json").read_text())
        records += [(list(problem["nl2fol"].values()), problem["conclusion_fol"]) for problem in problems]
    with (folder / "folio" / "folio_v0_validation.jsonl").open() as lines:
        problems = [json.loads(line) for line in lines]
        records += [(problem["premises-FOL"], problem["conclusion-FOL"]) for problem in problems]
    for premises, goal in islice(records, 0, None, 5):
        try:
            formulas: list[Formula] = [parse_formula(text) for text in (*premises, goal)]
            Signature.infer(formulas)
        except (ParseError, SignatureError):
            continue
        yield Query(tuple(formulas[:-1]), formulas[-1])


@needs_cvc5
@pytest.mark.shared
def test_the_solvers_agree_on_real_problems(shared_data: Path, record_property: Callable[[str, object], None]) -> None:
    counts: Counter[tuple[str, ...]] = Counter()
    for query in real_queries(shared_data):
        answers = [solver_type().decide(query) for solver_type in SOLVERS]
        for answer in answers:
            check_model(query, answer)
            assert not isinstance(answer, Refuted) or answer.model is not None
        counts[tuple(type(answer).__name__ for answer in answers)] += 1
    record_property("answers of Z3 and cvc5", dict(counts))
    assert set(counts) == {("Entailed", "Entailed"), ("Refuted", "Refuted")}
    assert counts.total() > 200


# -- against themselves -----------------------------------------------------------------------------------------------

MANY = [*ENTAILED, *REFUTED, INFINITE] + [
    ask(*[f"∀x (p{i}(x) → p{i + 1}(x))" for i in range(length)], "p0(a)", f"∃x p{goal}(x) ∧ ¬p{goal + 1}(b)")
    for length in range(1, 9)
    for goal in range(10)
]


@each_solver
def test_answers_do_not_depend_on_what_was_asked_before(solver_type: SolverType) -> None:
    assert len(MANY) > 100
    solver = solver_type(SMALL)
    alone = [solver_type(SMALL).decide(query) for query in MANY]
    assert [solver.decide(query) for query in MANY] == alone
    assert [solver.decide(query) for query in reversed(MANY)] == alone[::-1]


@each_solver
def test_answers_do_not_depend_on_what_is_asked_meanwhile(solver_type: SolverType) -> None:
    solver = solver_type(SMALL)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(solver.decide, MANY)) == [solver.decide(query) for query in MANY]
