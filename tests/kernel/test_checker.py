"""The proof checker: what every kind of line may say and what it may not."""

from __future__ import annotations

from itertools import product
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.engine.prover import search
from proof_r1_formal.errors import ProofError
from proof_r1_formal.kernel import term as t
from proof_r1_formal.kernel.answer import Entailed, Query, is_countermodel
from proof_r1_formal.kernel.checker import check, constant_sorts
from proof_r1_formal.kernel.model import Structure, evaluate
from proof_r1_formal.kernel.pattern import Lambda
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.kernel.syntax import (
    ENTITY,
    And,
    App,
    Atom,
    Connective,
    Eq,
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
)
from proof_r1_formal.testing.strategies import queries, structures
from tests.build import sequent
from tests.finite import refuted_by, small_structures
from tests.kernel.claims import EX_FALSO, FREE, P_OF_A, SPECIALISE, VACUOUS, A, B, C, X, Y, claim, f, fa

MODUS_PONENS = t.Theorem("modus ponens", (f("A → B"), f("A")), f("B"), (t.Eliminate(0, "right", 1),))
WRONG = t.Theorem("affirming the consequent", (f("A → B"), f("B")), f("A"), (t.Eliminate(0, "left", 1),))

PQ: dict[str, Lambda | Term] = {"A": Lambda((), f("p")), "B": Lambda((), f("q"))}


# -- worked examples --------------------------------------------------------------------------------------------------

Example: TypeAlias = tuple[str, t.Proof, set[int]]
ACCEPTED: list[Example] = [
    ("p ⊢ p", (t.Repeat(0),), {0}),
    ("p; q ⊢ q", (t.Repeat(0), t.Repeat(1)), {0, 1}),
    ("p; q ⊢ ¬¬q", (t.Repeat(1),), {1}),
    ("∀x P(x) ⊢ ∀y P(y)", (t.Repeat(0),), {0}),
    ("r; p → q; p ⊢ q", (t.Eliminate(1, "right", 2),), {1, 2}),
    ("p → q; ¬q ⊢ ¬p", (t.Eliminate(0, "left", 1),), {0, 1}),
    ("¬(p → q); q ⊢ p", (t.Eliminate(0, "left"),), {0}),
    ("p ∧ q ⊢ q", (t.Eliminate(0, "right"),), {0}),
    ("p ⊢ q ∨ p", (t.Introduce(f("q ∨ p"), (0,)),), {0}),
    ("p; ¬q ⊢ p ⊕ q", (t.Introduce(f("p ⊕ q"), (1, 0)),), {0, 1}),
    ("p ⊢ p ∧ p", (t.Introduce(f("p ∧ p"), (0,)),), {0}),
    ("⊢ p ⊕ ¬p", (t.Absurd(f("¬(p ⊕ ¬p)"), (
        t.Absurd(f("p"), (t.Introduce(f("p ⊕ ¬p"), (1,)), t.Contradiction(0, 2))),
        t.Introduce(f("p ⊕ ¬p"), (1,)),
        t.Contradiction(0, 2))),), set()),
    ("p → q; p ∧ ¬q ⊢ r", (t.Eliminate(1, "left"), t.Eliminate(1, "right"), t.Eliminate(0, "right", 2),
                           t.Contradiction(3, 4)), {0, 1}),
    ("∀x P(x) ⊢ P(a)", (t.Instance(0, A),), {0}),
    ("∀x P(x) ⊢ P(f(a))", (t.Instance(0, fa(A)),), {0}),
    ("¬∃x P(x) ⊢ ¬P(a)", (t.Instance(0, A),), {0}),
    ('∀"x" p ⊢ p', (t.Instance(0, A),), {0}),
    ("∀x:Person P(x); Q(a) ∧ P(a) ⊢ P(a)", (t.Instance(0, A),), {0}),
    ("∀x:Person P(x) ⊢ ∃x:Person P(x)", (t.Instance(0, C), t.Generalise(f("∃x:Person P(x)"), 1, C)), {0}),
    ("∃x P(x); q ⊢ ∃y P(y)", (t.Witness(0, C), t.Generalise(f("∃z P(z)"), 2, C)), {0}),
    ("¬∀x P(x) ⊢ ∃x ¬P(x)", (t.Witness(0, C), t.Generalise(f("∃x ¬P(x)"), 1, C)), {0}),
    ('∃"x" p ⊢ p', (t.Witness(0, C),), {0}),
    ("R(a,a) ⊢ ∃x R(a,x)", (t.Generalise(f("∃x R(a,x)"), 0, A),), {0}),
    ("¬P(a) ⊢ ¬∀x P(x)", (t.Generalise(f("∀x P(x)"), 0, A),), {0}),
    ('p ⊢ ∃"x" p', (t.Generalise(f('∃"x" p'), 0, C),), {0}),
    ("∀x (P(x) ∧ Q(x)) ⊢ ∀y Q(y)", (t.Arbitrary(f("∀y Q(y)"), C, (t.Instance(0, C), t.Eliminate(1, "right"))),), {0}),
    ("¬∃x P(x) ⊢ ¬∃x (P(x) ∧ q)", (t.Arbitrary(f("∃x (P(x) ∧ q)"), C, (
        t.Instance(0, C), t.Introduce(f("P(c) ∧ q"), (1,)))),), {0}),
    ("p; ¬p ⊢ ∀x P(x)", (t.Arbitrary(f("∀x P(x)"), C, EX_FALSO),), {0, 1}),
    ('p ⊢ ∀"x" p', (t.Arbitrary(f('∀"x" p'), C, (t.Repeat(0),)),), {0}),
    ("q ⊢ p → p", (t.Suppose(f("p → p"), (t.Repeat(1),)),), set()),
    ("q ⊢ p → q", (t.Suppose(f("p → q"), (t.Repeat(0),)),), {0}),
    ("¬p ⊢ p → q", (t.Suppose(f("p → q"), (t.Contradiction(0, 1),)),), {0}),
    ("p → ¬p ⊢ ¬p", (t.Absurd(f("p"), (t.Introduce(f("p → ¬p"), (1,)), t.Contradiction(0, 2))),), {0}),
    ("¬p → p ⊢ p", (t.Absurd(f("¬p"), (t.Introduce(f("¬p → p"), (1,)), t.Contradiction(2, 0))),), {0}),
    ("p; ¬p ⊢ ⊥", (t.Contradiction(0, 1),), {0, 1}),
    ("p; ¬p ⊢ q", (t.Contradiction(1, 0),), {0, 1}),
    ("⊥ ⊢ q", (t.Repeat(0),), {0}),
    ("⊢ ⊤", (t.Truth(f("⊤")),), set()),
    ("⊢ ¬⊥", (t.Truth(f("⊥")),), set()),
    ("⊢ a = a", (t.Reflexivity(A),), set()),
    ("⊢ f(a) = f(a)", (t.Reflexivity(fa(A)),), set()),
    ("⊢ a = b → (P(a) → P(b))", (t.Leibniz(f("a = b → (P(a) → P(b))")),), set()),
    ("⊢ a = b → (P(b) → P(a))", (t.Leibniz(f("a = b → (P(b) → P(a))")),), set()),
    ("⊢ a = b → (R(a,a) → R(b,a))", (t.Leibniz(f("a = b → (R(a,a) → R(b,a))")),), set()),
    ("⊢ a = b → (R(a,b) → R(b,a))", (t.Leibniz(f("a = b → (R(a,b) → R(b,a))")),), set()),
    ("⊢ a = b → (a = d → b = d)", (t.Leibniz(f("a = b → (a = d → b = d)")),), set()),
    ("⊢ f(a) = b → (P(f(f(a))) → P(f(b)))", (t.Leibniz(f("f(a) = b → (P(f(f(a))) → P(f(b)))")),), set()),
    ("⊢ a = b → (p → p)", (t.Leibniz(f("a = b → (p → p)")),), set()),
    ("p; p → q ⊢ q", (t.Apply(MODUS_PONENS, PQ, (1, 0)),), {0, 1}),
    ("∀y P(y) ⊢ P(a)", (t.Apply(SPECIALISE, P_OF_A, (0,)),), {0}),
    ("∀x:Person P(x); P(a) ∨ p ⊢ P(a)", (t.Apply(SPECIALISE, {
        "x": Var("x", "Person"), "A": Lambda((Var("x", "Person"),), Atom("P", (Var("x", "Person"),))), "t": A,
    }, (0,)),), {0}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "proof", "used"), ACCEPTED, ids=[text for text, _, _ in ACCEPTED])
def test_accepted_with_the_premises_that_its_lines_use(text: str, proof: t.Proof, used: set[int]) -> None:
    assert check(proof, *claim(text)) == used


REJECTED: list[tuple[str, t.Proof, str]] = [
    ("p ⊢ p", (), "no lines"),
    ("p ⊢ q", (t.Repeat(0),), "not the conclusion"),
    ("p ⊢ ¬p", (t.Repeat(0),), "not the conclusion"),
    ("p; q ⊢ p", (t.Repeat(0), t.Repeat(1)), "not the conclusion"),
    ("p ⊢ p", (t.Repeat(1),), "no line 1"),
    ("p ⊢ p", (t.Repeat(-1),), "no line -1"),
    ("p ⊢ p", (t.Truth(f("⊤")), t.Repeat(2)), "no line 2"),
    ("∀x ∃y R(x,y) ⊢ ∀x ∃y R(y,x)", (t.Repeat(0),), "not the conclusion"),
    ("∀x:Person P(x) ⊢ ∀x:Dog P(x)", (t.Repeat(0),), "sort"),
    # Eliminate and Introduce; test_truth_tables has the rest
    ("p → q; q ⊢ p", (t.Eliminate(0, "left", 1),), "left side is not determined"),
    ("p → q; p ⊢ q", (t.Eliminate(1, "right", 0),), "only binary formulas"),
    ("p → q; p ⊢ q", (t.Eliminate(0, "right"),), "right side is not determined"),
    ("p → q; r ⊢ q", (t.Eliminate(0, "right", 1),), "not a side"),
    ("p → q; p ⊢ q", (t.Eliminate(0, "right", 2),), "no line 2"),
    ("p → q; p ⊢ q", (t.Eliminate(-2, "right", 1),), "no line -2"),
    ("p ∧ q; ¬p ⊢ q", (t.Eliminate(0, "right", 1),), "not determined"),
    ("¬p ⊢ p", (t.Eliminate(0, "left"),), "only binary formulas"),
    ('∀"x" (p ∧ q) ⊢ p', (t.Eliminate(0, "left"),), "only binary formulas"),
    ("a = b ⊢ p", (t.Eliminate(0, "left"),), "only binary formulas"),
    ("p ⊢ p ∧ q", (t.Introduce(f("p ∧ q"), (0,)),), "not determined"),
    ("p; r ⊢ p ∨ q", (t.Introduce(f("p ∨ q"), (0, 1)),), "not a side"),
    ("p ⊢ p ∨ q", (t.Introduce(f("p ∨ q"), (-1,)),), "no line -1"),
    ("p ⊢ p ∨ q", (t.Introduce(f("p ∨ q"), ()),), "not determined"),
    ("p; ¬p ⊢ p ∨ q", (t.Introduce(f("p ∨ q"), (0, 1)),), "not determined"),
    ("p ⊢ ¬¬p", (t.Introduce(f("¬¬p"), (0,)),), "only binary formulas"),
    ('p ⊢ ∃"x" p', (t.Introduce(f('∃"x" p'), (0,)),), "only binary formulas"),
    ("p ⊢ ∃x (P(x) ∨ p)", (t.Introduce(Or(FREE, f("p")), (0,)),), "free variable"),
    # Instance
    ("∃x P(x) ⊢ P(a)", (t.Instance(0, A),), "neither a true ∀"),
    ("¬∀x P(x) ⊢ ¬P(a)", (t.Instance(0, A),), "neither a true ∀"),
    ("p ⊢ p", (t.Instance(0, A),), "neither a true ∀"),
    ("p → ∀x P(x) ⊢ p → P(a)", (t.Instance(0, A),), "neither a true ∀"),
    ("∀x P(x) ⊢ P(a)", (t.Instance(0, B),), "not the conclusion"),
    ("∀x P(x) ⊢ ¬P(a)", (t.Instance(0, A),), "not the conclusion"),
    ("∀x R(x,x) ⊢ R(a,b)", (t.Instance(0, A),), "not the conclusion"),
    ("∀x P(x) ⊢ P(a)", (t.Instance(0, X),), "has a variable"),
    ("∀x P(x) ⊢ P(a)", (t.Instance(0, fa(X)), t.Instance(0, A)), "has a variable"),
    ("∀x P(x) ⊢ P(a)", (t.Instance(1, A),), "no line 1"),
    ("∀x:Person P(x); ∃y:Dog y = a ⊢ p", (t.Instance(0, A),), "sort of the variable"),
    ("∀x:Person P(x); ∃y:Dog y = f(y) ⊢ p", (t.Instance(0, fa(A)),), "sort of the variable"),
    ("∀x:Person P(x); ∀y:Dog P(f(y)); P(a) ⊢ p", (t.Instance(0, fa(A)),), "argument of another sort"),
    ("∀x:Person P(x); ∀y:Dog ∀z:Person P(g(y, z)); P(a) ⊢ p", (t.Instance(0, App("g", (A, A))),),
     "argument of another sort"),
    ("∀x:Person P(x) ⊢ p", (t.Instance(0, fa(A)),), "bring in functions"),
    ("∀x:Person P(x); ∀y:Dog Q(y) ⊢ p", (t.Instance(0, C), t.Instance(1, C)), "sort of the variable"),
    ("∃x:Person P(x); ∀y:Dog Q(y) ⊢ p", (t.Witness(0, C), t.Instance(1, C)), "sort of the variable"),
    # Witness
    ("∀x P(x) ⊢ ∃x P(x)", (t.Witness(0, C), t.Generalise(f("∃x P(x)"), 1, C)), "neither a true ∃"),
    ("¬∃x P(x) ⊢ ¬∀x P(x)", (t.Witness(0, C), t.Generalise(f("∀x P(x)"), 1, C)), "neither a true ∃"),
    ("p ⊢ p", (t.Witness(0, C),), "neither a true ∃"),
    ("∃x P(x) ⊢ P(c)", (t.Witness(0, C),), "not a new constant"),
    ("∃x P(x); q(c) ⊢ ∃x P(x)", (t.Witness(0, C), t.Repeat(0)), "not a new constant"),
    ("∃x P(x) ⊢ ∃x P(x)", (t.Witness(0, fa(C)), t.Repeat(0)), "not a new constant"),
    ("∃x P(x) ⊢ ∃x P(x)", (t.Witness(-1, C), t.Repeat(0)), "no line -1"),
    ("∃x P(x); ∃x ¬P(x) ⊢ p", (t.Witness(0, C), t.Witness(1, C), t.Contradiction(2, 3)), "not a new constant"),
    # Generalise
    ("P(a) ⊢ ∃x P(x)", (t.Generalise(f("∃x P(x)"), 0, B),), "does not show"),
    ("P(a) ⊢ ∀x P(x)", (t.Generalise(f("∀x P(x)"), 0, A),), "does not show"),
    ("¬P(a) ⊢ ¬∃x P(x)", (t.Generalise(f("∃x P(x)"), 0, A),), "does not show"),
    ("¬P(a) ⊢ ∃x P(x)", (t.Generalise(f("∃x P(x)"), 0, A),), "does not show"),
    ("R(a,b) ⊢ ∃x R(x,x)", (t.Generalise(f("∃x R(x,x)"), 0, A),), "does not show"),
    ('p ⊢ ∃"x" q', (t.Generalise(f('∃"x" q'), 0, A),), "does not show"),
    ('p ⊢ ∃"x" p', (t.Generalise(f('∃"x" p'), 0, X),), "has a variable"),
    ('p ⊢ ∃"x" p', (t.Generalise(f("p"), 0, A),), "not quantified"),
    ("P(a) ⊢ ∃x P(x)", (t.Generalise(f("¬∀x ¬P(x)"), 0, A),), "not quantified"),
    ("P(a) ⊢ ∃x P(x)", (t.Generalise(f("∃x P(x)"), 1, A),), "no line 1"),
    ("P(a) ⊢ ∃x P(x)", (t.Generalise(ForAll(Y, FREE), 0, A),), "free variable"),
    ("∃x:Person P(x); P(a) ∧ Q(b); ¬∀x:Dog Q(x) ⊢ ∃x:Dog P(x)", (t.Generalise(f("∃x:Dog P(x)"), 1, A),), "sort"),
    # Arbitrary
    ("P(a) ⊢ ∀x P(x)", (t.Arbitrary(f("∀x P(x)"), A, (t.Repeat(0),)),), "not a new constant"),
    ("P(a) ⊢ ∀x P(x)", (t.Arbitrary(f("∀x P(x)"), C, (t.Repeat(0),)),), "does not show"),
    ("∀x P(x) ⊢ ∀x P(x)", (t.Arbitrary(f("∀x P(x)"), fa(C), (t.Instance(0, fa(C)),)),), "not a new constant"),
    ("∀x R(x,c) ⊢ ∀x R(x,x)", (t.Arbitrary(f("∀x R(x,x)"), C, (t.Instance(0, C),)),), "not a new constant"),
    ("∀x R(x,x) ⊢ ∀x R(x,c)", (t.Arbitrary(f("∀x R(x,c)"), C, (t.Instance(0, C),)),), "not a new constant"),
    ("¬∃x P(x) ⊢ ∀x P(x)", (t.Arbitrary(f("∀x P(x)"), C, (t.Instance(0, C),)),), "does not show"),
    ("∀x P(x) ⊢ ∃x P(x)", (t.Arbitrary(f("∃x P(x)"), C, (t.Instance(0, C),)),), "does not show"),
    ("∀x P(x) ⊢ ∀x P(x)", (t.Arbitrary(f("∀x P(x)"), C, ()),), "no lines"),
    ("p ⊢ p", (t.Arbitrary(f("p"), C, (t.Repeat(0),)),), "not quantified"),
    ("∀x P(x) ⊢ P(a)", (t.Arbitrary(f("∀x P(x)"), C, (t.Instance(0, C),)), t.Repeat(2)), "no line 2"),
    ("∀x P(x) ⊢ ∃x P(x)", (
        t.Arbitrary(f("∀x P(x)"), C, (t.Instance(0, C),)), t.Generalise(f("∃x P(x)"), 2, C)), "no line 2"),
    ("∃x P(x) ⊢ ∀x P(x)", (t.Witness(0, C), t.Arbitrary(f("∀x P(x)"), C, (t.Repeat(1),))), "not a new constant"),
    ("∀x P(x) ⊢ ∀x P(x)", (t.Arbitrary(ForAll(Y, FREE), C, (t.Instance(0, C),)),), "free variable"),
    # Suppose
    ("p ⊢ p → q", (t.Suppose(f("p → q"), (t.Repeat(0),)),), "does not show"),
    ("¬q ⊢ p → q", (t.Suppose(f("p → q"), (t.Repeat(0),)),), "does not show"),
    ("⊢ p → ¬p", (t.Suppose(f("p → ¬p"), (t.Repeat(0),)),), "does not show"),
    ("⊢ p → p", (t.Suppose(f("p → p"), ()),), "no lines"),
    ("⊢ p → p", (t.Suppose(f("p → p"), (t.Repeat(1),)),), "no line 1"),
    ("⊢ p", (t.Suppose(f("p → p"), (t.Repeat(0),)), t.Repeat(1)), "no line 1"),
    ("p ⊢ p ∧ p", (t.Suppose(f("p ∧ p"), (t.Repeat(0),)),), "only an implication"),
    ("p ⊢ ¬(p → p)", (t.Suppose(f("¬(p → p)"), (t.Repeat(0),)),), "only an implication"),
    ("⊢ ∀x (P(x) → P(x))", (t.Suppose(Implies(FREE, FREE), (t.Repeat(0),)),), "free variable"),
    # Absurd
    ("p ⊢ ¬q", (t.Absurd(f("q"), (t.Repeat(0),)),), "does not show"),
    ("⊢ ¬p", (t.Absurd(f("p"), (t.Repeat(0),)),), "does not show"),
    ("¬⊥ ⊢ ¬p", (t.Absurd(f("p"), (t.Repeat(0),)),), "does not show"),
    ("p; ¬p ⊢ ¬q", (t.Absurd(f("q"), ()),), "no lines"),
    ("p → ¬p ⊢ p", (t.Absurd(f("p"), (t.Introduce(f("p → ¬p"), (1,)), t.Contradiction(0, 2))),), "not the conclusion"),
    ("p → ¬p ⊢ ¬p", (t.Absurd(f("p"), (t.Eliminate(0, "right", 1), t.Contradiction(1, 2))),), "not determined"),
    ("p ⊢ q", (t.Absurd(f("¬p"), (t.Contradiction(0, 1),)), t.Contradiction(1, 2)), "no line 2"),
    ("p; ¬p ⊢ p", (t.Absurd(FREE, EX_FALSO),), "free variable"),
    # Contradiction
    ("p; q ⊢ ⊥", (t.Contradiction(0, 1),), "do not contradict"),
    ("p; ¬q ⊢ ⊥", (t.Contradiction(0, 1),), "do not contradict"),
    ("p; ¬¬p ⊢ ⊥", (t.Contradiction(0, 1),), "do not contradict"),
    ("p; ¬p ⊢ ⊥", (t.Contradiction(0, 0),), "do not contradict"),
    ("p; ¬p ⊢ ⊥", (t.Contradiction(0, -1),), "no line -1"),
    ("P(a); ¬P(b) ⊢ ⊥", (t.Contradiction(0, 1),), "do not contradict"),
    # Truth, Reflexivity
    ("⊢ ⊥", (t.Truth(f("⊥")),), "not the conclusion"),
    ("⊢ ¬⊤", (t.Truth(f("⊤")),), "not the conclusion"),
    ("⊢ p", (t.Truth(f("p")),), "only ⊤ and ⊥"),
    ("⊢ a = b", (t.Reflexivity(A),), "not the conclusion"),
    ("⊢ ¬a = a", (t.Reflexivity(A),), "not the conclusion"),
    ("⊢ a = a", (t.Reflexivity(X), t.Reflexivity(A)), "has a variable"),
    ("⊢ a = a", (t.Reflexivity(fa(X)), t.Reflexivity(A)), "has a variable"),
    # Leibniz
    *[(f"⊢ {text}", (t.Leibniz(f(text)),), "Leibniz") for text in (
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
    ("⊢ a = a", (t.Leibniz(Implies(Eq(X, B), Implies(FREE, atom("P", B)))), t.Reflexivity(A)), "free variable"),
    # Apply
    ("p; p → q ⊢ q", (t.Apply(MODUS_PONENS, PQ, (0, 1)),), "premises are not those"),
    ("p; p → q ⊢ q", (t.Apply(MODUS_PONENS, PQ, (1,)),), "premises are not those"),
    ("p; p → q ⊢ q", (t.Apply(MODUS_PONENS, PQ, (1, 0, 0)),), "premises are not those"),
    ("p; p → q ⊢ q", (t.Apply(MODUS_PONENS, PQ, ()),), "premises are not those"),
    ("p; p → q ⊢ q", (t.Apply(MODUS_PONENS, PQ, (1, 2)),), "no line 2"),
    ("¬p; p → q ⊢ q", (t.Apply(MODUS_PONENS, PQ, (1, 0)),), "premises are not those"),
    ("p; p → q ⊢ p", (t.Apply(MODUS_PONENS, PQ, (1, 0)),), "not the conclusion"),
    ("p; p → q ⊢ q", (t.Apply(MODUS_PONENS, {"A": PQ["B"], "B": PQ["A"]}, (1, 0)),), "premises are not those"),
    ("p; p → q ⊢ q", (t.Apply(MODUS_PONENS, {"A": PQ["A"]}, (1, 0)),), "'B'"),
    ("p; p → q ⊢ q", (t.Apply(MODUS_PONENS, {**PQ, "B": A}, (1, 0)),), "'B'"),
    ("q; p → q ⊢ p", (t.Apply(WRONG, PQ, (1, 0)),), "left side is not determined"),
    ("p ⊢ p", (t.Apply(t.Theorem("empty", (f("A"),), f("A"), ()), PQ, (0,)),), "no lines"),
    ("p ⊢ q", (t.Apply(t.Theorem("other", (f("A"),), f("B"), (t.Repeat(0),)), PQ, (0,)),), "not the conclusion"),
    ("∀x P(x) ⊢ P(a)", (t.Apply(SPECIALISE, {**P_OF_A, "t": B}, (0,)),), "not the conclusion"),
    ("∀x P(x) ⊢ P(a)", (t.Apply(SPECIALISE, {**P_OF_A, "A": Lambda((), f("p"))}, (0,)),), "'A'"),
    ("∀x P(x) ⊢ P(a)", (t.Apply(SPECIALISE, {**P_OF_A, "A": Lambda((Y,), FREE)}, (0,)),), "other free variables"),
    ("∀x P(x) ⊢ P(a)", (t.Apply(SPECIALISE, {**P_OF_A, "t": fa(X)}, (0,)),), "has a variable"),
    ("∀x P(x) ⊢ P(a)", (t.Apply(SPECIALISE, {**P_OF_A, "z": Var("z", ENTITY)}, (0,)),), "only the sort may change"),
    ("∀x P(x) ⊢ P(a)", (t.Apply(SPECIALISE, {
        **P_OF_A, "A": Lambda((Var("x", "Person"),), Atom("P", (Var("x", "Person"),))),
    }, (0,)),), "more than one sort"),
    ("∀x:Person P(x); ∃x:Dog x = a ⊢ p", (t.Apply(SPECIALISE, {
        "x": Var("x", "Person"), "A": Lambda((Var("x", "Person"),), Atom("P", (Var("x", "Person"),))), "t": A,
    }, (0,)),), "more than one sort"),
    ("p ⊢ p", (t.Apply(VACUOUS, {"x": Var("x", "Person"), "A": Lambda((), f("p"))}, (0,)), t.Repeat(0)),
     "a sort that the"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "proof", "message"), REJECTED, ids=[f"{n}: {text}" for n, (text, _, _) in enumerate(REJECTED)]
)
def test_rejected(text: str, proof: t.Proof, message: str) -> None:
    with pytest.raises(ProofError, match=message):
        check(proof, *claim(text))


# -- truth tables -----------------------------------------------------------------------------------------------------

ROWS = [
    Structure({}, {"p": frozenset([()][:left]), "q": frozenset([()][:right])})
    for left, right in product((0, 1), repeat=2)
]


def forced(premises: list[Formula], conclusion: Formula) -> bool:
    """Whether the premises have a row of the truth table, and the conclusion holds in all that they have."""
    rows = [row for row in ROWS if all(evaluate(formula, row) for formula in premises)]
    return bool(rows) and all(evaluate(conclusion, row) for row in rows)


def accepts(proof: t.Proof, premises: list[Formula], conclusion: Formula) -> bool:
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
            cases: list[tuple[list[Formula], Formula, t.Line]] = [
                ([main], shown_left, t.Eliminate(0, "left")),
                ([main], shown_right, t.Eliminate(0, "right")),
                ([main, shown_right], shown_left, t.Eliminate(0, "left", 1)),
                ([main, shown_left], shown_right, t.Eliminate(0, "right", 1)),
                ([main, shown_left], shown_left, t.Eliminate(0, "left", 1)),
                ([shown_left], main, t.Introduce(whole, (0,))),
                ([shown_right], main, t.Introduce(whole, (0,))),
                ([shown_left, shown_right], main, t.Introduce(whole, (0, 1))),
            ]
            for premises, shown, line in cases:
                assert accepts((line,), premises, shown) == forced(premises, shown), (premises, shown, line)
                accepted += accepts((line,), premises, shown)
    assert accepted >= 64


# -- proofs that are found --------------------------------------------------------------------------------------------


@settings(max_examples=300)
@given(queries(), st.data())
def test_found_proofs_are_accepted_and_have_no_countermodel(query: Query, data: st.DataObject) -> None:
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
    assert not refuted_by(query, small_structures(signature, most=256))
    assert not is_countermodel(query, data.draw(structures(signature)))


def test_a_proof_tells_the_sorts_of_its_constants() -> None:
    query = sequent("∃x P(x); ∀x (P(x) → Q(x)) ⊢ ∃x Q(x)")
    answer = EmbeddedSolver().decide(query)
    assert isinstance(answer, Entailed)
    assert answer.proof is not None
    asked = (query.dependencies, query.conclusion)
    new = {line.constant.function for line in answer.proof if isinstance(line, t.Witness)}
    assert len(new) == 1
    assert constant_sorts(answer.proof, *asked) == dict.fromkeys(new, ENTITY)
    broken = (*answer.proof[:1], t.Eliminate(99, "left"), *answer.proof[1:])
    assert constant_sorts(broken, *asked).keys() <= new  # as far as its lines follow
