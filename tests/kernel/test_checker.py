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
    Line,
    Proof,
    Reflexivity,
    Repeat,
    Suppose,
    Theorem,
    Truth,
    Witness,
)
from proof_r1_formal.testing.strategies import queries, structures
from tests.build import sequent
from tests.finite import refuted_by, small_structures
from tests.kernel.claims import EX_FALSO, FREE, P_OF_A, SPECIALISE, VACUOUS, A, B, C, X, Y, claim, f, fa

MODUS_PONENS = Theorem("modus ponens", (f("A → B"), f("A")), f("B"), (Eliminate(0, "right", 1),))
WRONG = Theorem("affirming the consequent", (f("A → B"), f("B")), f("A"), (Eliminate(0, "left", 1),))

PQ: dict[str, Lambda | Term] = {"A": Lambda((), f("p")), "B": Lambda((), f("q"))}


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
    ('∀"x" p ⊢ p', (Instance(0, A),), {0}),
    ("∀x:Person P(x); Q(a) ∧ P(a) ⊢ P(a)", (Instance(0, A),), {0}),
    ("∀x:Person P(x) ⊢ ∃x:Person P(x)", (Instance(0, C), Generalise(f("∃x:Person P(x)"), 1, C)), {0}),
    ("∃x P(x); q ⊢ ∃y P(y)", (Witness(0, C), Generalise(f("∃z P(z)"), 2, C)), {0}),
    ("¬∀x P(x) ⊢ ∃x ¬P(x)", (Witness(0, C), Generalise(f("∃x ¬P(x)"), 1, C)), {0}),
    ('∃"x" p ⊢ p', (Witness(0, C),), {0}),
    ("R(a,a) ⊢ ∃x R(a,x)", (Generalise(f("∃x R(a,x)"), 0, A),), {0}),
    ("¬P(a) ⊢ ¬∀x P(x)", (Generalise(f("∀x P(x)"), 0, A),), {0}),
    ('p ⊢ ∃"x" p', (Generalise(f('∃"x" p'), 0, C),), {0}),
    ("∀x (P(x) ∧ Q(x)) ⊢ ∀y Q(y)", (Arbitrary(f("∀y Q(y)"), C, (Instance(0, C), Eliminate(1, "right"))),), {0}),
    ("¬∃x P(x) ⊢ ¬∃x (P(x) ∧ q)", (Arbitrary(f("∃x (P(x) ∧ q)"), C, (
        Instance(0, C), Introduce(f("P(c) ∧ q"), (1,)))),), {0}),
    ("p; ¬p ⊢ ∀x P(x)", (Arbitrary(f("∀x P(x)"), C, EX_FALSO),), {0, 1}),
    ('p ⊢ ∀"x" p', (Arbitrary(f('∀"x" p'), C, (Repeat(0),)),), {0}),
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
    ('∀"x" (p ∧ q) ⊢ p', (Eliminate(0, "left"),), "only binary formulas"),
    ("a = b ⊢ p", (Eliminate(0, "left"),), "only binary formulas"),
    ("p ⊢ p ∧ q", (Introduce(f("p ∧ q"), (0,)),), "not determined"),
    ("p; r ⊢ p ∨ q", (Introduce(f("p ∨ q"), (0, 1)),), "not a side"),
    ("p ⊢ p ∨ q", (Introduce(f("p ∨ q"), (-1,)),), "no line -1"),
    ("p ⊢ p ∨ q", (Introduce(f("p ∨ q"), ()),), "not determined"),
    ("p; ¬p ⊢ p ∨ q", (Introduce(f("p ∨ q"), (0, 1)),), "not determined"),
    ("p ⊢ ¬¬p", (Introduce(f("¬¬p"), (0,)),), "only binary formulas"),
    ('p ⊢ ∃"x" p', (Introduce(f('∃"x" p'), (0,)),), "only binary formulas"),
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
    ('p ⊢ ∃"x" q', (Generalise(f('∃"x" q'), 0, A),), "does not show"),
    ('p ⊢ ∃"x" p', (Generalise(f('∃"x" p'), 0, X),), "has a variable"),
    ('p ⊢ ∃"x" p', (Generalise(f("p"), 0, A),), "not quantified"),
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
    ("p ⊢ p", (Apply(VACUOUS, {"x": Var("x", "Person"), "A": Lambda((), f("p"))}, (0,)), Repeat(0)), "a sort that the"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "proof", "message"), REJECTED, ids=[f"{n}: {text}" for n, (text, _, _) in enumerate(REJECTED)]
)
def test_rejected(text: str, proof: Proof, message: str) -> None:
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
    new = {line.constant.function for line in answer.proof if isinstance(line, Witness)}
    assert len(new) == 1
    assert constant_sorts(answer.proof, *asked) == dict.fromkeys(new, ENTITY)
    broken = (*answer.proof[:1], Eliminate(99, "left"), *answer.proof[1:])
    assert constant_sorts(broken, *asked).keys() <= new  # as far as its lines follow
