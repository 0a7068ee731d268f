"""Proof terms as data: what a signed formula says, and proofs with other numbers."""

from __future__ import annotations

import pytest

from proof_r1_formal.kernel import term as t
from proof_r1_formal.kernel.checker import check
from proof_r1_formal.kernel.pattern import Lambda
from proof_r1_formal.kernel.signed import FALSUM, Signed, signed
from proof_r1_formal.kernel.syntax import BOTTOM, TOP, Connective, ForAll, Formula, Implies, Not, const
from proof_r1_formal.text.parse import parse_formula as f

A, B, C = const("a"), const("b"), const("c")


@pytest.mark.parametrize(
    ("text", "body", "sign"),
    [("p", "p", True), ("¬p", "p", False), ("¬¬p", "p", True), ("¬¬¬(p ∧ ¬q)", "p ∧ ¬q", False)],
)
def test_negations_at_the_front_are_the_sign(text: str, body: str, sign: bool) -> None:
    assert signed(f(text)) == Signed(f(body), sign)
    assert signed(Not(f(text))) == signed(f(text)).opposite() == Signed(f(body), not sign)


def test_names_of_bound_variables_do_not_count() -> None:
    assert signed(f("¬∀x ∃y R(x, y)")) == signed(f("¬∀u ∃v R(u, v)"))
    assert signed(f("∀x ∃y R(x, y)")) != signed(f("∀x ∃y R(y, x)"))


def test_equality_of_signed_formulas() -> None:
    assert {signed(f("p")), signed(f("¬¬p")), signed(f("¬p"))} == {Signed(f("p"), True), Signed(f("p"), False)}
    assert (signed(f("p")) == f("p")) is False


def test_a_contradiction_says_that_falsum_is_true() -> None:
    assert signed(BOTTOM) == FALSUM != signed(TOP)


def connective(text: str) -> Connective:
    formula = f(text)
    assert isinstance(formula, Connective)
    return formula


def implication(text: str) -> Implies:
    formula = f(text)
    assert isinstance(formula, Implies)
    return formula


def universal(text: str) -> ForAll:
    formula = f(text)
    assert isinstance(formula, ForAll)
    return formula


SAME = t.Theorem("same", (f("A"),), f("A"), (t.Repeat(0),))
EVERY_LINE: t.Proof = (
    t.Repeat(0),
    t.Eliminate(1, "left", 2),
    t.Eliminate(1, "right"),
    t.Introduce(connective("P(a) ∧ q"), (0, 3)),
    t.Instance(2, A),
    t.Witness(3, C),
    t.Generalise(universal("∀x P(x)"), 4, A),
    t.Arbitrary(universal("∀x P(x)"), B, (t.Instance(0, B), t.Suppose(implication("q → q"), (t.Repeat(9),)))),
    t.Absurd(f("P(a)"), (t.Contradiction(0, 10),)),
    t.Truth(TOP),
    t.Reflexivity(A),
    t.Leibniz(implication("a = b → (P(a) → P(b))")),
    t.Apply(SAME, {"A": Lambda((), f("q"))}, (1, 5)),
)


def test_numbers_of_premises_and_of_lines() -> None:
    """Of three premises, the second takes the place of the first, and lines begin at 7 in place of 3."""
    assert t.renumber(EVERY_LINE, (1, 4, 0), 7) == (
        t.Repeat(1),
        t.Eliminate(4, "left", 0),
        t.Eliminate(4, "right"),
        t.Introduce(connective("P(a) ∧ q"), (1, 7)),
        t.Instance(0, A),
        t.Witness(7, C),
        t.Generalise(universal("∀x P(x)"), 8, A),
        t.Arbitrary(universal("∀x P(x)"), B, (t.Instance(1, B), t.Suppose(implication("q → q"), (t.Repeat(13),)))),
        t.Absurd(f("P(a)"), (t.Contradiction(1, 14),)),
        t.Truth(TOP),
        t.Reflexivity(A),
        t.Leibniz(implication("a = b → (P(a) → P(b))")),
        t.Apply(SAME, {"A": Lambda((), f("q"))}, (4, 9)),
    )


def test_lines_may_get_smaller_numbers() -> None:
    assert t.renumber((t.Repeat(0), t.Repeat(2), t.Repeat(3)), (1, 0), 0) == (t.Repeat(1), t.Repeat(0), t.Repeat(1))


def test_a_proof_of_other_premises_in_another_order_is_accepted() -> None:
    premises: tuple[Formula, ...] = (f("p → q"), f("p"))
    proof: t.Proof = (t.Eliminate(0, "right", 1),)
    assert check(proof, premises, f("q")) == {0, 1}
    moved = t.renumber(proof, (2, 1), 3)
    assert check(moved, (f("r"), f("p"), f("p → q")), f("q")) == {1, 2}
