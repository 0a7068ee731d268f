"""Forms of formulas in which rules find what they need: stated in parts, conjuncts, normal forms."""

from __future__ import annotations

import pytest
from hypothesis import given

from proof_r1_formal.engine.truth_table import fingerprints_differ
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.rules.forms import conjunctive_parts, covers, is_stated, normal_form, plain_form
from proof_r1_formal.testing import strategies
from proof_r1_formal.text.equivalence import regroup
from proof_r1_formal.text.parse import parse_formula

STATED = [
    ("A ⊕ B", "A; ¬B", {"sums"}, True),
    ("A ⊕ B", "¬A; B", {"sums"}, True),
    ("A ⊕ B", "A; B", {"sums"}, False),
    ("A ⊕ B", "A; ¬B", {"unruled"}, False),
    ("A ⊕ (B ⊕ C)", "A; B; C", {"sums"}, True),
    ("(A ⊕ B) ⊕ C", "A; B; C", {"sums"}, True),
    ("(A ⊕ B) ⊕ C", "A; ¬B; ¬C", {"sums"}, True),
    ("¬(A ⊕ B)", "A; B", {"sums"}, True),
    ("¬(A ⊕ B)", "¬A; ¬B", {"sums"}, True),
    ("¬(A ⊕ B)", "A; ¬B", {"sums"}, False),
    ("¬(A ⊕ B)", "A; B", set(), False),
    ("¬(A ⊕ B)", "A; B", {"unruled"}, True),
    ("¬((A ⊕ B) ⊕ C)", "A; ¬B; C", {"sums"}, True),
    ("¬((A ⊕ B) ⊕ C)", "A; B; ¬C", {"sums"}, True),
    ("A ↔ B", "A; B", {"unruled"}, True),
    ("A ↔ B", "¬A; ¬B", {"unruled"}, True),
    ("A ↔ B", "A; B", {"sums"}, False),
    ("(A ⊕ B) ↔ C", "A; ¬B; C", {"sums", "unruled"}, False),  # the operands of ↔ are stated without a sum
    ("A ∨ B", "B", {"unruled"}, True),
    ("A ∨ B", "B", {"sums"}, False),
    ("A → B", "¬A", {"unruled"}, True),
    ("A → B", "B", {"unruled"}, True),
    ("A → B", "B", {"sums"}, False),
    ("¬(A ∧ B)", "¬B", {"unruled"}, True),
    ("¬(A ∧ B)", "¬B", {"sums"}, False),
    ("A ∧ B", "A; B", set(), True),
    ("A ∧ B", "A", {"sums", "unruled"}, False),
    ("¬¬(A ⊕ B)", "A; ¬B", {"sums"}, True),
    ("¬¬(A ⊕ B)", "A; ¬B", set(), False),
    ("(A ⊕ B) ∧ C", "A; ¬B; C", {"sums"}, False),  # a sum that is a conjunct must stand somewhere by itself
]


@pytest.mark.parametrize(("formula", "said", "options", "expected"), STATED)
def test_what_formulas_state_together(formula: str, said: str, options: set[str], expected: bool) -> None:
    known = {parse_formula(text) for text in said.split(";")}
    found = is_stated(parse_formula(formula), known.__contains__, sums="sums" in options, unruled="unruled" in options)
    assert found == expected


@pytest.mark.parametrize(
    ("formula", "parts"),
    [
        ("A ∧ B ∧ C", ["A", "B", "C"]),
        ("¬¬(A ∧ B)", ["A", "B"]),
        ("¬¬A", ["A"]),
        ("¬(A ∨ B)", ["¬A", "¬B"]),
        ("¬(A → B)", ["A", "¬B"]),
        ("¬(A ∨ (B → C))", ["¬A", "B", "¬C"]),
        ("¬(A → (B ∨ C))", ["A", "¬B", "¬C"]),
        ("A ⊕ B", ["A ⊕ B"]),
    ],
)
def test_conjunctive_parts(formula: str, parts: list[str]) -> None:
    assert conjunctive_parts(parse_formula(formula)) == tuple(map(parse_formula, parts))


def test_what_is_given_is_used_once_and_in_any_order() -> None:
    one, other, another = map(parse_formula, ("A", "B", "C"))

    def says_other(given: Formula, part: Formula) -> bool:
        return (given, part) == (another, other)

    assert covers((one, other), (another, one), says_other)
    assert not covers((one, other, other), (another, one), says_other)


def test_covering_conjuncts_ignore_names_and_grouping() -> None:
    wanted = parse_formula("∀x (P(x) ∧ Q(x)) ∧ (A ∨ B) ∧ C")
    given = tuple(map(parse_formula, ("(B ∨ A) ∧ ∀y (Q(y) ∧ P(y))", "C")))
    assert covers((wanted,), given, lambda _part, _formula: False)
    assert not covers((wanted,), given[:1], lambda _part, _formula: False)


@pytest.mark.parametrize(
    ("formula", "normal"),
    [
        ("⊤", "⊤"),
        ("¬⊤", "⊥"),
        ("¬⊥", "⊤"),
        ("a = b", "a = b"),
        ("¬(a = b)", "¬(a = b)"),
        ("¬¬P(a)", "P(a)"),
        ("A → B", "¬A ∨ B"),
        ("¬(A → B)", "A ∧ ¬B"),
        ("¬∀x P(x)", "∃x ¬P(x)"),
        ("¬(A ∧ B)", "¬A ∨ ¬B"),
        ("B ⊕ A", "A ⊕ B"),
        ("A ↔ B", "¬(A ⊕ B)"),
    ],
)
def test_normal_forms(formula: str, normal: str) -> None:
    assert normal_form(parse_formula(formula)) is regroup(parse_formula(normal))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("A → (B ∨ C)", "(A → B) ∨ C"),
        ("A ↔ B", "¬(B ⊕ A)"),
        ("¬A ⊕ B", "A ↔ B"),
        ("A ⊕ (B → C)", "A ⊕ (¬B ∨ C)"),
        ("(∀x Q(x)) ⊕ ∀y P(y)", "(∀y Q(y)) ⊕ ∀x P(x)"),
        ("∀x (P(x) ⊕ ∃y Q(y))", "∀y ((∃x Q(x)) ⊕ P(y))"),
    ],
)
def test_formulas_with_one_normal_form(first: str, second: str) -> None:
    assert normal_form(parse_formula(first)) is normal_form(parse_formula(second))


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("∀x (A(x) ∧ B)", "B ∧ ∀y A(y)", True),
        ("¬∃x (A(x) → B)", "∀x A(x) ∧ ¬B", True),
        ("∀x (A(x) ∧ (B ∧ C))", "(∀x A(x) ∧ C) ∧ B", True),
        ("∃x (A(x) ∨ B(x))", "∃x B(x) ∨ ∃x A(x)", True),
        ("∀x ∀y (A(x) ∨ B(y))", "∀y B(y) ∨ ∀x A(x)", True),
        ("∀x (A(x) ∨ B(x))", "∀x A(x) ∨ ∀x B(x)", False),
        ("∃x (A(x) ∧ B(x))", "∃x A(x) ∧ ∃x B(x)", False),
    ],
)
def test_plain_forms_say_the_same_wherever_quantifiers_stand(first: str, second: str, same: bool) -> None:
    assert (plain_form(parse_formula(first)) is plain_form(parse_formula(second))) == same


@given(strategies.formulas())
def test_a_plain_form_says_the_same(formula: Formula) -> None:
    assert not fingerprints_differ(plain_form(formula), formula)
