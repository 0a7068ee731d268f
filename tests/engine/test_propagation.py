"""Proofs by unit propagation: each holds, and those of steps that are usual are found and short."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import pytest
from hypothesis import given, settings

from proof_r1_formal.engine import get_solver
from proof_r1_formal.engine.propagation import MOST, MOST_STEPS, Propagation
from proof_r1_formal.kernel.answer import Entailed, Query
from proof_r1_formal.kernel.checker import check
from proof_r1_formal.kernel.syntax import ForAll, Formula, Or, atom, const, var
from proof_r1_formal.kernel.term import Proof
from proof_r1_formal.kernel.transform import alpha_normal
from proof_r1_formal.rules.catalogue import TRAIN
from proof_r1_formal.rules.schema import Rule
from proof_r1_formal.testing.strategies import queries
from proof_r1_formal.text.parse import parse_formula
from tests.build import sequent


def propagated(query: Query) -> Proof | None:
    """What is found; a proof is checked."""
    proof = Propagation(query.dependencies, query.conclusion).proof()
    if proof is not None:
        check(proof, query.dependencies, query.conclusion)
    return proof


def lines(proof: Proof) -> int:
    return sum([1 + lines(getattr(line, "block", ())) for line in proof])


@settings(max_examples=400)
@given(queries())
def test_what_is_found_is_a_proof(query: Query) -> None:
    if propagated(query) is not None:
        assert isinstance(get_solver("z3").decide(query), Entailed)


STEPS: Mapping[str, int] = {
    "∀x (P(x) → Q(x)); P(a) ⊢ Q(a)": 2,
    "A → B; ¬B ⊢ ¬A": 1,
    "A ⊢ A": 1,
    "A ∧ (A → B) ⊢ B": 3,
    "¬∃x P(x) ⊢ ¬P(a)": 1,
    "∀x ∀y (P(x) → Q(y)); P(a); ¬Q(b) ⊢ P(b)": 4,
    "A; ¬A ⊢ B": 1,
    "A; B ⊢ A ∧ B": 1,
    "⊢ A → A": 4,
    "¬A; (A ↔ A) → A ⊢ B": 3,
    "⊥ ⊢ A": 2,
}
"""Steps, and how many lines their proofs have."""


@pytest.mark.parametrize(("text", "length"), STEPS.items())
def test_proofs_of_usual_steps(text: str, length: int) -> None:
    proof = propagated(sequent(text))
    assert proof is not None
    assert lines(proof) == length


@pytest.mark.parametrize("rule", TRAIN.rules, ids=lambda rule: rule.name)
def test_the_example_of_each_rule_is_proved(rule: Rule) -> None:
    assert propagated(sequent(*rule.example.dependencies, rule.example.conclusion)) is not None


def test_what_needs_a_case_distinction_is_left_to_the_tableau() -> None:
    split = sequent("A → B; B → A ⊢ A ↔ B")
    assert propagated(split) is None
    answer = get_solver("embedded").decide(split)
    assert isinstance(answer, Entailed)
    assert answer.proof is not None


def test_it_ends_with_its_budget() -> None:
    names = [f"c{number}" for number in range(60)]
    facts = " ∧ ".join(f"r({one}, {other})" for one, other in pairwise(names))
    transitive = parse_formula("∀x ∀y ∀z (r(x, y) ∧ r(y, z) → r(x, z))")
    premises, conclusion = (transitive, parse_formula(facts)), parse_formula("r(c59, c0)")
    propagation = Propagation(premises, conclusion)
    assert propagation.proof() is None
    assert propagation.steps < 20 * MOST


def test_instances_of_long_formulas_cost_steps() -> None:
    """400 instances of a formula of 801 parts are more than the steps allow, and most of them are not made."""
    long: Formula = atom("Q0", var("x"))
    for number in range(1, 401):
        long = Or(atom(f"Q{number}", var("x")), long) if number % 2 else Or(long, atom(f"Q{number}", var("x")))
    quantified = ForAll(var("x"), long)
    facts = [atom("P", const(f"c{number}")) for number in range(400)]
    propagation = Propagation((*facts, quantified), atom("R"))
    assert propagation.proof() is None
    assert MOST_STEPS < propagation.steps < 2 * MOST_STEPS
    assert len(alpha_normal(quantified).memo["instances"]) < 100
