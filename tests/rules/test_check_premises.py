"""What a match reports: the schema, the substitution, and the premises that no dependency states."""

from __future__ import annotations

import pytest

from proof_r1_formal.kernel.pattern import instance
from proof_r1_formal.rules.check import Match
from proof_r1_formal.text.parse import parse_formula
from tests.rules.steps import check


def test_what_a_match_says() -> None:
    match check("IE", "P(a); ∀x (P(x) → Q(x)) |- Q(a)"):
        case Match(schema, substitution, principal, minor):
            assert schema.name == "implication_elimination"
            assert [anchor.dependency for anchor in principal] == [1]
            assert principal[0].element is parse_formula("P(a) → Q(a)")
            assert minor == (parse_formula("P(a)"),)
            assert set(substitution) == {"A", "B"}
        case other:
            pytest.fail(f"no match: {other}")


COMPOUND = [
    ("IE", "A → B; B → C; A |- C", ["B"]),
    ("IE", "A ⊕ B → C; A; ¬B |- C", ["A ⊕ B"]),
    ("IE", "(∃x P(x)) → B; P(a) |- B", ["∃x P(x)"]),
    ("IE", "A → C; B → C; D; (D → A) ∧ (D → B) |- C", ["A"]),  # of two such instances the first
    ("MT", "A → B; B → C; ¬C |- ¬A", ["¬B"]),
    ("MT", "A → B ∧ C; B → D; D → ¬C |- ¬A", ["¬(B ∧ C)"]),
    ("DS", "A ∨ B; A → C; ¬C |- B", ["¬A"]),
    ("XOE", "A ⊕ B; C → A; C |- ¬B", ["A"]),
    ("XOI", "D → A; D; ¬B |- A ⊕ B", ["A"]),
    ("CE", "A ⊕ B → C ∧ D; A; ¬B |- C", ["A ⊕ B"]),  # what lets the consequent be used is needed, too
    ("CE", "A → (B → C ∧ D); E → A; E; B |- C", ["A"]),  # also two antecedents deep
    ("IE", "((A ⊕ B) ↔ C) → D; A; ¬B; C |- D", ["A ⊕ B ↔ C"]),
    ("IE", "A ∨ (B ∨ C) → D; C |- D", []),
    ("IE", "A ∨ B → C; A |- C", []),
    ("IE", "A ∨ B → C; D → B; D |- C", ["A ∨ B"]),
    ("IE", "(A → B) → C; ¬A |- C", []),
    ("IE", "(A → B) → C; B |- C", []),
    ("IE", "(A → B) → C; D → B; D |- C", ["A → B"]),
    ("IE", "¬(A ∧ B) → C; ¬A |- C", []),
    ("IE", "¬(A ∧ B) → C; ¬B |- C", []),
    ("IE", "¬(A ∧ B) → C; D → ¬B; D |- C", ["¬(A ∧ B)"]),
    ("IE", "(A ↔ B) → C; A; B |- C", []),
    ("IE", "(A ↔ B) → C; ¬A; ¬B |- C", []),
    ("IE", "(A ↔ B) → C; D → B; A; D |- C", ["A ↔ B"]),
    ("IE", "A → B; A |- B", []),
    ("IE", "∀x (P(x) → Q(x)); ∀x P(x) ∧ R(a) |- Q(a)", []),
    ("IE", "A ∧ B → C; A; B |- C", []),
    ("IE", "A ∨ B → C; B |- C", []),  # no rule introduces ∨
    ("MT", "A → B ⊕ C; B; C |- ¬A", []),  # nor ¬⊕
    ("MT", "A → B ∨ C; ¬B; ¬C |- ¬A", []),
    ("DS", "C → A ∨ B; C; ¬A |- B", []),
    ("XOI", "A; ¬B; ¬C |- A ⊕ B ⊕ C", []),
    ("CI", "A; B; C |- A ∧ B ∧ C", []),
    ("EI", "R(a, b) |- ∃x ∃y R(x, y)", []),
]
"""Instances, and what their dependencies entail but do not state."""


@pytest.mark.parametrize(("rule", "step", "unstated"), COMPOUND)
def test_an_instance_names_its_unstated_premises(rule: str, step: str, unstated: list[str]) -> None:
    match check(rule, step):
        case Match() as found:
            assert list(found.unstated) == list(map(parse_formula, unstated))
        case other:
            pytest.fail(f"no match: {other}")


def test_an_instance_whose_premises_are_stated_is_preferred() -> None:
    match check("IE", "A → C; B → C; B; B → A |- C"):
        case Match(substitution=substitution, unstated=()):
            assert instance(parse_formula("A"), substitution) is parse_formula("B")
        case other:
            pytest.fail(f"another instance: {other}")
