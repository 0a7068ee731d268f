"""The proof checker: what every kind of line may say and what it may not, and proofs that were tampered with."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from itertools import islice, product
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof_r1_formal.compiling import is_compiled
from proof_r1_formal.errors import ProofError
from proof_r1_formal.evidence.checker import MAX_DEPTH, MAX_HEIGHT, check
from proof_r1_formal.evidence.serial import proof_from_data
from proof_r1_formal.evidence.term import (
    Absurd,
    Apply,
    Arbitrary,
    Block,
    Contradiction,
    Eliminate,
    Generalise,
    Instance,
    Introduce,
    Leibniz,
    Line,
    Proof,
    Reflexivity,
    Repeat,
    Suppose,
    Theorem,
    Truth,
    Witness,
)
from proof_r1_formal.logic.model import Structure, evaluate
from proof_r1_formal.logic.parse import parse_formula
from proof_r1_formal.logic.pattern import Lambda
from proof_r1_formal.logic.query import Query
from proof_r1_formal.logic.serial import Data
from proof_r1_formal.logic.signature import Signature
from proof_r1_formal.logic.syntax import (
    BOTTOM,
    ENTITY,
    TOP,
    And,
    App,
    Atom,
    Connective,
    Eq,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Term,
    Var,
    Xor,
    atom,
    const,
    var,
)
from proof_r1_formal.search.prover import search
from proof_r1_formal.solvers.base import is_countermodel
from proof_r1_formal.testing.strategies import queries, structures

A, B, C, D = const("a"), const("b"), const("c"), const("d")
X, Y = var("x"), var("y")


def f(text: str) -> Any:
    """A formula; of any kind, since some of the lines below are wrong on purpose."""
    return parse_formula(text)


def claim(text: str) -> tuple[tuple[Formula, ...], Formula]:
    """``p; q ⊢ r`` read as premises and conclusion."""
    left, right = text.split("⊢")
    return tuple([f(part) for part in left.split(";") if part.strip()]), f(right)


def fa(term: Term) -> App:
    return App("f", (term,))


MODUS_PONENS = Theorem("modus ponens", (f("A → B"), f("A")), f("B"), (Eliminate(0, "right", 1),))
SPECIALISE = Theorem("specialise", (f("∀x A(x)"),), f("A(t)"), (Instance(0, const("t")),))
WRONG = Theorem("affirming the consequent", (f("A → B"), f("B")), f("A"), (Eliminate(0, "left", 1),))

PQ: dict[str, Lambda | Term] = {"A": Lambda((), f("p")), "B": Lambda((), f("q"))}
P_OF_A: dict[str, Lambda | Term] = {"A": Lambda((X,), atom("P", X)), "t": A}
EX_FALSO: Block = (Contradiction(0, 1),)


# -- worked examples --------------------------------------------------------------------------------------------------

Example: TypeAlias = tuple[str, Proof, set[int]]
ACCEPTED: list[Example] = [
    ("p ⊢ p", (Repeat(0),), {0}),
    ("p; q ⊢ q", (Repeat(0), Repeat(1)), {0, 1}),
    ("p; q ⊢ ¬¬q", (Repeat(1),), {1}),
    ("∀x P(x) ⊢ ∀y P(y)", (Repeat(0),), {0}),
    ("r; p → q; p ⊢ q", (Eliminate(1, "right", 2),), {1, 2}),
    ("p → q; ¬q ⊢ ¬p", (Eliminate(0, "left", 1),), {0, 1}),
    ("¬(p → q); q ⊢ p", (Eliminate(0, "left"),), {0}),
    ("p ∧ q ⊢ q", (Eliminate(0, "right"),), {0}),
    ("p ⊢ q ∨ p", (Introduce(f("q ∨ p"), (0,)),), {0}),
    ("p; ¬q ⊢ p ⊕ q", (Introduce(f("p ⊕ q"), (1, 0)),), {0, 1}),
    ("p ⊢ p ∧ p", (Introduce(f("p ∧ p"), (0,)),), {0}),
    ("⊢ p ⊕ ¬p", (Absurd(f("¬(p ⊕ ¬p)"), (
        Absurd(f("p"), (Introduce(f("p ⊕ ¬p"), (1,)), Contradiction(0, 2))),
        Introduce(f("p ⊕ ¬p"), (1,)),
        Contradiction(0, 2))),), set()),
    ("p → q; p ∧ ¬q ⊢ r", (Eliminate(1, "left"), Eliminate(1, "right"), Eliminate(0, "right", 2),
                           Contradiction(3, 4)), {0, 1}),
    ("∀x P(x) ⊢ P(a)", (Instance(0, A),), {0}),
    ("∀x P(x) ⊢ P(f(a))", (Instance(0, fa(A)),), {0}),
    ("¬∃x P(x) ⊢ ¬P(a)", (Instance(0, A),), {0}),
    ("∀x p ⊢ p", (Instance(0, A),), {0}),
    ("∀x:Person P(x); Q(a) ∧ P(a) ⊢ P(a)", (Instance(0, A),), {0}),
    ("∀x:Person P(x) ⊢ ∃x:Person P(x)", (Instance(0, C), Generalise(f("∃x:Person P(x)"), 1, C)), {0}),
    ("∃x P(x); q ⊢ ∃y P(y)", (Witness(0, C), Generalise(f("∃z P(z)"), 2, C)), {0}),
    ("¬∀x P(x) ⊢ ∃x ¬P(x)", (Witness(0, C), Generalise(f("∃x ¬P(x)"), 1, C)), {0}),
    ("∃x p ⊢ p", (Witness(0, C),), {0}),
    ("R(a,a) ⊢ ∃x R(a,x)", (Generalise(f("∃x R(a,x)"), 0, A),), {0}),
    ("¬P(a) ⊢ ¬∀x P(x)", (Generalise(f("∀x P(x)"), 0, A),), {0}),
    ("p ⊢ ∃x p", (Generalise(f("∃x p"), 0, C),), {0}),
    ("∀x (P(x) ∧ Q(x)) ⊢ ∀y Q(y)", (Arbitrary(f("∀y Q(y)"), C, (Instance(0, C), Eliminate(1, "right"))),), {0}),
    ("¬∃x P(x) ⊢ ¬∃x (P(x) ∧ q)", (Arbitrary(f("∃x (P(x) ∧ q)"), C, (
        Instance(0, C), Introduce(f("P(c) ∧ q"), (1,)))),), {0}),
    ("p; ¬p ⊢ ∀x P(x)", (Arbitrary(f("∀x P(x)"), C, EX_FALSO),), {0, 1}),
    ("p ⊢ ∀x p", (Arbitrary(f("∀x p"), C, (Repeat(0),)),), {0}),
    ("q ⊢ p → p", (Suppose(f("p → p"), (Repeat(1),)),), set()),
    ("q ⊢ p → q", (Suppose(f("p → q"), (Repeat(0),)),), {0}),
    ("¬p ⊢ p → q", (Suppose(f("p → q"), (Contradiction(0, 1),)),), {0}),
    ("p → ¬p ⊢ ¬p", (Absurd(f("p"), (Introduce(f("p → ¬p"), (1,)), Contradiction(0, 2))),), {0}),
    ("¬p → p ⊢ p", (Absurd(f("¬p"), (Introduce(f("¬p → p"), (1,)), Contradiction(2, 0))),), {0}),
    ("p; ¬p ⊢ ⊥", (Contradiction(0, 1),), {0, 1}),
    ("p; ¬p ⊢ q", (Contradiction(1, 0),), {0, 1}),
    ("⊥ ⊢ q", (Repeat(0),), {0}),
    ("⊢ ⊤", (Truth(f("⊤")),), set()),
    ("⊢ ¬⊥", (Truth(f("⊥")),), set()),
    ("⊢ a = a", (Reflexivity(A),), set()),
    ("⊢ f(a) = f(a)", (Reflexivity(fa(A)),), set()),
    ("⊢ a = b → (P(a) → P(b))", (Leibniz(f("a = b → (P(a) → P(b))")),), set()),
    ("⊢ a = b → (P(b) → P(a))", (Leibniz(f("a = b → (P(b) → P(a))")),), set()),
    ("⊢ a = b → (R(a,a) → R(b,a))", (Leibniz(f("a = b → (R(a,a) → R(b,a))")),), set()),
    ("⊢ a = b → (R(a,b) → R(b,a))", (Leibniz(f("a = b → (R(a,b) → R(b,a))")),), set()),
    ("⊢ a = b → (a = d → b = d)", (Leibniz(f("a = b → (a = d → b = d)")),), set()),
    ("⊢ f(a) = b → (P(f(f(a))) → P(f(b)))", (Leibniz(f("f(a) = b → (P(f(f(a))) → P(f(b)))")),), set()),
    ("⊢ a = b → (p → p)", (Leibniz(f("a = b → (p → p)")),), set()),
    ("p; p → q ⊢ q", (Apply(MODUS_PONENS, PQ, (1, 0)),), {0, 1}),
    ("∀y P(y) ⊢ P(a)", (Apply(SPECIALISE, P_OF_A, (0,)),), {0}),
    ("∀x:Person P(x); P(a) ∨ p ⊢ P(a)", (Apply(SPECIALISE, {
        "x": Var("x", "Person"), "A": Lambda((Var("x", "Person"),), Atom("P", (Var("x", "Person"),))), "t": A,
    }, (0,)),), {0}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "proof", "used"), ACCEPTED, ids=[text for text, _, _ in ACCEPTED])
def test_accepted_with_the_premises_that_its_lines_use(text: str, proof: Proof, used: set[int]) -> None:
    assert check(proof, *claim(text)) == used


FREE = atom("P", X)
REJECTED: list[tuple[str, Proof, str]] = [
    ("p ⊢ p", (), "no lines"),
    ("p ⊢ q", (Repeat(0),), "not the conclusion"),
    ("p ⊢ ¬p", (Repeat(0),), "not the conclusion"),
    ("p; q ⊢ p", (Repeat(0), Repeat(1)), "not the conclusion"),
    ("p ⊢ p", (Repeat(1),), "no line 1"),
    ("p ⊢ p", (Repeat(-1),), "no line -1"),
    ("p ⊢ p", (Truth(f("⊤")), Repeat(2)), "no line 2"),
    ("∀x ∃y R(x,y) ⊢ ∀x ∃y R(y,x)", (Repeat(0),), "not the conclusion"),
    ("∀x:Person P(x) ⊢ ∀x:Dog P(x)", (Repeat(0),), "sort"),
    # Eliminate and Introduce; test_truth_tables has the rest
    ("p → q; q ⊢ p", (Eliminate(0, "left", 1),), "left side is not determined"),
    ("p → q; p ⊢ q", (Eliminate(1, "right", 0),), "only binary formulas"),
    ("p → q; p ⊢ q", (Eliminate(0, "right"),), "right side is not determined"),
    ("p → q; r ⊢ q", (Eliminate(0, "right", 1),), "not a side"),
    ("p → q; p ⊢ q", (Eliminate(0, "right", 2),), "no line 2"),
    ("p → q; p ⊢ q", (Eliminate(-2, "right", 1),), "no line -2"),
    ("p ∧ q; ¬p ⊢ q", (Eliminate(0, "right", 1),), "not determined"),
    ("¬p ⊢ p", (Eliminate(0, "left"),), "only binary formulas"),
    ("∀x (p ∧ q) ⊢ p", (Eliminate(0, "left"),), "only binary formulas"),
    ("a = b ⊢ p", (Eliminate(0, "left"),), "only binary formulas"),
    ("p ⊢ p ∧ q", (Introduce(f("p ∧ q"), (0,)),), "not determined"),
    ("p; r ⊢ p ∨ q", (Introduce(f("p ∨ q"), (0, 1)),), "not a side"),
    ("p ⊢ p ∨ q", (Introduce(f("p ∨ q"), (-1,)),), "no line -1"),
    ("p ⊢ p ∨ q", (Introduce(f("p ∨ q"), ()),), "not determined"),
    ("p; ¬p ⊢ p ∨ q", (Introduce(f("p ∨ q"), (0, 1)),), "not determined"),
    ("p ⊢ ¬¬p", (Introduce(f("¬¬p"), (0,)),), "only binary formulas"),
    ("p ⊢ ∃x p", (Introduce(f("∃x p"), (0,)),), "only binary formulas"),
    ("p ⊢ ∃x (P(x) ∨ p)", (Introduce(Or(FREE, f("p")), (0,)),), "free variable"),
    # Instance
    ("∃x P(x) ⊢ P(a)", (Instance(0, A),), "neither a true ∀"),
    ("¬∀x P(x) ⊢ ¬P(a)", (Instance(0, A),), "neither a true ∀"),
    ("p ⊢ p", (Instance(0, A),), "neither a true ∀"),
    ("p → ∀x P(x) ⊢ p → P(a)", (Instance(0, A),), "neither a true ∀"),
    ("∀x P(x) ⊢ P(a)", (Instance(0, B),), "not the conclusion"),
    ("∀x P(x) ⊢ ¬P(a)", (Instance(0, A),), "not the conclusion"),
    ("∀x R(x,x) ⊢ R(a,b)", (Instance(0, A),), "not the conclusion"),
    ("∀x P(x) ⊢ P(a)", (Instance(0, X),), "has a variable"),
    ("∀x P(x) ⊢ P(a)", (Instance(0, fa(X)), Instance(0, A)), "has a variable"),
    ("∀x P(x) ⊢ P(a)", (Instance(1, A),), "no line 1"),
    ("∀x:Person P(x); ∃y:Dog y = a ⊢ p", (Instance(0, A),), "sort of the variable"),
    ("∀x:Person P(x); ∃y:Dog y = f(y) ⊢ p", (Instance(0, fa(A)),), "sort of the variable"),
    ("∀x:Person P(x); ∀y:Dog P(f(y)); P(a) ⊢ p", (Instance(0, fa(A)),), "argument of another sort"),
    ("∀x:Person P(x); ∀y:Dog ∀z:Person P(g(y, z)); P(a) ⊢ p", (Instance(0, App("g", (A, A))),), "argument of another"),
    ("∀x:Person P(x) ⊢ p", (Instance(0, fa(A)),), "bring in functions"),
    ("∀x:Person P(x); ∀y:Dog Q(y) ⊢ p", (Instance(0, C), Instance(1, C)), "sort of the variable"),
    ("∃x:Person P(x); ∀y:Dog Q(y) ⊢ p", (Witness(0, C), Instance(1, C)), "sort of the variable"),
    # Witness
    ("∀x P(x) ⊢ ∃x P(x)", (Witness(0, C), Generalise(f("∃x P(x)"), 1, C)), "neither a true ∃"),
    ("¬∃x P(x) ⊢ ¬∀x P(x)", (Witness(0, C), Generalise(f("∀x P(x)"), 1, C)), "neither a true ∃"),
    ("p ⊢ p", (Witness(0, C),), "neither a true ∃"),
    ("∃x P(x) ⊢ P(c)", (Witness(0, C),), "not a new constant"),
    ("∃x P(x); q(c) ⊢ ∃x P(x)", (Witness(0, C), Repeat(0)), "not a new constant"),
    ("∃x P(x) ⊢ ∃x P(x)", (Witness(0, fa(C)), Repeat(0)), "not a new constant"),
    ("∃x P(x) ⊢ ∃x P(x)", (Witness(-1, C), Repeat(0)), "no line -1"),
    ("∃x P(x); ∃x ¬P(x) ⊢ p", (Witness(0, C), Witness(1, C), Contradiction(2, 3)), "not a new constant"),
    # Generalise
    ("P(a) ⊢ ∃x P(x)", (Generalise(f("∃x P(x)"), 0, B),), "does not show"),
    ("P(a) ⊢ ∀x P(x)", (Generalise(f("∀x P(x)"), 0, A),), "does not show"),
    ("¬P(a) ⊢ ¬∃x P(x)", (Generalise(f("∃x P(x)"), 0, A),), "does not show"),
    ("¬P(a) ⊢ ∃x P(x)", (Generalise(f("∃x P(x)"), 0, A),), "does not show"),
    ("R(a,b) ⊢ ∃x R(x,x)", (Generalise(f("∃x R(x,x)"), 0, A),), "does not show"),
    ("p ⊢ ∃x q", (Generalise(f("∃x q"), 0, A),), "does not show"),
    ("p ⊢ ∃x p", (Generalise(f("∃x p"), 0, X),), "has a variable"),
    ("p ⊢ ∃x p", (Generalise(f("p"), 0, A),), "not quantified"),
    ("P(a) ⊢ ∃x P(x)", (Generalise(f("¬∀x ¬P(x)"), 0, A),), "not quantified"),
    ("P(a) ⊢ ∃x P(x)", (Generalise(f("∃x P(x)"), 1, A),), "no line 1"),
    ("P(a) ⊢ ∃x P(x)", (Generalise(ForAll(Y, FREE), 0, A),), "free variable"),
    ("∃x:Person P(x); P(a) ∧ Q(b); ¬∀x:Dog Q(x) ⊢ ∃x:Dog P(x)", (Generalise(f("∃x:Dog P(x)"), 1, A),), "sort"),
    # Arbitrary
    ("P(a) ⊢ ∀x P(x)", (Arbitrary(f("∀x P(x)"), A, (Repeat(0),)),), "not a new constant"),
    ("P(a) ⊢ ∀x P(x)", (Arbitrary(f("∀x P(x)"), C, (Repeat(0),)),), "does not show"),
    ("∀x P(x) ⊢ ∀x P(x)", (Arbitrary(f("∀x P(x)"), fa(C), (Instance(0, fa(C)),)),), "not a new constant"),
    ("∀x R(x,c) ⊢ ∀x R(x,x)", (Arbitrary(f("∀x R(x,x)"), C, (Instance(0, C),)),), "not a new constant"),
    ("∀x R(x,x) ⊢ ∀x R(x,c)", (Arbitrary(f("∀x R(x,c)"), C, (Instance(0, C),)),), "not a new constant"),
    ("¬∃x P(x) ⊢ ∀x P(x)", (Arbitrary(f("∀x P(x)"), C, (Instance(0, C),)),), "does not show"),
    ("∀x P(x) ⊢ ∃x P(x)", (Arbitrary(f("∃x P(x)"), C, (Instance(0, C),)),), "does not show"),
    ("∀x P(x) ⊢ ∀x P(x)", (Arbitrary(f("∀x P(x)"), C, ()),), "no lines"),
    ("p ⊢ p", (Arbitrary(f("p"), C, (Repeat(0),)),), "not quantified"),
    ("∀x P(x) ⊢ P(a)", (Arbitrary(f("∀x P(x)"), C, (Instance(0, C),)), Repeat(2)), "no line 2"),
    ("∀x P(x) ⊢ ∃x P(x)", (
        Arbitrary(f("∀x P(x)"), C, (Instance(0, C),)), Generalise(f("∃x P(x)"), 2, C)), "no line 2"),
    ("∃x P(x) ⊢ ∀x P(x)", (Witness(0, C), Arbitrary(f("∀x P(x)"), C, (Repeat(1),))), "not a new constant"),
    ("∀x P(x) ⊢ ∀x P(x)", (Arbitrary(ForAll(Y, FREE), C, (Instance(0, C),)),), "free variable"),
    # Suppose
    ("p ⊢ p → q", (Suppose(f("p → q"), (Repeat(0),)),), "does not show"),
    ("¬q ⊢ p → q", (Suppose(f("p → q"), (Repeat(0),)),), "does not show"),
    ("⊢ p → ¬p", (Suppose(f("p → ¬p"), (Repeat(0),)),), "does not show"),
    ("⊢ p → p", (Suppose(f("p → p"), ()),), "no lines"),
    ("⊢ p → p", (Suppose(f("p → p"), (Repeat(1),)),), "no line 1"),
    ("⊢ p", (Suppose(f("p → p"), (Repeat(0),)), Repeat(1)), "no line 1"),
    ("p ⊢ p ∧ p", (Suppose(f("p ∧ p"), (Repeat(0),)),), "only an implication"),
    ("p ⊢ ¬(p → p)", (Suppose(f("¬(p → p)"), (Repeat(0),)),), "only an implication"),
    ("⊢ ∀x (P(x) → P(x))", (Suppose(Implies(FREE, FREE), (Repeat(0),)),), "free variable"),
    # Absurd
    ("p ⊢ ¬q", (Absurd(f("q"), (Repeat(0),)),), "does not show"),
    ("⊢ ¬p", (Absurd(f("p"), (Repeat(0),)),), "does not show"),
    ("¬⊥ ⊢ ¬p", (Absurd(f("p"), (Repeat(0),)),), "does not show"),
    ("p; ¬p ⊢ ¬q", (Absurd(f("q"), ()),), "no lines"),
    ("p → ¬p ⊢ p", (Absurd(f("p"), (Introduce(f("p → ¬p"), (1,)), Contradiction(0, 2))),), "not the conclusion"),
    ("p → ¬p ⊢ ¬p", (Absurd(f("p"), (Eliminate(0, "right", 1), Contradiction(1, 2))),), "not determined"),
    ("p ⊢ q", (Absurd(f("¬p"), (Contradiction(0, 1),)), Contradiction(1, 2)), "no line 2"),
    ("p; ¬p ⊢ p", (Absurd(FREE, EX_FALSO),), "free variable"),
    # Contradiction
    ("p; q ⊢ ⊥", (Contradiction(0, 1),), "do not contradict"),
    ("p; ¬q ⊢ ⊥", (Contradiction(0, 1),), "do not contradict"),
    ("p; ¬¬p ⊢ ⊥", (Contradiction(0, 1),), "do not contradict"),
    ("p; ¬p ⊢ ⊥", (Contradiction(0, 0),), "do not contradict"),
    ("p; ¬p ⊢ ⊥", (Contradiction(0, -1),), "no line -1"),
    ("P(a); ¬P(b) ⊢ ⊥", (Contradiction(0, 1),), "do not contradict"),
    # Truth, Reflexivity
    ("⊢ ⊥", (Truth(f("⊥")),), "not the conclusion"),
    ("⊢ ¬⊤", (Truth(f("⊤")),), "not the conclusion"),
    ("⊢ p", (Truth(f("p")),), "only ⊤ and ⊥"),
    ("⊢ a = b", (Reflexivity(A),), "not the conclusion"),
    ("⊢ ¬a = a", (Reflexivity(A),), "not the conclusion"),
    ("⊢ a = a", (Reflexivity(X), Reflexivity(A)), "has a variable"),
    ("⊢ a = a", (Reflexivity(fa(X)), Reflexivity(A)), "has a variable"),
    # Leibniz
    *[(f"⊢ {text}", (Leibniz(f(text)),), "Leibniz") for text in (
        "a = b → (P(a) → P(d))",
        "a = b → (P(a) → Q(b))",
        "a = b → (R(a,b) → R(b,d))",
        "a = b → (P(f(a)) → P(b))",
        "a = b → (P(a) → ¬P(b))",
        "a = b → (¬P(a) → ¬P(b))",
        "a = b → (P(a) ∧ P(b))",
        "a = b → (P(a) ∧ p → P(b) ∧ p)",
        "a = b → (∀x R(x,a) → ∀x R(x,b))",
        "a = b → (p → q)",
        "a = b → (p → p(a))",
        "¬a = b → (P(a) → P(b))",
        "P(a) → (a = b → P(b))",
        "a = b → P(b)",
        "a = b",
        "f(a) = f(b) → (P(a) → P(b))",
        "a = b → (b = d → a = a)",
        "p → (P(a) → P(a))",
    )],
    ("⊢ a = a", (Leibniz(Implies(Eq(X, B), Implies(FREE, atom("P", B)))), Reflexivity(A)), "free variable"),
    # Apply
    ("p; p → q ⊢ q", (Apply(MODUS_PONENS, PQ, (0, 1)),), "premises are not those"),
    ("p; p → q ⊢ q", (Apply(MODUS_PONENS, PQ, (1,)),), "premises are not those"),
    ("p; p → q ⊢ q", (Apply(MODUS_PONENS, PQ, (1, 0, 0)),), "premises are not those"),
    ("p; p → q ⊢ q", (Apply(MODUS_PONENS, PQ, ()),), "premises are not those"),
    ("p; p → q ⊢ q", (Apply(MODUS_PONENS, PQ, (1, 2)),), "no line 2"),
    ("¬p; p → q ⊢ q", (Apply(MODUS_PONENS, PQ, (1, 0)),), "premises are not those"),
    ("p; p → q ⊢ p", (Apply(MODUS_PONENS, PQ, (1, 0)),), "not the conclusion"),
    ("p; p → q ⊢ q", (Apply(MODUS_PONENS, {"A": PQ["B"], "B": PQ["A"]}, (1, 0)),), "premises are not those"),
    ("p; p → q ⊢ q", (Apply(MODUS_PONENS, {"A": PQ["A"]}, (1, 0)),), "'B'"),
    ("p; p → q ⊢ q", (Apply(MODUS_PONENS, {**PQ, "B": A}, (1, 0)),), "'B'"),
    ("q; p → q ⊢ p", (Apply(WRONG, PQ, (1, 0)),), "left side is not determined"),
    ("p ⊢ p", (Apply(Theorem("empty", (f("A"),), f("A"), ()), PQ, (0,)),), "no lines"),
    ("p ⊢ q", (Apply(Theorem("other", (f("A"),), f("B"), (Repeat(0),)), PQ, (0,)),), "not the conclusion"),
    ("∀x P(x) ⊢ P(a)", (Apply(SPECIALISE, {**P_OF_A, "t": B}, (0,)),), "not the conclusion"),
    ("∀x P(x) ⊢ P(a)", (Apply(SPECIALISE, {**P_OF_A, "A": Lambda((), f("p"))}, (0,)),), "'A'"),
    ("∀x P(x) ⊢ P(a)", (Apply(SPECIALISE, {**P_OF_A, "A": Lambda((Y,), FREE)}, (0,)),), "other free variables"),
    ("∀x P(x) ⊢ P(a)", (Apply(SPECIALISE, {**P_OF_A, "t": fa(X)}, (0,)),), "has a variable"),
    ("∀x P(x) ⊢ P(a)", (Apply(SPECIALISE, {**P_OF_A, "z": Var("z", ENTITY)}, (0,)),), "only the sort may change"),
    ("∀x P(x) ⊢ P(a)", (Apply(SPECIALISE, {
        **P_OF_A, "A": Lambda((Var("x", "Person"),), Atom("P", (Var("x", "Person"),))),
    }, (0,)),), "more than one sort"),
    ("∀x:Person P(x); ∃x:Dog x = a ⊢ p", (Apply(SPECIALISE, {
        "x": Var("x", "Person"), "A": Lambda((Var("x", "Person"),), Atom("P", (Var("x", "Person"),))), "t": A,
    }, (0,)),), "more than one sort"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "proof", "message"), REJECTED, ids=[f"{n}: {text}" for n, (text, _, _) in enumerate(REJECTED)]
)
def test_rejected(text: str, proof: Proof, message: str) -> None:
    with pytest.raises(ProofError, match=message):
        check(proof, *claim(text))


RELATION = Lambda((X, Y), atom("R", X, Y))
LIKES = Lambda((Y, X), atom("likes", Y, X))
SAME_LETTER = Theorem("a letter and a variable x", (f("∀x A(x)"),), f("A(x)"), (Instance(0, const("x")),))
SAME_LETTER_INSIDE = Theorem(
    "a letter x under a quantifier of x",
    (Exists(Y, atom("B", Y, const("x"))),),
    Exists(Y, ForAll(X, atom("B", Y, const("x")))),
    (
        Witness(0, A),
        Arbitrary(ForAll(X, atom("B", A, const("x"))), B, (Repeat(1),)),
        Generalise(Exists(Y, ForAll(X, atom("B", Y, const("x")))), 2, A),
    ),
)
PERSON = Var("x", "Person")
SAME_NAME = Theorem(
    "one name of two sorts",
    (ForAll(Var("y", ENTITY), Exists(Var("z", "Person"), atom("A", Var("y", ENTITY), Var("z", "Person")))),),
    ForAll(X, Exists(PERSON, atom("A", X, PERSON))),
    (Repeat(0),),
)
PEOPLE = Lambda((Var("u", "Person"), Var("v", "Person")), atom("R", Var("u", "Person"), Var("v", "Person")))
ALL_ARE_ONE_PERSON = Lambda((X,), ForAll(Var("y", "Person"), Eq(X, Var("y", "Person"))))
ALL_ARE_ONE = Lambda((PERSON,), ForAll(Y, Eq(PERSON, Y)))
UNSOUND: dict[str, tuple[str, Proof]] = {
    "a letter of a theorem becomes the variable that the theorem binds": (
        "∀x ∃y likes(y,x) ⊢ ∃y ∀x likes(y,x)",
        (
            Apply(SAME_LETTER, {"A": Lambda((X,), Exists(Y, atom("likes", Y, X))), "x": X}, (0,)),
            Apply(SAME_LETTER_INSIDE, {"B": LIKES, "x": X}, (1,)),
        ),
    ),
    "two variables of a theorem become one": (
        "∀x ∃y R(x,y) ⊢ ∃x R(x,x)",
        (
            Apply(
                Theorem("renamed", (f("∀x ∃y A(x,y)"),), f("∀u ∃v A(u,v)"), (Repeat(0),)),
                {"A": RELATION, "u": X, "v": X},
                (0,),
            ),
            Instance(1, A),
        ),
    ),
    "a constant of a theorem becomes a variable": (
        "∀x ∃y R(y,x) ⊢ ∃x R(x,x)",
        (
            Apply(SPECIALISE, {"A": Lambda((Y,), Exists(X, atom("R", X, Y))), "t": Y}, (0,)),
            Apply(Theorem("renamed", (f("∃x A(x,t)"),), f("∃y A(y,t)"), (Repeat(0),)), {"A": RELATION, "t": Y}, (1,)),
        ),
    ),
    "a theorem's variable keeps its sort and its constant takes another": (
        "∀x ∀y x = y; Q(a) ∧ Q(b); ∀x:Person (Q(x) → Q(x)) ⊢ a = b",
        (
            Apply(SPECIALISE, {"A": ALL_ARE_ONE, "t": A}, (0,)),
            Apply(SPECIALISE, {"A": ALL_ARE_ONE, "t": B}, (0,)),
            Instance(3, C),
            Instance(4, C),
            Leibniz(f("b = c → (a = c → a = b)")),
            Eliminate(7, "right", 6),
            Eliminate(8, "right", 5),
        ),
    ),
    "a hole of that name hides that a theorem's variable keeps its sort": (
        "∀x ∀y x = y; Q(a) ∧ Q(b); ∀x:Person (Q(x) → Q(x)) ⊢ a = b",
        (
            Apply(SPECIALISE, {"A": ALL_ARE_ONE, "t": A, "x": Lambda((), TOP)}, (0,)),
            Apply(SPECIALISE, {"A": ALL_ARE_ONE, "t": B, "x": Lambda((), TOP)}, (0,)),
            Instance(3, C),
            Instance(4, C),
            Leibniz(f("b = c → (a = c → a = b)")),
            Eliminate(7, "right", 6),
            Eliminate(8, "right", 5),
        ),
    ),
    "a theorem's variable takes another sort and its hole does not": (
        "∀x:Person ∀y:Person x = y; Q(a) ∧ Q(b); ∀x (Q(x) → Q(x)) ⊢ a = b",
        (
            Apply(SPECIALISE, {"x": PERSON, "A": ALL_ARE_ONE_PERSON, "t": A}, (0,)),
            Apply(SPECIALISE, {"x": PERSON, "A": ALL_ARE_ONE_PERSON, "t": B}, (0,)),
            Instance(3, C),
            Instance(4, C),
            Leibniz(f("b = c → (a = c → a = b)")),
            Eliminate(7, "right", 6),
            Eliminate(8, "right", 5),
        ),
    ),
    "two variables of one name and two sorts become one": (
        "∀y:Person ∃z:Person R(y,z); ∃x:Person x = a ⊢ ∃x:Person R(x,x)",
        (Apply(SAME_NAME, {"A": PEOPLE, "y": Var("y", "Person"), "x": PERSON}, (0,)), Instance(2, A)),
    ),
}


@pytest.mark.parametrize("case", UNSOUND)
def test_instances_of_theorems_neither_capture_nor_mix_sorts(case: str) -> None:
    """The claim does not hold, and every line but the theorem's instance is right."""
    text, proof = UNSOUND[case]
    query = Query(*claim(text))
    signature = Signature.infer(query.assertions)
    assert any(is_countermodel(query, structure) for structure in small_structures(signature, most=4096))
    with pytest.raises(ProofError):
        check(proof, query.dependencies, query.conclusion)


def test_a_sort_of_the_conclusion_alone_counts() -> None:
    """From one thing only it does not follow that there is one person only: nothing says that persons are things."""
    inner = Arbitrary(f("∀y:Person c = y"), D, (Instance(0, C), Instance(1, D)))
    proof = (Arbitrary(f("∀x:Person ∀y:Person x = y"), C, (inner,)),)
    premises, conclusion = claim("∀x ∀y x = y ⊢ ∀x:Person ∀y:Person x = y")
    with pytest.raises(ProofError, match="not of the sort"):
        check(proof, premises, conclusion)
    check(proof, [f("∀x:Person ∀y:Person x = y")], conclusion)


@pytest.mark.parametrize(
    "theorem",
    [
        SAME_LETTER,
        SAME_LETTER_INSIDE,
        Theorem("a predicate and a constant", (f("A(t)"), atom("t")), atom("t"), (Repeat(1),)),
        Theorem("a predicate and a variable", (f("∀x A(x)"), atom("x")), atom("x"), (Repeat(1),)),
        Theorem("two arities", (f("A(t)"), atom("A")), atom("A"), (Repeat(1),)),
    ],
    ids=lambda theorem: theorem.name,
)
def test_a_theorem_uses_each_name_in_one_way(theorem: Theorem) -> None:
    with pytest.raises(ProofError, match="in two ways"):
        check((Apply(theorem, {}, ()),), *claim("p ⊢ p"))


def test_a_proof_brings_in_no_sort_and_no_sorted_constant() -> None:
    """Each would be harmless here, and the checker of bundles refuses it, too."""
    person = App("a", (), "Person")
    for line in (
        Generalise(f("∃x:Person P(x)"), 0, A),
        Apply(SELF, {"A": Lambda((), f("∃x:Person P(x)"))}, ()),
        Generalise(f("∃x P(x)"), 0, person),
        Generalise(f("∃x P(x)"), 0, App("g", (A,))),
    ):
        with pytest.raises(ProofError, match=r"sort|functions"):
            check((line, Repeat(0)), *claim("P(a) ⊢ P(a)"))
    with pytest.raises(ProofError, match="new constant"):
        check((Witness(0, App("c", (), "Person")), Repeat(0)), *claim("∃x:Person P(x) ⊢ ∃x:Person P(x)"))
    with pytest.raises(ProofError, match="names another sort"):
        check((Instance(0, App("a", (), "Dog")), Repeat(0)), *claim("∀x:Person P(x); P(a) ⊢ ∀x:Person P(x)"))


def test_theorems_are_stated_about_the_default_sort() -> None:
    people = Theorem("people", (f("∀x:Person A(x)"),), f("∀y:Person A(y)"), (Repeat(0),))
    apply = Apply(people, {"A": Lambda((PERSON,), Atom("P", (PERSON,)))}, (0,))
    with pytest.raises(ProofError, match="stated about the default sort"):
        check((apply,), *claim("∀x:Person P(x) ⊢ ∀x:Person P(x)"))


def test_a_term_may_name_its_own_sort() -> None:
    for sort in (ENTITY, "Person"):
        constant, variable = App("c", (), sort), Var("x", sort)
        check((Instance(0, constant),), [ForAll(variable, Atom("P", (variable,)))], Atom("P", (constant,)))


def test_a_bound_variable_of_a_theorem_keeps_its_name() -> None:
    with pytest.raises(ProofError, match="only the sort may change"):
        check((Apply(SPECIALISE, {**P_OF_A, "x": Y}, (0,)),), *claim("∀x P(x) ⊢ P(a)"))


def test_a_line_may_bring_in_a_formula_of_the_greatest_height() -> None:
    deep = f("p")
    while deep.height < MAX_HEIGHT:
        deep = Or(deep, f("p"))
    assert check((Introduce(deep, (0,)),), [f("p")], deep) == {0}
    with pytest.raises(ProofError, match="nested too deeply"):
        check((Introduce(Or(deep, f("p")), (0,)),), [f("p")], f("p"))


def test_premises_and_terms_nested_too_deeply_are_refused() -> None:
    term: Term = A
    for _ in range(20_000):
        term = App("g", (term,))
    with pytest.raises(ProofError, match="a term is nested too deeply"):
        check((Instance(0, term),), *claim("∀x P(g(x)) ⊢ P(a)"))
    deep = f("p")
    while deep.height < MAX_HEIGHT:
        deep = Or(deep, f("p"))
    assert check((Repeat(0),), [deep], deep) == {0}
    with pytest.raises(ProofError, match="a premise or the conclusion is nested too deeply"):
        check((Repeat(0),), [Or(deep, f("p"))], f("p"))


def test_a_formula_of_a_substitution_nested_too_deeply_is_refused() -> None:
    deep = f("p")
    for _ in range(20_000):
        deep = And(deep, f("q"))
    with pytest.raises(ProofError, match="a formula of the proof is nested too deeply"):
        check((Apply(SPECIALISE, {"A": Lambda((X,), deep), "t": A}, (0,)),), *claim("∀x P(x) ⊢ P(a)"))


@pytest.mark.skipif(is_compiled(), reason="a compiled checker does not spend Python's stack")
def test_a_proof_that_exceeds_the_stack_is_refused() -> None:
    deep = f("∀y ∃x Q(x)")
    while deep.height < MAX_HEIGHT:
        deep = And(f("p"), deep)
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 200)
    try:
        with pytest.raises(ProofError, match="a formula of the proof is nested too deeply"):
            check((Introduce(deep, (0,)),), [f("p")], f("p"))
    finally:
        sys.setrecursionlimit(before)


def test_a_line_with_a_part_of_another_type_is_refused() -> None:
    with pytest.raises(ProofError, match="a part of a line has the wrong type"):
        check((Repeat("0"),), *claim("p ⊢ p"))  # type: ignore[arg-type]


def test_formulas_nested_too_deeply_are_refused() -> None:
    deep = f("p")
    for _ in range(20_000):
        deep = And(deep, f("q"))
    with pytest.raises(ProofError, match="nested too deeply"):
        check((Introduce(deep, (0,)),), *claim("p ⊢ p"))


def test_a_term_with_too_many_arguments_is_no_term_of_the_sort() -> None:
    with pytest.raises(ProofError):
        check((Instance(0, App("f", (A, A))),), *claim("∀x:Person Q(f(x)) ⊢ p"))


@pytest.mark.parametrize("claimed", [((FREE,), f("p")), ((f("p"),), FREE)], ids=["premise", "conclusion"])
def test_claims_are_closed(claimed: tuple[tuple[Formula, ...], Formula]) -> None:
    with pytest.raises(ProofError, match="free variable"):
        check((Repeat(0),), *claimed)


def test_symbols_of_claims_with_sorts_have_one_use() -> None:
    with pytest.raises(ProofError, match="taking sort Dog"):
        check((Repeat(0),), *claim("∀x:Person P(x); ∀x:Dog P(x) ⊢ ∀x:Person P(x)"))


@pytest.mark.parametrize(
    "line",
    [
        {"line": "Witness", "main": 0},
        {"line": "Arbitrary", "formula": ["forall", ["var", "x", "Entity"], ["top"]], "block": []},
    ],
    ids=["Witness", "Arbitrary"],
)
def test_a_variable_that_a_file_gives_for_a_new_constant_is_none(line: dict[str, Data]) -> None:
    with pytest.raises(ProofError):
        check(proof_from_data([{**line, "constant": ["var", "x", "Entity"]}]), *claim("∃x P(x) ⊢ p"))


# -- truth tables -----------------------------------------------------------------------------------------------------

ROWS = [
    Structure({}, {"p": frozenset([()][:left]), "q": frozenset([()][:right])})
    for left, right in product((0, 1), repeat=2)
]


def forced(premises: list[Formula], conclusion: Formula) -> bool:
    """Whether the premises have a row of the truth table, and the conclusion holds in all that they have."""
    rows = [row for row in ROWS if all(evaluate(formula, row) for formula in premises)]
    return bool(rows) and all(evaluate(conclusion, row) for row in rows)


def accepts(proof: Proof, premises: list[Formula], conclusion: Formula) -> bool:
    try:
        check(proof, premises, conclusion)
    except ProofError:
        return False
    return True


@pytest.mark.parametrize("kind", [And, Or, Xor, Implies, Iff])
def test_truth_tables(kind: type[Connective]) -> None:
    """Eliminate and Introduce draw what the reference evaluator says is forced, and nothing else."""
    accepted = 0
    for left, right, shown_left, shown_right in product(*[(f(name), Not(f(name))) for name in "pqpq"]):
        whole = kind(left, right)
        for main in (whole, Not(whole)):
            cases: list[tuple[list[Formula], Formula, Line]] = [
                ([main], shown_left, Eliminate(0, "left")),
                ([main], shown_right, Eliminate(0, "right")),
                ([main, shown_right], shown_left, Eliminate(0, "left", 1)),
                ([main, shown_left], shown_right, Eliminate(0, "right", 1)),
                ([main, shown_left], shown_left, Eliminate(0, "left", 1)),
                ([shown_left], main, Introduce(whole, (0,))),
                ([shown_right], main, Introduce(whole, (0,))),
                ([shown_left, shown_right], main, Introduce(whole, (0, 1))),
            ]
            for premises, shown, line in cases:
                assert accepts((line,), premises, shown) == forced(premises, shown), (premises, shown, line)
                accepted += accepts((line,), premises, shown)
    assert accepted >= 64


# -- new constants ----------------------------------------------------------------------------------------------------

SELF = Theorem("self", (), f("A → A"), (Suppose(f("A → A"), (Repeat(0),)),))
USES: dict[str, tuple[str, Block]] = {
    "premise": ("Q(c)", ()),
    "within a term of a premise": ("Q(f(c))", ()),
    "term of an instance": ("∀x Q(x)", (Instance(1, C),)),
    "within a term of an instance": ("∀x Q(f(x))", (Instance(1, fa(C)),)),
    "term of a generalisation": ("q", (Generalise(f("∃x q"), 1, C),)),
    "witness": ("∃x Q(x)", (Witness(1, C),)),
    "reflexivity": ("q", (Reflexivity(C),)),
    "Leibniz's law": ("q", (Leibniz(f("c = a → (P(c) → P(a))")),)),
    "introduced formula": ("q", (Introduce(f("q ∨ Q(c)"), (1,)),)),
    "formula in a theorem": ("q ∧ Q(c) → q", (Suppose(f("q → q"), (Repeat(2),)),)),
    "term in a theorem": ("∀x Q(x)", (Apply(SPECIALISE, {"A": Lambda((X,), atom("Q", X)), "t": C}, (1,)),)),
    "hole of a theorem without premises": ("q", (Apply(SELF, {"A": Lambda((), f("Q(c)"))}, ()),)),
    "hole of a theorem": (
        "∀x (Q(x) ∨ Q(c))",
        (Apply(SPECIALISE, {"A": Lambda((X,), Or(atom("Q", X), atom("Q", C))), "t": A}, (1,)),),
    ),
    "witness in a closed block": ("∃x Q(x)", (Suppose(f("r → r"), (Witness(1, C), Repeat(2))),)),
    "arbitrary in a closed block": ("∀x Q(x)", (Arbitrary(f("∀x Q(x)"), C, (Instance(1, C),)),)),
    "closed supposition": ("q", (Suppose(f("Q(c) → q"), (Repeat(1),)),)),
    "closed assumption": ("q", (Absurd(f("Q(c) ∧ ¬Q(c)"), (Eliminate(2, "left"), Eliminate(2, "right"),
                                                        Contradiction(3, 4))),)),
}  # fmt: skip


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("rule", [Witness, Arbitrary])
def test_a_constant_that_was_used_is_not_new(rule: type, use: str) -> None:
    """The same proof with a constant that was not used is accepted, so that nothing else is wrong with it."""
    premise, before = USES[use]
    premises = [f("∃x P(x)" if rule is Witness else "∀x P(x)"), f(premise)]
    line = 2 + len(before)

    def proof(constant: App) -> Proof:
        if rule is Witness:
            return (*before, Witness(0, constant), Generalise(f("∃x P(x)"), line, constant))
        return (*before, Arbitrary(f("∀x P(x)"), constant, (Instance(0, constant),)))

    check(proof(D), premises, premises[0])
    with pytest.raises(ProofError, match="'c' is not a new constant"):
        check(proof(C), premises, premises[0])


# -- blocks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("block", "number"),
    [
        (Suppose(f("q → q"), (Repeat(1),)), 2),
        (Absurd(f("¬p"), (Contradiction(0, 1),)), 2),
        (Absurd(f("¬p"), (Truth(f("⊤")), Contradiction(0, 1))), 3),
        (Arbitrary(f("∀x p"), C, (Repeat(0), Repeat(0))), 2),
    ],
    ids=["supposition", "assumption", "line of a refutation", "line about an arbitrary constant"],
)
def test_the_lines_of_a_block_go_when_it_ends(block: Any, number: int) -> None:
    premises = [f("p")]
    check((block, Repeat(0)), premises, f("p"))
    with pytest.raises(ProofError, match=f"no line {number}"):
        check((block, Repeat(number), Repeat(0)), premises, f("p"))


def test_lines_after_a_block_take_its_numbers() -> None:
    proof = (Absurd(f("¬p"), (Contradiction(0, 1),)), Truth(f("⊤")), Eliminate(3, "left"), Contradiction(2, 4))
    premises = [f("p")]
    with pytest.raises(ProofError, match="no line 3"):
        check(proof, premises, f("q"))
    assert check((*proof[:1], Repeat(1)), premises, f("p")) == {0}


def nested(depth: int) -> Block:
    return EX_FALSO if depth == 0 else (Absurd(f("q"), nested(depth - 1)), *EX_FALSO)


def test_blocks_are_nested_no_deeper_than_the_limit() -> None:
    premises = [f("p"), f("¬p")]
    assert check(nested(MAX_DEPTH), premises, BOTTOM) == {0, 1}
    with pytest.raises(ProofError, match=f"deeper than {MAX_DEPTH}"):
        check(nested(MAX_DEPTH + 1), premises, BOTTOM)


def test_blocks_that_ended_do_not_count_for_the_depth() -> None:
    premises = [f("p"), f("¬p")]
    flat = (Absurd(f("q"), EX_FALSO),) * (MAX_DEPTH + 10)
    assert check((*flat, *nested(MAX_DEPTH)), premises, BOTTOM) == {0, 1}
    with pytest.raises(ProofError, match=f"deeper than {MAX_DEPTH}"):
        check((*flat, *nested(MAX_DEPTH + 1)), premises, BOTTOM)


# -- proofs that are found --------------------------------------------------------------------------------------------


def tables(signature: Signature, domains: dict[str, int]) -> Iterator[Structure]:
    """All structures with these domains."""

    def rows(sorts: tuple[str, ...]) -> list[tuple[int, ...]]:
        return list(product(*[range(domains[sort]) for sort in sorts]))

    relations = [
        [frozenset(row for row, holds in zip(rows(sorts), values, strict=True) if holds)
         for values in product((False, True), repeat=len(rows(sorts)))]
        for sorts in signature.predicates.values()
    ]  # fmt: skip
    functions = [
        [dict(zip(rows(kind.arguments), values, strict=True))
         for values in product(range(domains[kind.result]), repeat=len(rows(kind.arguments)))]
        for kind in signature.functions.values()
    ]  # fmt: skip
    for chosen in product(*relations):
        for maps in product(*functions):
            yield Structure(
                domains,
                dict(zip(signature.predicates, chosen, strict=True)),
                dict(zip(signature.functions, maps, strict=True)),
            )


def small_structures(signature: Signature, *, most: int) -> Iterator[Structure]:
    """Structures of one and two elements per sort; the first so many of each size."""
    for sizes in product((1, 2), repeat=len(signature.sorts)):
        yield from islice(tables(signature, dict(zip(signature.sorts, sizes, strict=True))), most)


@settings(max_examples=300)
@given(queries(), st.data())
def test_a_proof_that_is_found_is_accepted_and_has_no_countermodel(query: Query, data: st.DataObject) -> None:
    proof = search(query.dependencies, query.conclusion, budget=3_000).proof
    if proof is None:
        return
    used = check(proof, query.dependencies, query.conclusion)
    assert used <= set(range(len(query.dependencies)))
    for index in set(range(len(query.dependencies))) - used:
        unused = [*query.dependencies]
        unused[index] = Or(unused[index], f("⊤"))  # says nothing but of which sorts its symbols are
        assert check(proof, unused, query.conclusion) == used
    signature = Signature.infer(query.formulas)
    assert not any(is_countermodel(query, structure) for structure in small_structures(signature, most=256))
    assert not is_countermodel(query, data.draw(structures(signature)))
