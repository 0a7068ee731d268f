"""Names in queries that look like those the engine gives to its own constants and witnesses."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof_r1_formal.engine import get_solver
from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.kernel.answer import Answer, Entailed, Refuted
from proof_r1_formal.kernel.confirm import confirm
from proof_r1_formal.kernel.query import Query
from proof_r1_formal.kernel.syntax import Formula, Not, atom, const
from proof_r1_formal.testing import strategies
from proof_r1_formal.text.parse import parse_formula

FRESH = EmbeddedSolver()
Z3 = get_solver("z3")


@given(strategies.signatures(symbols=strategies.names()).flatmap(strategies.queries))
def test_evidence_in_the_names_of_the_query_holds(query: Query) -> None:
    answer = FRESH.decide(query)
    has_evidence = getattr(answer, "proof", None) is not None or getattr(answer, "model", None) is not None
    assert confirm(query, answer).checked == has_evidence


# -- names that are the package's own ---------------------------------------------------------------------------------

OWN = ("␣", "␣0", "␣1", "␣c", "␣c0", "␣c1", "␣c2", "␣c3", "␣w0", "␣w1", "␣eEntity", "␣e␣", "p0", "p1", "f0", "f1", "q")


@settings(max_examples=150)
@given(data=st.data())
def test_names_as_the_engine_gives_them(data: st.DataObject) -> None:
    """Proofs bring in constants and groundings bring in witnesses. Neither is mistaken for a symbol of the query."""
    signature = data.draw(strategies.signatures(symbols=st.sampled_from(OWN)))
    formula = strategies.formulas(signature, max_size=7, variables=OWN)
    query = Query(tuple(data.draw(st.lists(formula, max_size=3))), data.draw(formula))
    answer, expected = EmbeddedSolver().decide(query), Z3.decide(query)
    assert type(answer) is type(expected)
    assert confirm(query, answer).answer == answer
    assert answer == FRESH.decide(query)


def new_constants(name: str) -> list[tuple[Query, type[Answer]]]:
    """Queries whose proofs or countermodels need a new constant, and that have one of a name like it."""
    known: Formula = atom("big", const(name))
    return [
        (Query((known, parse_formula("∃x old(x)")), parse_formula("∃x (big(x) ∧ old(x))")), Refuted),
        (Query((known,), parse_formula("∀x big(x)")), Refuted),
        (Query((parse_formula("∃x big(x)"),), known), Refuted),
        (Query((known, parse_formula("∀x (big(x) → old(x))")), parse_formula("∃x old(x)")), Entailed),
        (Query((Not(known), parse_formula("∀x (old(x) → big(x))")), parse_formula("∃x ¬old(x)")), Entailed),
        (Query((parse_formula("∀x (big(x) ∧ old(x))"), known), parse_formula("∀x old(x)")), Entailed),
        (Query((parse_formula("∃x (big(x) ∧ old(x))"), Not(known)), parse_formula("∃x (old(x) ∧ big(x))")), Entailed),
    ]


@pytest.mark.parametrize("name", OWN)
def test_a_new_constant_is_new(name: str) -> None:
    for query, expected in new_constants(name):
        answer = EmbeddedSolver().decide(query)
        assert isinstance(answer, expected)
        assert confirm(query, answer).checked
