"""The default engine: Z3's answers with evidence that holds, honest where there is none, and nothing but a countermodel
passes for one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib.metadata import version
from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof_r1_formal.engine import get_solver
from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.engine.finite import refuted_in_small_domain
from proof_r1_formal.engine.solver import MAX_DEPTH, Limits
from proof_r1_formal.kernel.answer import Answer, Confirmation, Entailed, Query, Reason, Refuted, Unknown, confirm
from proof_r1_formal.kernel.model import Structure
from proof_r1_formal.kernel.signature import FunctionType, Signature
from proof_r1_formal.kernel.syntax import BOTTOM, ENTITY, ForAll, Formula, Implies, Not, atom, var
from proof_r1_formal.render.smtlib import term
from proof_r1_formal.testing import strategies
from tests.build import INFINITE, nested, nested_terms, pigeons, sequent, shown
from tests.render.smtlib_reader import meaning, read
from tests.solvers import FiniteSolver, reason_of

ENGINE = EmbeddedSolver()
Z3 = get_solver("z3")


# -- against Z3 -------------------------------------------------------------------------------------------------------

RICH = Signature(
    {"p": (ENTITY,), "r": (ENTITY, "Town"), "s": (ENTITY, ENTITY), "q": ()},
    {
        "a": FunctionType((), ENTITY),
        "b": FunctionType((), ENTITY),
        "rome": FunctionType((), "Town"),
        "f": FunctionType((ENTITY,), ENTITY),
    },
    (ENTITY, "Town"),
)
RELATIONAL = Signature(
    {"p": (ENTITY,), "q": (ENTITY,), "s": (ENTITY, ENTITY)}, {name: FunctionType((), ENTITY) for name in "abc"}
)


def check_against_z3(query: Query, *, proofs: bool = True) -> None:
    """The answer is Z3's, its evidence holds, and inside the class there is some; proofs only where they are wanted."""
    answer, expected = ENGINE.decide(query), Z3.decide(query)
    confirmation = confirm(query, answer)
    assert confirmation.answer == answer
    if not isinstance(FiniteSolver().decide(query), Unknown):
        assert type(answer) is type(expected)
        assert confirmation.checked or (isinstance(answer, Entailed) and not proofs)
    elif not isinstance(expected, Unknown):
        assert type(answer) is type(expected)


@settings(max_examples=300)
@given(
    strategies.queries(RELATIONAL, max_size=10)
    | strategies.queries(RELATIONAL, equality=False, max_dependencies=4, max_size=12)
    | strategies.signatures(symbols=strategies.names(), max_functions=0).flatmap(strategies.queries)
)
def test_inside_the_class_every_answer_has_evidence(query: Query) -> None:
    check_against_z3(query)


OWN = ("␣", "␣0", "␣1", "␣c", "␣c0", "␣c1", "␣c2", "␣c3", "␣w0", "␣w1", "␣eEntity", "␣e␣", "p0", "p1", "f0", "f1", "q")
"""Names such as the engine gives to constants of proofs and witnesses of groundings."""


@settings(max_examples=150)
@given(data=st.data())
def test_names_of_the_engine_are_not_mistaken_for_its_own(data: st.DataObject) -> None:
    signature = data.draw(strategies.signatures(symbols=st.sampled_from(OWN)))
    formulas = strategies.formulas(signature, max_size=7, variables=OWN)
    query = Query(tuple(data.draw(st.lists(formulas, max_size=3))), data.draw(formulas))
    check_against_z3(query, proofs=False)
    assert EmbeddedSolver().decide(query) == ENGINE.decide(query)


@settings(max_examples=150)
@given(strategies.queries(RICH))
def test_with_sorts_and_functions(query: Query) -> None:
    check_against_z3(query, proofs=False)


# -- outside the class ------------------------------------------------------------------------------------------------

FUNCTION = sequent("∀x p(f(x))", "∃x p(x)")  # needs a term that is nowhere, and Z3 finds it


@pytest.mark.parametrize(
    "query",
    [
        sequent("∀x ∃y likes(x, y)", "∃y likes(tom, y)"),
        sequent("∀x ∃y likes(x, y)", "∀x (rich(x) → ∃y likes(x, y))"),
        sequent("∀x (p(x) → p(f(x)))", "p(a)", "p(f(f(f(a))))"),
        sequent("∀x ∃y likes(x, y)", "∀x ∀y (likes(x, y) → rich(y))", "∃x rich(x)"),
        FUNCTION,
        # inside the class, with a function of a witness for a term
        sequent("∃x p(f(x))", "∃x p(x)"),
        sequent("∃x ∀y s(f(x), y)", "∃x s(x, x)"),
    ],
    ids=shown,
)
def test_proofs_that_need_functions_or_witnesses(query: Query) -> None:
    answer = ENGINE.decide(query)
    assert isinstance(answer, Entailed)
    assert confirm(query, answer).checked


@pytest.mark.parametrize(
    "query",
    [
        sequent("∀y ∃x likes(x, y)", "∃x ∀y likes(x, y)"),
        sequent("∀x ¬(f(x) = x)", "∀x f(f(x)) = x", "∃x f(x) = x"),
        sequent("∀x ∃y (likes(x, y) ∧ ¬(x = y))", "∃x ∀y likes(x, y)"),
    ],
    ids=shown,
)
def test_small_countermodels_outside_the_class_are_found(query: Query, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(FiniteSolver().decide(query), Unknown)
    monkeypatch.setattr(EmbeddedSolver, "_by_z3", None)
    answer = EmbeddedSolver().decide(query)
    assert isinstance(answer, Refuted)
    assert confirm(query, answer).checked


def test_countermodels_to_large_queries_are_z3s() -> None:
    facts = [f"p(c{number})" for number in range(20)]
    query = sequent(*facts, "∀x ∀y ∀z (r(x, y) ∧ r(y, z) → r(x, z))", "∀x ∃y r(x, y)", "q")
    small = refuted_in_small_domain(query, Signature.infer(query.formulas))
    assert small == Unknown(Reason.BUDGET, "more than 5000 ground formulas")
    answer = ENGINE.decide(query)
    assert isinstance(answer, Refuted)
    assert answer.steps > small.steps
    assert confirm(query, answer).checked


def test_what_is_undecided_stays_undecided() -> None:
    answer = EmbeddedSolver(Limits(steps=10_000)).decide(INFINITE)
    assert answer == Unknown(Reason.BUDGET, "Z3 used its 10000 steps")
    assert confirm(INFINITE, answer) == Confirmation(answer)


def test_limits_are_those_of_z3_alone() -> None:
    engine = EmbeddedSolver(Limits(steps=0))
    inside = sequent("∀x (cat(x) → pet(x))", "pet(tom)", "cat(tom)")
    assert engine.decide(inside) == ENGINE.decide(inside)
    assert reason_of(engine.decide(FUNCTION)) is Reason.BUDGET


PIGEONS = pigeons(8, 7)  # what the engine decides by a SAT solver, and has no short proof of
STEPS = " ∧ ".join([f"(∀x (p{number}(x) → p{number + 1}(f(x))))" for number in range(8)])
CHAIN = sequent(f"p0(a) ∧ {STEPS}", "∃x p8(x)")  # needs so large a term that only Z3 finds it


@pytest.mark.parametrize("query", [PIGEONS, CHAIN], ids=["pigeons", "function"])
def test_where_no_proof_is_found_a_yes_says_so(query: Query) -> None:
    answer = ENGINE.decide(query)
    assert answer == Entailed(None)
    assert confirm(query, answer) == Confirmation(answer)


# -- what is no query -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "detail"),
    [
        (Query((), atom("p", var("x"))), "variable 'x' is free"),
        (sequent("p(a)", "p(a, b)"), "'p' is used as a predicate of 1 argument and as a predicate of 2 arguments"),
        (sequent("∀x:A p(x)", "∀x:B p(x)"), "'p' is used as taking sort A and as taking sort B"),
        (sequent("p(f(f))", "q"), "'f' is used as a function of 1 argument and as a constant"),
    ],
)
def test_what_is_no_query_is_unsupported_in_its_own_names(query: Query, detail: str) -> None:
    assert ENGINE.decide(query) == Z3.decide(query) == Unknown(Reason.UNSUPPORTED, detail)


P = atom("p")


@pytest.mark.parametrize(
    "formula",
    [
        nested(Not, P, MAX_DEPTH - 1),
        nested(lambda inner: Implies(P, inner), P, MAX_DEPTH - 1),
        nested(lambda inner: ForAll(var("x"), inner), P, MAX_DEPTH - 1),
        nested_terms(MAX_DEPTH),
    ],
    ids=["¬", "→", "∀", "terms"],
)
def test_the_deepest_query_is_answered(formula: Formula) -> None:
    for query in (Query((formula,), formula), Query((), formula), Query((formula,), BOTTOM)):
        answer = ENGINE.decide(query)
        assert type(answer) is type(Z3.decide(query))
        assert confirm(query, answer).answer == answer
    too_deep = Unknown(Reason.UNSUPPORTED, f"a formula is nested deeper than {MAX_DEPTH}")
    assert ENGINE.decide(Query((Not(formula),), formula)) == too_deep


# -- corrupted countermodels ------------------------------------------------------------------------------------------


def refutes(query: Query, structure: Structure) -> bool:
    """As another evaluator has it, which reads SMT-LIB."""
    return all(meaning(read(term(formula)), structure, {}) for formula in query.assertions)


def corrupted(structure: Structure, signature: Signature) -> Iterator[Structure]:
    """The structures that differ in one entry of one table."""

    def rows(sorts: tuple[str, ...]) -> Iterator[tuple[int, ...]]:
        return product(*[range(structure.domains[sort]) for sort in sorts])

    for name, sorts in signature.predicates.items():
        for row in rows(sorts):
            yield replace(
                structure, predicates={**structure.predicates, name: structure.predicates[name] ^ frozenset({row})}
            )
    for name, kind in signature.functions.items():
        table: Mapping[tuple[int, ...], int] = structure.functions[name]
        for row in rows(kind.arguments):
            for value in set(range(structure.domains[kind.result])) - {table[row]}:
                yield replace(structure, functions={**structure.functions, name: {**table, row: value}})


NO_COUNTERMODEL = Unknown(Reason.BROKEN, "the solver's countermodel does not hold")


@settings(max_examples=150)
@given(strategies.queries(RICH, max_size=6))
def test_a_corrupted_countermodel_counts_only_if_it_is_still_one(query: Query) -> None:
    answer = ENGINE.decide(query)
    if not isinstance(answer, Refuted) or answer.model is None:
        return
    assert refutes(query, answer.model)
    for structure in corrupted(answer.model, Signature.infer(query.assertions)):
        still = Refuted(structure)
        expected = Confirmation(still, "checked") if refutes(query, structure) else Confirmation(NO_COUNTERMODEL)
        assert confirm(query, still) == expected


# -- name, memory, file -----------------------------------------------------------------------------------------------


def test_the_name() -> None:
    assert ENGINE.name == f"embedded {version('proof-r1-formal')}" == get_solver("embedded").name


SMALL = Limits(steps=10_000)


@settings(max_examples=30)
@given(st.lists(strategies.queries(RELATIONAL, max_size=5), min_size=2, max_size=5), st.randoms())
def test_answers_do_not_depend_on_order_and_memory(queries: list[Query], random: Random) -> None:
    alone: dict[Query, Answer] = {query: EmbeddedSolver(SMALL).decide(query) for query in queries}
    engine = EmbeddedSolver(SMALL)
    order = queries * 2
    random.shuffle(order)
    assert {query: engine.decide(query) for query in order} == alone
