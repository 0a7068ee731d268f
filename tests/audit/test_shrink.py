"""Making queries smaller: what comes out has the property, and nothing one step smaller has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof_r1_formal.audit.shrink import shrink, smaller
from proof_r1_formal.engine.solver import checked_signature
from proof_r1_formal.kernel.answer import Entailed, Unknown
from proof_r1_formal.kernel.query import Query
from proof_r1_formal.kernel.syntax import BOTTOM, Atom, Exists, ForAll, Iff, Implies, Not, Or, Xor
from proof_r1_formal.kernel.transform import subformulas
from proof_r1_formal.testing.strategies import queries
from proof_r1_formal.text.show import show
from tests.builders import ask
from tests.finite import FiniteSolver


def texts(found: Query) -> tuple[str, ...]:
    return (*map(show, found.dependencies), show(found.conclusion))


@given(queries(), st.sampled_from([Atom, Not, Xor, Or, Implies, Iff, ForAll, Exists]))
def test_the_property_stays_and_no_step_is_left(asked: Query, wanted: type) -> None:
    def keeps(candidate: Query) -> bool:
        assert not isinstance(checked_signature(candidate), Unknown)  # what is asked are closed formulas
        formulas = (*candidate.dependencies, candidate.conclusion)
        return any(isinstance(part, wanted) for formula in formulas for part in subformulas(formula))

    if keeps(asked):
        found = shrink(asked, keeps)
        assert keeps(found)
        assert not any(map(keeps, smaller(found)))
        assert shrink(asked, keeps) == found


@given(queries())
def test_an_entailment_comes_down_to_nothing(asked: Query) -> None:
    def entailed(candidate: Query) -> bool:
        return isinstance(FiniteSolver().decide(candidate), Entailed)

    if entailed(asked):
        assert texts(shrink(asked, entailed)) in (("⊤",), ("⊥", "⊥"))


@pytest.mark.parametrize(
    ("long", "short"),
    [
        (("∀x (cat(x) → tame(x))", "cat(tom) ∧ old(tom)", "p", "tame(tom)"), ("tame(tom)", "tame(tom)")),
        (("∃x (cat(x) ∧ dog(x))", "∃y dog(y)"), ("dog(c)", "dog(c)")),
        (("likes(tom, tim) ∨ ¬(tom = tom)", "q", "likes(tom, tim)"), ("likes(tim, tim)", "likes(tim, tim)")),
    ],
)
def test_worked_examples(long: tuple[str, ...], short: tuple[str, ...]) -> None:
    solver = FiniteSolver()

    def needs_its_dependencies(candidate: Query) -> bool:
        alone = Query((), candidate.conclusion)
        contradictory = Query(candidate.dependencies, BOTTOM)
        return isinstance(solver.decide(candidate), Entailed) and not any(
            isinstance(solver.decide(other), Entailed) for other in (alone, contradictory)
        )

    assert texts(shrink(ask(*long), needs_its_dependencies)) == short


def test_tries_are_bounded() -> None:
    asked = []

    def keeps(candidate: Query) -> bool:
        asked.append(candidate)
        return not isinstance(FiniteSolver().decide(candidate), Unknown)

    shrink(ask("p ∧ q", "r ∧ (s ∨ t)", "p ∨ r"), keeps, tries=3)
    assert len(asked) == 3
