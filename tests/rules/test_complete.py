"""The complete catalogue: instances and near misses of its rules, and steps under hypotheses."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from msgspec import structs

from proof_r1_formal.assistants import reflection
from proof_r1_formal.assistants.lean import LeanKernel
from proof_r1_formal.assistants.lean_evidence import entailment_theorem
from proof_r1_formal.engine.lines import lines_of
from proof_r1_formal.engine.oracle import Answers, Oracle
from proof_r1_formal.kernel.answer import Answer, Entailed, Query, Reason, Unknown
from proof_r1_formal.kernel.checker import check as check_proof
from proof_r1_formal.kernel.pattern import Lambda
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.kernel.term import Apply, Proof
from proof_r1_formal.rules.catalogue import COMPLETE, FOLIO
from proof_r1_formal.rules.check import CHECK_BUDGET, Match, NoMatch, RuleResult, Undecided, _better, check_rule
from proof_r1_formal.rules.hypotheses import readings
from proof_r1_formal.rules.schema import Rule
from proof_r1_formal.rules.theorems import instance_proof
from proof_r1_formal.text.parse import parse_formula
from tests.assistants.isar_certificates import answer_theory, one_step
from tests.assistants.isar_reader import read_theory
from tests.rules.steps import TABLES, read

ADDED = [rule for rule in COMPLETE.rules if rule not in FOLIO.rules]

PLAIN = [
    ("DISJUNCTION_INTRODUCTION", "P(a) |- Q(b) ∨ P(a) ∨ R"),
    ("DISJUNCTION_INTRODUCTION", "Q(b) |- P(a) → Q(b)"),
    ("DISJUNCTION_INTRODUCTION", "¬P(a) |- P(a) → Q(b)"),
    ("DISJUNCTION_INTRODUCTION", "¬P(a) |- ¬(P(a) ∧ Q(b))"),
    ("EQUIVALENCE_INTRODUCTION", "P; Q |- P ↔ Q"),
    ("EQUIVALENCE_INTRODUCTION", "¬P; ¬Q |- P ↔ Q"),
    ("EQUIVALENCE_INTRODUCTION", "P; Q |- ¬(P ⊕ Q)"),
    ("EQUIVALENCE_INTRODUCTION", "¬P; ¬Q |- ¬(P ⊕ Q)"),
    ("CASE_ANALYSIS", "P ∨ Q; P → R; Q → R |- R"),
    ("CASE_ANALYSIS", "P(a) ∨ Q(a); ∀x (P(x) → R); Q(a) → R |- R"),
    ("CASE_ANALYSIS", "P ∨ Q; P → Q |- Q"),
    ("CASE_ANALYSIS", "P ∨ Q; P → R; Q → S |- R ∨ S"),
    ("CASE_ANALYSIS", "P ∨ Q ∨ S; P → R |- R ∨ Q ∨ S"),
    ("CASE_ANALYSIS", "P → R; ¬P → R |- R"),
    ("REDUCTIO_AD_ABSURDUM", "P → Q; P → ¬Q |- ¬P"),
    ("REDUCTIO_AD_ABSURDUM", "¬P → ¬Q; ¬P → Q |- P"),
    ("EXISTENTIAL_ELIMINATION", "∃x P(x); ∀x (P(x) → Q(a)) |- Q(a)"),
    ("EXISTENTIAL_ELIMINATION", "∃x (P(x) ∧ R(x)); ∀x (P(x) → Q(a)) |- Q(a)"),
    ("EXISTENTIAL_ELIMINATION", "¬∀x P(x); ∀x (¬P(x) → Q(a)) |- Q(a)"),
    ("EQUALITY_SUBSTITUTION", "a = b; P(a) |- P(b)"),
    ("EQUALITY_SUBSTITUTION", "a = b; R(b, b) |- R(a, b)"),
    ("EQUALITY_SUBSTITUTION", "a = b; ∀x (P(x) → R(x, a)) |- ∀y (P(y) → R(y, b))"),
    ("EQUALITY_SUBSTITUTION", "a = b; b = c |- a = c"),
    ("EQUALITY_SUBSTITUTION", "a = b |- f(a) = f(b)"),
    ("EQUALITY_SUBSTITUTION", "P(a); ¬P(b) |- ¬(a = b)"),
]
"""One of these at least for each schema without hypotheses that can be progress."""

TURNED = [
    ("REDUCTIO_AD_ABSURDUM", "¬P → P |- P"),
    ("REDUCTIO_AD_ABSURDUM", "P → ¬P |- ¬P"),
    ("REITERATION", "P |- P"),
    ("EQUALITY_REFLEXIVITY", "|- a = a"),
    ("EQUALITY_REFLEXIVITY", "P(b) |- f(a, b) = f(a, b)"),
]
"""Between equivalent formulas, or to a logical truth: what logical truths need."""

UNDER_HYPOTHESES = [
    ("IMPLICATION_ELIMINATION", "P(a) → (Q(a) → R(a)); P(a) → Q(a) |- P(a) → R(a)"),
    ("IMPLICATION_ELIMINATION", "∀x (S(x) ∧ P(x) → (Q(x) → R(x))); ∀x (P(x) → Q(x)) |- ∀x (S(x) ∧ P(x) → R(x))"),
    ("IMPLICATION_ELIMINATION", "¬∃x (P(x) ∧ Q(x)) |- ∀x (R(x) ∧ P(x) → ¬Q(x))"),
    ("MODUS_TOLLENS", "∀x (P(x) → Q(x)); ∀x (S(x) → ¬Q(x)) |- ∀x (S(x) → ¬P(x))"),
    ("CONJUNCTION_INTRODUCTION", "∀x (P(x) → Q(x)); ∀x (S(x) → R(x)) |- ∀x (P(x) ∧ S(x) → Q(x) ∧ R(x))"),
    ("EXISTENTIAL_INTRODUCTION", "∀x (P(x) → R(x, a)) |- ∀x (P(x) → ∃y R(x, y))"),
    ("EXISTENTIAL_INTRODUCTION", "∀x ∀y (P(x) ∧ Q(y) → R(y)) |- ∀x ∀y (P(x) ∧ Q(y) → ∃z R(z))"),
    ("REDUCTIO_AD_ABSURDUM", "∀x (S(x) ∧ ¬P(x) → R(x)); ∀x (S(x) ∧ ¬P(x) → ¬R(x)) |- ∀x (S(x) → P(x))"),
    ("EXISTENTIAL_ELIMINATION", "S → ∃x P(x); ∀x (S ∧ P(x) → Q) |- S → Q"),
    ("EQUALITY_SUBSTITUTION", "∀x (P(x) → x = a) |- ∀x (P(x) ∧ Q(x) → Q(a))"),
    ("EQUALITY_REFLEXIVITY", "|- ∀x (P(x) → f(x) = f(x))"),
    ("EQUALITY_SUBSTITUTION", "∀x:Dog ∀y:Dog (P(x) → x = y) |- ∀x:Dog ∀y:Dog (P(x) ∧ Q(x) → Q(y))"),
    ("IMPLICATION_ELIMINATION", "∀x:Dog (P(x) → (Q(x) → R(x))); ∀x:Dog (P(x) → Q(x)) |- ∀x:Dog (P(x) → R(x))"),
    ("REITERATION", "P → R |- P ∧ Q → R"),
    ("REITERATION", "P |- Q ∧ P → P"),
]

OF_AN_ELEMENT = [
    ("CONJUNCTION_ELIMINATION", "∀x (P(x) ∧ Q) |- Q"),
    ("CONJUNCTION_ELIMINATION", "∀x:Dog ∀y:Cat (R(x, y) ∧ Q) |- Q"),
]
"""No term of the step is of these sorts, whose domains have elements nevertheless."""

NEAR_MISSES = [
    ("DISJUNCTION_INTRODUCTION", "P ∨ Q; ¬P |- Q ∨ R"),
    ("DISJUNCTION_INTRODUCTION", "P; Q |- (P ∧ Q) ↔ (Q ∧ P) ∧ Q"),
    ("DISJUNCTION_INTRODUCTION", "P |- P ∧ (Q ∨ ¬Q)"),
    ("EQUIVALENCE_INTRODUCTION", "P → Q; Q → P |- P ↔ Q"),
    ("EQUIVALENCE_INTRODUCTION", "P; Q |- (P → Q) ∧ (Q → P)"),
    ("CASE_ANALYSIS", "P ∨ Q; P → R; R → S; Q → S |- S"),
    ("CASE_ANALYSIS", "P ∨ Q; ¬P |- Q"),
    ("CASE_ANALYSIS", "P ∨ Q; P → R; Q → R |- R ∨ S"),
    ("REDUCTIO_AD_ABSURDUM", "P → Q; ¬Q |- ¬P"),
    ("REDUCTIO_AD_ABSURDUM", "P → Q; P → R; R → ¬Q |- ¬P"),
    ("EXISTENTIAL_ELIMINATION", "∃x P(x); ∀x (P(x) → Q(x)) |- ∃x Q(x)"),
    ("EXISTENTIAL_ELIMINATION", "P(a); ∀x (P(x) → Q(b)) |- Q(b)"),
    ("EXISTENTIAL_ELIMINATION", "∃x P(x); ∀x (P(x) → R); R → Q |- Q"),
    ("EQUALITY_SUBSTITUTION", "a = b; b = c; P(a) |- P(c)"),
    ("EQUALITY_SUBSTITUTION", "a = b; P(a) → Q; P(b) |- Q"),
    ("EQUALITY_SUBSTITUTION", "P(a); ¬P(b) |- ¬(a = b) ∨ Q"),
    ("EQUALITY_REFLEXIVITY", "a = b |- b = a"),
    ("EQUALITY_REFLEXIVITY", "a = b |- f(a) = f(b)"),
    ("EQUALITY_REFLEXIVITY", "|- a = a ∧ b = b"),
    ("EQUALITY_REFLEXIVITY", "|- ∃x x = a"),
    ("EQUALITY_REFLEXIVITY", "|- P ∨ ¬P"),
    ("REITERATION", "P; Q |- P ∧ Q"),
    ("REITERATION", "P ∧ (Q ∨ R) |- (P ∧ Q) ∨ (P ∧ R)"),
    ("IMPLICATION_ELIMINATION", "P → (Q → R); S → Q |- P ∧ S → R ∨ T"),
    ("EXISTENTIAL_INTRODUCTION", "∀x ∀y (P(x) → R(x, y)) |- ∀x (P(x) → ∃z R(x, z))"),
    ("CONJUNCTION_ELIMINATION", "P → Q; Q → R ∧ S |- P → R ∨ T"),
]
"""Entailed, but not one application of the rule."""

NOT_ENTAILED = [
    ("DISJUNCTION_INTRODUCTION", "P ∨ Q |- P"),
    ("CASE_ANALYSIS", "P ∨ Q; P → R |- R"),
    ("REDUCTIO_AD_ABSURDUM", "P → Q; R → ¬Q |- ¬P"),
    ("EXISTENTIAL_ELIMINATION", "∃x P(x); P(a) → Q |- Q"),
    ("EXISTENTIAL_ELIMINATION", "∃x P(x); ∀x (P(x) → Q(x)) |- Q(a)"),
    ("EQUALITY_SUBSTITUTION", "a = b; P(a) |- P(c)"),
    ("EQUALITY_SUBSTITUTION", "P(a); ¬P(b) |- ¬(a = c)"),
    ("EQUALITY_REFLEXIVITY", "|- a = b"),
    ("EQUALITY_REFLEXIVITY", "|- ¬(a = a)"),
    ("EQUALITY_REFLEXIVITY", "|- ∀x ∀y x = y"),
    ("REITERATION", "P ∧ Q → R |- P → R"),
    ("IMPLICATION_ELIMINATION", "∀x (P(x) → Q(x)); P(a) |- ∀x Q(x)"),
    ("EXISTENTIAL_INTRODUCTION", "∀x (P(x) → R(x, a)) |- ∀x ∃y R(x, y)"),
    ("REDUCTIO_AD_ABSURDUM", "∀x (P(x) → Q(a)); ∀x (S(x) → ¬Q(a)) |- ∀x ¬P(x)"),
]


def check(name: str, step: str) -> RuleResult:
    dependencies, conclusion = read(step)
    rule = COMPLETE.find(name)
    assert rule is not None
    return check_rule(rule, dependencies, conclusion, TABLES, hypotheses=True)


def entailed(step: str) -> bool:
    return isinstance(TABLES.entails(*read(step)), Entailed)


@pytest.mark.parametrize(("rule", "step"), PLAIN + TURNED + UNDER_HYPOTHESES)
def test_instances_are_accepted(rule: str, step: str) -> None:
    assert entailed(step)
    found = check(rule, step)
    assert isinstance(found, Match)
    assert not found.unstated
    assert bool(found.constants or found.hypotheses) == ((rule, step) in UNDER_HYPOTHESES)


@pytest.mark.parametrize(("rule", "step"), NEAR_MISSES)
def test_entailed_near_misses_are_rejected(rule: str, step: str) -> None:
    assert entailed(step)
    assert check(rule, step) == NoMatch()


@pytest.mark.parametrize(("rule", "step"), NOT_ENTAILED)
def test_steps_that_are_not_entailed_are_rejected(rule: str, step: str) -> None:
    assert not entailed(step)
    assert not isinstance(check(rule, step), Match)


@pytest.mark.parametrize("rule", [rule.name for rule in ADDED])
def test_examples_are_instances(rule: str) -> None:
    example = next(each.example for each in ADDED if each.name == rule)
    assert isinstance(check(rule, f"{'; '.join(example.dependencies)} |- {example.conclusion}"), Match)


def test_the_other_catalogues_take_no_hypotheses() -> None:
    assert COMPLETE.hypotheses and not FOLIO.hypotheses
    assert COMPLETE.rules[: len(FOLIO.rules)] == FOLIO.rules
    for name, step in UNDER_HYPOTHESES:
        rule = FOLIO.find(name)
        if rule is not None and "¬∃" not in step and not step.startswith("∀x (P(x) → Q(x)); ∀x (S"):
            assert not isinstance(check_rule(rule, *read(step), TABLES), Match), step


def instance_of(name: str, step: str) -> tuple[Query, Proof, Match]:
    """The question of an instance, and its proof, which applies the theorem of the schema."""
    dependencies, conclusion = read(step)
    found = check(name, step)
    assert isinstance(found, Match)
    proof = instance_proof(found, dependencies, conclusion)
    assert proof is not None, step
    check_proof(proof, dependencies, conclusion)
    applied = [line.theorem.name for line in lines_of(proof) if isinstance(line, Apply)]
    assert applied == [found.schema.name], step
    return Query(dependencies, conclusion), proof, found


def test_lean_accepts_the_proof_of_every_instance(lean: LeanKernel) -> None:
    """In both styles of certificates."""
    found = [instance_of(*each) for each in PLAIN + TURNED + UNDER_HYPOTHESES]
    proofs = [*found, *[instance_of(*each) for each in OF_AN_ELEMENT]]
    for style in (entailment_theorem, reflection.entailment):
        theorems = [style(query.dependencies, query.conclusion, proof) for query, proof, _ in proofs]
        assert [said for said in lean.check(theorems) if not said.accepted] == []
    used = {match.schema.name for _, _, match in found if not (match.constants or match.hypotheses)}
    assert used == {schema.name for rule in ADDED for schema in rule.schemata}


@pytest.mark.parametrize(("rule", "step"), UNDER_HYPOTHESES)
def test_proofs_under_hypotheses_are_written_for_isabelle(rule: str, step: str) -> None:
    query, proof, _ = instance_of(rule, step)
    assert read_theory(answer_theory(one_step(query, proof), "Answer"), "Answer").conclusion == query.conclusion


QUANTIFIED = [
    step for _, step in UNDER_HYPOTHESES if "∀" in step and not any(one in step for one in ("S → ", "a", ":"))
]


@pytest.mark.parametrize("rule", COMPLETE.rules, ids=lambda rule: rule.name)
def test_what_any_rule_accepts_is_entailed(rule: Rule) -> None:
    for one in QUANTIFIED:
        for other in QUANTIFIED:
            dependencies, (_, conclusion) = read(one)[0], read(other)
            if isinstance(check_rule(rule, dependencies, conclusion, TABLES, hypotheses=True), Match):
                assert isinstance(TABLES.entails(dependencies, conclusion), Entailed), (one, other)


def test_a_reading_strips_what_the_step_supposes() -> None:
    dependencies, conclusion = read("∀x (S(x) ∧ P(x) → Q(x)) |- ∀y (P(y) → (R(y) → Q(y)))")
    found = list(readings(dependencies, conclusion))
    assert [str(reading.conclusion) for reading in found] == ["P(y) → (R(y) → Q(y))", "R(y) → Q(y)", "Q(y)"]
    said: list[tuple[Formula, ...]] = [reading.dependencies[0] for reading in found]
    assert said[1] == (parse_formula("S(y) → Q(y)"),) == said[2]


_LONG = "∀x ∀y ∀z ((P(z) → Q(x)) ∧ P(x) ∧ (P(z) → Q(y)) ∧ P(y) ∧ P(z) → Q(y))"


@pytest.mark.parametrize(
    ("step", "price"),
    [
        ("∀x ¬∀y (F(x, y) ↔ ¬F(y, y)) |- ∃x (D(x) → ∀y D(y))", 107),
        (f"{_LONG} |- ∃x ∀y ∀z ((P(y) → Q(z)) → (P(x) → Q(x)))", 13_932),
    ],
)
def test_of_two_logical_truths_one_is_proved(step: str, price: int) -> None:
    """To ask whether they are equivalent took 482 and 187,358 steps."""
    assert priced("UNIVERSAL_ELIMINATION", step) == (NoMatch(), price)


def priced(name: str, step: str) -> tuple[RuleResult, int]:
    """The result of a check, and its price in steps."""
    rule = COMPLETE.find(name)
    assert rule is not None
    metered = TABLES.with_budget(1_000_000, "test")
    return check_rule(rule, *read(step), metered, hypotheses=True), metered.charged


def test_a_plain_instance_goes_first() -> None:
    """A step of Pelletier's problem 38. With the consequents of implications first, its check took 581,352 steps."""
    path = "∃y ∃z (P(y) ∧ R(x, z) ∧ R(z, y))"
    claim = f"∀x (P(a) ∧ (P(x) → ∃y (P(y) ∧ R(x, y))) → {path})"
    other = f"∀x ((¬P(a) ∨ P(x) ∨ {path}) ∧ (¬P(a) ∨ ¬∃y (P(y) ∧ R(x, y)) ∨ {path}))"
    supposed = f"¬(({claim}) ↔ {other})"
    found, price = priced("REDUCTIO_AD_ABSURDUM", f"{supposed} ∧ ¬({claim}) → {claim} |- {supposed} → {claim}")
    assert isinstance(found, Match)
    assert (len(found.hypotheses), found.unstated, price) == (1, (), 739)


@pytest.mark.parametrize(("rule", "step"), PLAIN + UNDER_HYPOTHESES)
def test_plainly_fewer_instances_are_found(rule: str, step: str) -> None:
    known = COMPLETE.find(rule)
    assert known is not None
    plain = check_rule(known, *read(step), TABLES, hypotheses=True, plainly=True)
    assert plain in (check(rule, step), NoMatch())


EXACTLY: list[tuple[str, str, dict[str, Any], int, str]] = [
    (
        "IMPLICATION_ELIMINATION",
        "P; P → (Q → R); S → Q |- S → R",
        {},
        169,
        "implication_elimination; A := Q; B := R; from Q → R",
    ),
    (
        "IMPLICATION_ELIMINATION",
        "P → Q; Q → R; P |- S → R",
        {"budget": 40},
        57,
        "implication_elimination; A := Q; B := R; from Q → R; unstated Q",
    ),
    (
        "IMPLICATION_ELIMINATION",
        "(A ∨ ¬A) → B |- B",
        {},
        96,
        "implication_elimination; A := A ∨ ¬A; B := B; from A ∨ ¬A → B; unstated A ∨ ¬A",
    ),
    (
        "IMPLICATION_ELIMINATION",
        'A → ∀"x" B; A |- B',
        {},
        86,
        'implication_elimination; A := A; B := ∀"x" B; from A → ∀"x" B',
    ),
    ("EXISTENTIAL_INTRODUCTION", "∀x:Dog ∀y:Cat R(x, y) |- ∃x:Dog ∃y:Cat R(x, y)", {"terminal": True}, 9, "NoMatch"),
    (
        "EXISTENTIAL_INTRODUCTION",
        "P(a) |- ∃x P(x)",
        {},
        3,
        "existential_introduction; x := x; A(Entity) := P(x); t := a",
    ),
    (
        "EQUALITY_SUBSTITUTION",
        "∀x:Dog (P(x) → x = a) |- ∀x:Dog (P(x) ∧ Q(x) → Q(a))",
        {"plainly": True},
        14,
        'equality_substitution; t := x; u := a; A(Dog) := Q("\\u2423hole"); from x = a',
    ),
    (
        "EQUALITY_SUBSTITUTION",
        "∀y R(b, y); ∀x:Dog (P(x) → x = a) |- ∀x:Dog (P(x) ∧ Q(x) → Q(a))",
        {},
        24,
        'equality_substitution; t := x; u := a; A(Dog) := Q("\\u2423hole"); from x = a',
    ),
    (
        "EQUALITY_SUBSTITUTION",
        "∀x:Cat S(x); ∀x:Dog (P(x) → x = a) |- ∀x:Dog (P(x) ∧ Q(x) → Q(a))",
        {"terminal": True},
        25,
        "NoMatch",
    ),
    (
        "EQUALITY_SUBSTITUTION",
        "a = b |- b = a",
        {},
        7,
        'equality_substitution; t := a; u := b; A(Entity) := "\\u2423hole" = a; from a = b',
    ),
    (
        "EQUALITY_SUBSTITUTION",
        "a = b; ∀x (P(x) → R(x, a)) |- ∀y (P(y) → R(y, b))",
        {"terminal": True},
        9,
        'equality_substitution; t := a; u := b; A(Entity) := ∀x (P(x) → R(x, "\\u2423hole")); from a = b',
    ),
    (
        "CONJUNCTION_INTRODUCTION",
        "∀x ∀y P(x, y) |- ∀z (Q(z) → (∀x P(z, x)) ∧ Q(z))",
        {},
        9,
        "conjunction_introduction; A := ∀x P(z, x); B := Q(z)",
    ),
    (
        "CONJUNCTION_INTRODUCTION",
        "∀x P(x) ∧ B; C |- (∀y P(y) ∧ B) ∧ C",
        {},
        4,
        "conjunction_introduction; A := ∀y P(y); B := B ∧ C",
    ),
    (
        "CONJUNCTION_ELIMINATION",
        "∀x:Dog (P(x) ∧ Q) |- Q",
        {},
        8,
        'conjunction_elimination; A := Q; B := P("\\u2423element Dog"); from P("\\u2423element Dog") ∧ Q',
    ),
    ("CONJUNCTION_ELIMINATION", "∀x:Dog (P(x) ∧ Q) |- Q", {"hypotheses": False}, 5, "NoMatch"),
    (
        "CONJUNCTION_ELIMINATION",
        "∀x:Dog ∀y:Cat (R(x, y) ∧ Q) |- Q",
        {},
        9,
        (
            'conjunction_elimination; A := Q; B := R("\\u2423element Dog", "\\u2423element Cat"); '
            'from R("\\u2423element Dog", "\\u2423element Cat") ∧ Q'
        ),
    ),
    (
        "CONJUNCTION_ELIMINATION",
        "∀x (P(x) ∧ Q) |- Q",
        {},
        8,
        'conjunction_elimination; A := Q; B := P("\\u2423element"); from P("\\u2423element") ∧ Q',
    ),
    (
        "UNIVERSAL_PROPOSITIONAL_INFERENCE",
        "∀x (A(x) → D(x)); ∀x (B(x) → D(x)); ∀x (C(x) → D(x)) |- ∀x (A(x) ∨ B(x) ∨ C(x) → D(x))",
        {"hypotheses": False},
        97,
        (
            "universal_propositional_inference_or; x := x; A(Entity) := A(x) ∨ B(x); C(Entity) := D(x); "
            "B(Entity) := C(x); from ∀x (A(x) → D(x)); from ∀x (B(x) → D(x)); from ∀x (C(x) → D(x))"
        ),
    ),
    (
        "EXCLUSIVE_DISJUNCTION_INTRODUCTION",
        "A; B ∨ ¬B |- A ⊕ (B ∧ ¬B)",
        {},
        12,
        "xor_introduction_left; A := A; B := B ∧ ¬B",
    ),
    ("GOAL_BINDING", "A; B |- A", {}, 0, "NoMatch"),
]
"""A rule, a step, options of the check, its price in steps, and what it finds."""


def told(found: RuleResult) -> str:
    """What a check found: schema, substitution with the sorts of variables, anchors and unstated premises."""
    if not isinstance(found, Match):
        return type(found).__name__
    parts = [found.schema.name]
    for name, value in found.substitution.items():
        if isinstance(value, Lambda):
            sorts = f"({', '.join([variable.sort for variable in value.variables])})" if value.variables else ""
            parts.append(f"{name}{sorts} := {value.body}")
        else:
            parts.append(f"{name} := {value}")
    parts += [f"from {anchor.element}" for anchor in found.principal]
    return "; ".join([*parts, *[f"unstated {formula}" for formula in found.unstated]])


@pytest.mark.parametrize(("rule", "step", "options", "price", "finds"), EXACTLY)
def test_what_checks_find_and_cost(rule: str, step: str, options: dict[str, Any], price: int, finds: str) -> None:
    known = COMPLETE.find(rule)
    assert known is not None
    metered = TABLES.with_budget(1_000_000, "test")
    dependencies, conclusion = read(step)
    found = check_rule(known, dependencies, conclusion, metered, **{"hypotheses": True, **options})
    assert (told(found), metered.charged) == (finds, price)
    if isinstance(found, Match):
        proof = instance_proof(found, dependencies, conclusion)
        assert proof is not None
        check_proof(proof, dependencies, conclusion)


@pytest.mark.parametrize(("rule", "step"), PLAIN + UNDER_HYPOTHESES)
def test_a_small_budget_leaves_an_instance_undecided(rule: str, step: str) -> None:
    """Also one that ends just where a reading has been looked through."""
    known = COMPLETE.find(rule)
    assert known is not None
    for budget in range(priced(rule, step)[1]):
        found = check_rule(known, *read(step), TABLES, hypotheses=True, budget=budget)
        assert isinstance(found, (Match, Undecided)), budget


class Silent:
    name = "silent"

    def decide(self, query: Query) -> Answer:
        del query
        return Unknown(Reason.TIMEOUT)


@pytest.mark.parametrize(
    ("name", "step", "budget"),
    [
        # whether the step takes one logical truth for another
        ("IMPLICATION_ELIMINATION", "R → P(a) ∨ ¬P(a); R |- Q(a) ∨ ¬Q(a)", CHECK_BUDGET),
        # a later reading ends with the budget
        ("REDUCTIO_AD_ABSURDUM", "¬P → ¬Q; ¬P → Q |- P", 10),
    ],
)
def test_the_first_open_question_is_told(name: str, step: str, budget: int) -> None:
    rule = COMPLETE.find(name)
    assert rule is not None
    found = check_rule(rule, *read(step), Oracle(Answers(Silent())), hypotheses=True, budget=budget)
    assert found == Undecided("a question of the rule stayed undecided (timeout)")


def test_of_two_results_the_more_informative_counts() -> None:
    """The first of two alike; one whose premises are stated before one that merges two inferences."""
    stated = check("REITERATION", "P |- P")
    merged = structs.replace(stated, unstated=(parse_formula("P"),))
    ranks: list[list[RuleResult]] = [
        [stated, check("REITERATION", "Q |- Q")],
        [merged, structs.replace(merged, unstated=(parse_formula("Q"),))],
        [Undecided("a"), Undecided("b")],
        [NoMatch()],
    ]
    ordered = [(rank, one) for rank, of in enumerate(ranks) for one in of]
    for (rank, one), (other_rank, other) in product(ordered, ordered):
        assert _better(one, other) is (other if other_rank < rank else one)
