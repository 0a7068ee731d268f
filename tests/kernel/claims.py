"""Claims, constants and theorems that the tests of the proof checker share."""

from __future__ import annotations

from typing import Any

from proof_r1_formal.kernel.pattern import Lambda
from proof_r1_formal.kernel.syntax import App, Formula, Term, atom, const, var
from proof_r1_formal.kernel.term import Arbitrary, Block, Contradiction, Instance, Repeat, Suppose, Theorem
from proof_r1_formal.text.parse import parse_formula

A, B, C, D = const("a"), const("b"), const("c"), const("d")
X, Y = var("x"), var("y")


def f(text: str) -> Any:
    """A formula; of any kind, since some lines of the tests are wrong on purpose."""
    return parse_formula(text)


def claim(text: str) -> tuple[tuple[Formula, ...], Formula]:
    """``p; q ⊢ r`` read as premises and conclusion."""
    left, right = text.split("⊢")
    return tuple([f(part) for part in left.split(";") if part.strip()]), f(right)


def fa(term: Term) -> App:
    return App("f", (term,))


VACUOUS = Theorem("vacuous", (f("A"),), f('∀"x" A'), (Arbitrary(f('∀"x" A'), const("c"), (Repeat(0),)),))
SPECIALISE = Theorem("specialise", (f("∀x A(x)"),), f("A(t)"), (Instance(0, const("t")),))
P_OF_A: dict[str, Lambda | Term] = {"A": Lambda((X,), atom("P", X)), "t": A}
EX_FALSO: Block = (Contradiction(0, 1),)
FREE = atom("P", X)
SELF = Theorem("self", (), f("A → A"), (Suppose(f("A → A"), (Repeat(0),)),))
