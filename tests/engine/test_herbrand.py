"""Herbrand expansions and the proofs by their instances: what is found holds, and what is small enough is found."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings

from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.engine.herbrand import Expansion, Plan
from proof_r1_formal.engine.prover import search
from proof_r1_formal.engine.solver import Budget, Limits, checked_signature
from proof_r1_formal.engine.z3 import unsat_core
from proof_r1_formal.kernel.answer import Query, Refuted, Unknown
from proof_r1_formal.kernel.checker import check
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.kernel.syntax import App, const
from proof_r1_formal.testing.strategies import queries
from tests.build import sequent


def expansion(query: Query, budget: int = 4_000) -> Expansion:
    return Expansion(query.dependencies, query.conclusion, Signature.infer(query.formulas), Budget(budget))


def plan(query: Query, budget: int = 4_000) -> Plan | None:
    """The plan of the first level that has one."""
    levels = expansion(query, budget)
    while levels.grow():
        core, _ = unsat_core(levels.clauses, tuple(levels.instances), Limits(steps=100_000))
        if core is not None:
            return levels.plan(core)
    return None


@settings(max_examples=60)
@given(queries())
def test_a_plan_gives_a_proof_of_what_is_entailed(query: Query) -> None:
    assume(not isinstance(checked_signature(query), Unknown))
    found = plan(query)
    if found is not None:
        proof = search(query.dependencies, query.conclusion, plan=found).proof
        assert proof is not None
        check(proof, query.dependencies, query.conclusion)
        assert not isinstance(EmbeddedSolver().decide(query), Refuted)


@pytest.mark.parametrize(
    "text",
    [
        "⊢ (∀x (F(x) ↔ ¬F(f(x)))) → ∃x (F(x) ∧ ¬F(f(x)))",  # Skolem terms that no formula has
        "∀x ∀y f(x) = g(y) ⊢ ∀x ∀y f(f(x)) = f(g(y))",  # congruence
        "∀x ∀y ∀z f(x, f(y, z)) = f(f(x, y), z) ⊢ ∀x ∀y ∀z ∀w f(x, f(y, f(z, w))) = f(f(f(x, y), z), w)",
        "∀x∃y R(x, y); ∀x∀y (R(x, y) → x = f(y)) ⊢ ∃x∃y ∃z (x = f(f(y)) ∧ R(x, z))",
        "∀x:S ∃y:T R(x, y); ∀y:T ∀z:T y = z ⊢ ∀y:T ∀x:S R(x, y)",  # two sorts
    ],
)
def test_proofs_by_instances(text: str) -> None:
    query = sequent(text)
    found = plan(query, 20_000)
    assert found is not None
    proof = search(query.dependencies, query.conclusion, plan=found).proof
    assert proof is not None
    check(proof, query.dependencies, query.conclusion)


def test_a_level_has_the_instances_of_its_cost() -> None:
    levels = expansion(sequent("P(a); ∀x (P(x) → P(f(x))) ⊢ ∃y Q(y)"))
    assert levels.grow()
    terms = [{term for _, term in levels.instances.values()}]
    while levels.grow():
        terms.append({term for _, term in levels.instances.values()})
    a = const("a")
    assert terms[0] == {a}
    assert terms[1] == {a, App("f", (a,))}
    assert len(terms) == 6


def test_new_names_are_not_those_of_the_query() -> None:
    query = sequent('∀x∃y "␣i0"(x, y, "␣w0") ⊢ ∃y "␣i0"("␣w0", y, "␣w0")')
    levels = expansion(query)
    assert levels.grow()
    names = {"␣i0", "␣w0"}
    assert not names & {guard.predicate for guard in levels.instances}
    assert not names & {name.function for name in levels.plan(levels.instances).witnesses.values()}


def test_a_wrong_plan_gives_no_proof() -> None:
    query = sequent("∀x (P(x) → Q(x)); P(a) ⊢ Q(a)")
    assert search(query.dependencies, query.conclusion, plan=Plan({}, {})).proof is None


def test_the_budget_ends_the_levels() -> None:
    query = sequent("∀x∀y∀z∀w R(f(x, y), f(z, w)) ⊢ ∃x (R(x, x) ∧ S(x))")
    budget = Budget(500)
    levels = Expansion(query.dependencies, query.conclusion, Signature.infer(query.formulas), budget)
    while levels.grow():
        pass
    assert budget.spent == 500
    assert 100 < len(levels.instances) < 500
