"""Spines, and letters for terms in patterns; tests/kernel/test_pattern.py has the rest of matching."""

from __future__ import annotations

import pytest

from proof_r1_formal.errors import CatalogueError
from proof_r1_formal.kernel.syntax import App, Eq, Implies, Not, Var, conjunction, const, var
from proof_r1_formal.rules.matching import Spine, denied, matches
from proof_r1_formal.text.parse import parse_formula as f

A, B, C = f("A"), f("B"), f("C")
FIRST, SECOND = const("a"), const("b")


@pytest.mark.parametrize(
    ("texts", "complete"), [(["A"], True), (["A", "B"], True), (["A", "B ∧ C"], False), (["B ∧ C"], False), ([], True)]
)
def test_a_spine_of_atoms_has_no_other_parts(texts: list[str], complete: bool) -> None:
    spine = Spine(map(f, texts), denials=True)
    assert spine.complete == complete
    assert [element.formula for element in spine.elements] == list(map(f, texts))


def test_parts_are_found_one_level_at_a_time() -> None:
    spine = Spine([f("A ∧ (B ∧ (C → A))")], denials=False)
    found = [[element.formula for element in spine.grow_parts(lambda _sort: ())] for _ in range(3)]
    assert found == [[A, f("B ∧ (C → A)")], [B, f("C → A")], []]
    assert [element.formula for element in spine.grow_consequents(lambda formula: formula is C)] == []  # A is there
    assert spine.complete


def test_consequents_have_the_antecedents_that_hold() -> None:
    spine = Spine([f("A → (B → C)")], denials=False)
    assert spine.grow_parts(lambda _sort: ()) == []
    for antecedent, rest, so_far in ((A, f("B → C"), (A,)), (B, C, (A, B))):
        (element,) = spine.grow_consequents(antecedent.__eq__)
        assert (element.formula, element.antecedents) == (rest, so_far)
        assert not spine.complete
        assert spine.grow_parts(lambda _sort: ()) == []
    assert spine.grow_consequents(lambda _formula: True) == []
    assert spine.complete


def test_a_denied_conjunction_denies_each_conjunct_under_the_others() -> None:
    assert denied(f("¬(A ∧ B)")) == (Implies(B, Not(A)), Implies(A, Not(B)))
    assert denied(f("¬(A ∧ B ∧ C)"))[1] == Implies(conjunction((A, C)), Not(B))
    for other in ("¬(A ∧ A)", "¬(A ∨ B)", "¬A", "A ∧ B"):
        assert denied(f(other)) == ()


def test_letters_of_an_equation_stand_for_terms_without_variables() -> None:
    pattern = Eq(const("t"), const("u"))
    assert list(matches(pattern, f("a = b"))) == [{"t": FIRST, "u": SECOND}, {"t": SECOND, "u": FIRST}]
    assert list(matches(pattern, Eq(var("x"), FIRST))) == []
    assert list(matches(pattern, A)) == []
    same = Eq(const("t"), const("t"))
    assert list(matches(same, f("a = b"))) == []
    assert {"t": FIRST} in list(matches(same, f("a = a")))


@pytest.mark.parametrize("term", [var("x"), App("f", (const("t"),))])
def test_a_pattern_equates_letters_only(term: App | Var) -> None:
    with pytest.raises(CatalogueError, match="equates letters for terms only"):
        list(matches(Eq(term, const("u")), f("a = b")))
