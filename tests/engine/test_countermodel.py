"""What a solver says of its model counts for nothing until the evaluator confirms it; models with one element."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from proof_r1_formal.engine.countermodel import OneElement, Row, countermodel
from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.errors import StructureError
from proof_r1_formal.kernel.answer import Query, Refuted
from proof_r1_formal.kernel.model import Element, Structure, evaluate
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.kernel.syntax import BOTTOM, Formula, atom, const
from proof_r1_formal.testing import strategies
from proof_r1_formal.text.parse import parse_formula
from tests.finite import structures
from tests.solvers import assert_refuted, model_of

SOME_NOT_ALL = Query((parse_formula("p(a)"),), parse_formula("∀x p(x)"))
SIGNATURE = Signature.infer(SOME_NOT_ALL.assertions)


def only_zero(predicate: str, row: Row) -> bool:
    return row == (0,)


def zero(function: str, row: Row) -> Element:
    return 0


def test_a_true_model_becomes_a_structure() -> None:
    assert countermodel(SOME_NOT_ALL, SIGNATURE, {"Entity": 2}, only_zero, zero) == Refuted(
        Structure({"Entity": 2}, {"p": frozenset({(0,)})}, {"a": {(): 0}})
    )


def test_a_lie_becomes_nothing() -> None:
    assert countermodel(SOME_NOT_ALL, SIGNATURE, {"Entity": 1}, only_zero, zero) is None
    assert countermodel(SOME_NOT_ALL, SIGNATURE, {"Entity": 2}, only_zero, lambda function, row: 1) is None


def test_a_model_that_does_not_tell_becomes_nothing() -> None:
    def silent(symbol: str, row: Row) -> bool:
        raise StructureError(f"no value of {symbol}")

    assert countermodel(SOME_NOT_ALL, SIGNATURE, {"Entity": 2}, silent, zero) is None
    assert countermodel(SOME_NOT_ALL, SIGNATURE, {"Entity": 2}, only_zero, silent) is None


def test_tables_that_are_too_large_are_not_read() -> None:
    def never(symbol: str, row: Row) -> bool:
        raise AssertionError("the table is read")

    query = Query((), atom("p", *[const("a")] * 15))
    assert countermodel(query, Signature.infer(query.assertions), {"Entity": 2}, never, never) is None


# -- one element in each sort: found where there is one, whatever the number of constants ------------------------------


def found_for(*formulas: Formula) -> Structure | None:
    return OneElement().model(formulas, Signature.infer(formulas))


def parsed(*texts: str) -> tuple[Formula, ...]:
    return tuple([parse_formula(text) for text in texts])


@given(st.one_of(strategies.queries(), strategies.queries(max_dependencies=6)))
def test_one_element_models_are_found(query: Query) -> None:
    formulas = query.assertions
    signature = Signature.infer(formulas)
    found = OneElement().model(formulas, signature)
    candidates = structures(signature, dict.fromkeys(signature.sorts, 1))
    there_are = any(all(evaluate(f, structure) for f in formulas) for structure in candidates)
    assert (found is not None) == there_are
    assert found is None or all(evaluate(formula, found) for formula in formulas)


def test_the_first_model_makes_literals_true() -> None:
    found = found_for(*parsed("P(a)", "¬Q(b)", "∀x (P(x) → R(x) ∨ S(x))", "∀x ∃y T(f(x), y)"))
    assert found == Structure(
        {"Entity": 1},
        {"P": frozenset({(0,)}), "Q": frozenset(), "R": frozenset({(0,)}), "S": frozenset(), "T": frozenset({(0, 0)})},
        {"a": {(): 0}, "b": {(): 0}, "f": {(0,): 0}},
    )


def test_predicates_beyond_the_table_are_taken_to_be_false() -> None:
    implications = [f"∀x (P{number}(x) → P{number + 1}(x))" for number in range(20)]
    found = found_for(*parsed(*implications))
    assert found is not None
    assert not any(found.predicates.values())
    assert found_for(*parsed(*implications, "P0(a)")) is None  # it would make all of them true, and is not searched for


def test_the_cost_does_not_depend_on_the_number_of_constants() -> None:
    few, many = OneElement(), OneElement()
    rules = parsed("∀x ∀y (R(x, y) → P(x) ∧ ¬P(y) ∨ Q(x))")
    for search, count in ((few, 2), (many, 50)):
        formulas = (*rules, *parsed("Q(c0) ∨ " + " ∨ ".join([f"Q(c{number})" for number in range(count)])))
        assert search.model(formulas, Signature.infer(formulas)) is not None
    assert many.looked_at - few.looked_at == 48  # one ∨ for each further constant, none for an instance


def test_the_engine_decides_consistency_with_it() -> None:
    premises = parsed("∀x ∃y L(x, y)", "∀x ∀y (L(x, y) → ¬L(y, x) ∨ x = y)", "L(a, b)")  # no decidable class
    query = Query(premises, BOTTOM)
    answer = EmbeddedSolver().decide(query)
    assert model_of(answer).domains == {"Entity": 1}
    assert_refuted(query, answer)
    assert answer.steps > 0
