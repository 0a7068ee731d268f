"""Names in queries that look like those the engine gives to its own constants and witnesses."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from proof_r1_formal.engine import get_solver
from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.kernel.confirm import confirm
from proof_r1_formal.kernel.query import Query
from proof_r1_formal.testing import strategies

FRESH = EmbeddedSolver()
Z3 = get_solver("z3")


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
