"""What all writers of formulas share: they write formulas of any depth, and refuse a symbol with two uses."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from proof_r1_formal.errors import SignatureError
from proof_r1_formal.kernel.answer import Query
from proof_r1_formal.kernel.syntax import Formula, Not
from proof_r1_formal.render import isabelle, lean, smtlib, tptp
from tests.build import nested, sequent


@pytest.mark.parametrize("written", [isabelle.formula_text, lean.formula, smtlib.term, tptp.formula_text])
def test_nesting_is_no_limit(written: Callable[[Formula], str]) -> None:
    (formula,) = sequent("p").formulas
    negation = written(Not(formula)).partition(written(formula))[0]
    assert written(nested(Not, formula, 5_000)).count(negation) == 5_000


@pytest.mark.parametrize(
    "written",
    [
        lambda query: isabelle.query_theory(query, "T"),
        lambda query: isabelle.countermodel_theory(query, "T"),
        lambda query: lean.entailment(query.dependencies, query.conclusion),
        lambda query: smtlib.script(query.assertions),
        tptp.problem,
    ],
)
def test_a_symbol_that_is_used_in_two_ways_is_refused(written: Callable[[Query], str]) -> None:
    with pytest.raises(SignatureError):
        written(sequent("p", "p(a)"))
