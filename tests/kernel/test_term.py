"""Proof terms as data: what a signed formula says, and proofs with other numbers."""

from __future__ import annotations

import pytest

from proof_r1_formal.kernel.checker import check
from proof_r1_formal.kernel.pattern import Lambda
from proof_r1_formal.kernel.signed import FALSUM, Signed, signed
from proof_r1_formal.kernel.syntax import BOTTOM, TOP, Connective, ForAll, Formula, Implies, Not, const
from proof_r1_formal.kernel.term import (
    Absurd,
    Apply,
    Arbitrary,
    Contradiction,
    Eliminate,
    Generalise,
    Instance,
    Introduce,
    Leibniz,
    Proof,
    Reflexivity,
    Repeat,
    Suppose,
    Theorem,
    Truth,
    Witness,
    renumber,
)
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


SAME = Theorem("same", (f("A"),), f("A"), (Repeat(0),))
EVERY_LINE: Proof = (
    Repeat(0),
    Eliminate(1, "left", 2),
    Eliminate(1, "right"),
    Introduce(connective("P(a) ∧ q"), (0, 3)),
    Instance(2, A),
    Witness(3, C),
    Generalise(universal("∀x P(x)"), 4, A),
    Arbitrary(universal("∀x P(x)"), B, (Instance(0, B), Suppose(implication("q → q"), (Repeat(9),)))),
    Absurd(f("P(a)"), (Contradiction(0, 10),)),
    Truth(TOP),
    Reflexivity(A),
    Leibniz(implication("a = b → (P(a) → P(b))")),
    Apply(SAME, {"A": Lambda((), f("q"))}, (1, 5)),
)


def test_numbers_of_premises_and_of_lines() -> None:
    """Of three premises, the second takes the place of the first, and lines begin at 7 in place of 3."""
    assert renumber(EVERY_LINE, (1, 4, 0), 7) == (
        Repeat(1),
        Eliminate(4, "left", 0),
        Eliminate(4, "right"),
        Introduce(connective("P(a) ∧ q"), (1, 7)),
        Instance(0, A),
        Witness(7, C),
        Generalise(universal("∀x P(x)"), 8, A),
        Arbitrary(universal("∀x P(x)"), B, (Instance(1, B), Suppose(implication("q → q"), (Repeat(13),)))),
        Absurd(f("P(a)"), (Contradiction(1, 14),)),
        Truth(TOP),
        Reflexivity(A),
        Leibniz(implication("a = b → (P(a) → P(b))")),
        Apply(SAME, {"A": Lambda((), f("q"))}, (4, 9)),
    )


def test_lines_may_get_smaller_numbers() -> None:
    assert renumber((Repeat(0), Repeat(2), Repeat(3)), (1, 0), 0) == (Repeat(1), Repeat(0), Repeat(1))


def test_a_proof_of_other_premises_in_another_order_is_accepted() -> None:
    premises: tuple[Formula, ...] = (f("p → q"), f("p"))
    proof: Proof = (Eliminate(0, "right", 1),)
    assert check(proof, premises, f("q")) == {0, 1}
    moved = renumber(proof, (2, 1), 3)
    assert check(moved, (f("r"), f("p"), f("p → q")), f("q")) == {1, 2}
