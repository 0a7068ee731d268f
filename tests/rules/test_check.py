"""RuleCheck: instances of every rule are accepted; entailed steps that are no instances are rejected."""

from __future__ import annotations

import pytest

from proof_r1_formal.assistants.lean import LeanKernel
from proof_r1_formal.assistants.lean_evidence import entailment_theorem
from proof_r1_formal.kernel.answer import Entailed
from proof_r1_formal.kernel.checker import check as check_proof
from proof_r1_formal.rules.catalogue import FOLIO, TRAIN
from proof_r1_formal.rules.check import Match, NoMatch, check_rule
from proof_r1_formal.rules.matching import matches
from proof_r1_formal.rules.schema import Condition, Example, Rule, schema
from proof_r1_formal.rules.theorems import instance_proof
from proof_r1_formal.text.parse import parse_formula
from tests.rules.steps import ORACLE, SHORT, TABLES, check, read


def entailed(step: str) -> bool:
    return isinstance(ORACLE.entails(*read(step)), Entailed)


INSTANCES = [
    ("IE", "A → B; A |- B"),
    ("IE", "∀x (P(x) → Q(x)); P(a) |- Q(a)"),
    ("IE", "∀x ∀y (R(x, y) → R(y, x)); R(a, b) |- R(b, a)"),
    ("IE", "A → (B → C); A; B |- C"),  # the consequent is active once A is there
    ("IE", "A ↔ B; B |- A"),
    ("IE", "A ∧ B → C; A; B |- C"),  # the antecedent need only be entailed
    ("IE", "A → B; B → C; A |- C"),  # likewise: the others entail B
    ("IE", "A → B; A |- ¬¬B"),  # the conclusion, up to equivalence
    ("IE", 'A → ∀"x" B; A |- B'),  # with a quantifier on one side alone, which a truth table does not tell
    ("IE", 'A → B; A |- ∀"x" B'),
    ("IE", "(A → B) ∧ C; A |- B"),
    ("IE", "¬¬(A → B); A |- B"),
    ("IE", "¬((A → B) → C); A |- B"),
    ("IE", "∀x (P(x) → ∃y R(x, y)); P(a) |- ∃z R(a, z)"),
    ("IE", "(A ∨ ¬A) → B |- B"),  # no other dependency is needed for a tautology
    ("IE", "C ∧ (A → B); A |- B"),
    ("IE", "A ↔ B; A |- B"),
    ("MT", "A → B; ¬B |- ¬A"),
    ("MT", "A ∨ B → C; ¬C |- ¬B"),
    ("MT", "A ∨ B ∨ D → C; ¬C |- ¬B"),
    ("MT", "A ∨ B ∨ D → C; ¬C |- ¬(A ∨ D)"),
    ("MT", "A ∧ B → C; ¬C; A |- ¬B"),
    ("MT", "A ∧ B → C; ¬C; B |- ¬A"),
    ("MT", "(A → B) → C; ¬C |- A"),
    ("MT", "(A → B) → C; ¬C |- ¬B"),
    ("MT", "(A ⊕ B) → C; ¬C; A |- B"),
    ("MT", "(A ⊕ B) → C; ¬C; ¬A |- ¬B"),
    ("MT", "(A ⊕ B) → C; ¬C; ¬B |- ¬A"),
    ("MT", "∀x (P(x) → Q(x)); ¬Q(a) |- ¬P(a)"),
    ("XOI", "A; ¬B |- A ⊕ B"),
    ("XOI", "¬A; B |- A ⊕ B"),
    ("XOI", "A; ¬B |- ¬(A ↔ B)"),
    ("XOI", "P(a); ∀x ¬Q(x) |- P(a) ⊕ Q(a)"),
    ("XOI", "A ∧ ¬B |- A ⊕ B"),
    ("XOI", "C; D; ¬B |- (C ∧ D) ⊕ B"),
    ("XOI", "D → A; D; ¬B |- A ⊕ B"),
    ("XOE", "A ⊕ B; A |- ¬B"),
    ("XOE", "A ⊕ B; B |- ¬A"),
    ("XOE", "A ⊕ B; ¬A |- B"),
    ("XOE", "A ⊕ B; ¬B |- A"),
    ("XOE", "¬(A ⊕ B); A |- B"),
    ("XOE", "¬(A ⊕ B); ¬B |- ¬A"),
    ("XOE", "C → (A ⊕ B); C; A |- ¬B"),
    ("XOE", "∀x (P(x) ⊕ Q(x)); P(a) |- ¬Q(a)"),
    ("XOE", "¬((A ⊕ B) ∨ C); A |- B"),
    ("XOE", "¬(C ∨ (A ⊕ B)); ¬A |- ¬B"),
    ("XOE", "¬(C → (A ⊕ B)); A |- B"),
    ("XOE", "¬(A ⊕ B); B |- A"),
    ("MT", "(A ⊕ B) → C; ¬C; B |- A"),
    ("QN", "¬∃x ¬A(x) |- ∀x A(x)"),
    ("DS", "A ∨ B; ¬A |- B"),
    ("DS", "A ∨ B; ¬B |- A"),
    ("DS", "A ∨ B ∨ C; ¬B |- A ∨ C"),
    ("DS", "A ∨ B ∨ C; ¬B; ¬A |- C"),
    ("DS", "¬A ∨ B; A |- B"),
    ("DS", "C → A ∨ B; C; ¬A |- B"),
    ("CI", "A; B |- A ∧ B"),
    ("CI", "A; B |- B ∧ A"),
    ("CI", "A; B; C |- A ∧ (B ∧ C)"),
    ("CI", "A ∧ B; C |- B ∧ C ∧ A"),
    ("CI", "∀x P(x) ∧ B; C |- (∀y P(y) ∧ B) ∧ C"),
    ("CI", "C; ∀x P(x) ∧ B |- B ∧ C ∧ ∀y P(y)"),
    ("CI", "¬¬A; B |- A ∧ B"),
    ("CE", "A ∧ B |- A"),
    ("CE", "A ∧ B ∧ C |- C ∧ A"),
    ("CE", "A → C ∧ D; A |- C"),
    ("CE", "A ∧ (A → B ∧ D); A |- B"),
    ("CE", "∀x (P(x) ∧ Q(x)); R(a) |- P(a)"),
    ("UE", "∀x P(x); Q(a) |- P(a)"),
    ("UE", "∀x (P(x) → Q(x)) |- P(a) → Q(a)"),
    ("UE", "∀x ∀y R(x, y) |- R(a, b)"),
    ("UE", "∀x ∀y R(x, y); P(a) |- ∀z R(a, z)"),
    ("UE", "∀x P(f(x)); Q(a) |- P(f(a))"),
    ("UIC", "∀x (A(x) → B(x)); ∀y (B(y) → C(y)) |- ∀z (A(z) → C(z))"),
    ("UIC", "∀x (B(x) → C(x)); ∀x (A(x) → B(x)) |- ∀x (A(x) → C(x))"),
    ("UIC", "∀x (A(x) → B(x)); ∀x (B(x) → C(x)); ∀x (C(x) → D(x)) |- ∀x (A(x) → D(x))"),
    ("UIC", "∀x (P(x) → Q(x)); ∀x (Q(x) → R(x)); ∀x (R(x) → S(x)) |- ∀x (P(x) → S(x))"),
    ("UIC", "∀x (P(x) → Q(x)); ∀x (Q(x) → R(x)); ∀x (R(x) → S(x)) ∧ G |- ∀x (P(x) → S(x))"),
    ("UIC", "∀x (P(x) → Q(x)); ∀x (S(x) → T(x)); ∀x (Q(x) → R(x)); ∀x (R(x) → S(x)) |- ∀x (P(x) → T(x))"),
    ("UPI", "∀x (A(x) → B(x)); ∀x (A(x) → C(x)) |- ∀x (A(x) → B(x) ∧ C(x))"),
    ("UPI", "∀x (A(x) → B(x)); ∀x (A(x) → C(x)); ∀x (A(x) → D(x)) |- ∀x (A(x) → B(x) ∧ C(x) ∧ D(x))"),
    ("EI", "P(a) |- ∃x P(x)"),
    ("EI", "P(a); Q(a) |- ∃x (P(x) ∧ Q(x))"),
    ("EI", "R(a, a) |- ∃x R(x, a)"),
    ("ECE", "∃x (P(x) ∧ Q(x)) |- ∃y Q(y)"),
    ("ECE", "∃x (P(x) ∧ Q(x) ∧ R(x)) |- ∃x (P(x) ∧ R(x))"),
    ("ECE", "∃x (P(x) ∧ G) |- G"),
    ("EIE", "∃x A(x); ∀x (A(x) → B(x)) |- ∃x B(x)"),
    ("ECI", "∃x A(x); G |- ∃x (A(x) ∧ G)"),
    ("QN", "¬∀x A(x) |- ∃x ¬A(x)"),
    ("QN", "∃x ¬A(x) |- ¬∀x A(x)"),
    ("QN", "¬∃x A(x) |- ∀x ¬A(x)"),
    ("QN", "∀x ¬A(x) |- ¬∃x A(x)"),
    ("QN", "¬∀x ¬A(x) |- ∃x A(x)"),
    # one application of a rule, up to the spine and to standard normal forms
    ("IE", "(A → B) ∧ A |- B"),  # a dependency states the minor premise beside the principal one
    ("IE", "∀x (P(x) → Q(x)) ∧ P(a) |- Q(a)"),
    ("MT", "(A → B) ∧ ¬B |- ¬A"),
    ("MT", "¬(A ∧ B) → C; ¬C |- A"),
    ("MT", "¬(A ∧ B ∧ D) → C; ¬C |- D ∧ B"),
    ("MT", "(∃x P(x)) → B; ¬B |- ¬P(a)"),
    ("MT", "¬(∀x P(x)) → B; ¬B; Q(a) |- P(a)"),
    ("DS", "¬(A ∧ B); A |- ¬B"),
    ("DS", "¬(A ∧ B ∧ C); B |- ¬A ∨ ¬C"),
    ("DS", "¬∃x (P(x) ∧ Q(x)); P(a) |- ¬Q(a)"),
    ("DS", "(A ∨ B) ∧ ¬A |- B"),
    ("XOE", "A ⊕ B ⊕ C; ¬A |- B ⊕ C"),
    ("XOE", "A ⊕ B ⊕ C; ¬B |- A ⊕ C"),
    ("XOE", "A ⊕ B ⊕ C; ¬C |- A ⊕ B"),
    ("XOE", "A ⊕ (B ⊕ C); C |- ¬(A ⊕ B)"),
    ("XOE", "A ⊕ B ⊕ C; ¬A ∧ ¬C |- B"),
    ("XOE", "¬(A ↔ B); A |- ¬B"),
    ("XOE", "¬(A ↔ B); B |- ¬A"),
    ("XOE", "¬(A ↔ B); ¬A |- B"),
    ("XOE", "¬(A ↔ B); ¬B |- A"),
    ("XOE", "(A ⊕ B) ∧ A |- ¬B"),
    ("XOE", "A ⊕ (B ∨ C); A |- ¬(B ∨ C)"),
    ("XOI", "A; ¬B; ¬C |- A ⊕ (B ∨ C)"),
    ("XOI", "A; B; ¬C |- A ⊕ (B → C)"),
    ("XOI", "A; ¬B; ¬C |- A ⊕ B ⊕ C"),
    ("XOI", "A; B; C |- A ⊕ (B ⊕ C)"),
    ("XOI", "¬A; ¬B; C; ¬D |- A ⊕ B ⊕ C ⊕ D"),
    ("XOI", "A; ¬B; C; ¬D; E |- A ⊕ B ⊕ C ⊕ D ⊕ E"),  # the truth of a ⊕ inside is stated by its operands
    ("XOI", "¬A; B |- ¬(A ↔ B)"),
    ("CI", "A → B; B → A |- A ↔ B"),
    ("CI", "A → B; ¬A → ¬B |- A ↔ B"),
    ("CE", "¬(A ∨ B) |- ¬A"),
    ("CE", "¬(A ∨ B ∨ C) |- ¬(A ∨ C)"),
    ("CE", "¬(A → B) |- A"),
    ("CE", "¬(A → B) |- ¬B"),
    ("CE", "A ↔ B |- A → B"),
    ("CE", "A ↔ B |- B → A"),
    ("UE", "∀x ∀y R(x, y); P(a) |- ∀x R(x, a)"),
    ("UE", "∀x ∀y ∀z S(x, y, z); P(a) |- ∀x ∀z S(x, a, z)"),
    ("UE", "¬∃x P(x); Q(a) |- ¬P(a)"),
    ("UE", "¬∃x ∃y R(x, y) |- ¬R(a, b)"),
    ("UIC", "∀x ∀y (A(x, y) → B(x, y)); ∀u ∀v (B(v, u) → C(v, u)) |- ∀x ∀y (A(x, y) → C(x, y))"),
    ("UIC", "∀x (A(x) ↔ B(x)); ∀x (B(x) → C(x)) |- ∀x (A(x) → C(x))"),
    ("UIC", "∀x (A(x) → B(x)); ∀x (C(x) ↔ B(x)) |- ∀x (A(x) → C(x))"),
    ("UIC", "∀x (A(x) ↔ B(x)); ∀x (B(x) ↔ C(x)) |- ∀x (A(x) ↔ C(x))"),
    ("UIC", "∀x (A(x) ↔ B(x)); ∀x (B(x) ↔ C(x)); ∀x (C(x) ↔ D(x)) |- ∀x (A(x) ↔ D(x))"),
    ("UPI", "∀x (A(x) → C(x)); ∀x (B(x) → C(x)) |- ∀x (A(x) ∨ B(x) → C(x))"),
    ("UPI", "∀x (A(x) → D(x)); ∀x (B(x) → D(x)); ∀x (C(x) → D(x)) |- ∀x (A(x) ∨ B(x) ∨ C(x) → D(x))"),
    ("UPI", "∀x ∀y (A(x, y) → B(x, y)); ∀x ∀y (A(x, y) → C(x, y)) |- ∀x ∀y (A(x, y) → B(x, y) ∧ C(x, y))"),
    ("EI", "R(a, b) |- ∃x ∃y R(x, y)"),
    ("EI", "S(a, b, c) |- ∃x ∃y ∃z S(x, y, z)"),
    ("EI", "R(a, b); P(b) |- ∃x ∃y (P(y) ∧ R(x, y))"),
    ("EI", "¬(P(a) ∨ Q(a)) |- ∃x (¬P(x) ∧ ¬Q(x))"),
    ("ECE", "∃x ∃y (R(x, y) ∧ S(x, y)) |- ∃x ∃y R(x, y)"),
    ("ECE", "∃x ∃y (P(x) ∧ R(x, y)) |- ∃x P(x)"),
    ("ECE", "∃x ∃y (R(x, y) ∧ G) |- G"),
    ("EIE", "∃x A(x); ∀x (A(x) ↔ B(x)) |- ∃x B(x)"),
    ("EIE", "∃x A(x); ∀x (B(x) ↔ A(x)) |- ∃x B(x)"),
    ("EIE", "∃x (A(x) ∧ C(x)); ∀x (A(x) → B(x)) |- ∃x B(x)"),
    ("EIE", "∃x (A(x) ∧ C(x)); ∀x (A(x) → B(x)) |- ∃x (B(x) ∧ C(x))"),
    ("EIE", "∃x ∃y R(x, y); ∀y ∀x (R(x, y) → S(y, x)) |- ∃y ∃x S(y, x)"),
    ("ECI", "∃x ∃y R(x, y); G |- ∃x ∃y (R(x, y) ∧ G)"),
    ("QN", "¬∀x (P(x) → Q(x)) |- ∃x (P(x) ∧ ¬Q(x))"),
    ("QN", "∃x (P(x) ∧ ¬Q(x)) |- ¬∀x (P(x) → Q(x))"),
    ("QN", "¬∃x (P(x) ∧ Q(x)) |- ∀x (P(x) → ¬Q(x))"),
    ("QN", "∀x (P(x) → ¬Q(x)) |- ¬∃x (P(x) ∧ Q(x))"),
    ("QN", "¬∀x ∀y R(x, y) |- ∃x ∃y ¬R(x, y)"),
    ("QN", "¬∀x ∃y R(x, y) |- ∃x ∀y ¬R(x, y)"),
    ("QN", "∀x ∃y ¬R(x, y) |- ¬∃x ∀y R(x, y)"),
]

NON_INSTANCES = [
    ("IE", "A |- A"),  # A := ⊤ and B := the conclusion is no way in
    ("IE", "A ∨ B; ¬A |- B"),
    ("IE", "A → (C ∧ D); A |- C"),  # that is conjunction elimination
    ("IE", "A → B; ¬B |- ¬A"),
    ("IE", "A; B |- A ∧ B"),
    ("IE", "A → B; A |- B ∨ C"),
    ("MT", "A → B; A |- B"),
    ("MT", "A → B; ¬B |- ¬A ∨ C"),
    ("MT", "A → B; ¬B; A ∨ C |- C"),
    ("XOI", "A; ¬B |- A ∨ B"),
    ("XOI", "A ⊕ B |- B ⊕ A ∨ C"),
    ("XOI", "A |- A ⊕ ⊥"),  # what is entailed is an instance of any rule, if a side may say nothing
    ("XOI", "A |- A ⊕ (B ∧ ¬B)"),
    ("XOI", "A; B ∨ ¬B |- A ⊕ (B ∧ ¬B)"),
    ("XOI", "A → C; B → C; A ∨ B; ¬D |- C ⊕ D"),  # a case split
    ("XOI", "E; A → C; B → C; A ∨ B; ¬D |- (E ∧ C) ⊕ D"),
    ("XOI", "A ∨ B; A → C; B → C |- C ⊕ (¬C ∧ D)"),
    ("XOI", "D; A ∨ B; A → ¬C; B → ¬C |- D ⊕ C"),
    ("XOI", "A |- A ⊕ (¬A ∧ B)"),  # each side is stated true or false by a dependency, or B may be anything
    ("XOI", "A |- (A ∨ B) ⊕ ¬A"),
    ("XOI", "A |- ¬(A ↔ ¬A ∧ B)"),
    ("XOI", "A |- ¬(A ∨ B ↔ ¬A)"),
    ("XOI", "A; ¬B |- (A ∨ C) ⊕ B"),
    ("XOI", "A; B |- A ⊕ (B → ¬A ∧ C)"),
    ("XOI", "A; B |- A ⊕ B ⊕ (A ∨ C)"),
    ("XOI", "¬A; B → ¬C; ¬B → C |- A ⊕ (B ⊕ C)"),
    ("XOI", "A; B; ¬C; ¬D |- (A ∧ (B ⊕ C)) ⊕ D"),  # two sums
    ("XOE", "A ∨ B; ¬A |- B"),
    ("XOE", "A ⊕ B; A; C |- ¬B ∧ C"),
    ("XOE", "A ↔ ¬B; A |- ¬B"),
    ("XOE", "A ⊕ (B ∨ C); A |- ¬B"),  # the whole side first, like the whole consequent
    ("XOE", "A ⊕ (B ∧ C); ¬A |- B"),
    ("MT", "(A ↔ B) → C; ¬C; A |- ¬B"),  # ¬(A ↔ B) first
    ("MT", "¬(A ∨ B) → C; ¬C; ¬A |- B"),
    ("MT", "¬(A → B) → C; ¬C; A |- B"),
    ("IE", "A → (B ∧ C); A |- C"),
    ("IE", "(A → (B → C)) ∧ A ∧ B |- C"),  # two of them
    ("IE", "¬(A ∧ ¬B); A |- B"),
    ("IE", "(A → B) ∧ (A ∨ C); ¬C |- B"),  # the principal premise helps to entail the minor one
    ("IE", "(P(a) → B) ∧ ∃x (P(x) ∧ D(x) ∧ x = a); C |- B"),  # also where no truth table tells
    ("IE", "¬(A ⊕ B); A |- B"),
    ("DS", "A ⊕ B; ¬A |- B"),
    ("DS", "A → B; A |- B"),
    ("DS", "A ∨ B; ¬A; C |- B ∧ C"),
    ("CI", "A ∧ B |- A ∧ B"),  # one dependency
    ("CI", "A ∧ B |- B ∧ A"),
    ("CI", "A; B |- A ∧ A ∧ B"),  # each part a dependency of its own
    ("CI", "A → B; A |- A ∧ B"),
    ("CI", "A; B; C → D; C |- A ∧ D"),
    ("CI", "∀x (A(x) → B(x)); ∀x (B(x) → A(x)) |- ∀x (A(x) ↔ B(x))"),
    ("CI", "(A → B) ∧ (B → A) |- A ↔ B"),
    ("CI", "A ∧ B; C |- A ∧ C"),
    ("CI", "A; B |- A ↔ B"),
    ("CE", "¬(A ⊕ B) |- A → B"),
    ("CE", "∀x (P(x) ∧ Q(x)) |- ∀x P(x)"),
    ("CE", "¬(A ∧ B); A |- ¬B"),
    ("CE", "A; B |- A"),
    ("CE", "A ∧ B |- A ∨ C"),
    ("CE", "A ∧ B |- A ∧ B"),
    ("UE", "P(a) |- P(a)"),
    ("UE", "∀x (P(x) → Q(x)); P(a) |- Q(a)"),
    ("UE", "∀x P(x) |- ∀y P(y)"),
    ("UE", "∀x P(x) |- ∃x P(x)"),
    ("UE", "∀x (P(x) ∧ Q(x)) |- P(a)"),
    ("UE", "∀x (P(x) ↔ Q(x)) |- P(a) → Q(a)"),
    ("UE", "∀x ∀y R(x, y) |- ∀x R(x, x)"),
    ("UE", "¬∀x ¬P(x) |- ∃x P(x)"),
    ("UIC", "∀x (A(x) ↔ B(x)); ∀x (B(x) ↔ C(x)) |- ∀x (A(x) → C(x))"),
    ("UIC", "∀x (A(x) → B(x)) ∧ ∀x (B(x) → C(x)) |- ∀x (A(x) → C(x))"),  # two dependencies
    ("UIC", "∀x (A(x) → B(x)); A(a) |- B(a)"),
    ("UIC", "∀x (A(x) → B(x)); ∀x (B(x) → C(x)) |- ∀x (A(x) ∧ D(x) → C(x))"),
    ("UPI", "∀x (A(x) → B(x)); ∀x (B(x) → C(x)) |- ∀x (A(x) → B(x) ∧ C(x))"),
    ("UPI", "∀x (A(x) → B(x)); ∀x (A(x) → C(x)) |- ∀x (A(x) → B(x) ∨ C(x))"),
    ("UPI", "∀x (A(x) → C(x)); ∀x (B(x) → C(x)) |- ∀x (A(x) ∧ B(x) → C(x))"),
    ("UPI", "∀x (A(x) → B(x)); ∀x C(x) |- ∀x (A(x) → B(x) ∧ C(x))"),
    ("EI", "P(a); P(a) → Q(a) |- ∃x Q(x)"),
    ("EI", "P(a) ∧ Q(a) |- ∃x P(x)"),
    ("EI", "P(a) |- ∃x (P(x) ∨ (P(a) ∧ Q(x)))"),  # equivalent at a, and Q may be anything
    ("EI", "P(a) |- ∃x (P(a) ∧ (Q(x) ∨ ¬Q(a)))"),
    ("EI", "P(a); R(a, b) |- ∃x (P(x) ∧ ∃y R(x, y))"),  # two of them
    ("EI", "∀x P(x) |- ∃x P(x)"),
    ("EI", "∀y R(a, y) |- ∃x ∃y R(x, y)"),
    ("ECE", "∃x P(x); ∀x (P(x) → Q(x)) |- ∃x Q(x)"),
    ("EIE", "P(a); ∀x (P(x) → Q(x)) |- ∃x Q(x)"),
    ("EIE", "∃x A(x); ∀x (A(x) → B(x) ∧ C(x)) |- ∃x B(x)"),
    ("EIE", "∃x A(x); ∀x (A(x) → B(x)) |- ∃x (A(x) ∧ B(x))"),
    ("ECI", "P(a); G |- ∃x (P(x) ∧ G)"),
    ("QN", "¬∀x A(x) |- ¬∀y A(y)"),
    ("QN", "¬(A ∧ B) |- ¬A ∨ ¬B"),
    ("QN", "¬∃x P(x) |- ¬P(a)"),
    ("QN", "∀x P(x) |- ∀y ¬¬P(y)"),
    ("QN", "¬∀x P(x) |- ∃x ∃y (¬P(x) ∧ ¬P(y))"),
]

NOT_ENTAILED = [
    ("CE", "(∀x P(x)) ↔ B |- D → B"),  # a truth table tells one side of the conclusion alone
    ("CE", "B ↔ ∀x P(x) |- B → D"),
    ("IE", "A → B; B |- A"),
    ("MT", "A → B; ¬A |- ¬B"),
    ("XOI", "A; B |- A ⊕ B"),
    ("XOE", "A ⊕ B; ¬A |- ¬B"),
    ("DS", "A ∨ B; A |- ¬B"),
    ("CI", "A |- A ∧ B"),
    ("CE", "A ∨ B |- A"),
    ("CE", "A → C ∧ D; B |- C"),
    ("UE", "∃x P(x) |- P(a)"),
    ("UIC", "∀x (A(x) → B(x)); ∀x (C(x) → B(x)) |- ∀x (A(x) → C(x))"),
    ("UPI", "∀x (A(x) → B(x)); ∀x (D(x) → C(x)) |- ∀x (A(x) → B(x) ∧ C(x))"),
    ("EI", "P(a); Q(b) |- ∃x (P(x) ∧ Q(x))"),
    ("ECE", "∃x (P(x) ∨ Q(x)) |- ∃x P(x)"),
    ("EIE", "∃x A(x); ∀x (B(x) → A(x)) |- ∃x B(x)"),
    ("ECI", "∃x A(x); ∃x B(x) |- ∃x (A(x) ∧ B(x))"),
    ("QN", "¬∀x A(x) |- ∀x ¬A(x)"),
    ("QN", "¬∀x A(x) |- ∃x ¬B(x)"),
]


@pytest.mark.parametrize(("rule", "step"), INSTANCES)
def test_instances_are_accepted(rule: str, step: str) -> None:
    assert entailed(step)
    assert isinstance(check(rule, step), Match)


@pytest.mark.parametrize(("rule", "step"), NON_INSTANCES)
def test_entailed_steps_that_are_no_instance_are_rejected(rule: str, step: str) -> None:
    assert entailed(step)
    assert check(rule, step) == NoMatch()


@pytest.mark.parametrize(("rule", "step"), NOT_ENTAILED)
def test_steps_that_are_not_entailed_are_rejected(rule: str, step: str) -> None:
    assert not entailed(step)
    assert check(rule, step) == NoMatch()


@pytest.mark.parametrize("rule", FOLIO.rules, ids=lambda rule: rule.name)
def test_examples_of_the_catalogue_are_instances(rule: Rule) -> None:
    dependencies = tuple(map(parse_formula, rule.example.dependencies))
    conclusion = parse_formula(rule.example.conclusion)
    assert isinstance(check_rule(rule, dependencies, conclusion, ORACLE, terminal=True), Match)


def test_a_formula_letter_takes_no_bound_variable() -> None:
    pattern = parse_formula("∃x (A(x) ∧ G)")
    assert list(matches(pattern, parse_formula("∃x (P(x) ∧ R(x))"))) == []
    assert len(list(matches(pattern, parse_formula("∃x (P(x) ∧ R(c))")))) == 1


def test_equivalence_is_asked_in_both_directions() -> None:
    never_all = " ∧ ".join(f"A{n}" for n in range(24))  # false in every fixed structure, and yet no contradiction
    for first, second in ((never_all, "⊥"), ("⊥", never_all)):
        assert not isinstance(ORACLE.equivalent(parse_formula(first), parse_formula(second)), Entailed)


def test_goal_binding_restates_a_dependency_at_the_end_only() -> None:
    assert isinstance(check("GB", "A; B |- A", terminal=True), Match)
    assert check("GB", "A; B |- A", terminal=False) == NoMatch()
    assert check("GB", "A ∧ B |- A", terminal=True) == NoMatch()
    assert check("GB", "A; A → B |- B", terminal=True) == NoMatch()
    rule = FOLIO.find("GOAL_BINDING")
    assert rule is not None
    assert check_rule(rule, (parse_formula("A"),), parse_formula("A"), ORACLE) == NoMatch()  # terminal is what is said


def test_trivial_principal_premises_are_rejected() -> None:
    assert check("CE", "(A ∨ ¬A) ∧ (B ∨ ¬B) |- A ∨ ¬A") == NoMatch()
    assert check("IE", "(A ∧ ¬A) → B; A ∧ ¬A |- B") == NoMatch()
    assert check("CE", "A ∧ ¬A |- A") == NoMatch()


def test_a_chain_without_principal_premises_has_one_link() -> None:
    conditions = Condition.SYNTACTIC, Condition.STATED, Condition.CHAIN
    rule = Rule("REITERATION", "", (schema("reiteration", "", "A", "A", *conditions),), Example(("P",), "P"))
    assert isinstance(check_rule(rule, (parse_formula("P"),), parse_formula("P"), TABLES), Match)
    assert check_rule(rule, (parse_formula("P"),), parse_formula("Q"), TABLES) == NoMatch()


def test_the_catalogues_of_the_method() -> None:
    train = ("IE", "MT", "XOI", "XOE", "DS", "CI", "CE", "UE", "GB")
    quantified = ("UIC", "UPI", "EI", "ECE", "EIE", "ECI", "QN")
    assert [rule.name for rule in TRAIN.rules] == [SHORT[short] for short in train]
    assert [rule.name for rule in FOLIO.rules] == [SHORT[short] for short in train + quantified]
    assert TRAIN.find("MODUS_PONENS") is None
    aliased = TRAIN.find("MODUS_PONENS", aliases=True)
    assert aliased is not None
    assert aliased.name == "IMPLICATION_ELIMINATION"
    for spelled in ("modus ponens", "Modus-Ponens", " Implication  Elimination ", "implication_elimination"):
        assert TRAIN.find(spelled, aliases=True) is aliased
        assert TRAIN.find(spelled) is None
    assert TRAIN.find("modus", aliases=True) is None


def test_lean_accepts_the_proof_of_every_instance(lean: LeanKernel) -> None:
    theorems, used = [], set()
    for short, step in INSTANCES:
        left, right = step.split("|-")
        dependencies, conclusion = tuple(map(parse_formula, left.split(";"))), parse_formula(right)
        found = check(short, step)
        assert isinstance(found, Match)
        proof = instance_proof(found, dependencies, conclusion)
        assert proof is not None, step
        check_proof(proof, dependencies, conclusion)
        theorems.append(entailment_theorem(dependencies, conclusion, proof))
        used.add(found.schema.name)
    refused = [step for (_, step), said in zip(INSTANCES, lean.check(theorems), strict=True) if not said.accepted]
    assert refused == []
    schemata = {schema.name for rule in FOLIO.rules for schema in rule.schemata}
    assert schemata - used == {"goal_binding"}


@pytest.mark.parametrize("rule", FOLIO.rules, ids=lambda rule: rule.name)
def test_what_any_rule_accepts_is_entailed(rule: Rule) -> None:
    steps = [step for _, step in INSTANCES + NON_INSTANCES + NOT_ENTAILED]
    accepted = [step for step in steps if isinstance(check_rule(rule, *read(step), ORACLE, terminal=True), Match)]
    assert accepted
    assert [step for step in accepted if not entailed(step)] == []
