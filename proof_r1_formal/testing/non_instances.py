"""Entailed steps that are not instances of the rule that they name. RuleCheck must reject them.

In: a catalogue and one of its rules. Out: patterns of steps. Entailment holds for all of them, so only RuleCheck can
tell them from instances.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TypeAlias

from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.rules.schema import GOAL_BINDING, Catalogue, Condition, Rule
from proof_r1_formal.text.parse import parse_formula

Pattern: TypeAlias = tuple[tuple[Formula, ...], Formula]
"""Patterns of the dependencies and of the conclusion."""

_LISTED = """
IMPLICATION_ELIMINATION:
    A → B; A ⊢ B ∨ C | A ∧ B → C; A; B; D ⊢ C ∧ D | A ∨ B; A → C; B → C ⊢ C | ¬B → ¬A; A ⊢ B
MODUS_TOLLENS:
    A → B; ¬B ⊢ ¬A ∨ C | A ∨ B; ¬B ⊢ A | A → B; B → C; ¬C; D ⊢ ¬A ∧ D | ¬A → B; ¬B ⊢ A ∨ C
EXCLUSIVE_DISJUNCTION_INTRODUCTION:
    A; ¬B ⊢ A ∨ B | A; B ⊢ ¬(A ⊕ B) | A ⊕ B ⊢ B ⊕ A | A; ¬B ⊢ (A ∧ ¬B) ∨ (¬A ∧ B) | A ⊢ A ⊕ (¬A ∧ B) |
    A ⊢ (A ∨ B) ⊕ ¬A | A ⊢ ¬(A ↔ ¬A ∧ B) | A; ¬B ⊢ (A ∨ C) ⊕ B
EXCLUSIVE_DISJUNCTION_ELIMINATION:
    A ⊕ B ⊢ A ∨ B | A ⊕ B; A ⊢ ¬B ∨ C | (A ∨ B) ∧ ¬(A ∧ B); A ⊢ ¬B | A ⊕ B; B ⊕ C ⊢ A ↔ C | A ⊕ (B ∨ C); A ⊢ ¬B
DISJUNCTIVE_SYLLOGISM:
    A ∨ B; ¬A ⊢ B ∨ C | A ⊕ B; ¬A ⊢ B | ¬A → B; ¬A ⊢ B | A ∨ B; A → C; B → C ⊢ C
CONJUNCTION_INTRODUCTION:
    A; B ⊢ (A ∧ B) ∨ C | A ∧ B; C ⊢ A ∧ C | A; A → B ⊢ A ∧ B | A; B ⊢ ¬(¬A ∨ ¬B)
CONJUNCTION_ELIMINATION:
    A ∧ B ⊢ A ∨ C | A ∧ B ⊢ A ∨ B | A; B ⊢ A | A ∧ B; A → C ⊢ C
UNIVERSAL_ELIMINATION:
    ∀x A(x) ⊢ ∃x A(x) | ∀x A(x) ⊢ A(a) ∨ B | ∀x (A(x) ∧ B(x)) ⊢ A(a) | ∀x (A(x) → B(x)); A(a) ⊢ B(a)
GOAL_BINDING:
    A ⊢ A ∨ B | A ∧ B ⊢ A | A → B; A ⊢ B | ∀x A(x) ⊢ A(a)
UNIVERSAL_IMPLICATION_CHAINING:
    ∀x (A(x) → B(x)); ∀x (B(x) → C(x)) ⊢ ∀x (A(x) → C(x) ∨ D(x)) | ∀x (A(x) → B(x)); ∀x (B(x) → C(x)) ⊢ A(a) → C(a) |
    ∀x (A(x) → B(x)); ∀x A(x) ⊢ ∀x B(x)
UNIVERSAL_PROPOSITIONAL_INFERENCE:
    ∀x (A(x) → B(x)); ∀x (A(x) → C(x)) ⊢ ∀x (A(x) → B(x) ∨ C(x)) |
    ∀x (A(x) → B(x)); ∀x (B(x) → C(x)) ⊢ ∀x (A(x) → C(x)) | ∀x (A(x) → B(x) ∧ C(x)) ⊢ ∀x (A(x) → B(x))
EXISTENTIAL_INTRODUCTION:
    ∀x A(x) ⊢ ∃x A(x) | ∃x (A(x) ∧ B(x)) ⊢ ∃x A(x) | A(a) → B(a); A(a) ⊢ ∃x B(x) | A(a) ⊢ ∃x (A(x) ∨ (A(a) ∧ B(x)))
EXISTENTIAL_CONJUNCTION_ELIMINATION:
    A(a) ∧ B(a) ⊢ ∃x A(x) | ∃x (A(x) ∧ B(x)) ⊢ ∃x (A(x) ∨ C(x)) | ∃x A(x); B ⊢ B
EXISTENTIAL_IMPLICATION_ELIMINATION:
    ∃x A(x); ∀x (A(x) → B(x)) ⊢ ∃x (A(x) ∧ B(x)) | A(a); ∀x (A(x) → B(x)) ⊢ ∃x B(x) |
    ∃x A(x); ∀x (A(x) → B(x)) ⊢ ∃x (B(x) ∨ C(x))
EXISTENTIAL_CONJUNCTION_INTRODUCTION:
    A(a); B ⊢ ∃x (A(x) ∧ B) | ∃x A(x); B ⊢ ∃x (A(x) ∨ B) | ∃x A(x); ∀x B(x) ⊢ ∃x (A(x) ∧ B(x))
QUANTIFIER_NEGATION:
    ∀x A(x) ⊢ ¬¬∀x A(x) | ¬∃x A(x) ⊢ ¬A(a) | ¬∀x A(x) ⊢ ∃x ∃y (¬A(x) ∧ ¬A(y))
DISJUNCTION_INTRODUCTION:
    A ∨ B; ¬A ⊢ B ∨ C | A ⊢ A ∧ (B ∨ ¬B) | A ⊢ A ⊕ (¬A ∧ B) | A ∧ B ⊢ ¬(¬A ∨ ¬B) ∧ A | A ⊢ ∃x (A ∨ B(x))
EQUIVALENCE_INTRODUCTION:
    A → B; B → A ⊢ A ↔ B | A; B ⊢ (A → B) ∧ (B → A) | A ↔ B; B ↔ C ⊢ A ↔ C | A; B ⊢ (A ↔ B) ∨ C
CASE_ANALYSIS:
    A ∨ B; A → C; C → D; B → D ⊢ D | A ∨ B; A → C; B → C ⊢ C ∨ D | A ∨ B; ¬A ⊢ B | A ∨ B; A → C; C → B ⊢ B
REDUCTIO_AD_ABSURDUM:
    A → B; ¬B ⊢ ¬A | A → B; A → C; C → ¬B ⊢ ¬A | A → B; A → ¬B ⊢ ¬A ∨ C | A → B; A → ¬B; C ⊢ ¬A ∧ C
EXISTENTIAL_ELIMINATION:
    ∃x A(x); ∀x (A(x) → B(x)) ⊢ ∃x B(x) | A(a); ∀x (A(x) → B) ⊢ B | ∃x A(x); ∀x (A(x) → B); B → C ⊢ C |
    ∃x A(x); ∀x (A(x) → B) ⊢ B ∨ C
EQUALITY_SUBSTITUTION:
    a = b; A(a) → B; A(b) ⊢ B | a = b; b = c; A(a) ⊢ A(c) | A(a); ¬A(b) ⊢ ¬(a = b) ∨ B | a = b; A(a) ⊢ A(b) ∨ B
EQUALITY_REFLEXIVITY:
    a = b ⊢ b = a | A ⊢ a = a ∧ A | A ⊢ a = a ∨ B | A ⊢ A ∨ ¬A | a = b; b = c ⊢ a = c
REITERATION:
    A; B ⊢ A ∧ B | A ∧ (B ∨ C) ⊢ (A ∧ B) ∨ (A ∧ C) | A ∨ B; ¬A ⊢ B | A ⊕ B; A ⊢ ¬B
"""
"""Rules, and under each steps of two rules at once, weakened ones, ones that are spelt otherwise."""

_RESTATED = ("A ⊢ A", "A; B ⊢ A", "A ∧ B ⊢ B ∧ A ∨ C")
_REPEATS: Mapping[str, tuple[str, ...]] = {
    GOAL_BINDING: _RESTATED,
    "REITERATION": _RESTATED,
    "DISJUNCTION_INTRODUCTION": ("A ∧ B ⊢ B ∧ A ∨ C",),
}
"""The restated premises that are instances of a rule."""
_SHARED: Mapping[str, frozenset[str]] = {
    "EXISTENTIAL_IMPLICATION_ELIMINATION": frozenset({"EXISTENTIAL_ELIMINATION"}),
    "CASE_ANALYSIS": frozenset({"UNIVERSAL_PROPOSITIONAL_INFERENCE"}),
    "REITERATION": frozenset(
        {
            *("IMPLICATION_ELIMINATION", "CONJUNCTION_ELIMINATION", "UNIVERSAL_ELIMINATION", "DISJUNCTIVE_SYLLOGISM"),
            *("UNIVERSAL_IMPLICATION_CHAINING", "QUANTIFIER_NEGATION", "DISJUNCTION_INTRODUCTION"),
        }
    ),
}
"""Rule -> other rules, some of whose instances are its instances, too, if steps stand under hypotheses."""


def non_instances(catalogue: Catalogue, rule: Rule) -> tuple[tuple[Pattern, ...], tuple[Pattern, ...]]:
    """Patterns of entailed steps that are not instances of the rule. Each letter is a different atom.

    First listed ones and restated premises, then instances of the catalogue's other rules; none for a rule that is not
    one of the package's.
    """
    listed = _listed()
    if rule.name not in listed:
        return (), ()
    others = [
        (schema.premises, schema.conclusion)
        for other in catalogue.rules
        if other.name != rule.name and other.name in listed and other.name not in _SHARED.get(rule.name, ())
        for schema in other.schemata
        if Condition.TERMINAL not in schema.conditions
    ]
    return listed[rule.name], tuple(others)


@cache
def _listed() -> Mapping[str, tuple[Pattern, ...]]:
    found = {}
    for entry in _LISTED.strip().replace("\n    ", " ").splitlines():
        rule, _, steps = entry.partition(": ")
        more = [step for step in _RESTATED if step not in _REPEATS.get(rule, ())]
        found[rule] = tuple(map(_pattern, (*steps.split("|"), *more)))
    return found


def _pattern(text: str) -> Pattern:
    premises, conclusion = text.split("⊢")
    return tuple([parse_formula(part) for part in premises.split(";")]), parse_formula(conclusion)
