"""Certificates of proofs, of rules and of a trace, which the tests of Isar proofs and of the theories share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proof_r1_formal.assistants import isar
from proof_r1_formal.assistants.certificate import ANSWER, Certificate, CertifiedStep
from proof_r1_formal.assistants.certify import certify
from proof_r1_formal.assistants.isabelle import theory_of
from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.engine.oracle import Answers, Oracle
from proof_r1_formal.engine.prover import search
from proof_r1_formal.kernel.answer import Query
from proof_r1_formal.kernel.checker import check
from proof_r1_formal.kernel.model import Structure
from proof_r1_formal.kernel.syntax import ENTITY, Formula
from proof_r1_formal.kernel.term import Proof
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.check import Match, check_rule
from proof_r1_formal.rules.schema import Rule
from proof_r1_formal.rules.theorems import instance_proof
from proof_r1_formal.text.parse import parse_formula
from tests.build import completion, problem


def certificate(premises: Mapping[str, Formula], *steps: CertifiedStep) -> Certificate:
    return Certificate(premises, steps[-1].formula, steps, Structure({ENTITY: 1}))


def one_step(query: Query, proof: Proof, names: Sequence[str] = ()) -> Certificate:
    names = names or [f"p{number}" for number in range(len(query.dependencies))]
    step = CertifiedStep("s1", tuple(names), query.conclusion, proof)
    return certificate(dict(zip(names, query.dependencies, strict=True)), step)


def answer_theory(checked: Certificate, name: str) -> str:
    """The theory of the answer alone; ``test_isabelle_model`` reads the other theorems."""
    return theory_of({ANSWER: isar.answer(checked)}, name)


def proved(query: Query, budget: int = 20_000) -> Proof:
    proof = search(query.dependencies, query.conclusion, budget=budget).proof
    assert proof is not None
    check(proof, query.dependencies, query.conclusion)
    return proof


QUERIES = [
    "q; ¬¬p ⊢ p",
    "p ⊕ ¬¬q; ¬q ⊢ p",
    "p ↔ ¬p ⊢ q",
    "p ⊕ q ⊢ ¬(p ↔ q)",
    "⊢ (p ↔ (q ↔ r)) ↔ ((p ↔ q) ↔ r)",
    "p; ¬p ⊢ ¬¬q",
    "⊢ ¬⊥",
    "⊢ ((p → q) → p) → p",
    "⊢ ¬¬p → ¬¬p",
    '∀"x" p ⊢ p',
    '∃"x" p ⊢ ∀"y" p',
    "∀x:Person P(x) ⊢ ∃x:Person P(x)",
    "∀x (¬¬P(x) → Q(x)); ¬Q(a) ⊢ ¬P(a)",
    "¬∀x P(x) ⊢ ∃x ¬P(x)",
    "∀x ¬P(x) ⊢ ¬∃x P(x)",
    "∀x (P(x) ∨ q) ⊢ ∀x P(x) ∨ q",
    "⊢ ∃x (P(x) → ∀y P(y))",
    "∀x:Cat ∀y:Dog R(x,y); ∃x:Dog P(x) ⊢ ∀x:Cat ∃y:Dog (R(x,y) ∧ P(y))",
    "a = b; P(f(f(a))) ⊢ P(f(f(b)))",
    "a = b; R(a,b) ⊢ R(b,a)",
    "f(f(f(a))) = a; f(f(f(f(f(a))))) = a ⊢ f(a) = a",
    "∀x x = a; P(a) ⊢ ∀x P(x)",
]
ORACLE = Oracle(Answers(EmbeddedSolver(), tables=True))


def rule_instance(rule_: Rule) -> Certificate:
    """The certificate of the rule's example, which applies the theorem of a schema."""
    dependencies = tuple(parse_formula(text) for text in rule_.example.dependencies)
    conclusion = parse_formula(rule_.example.conclusion)
    match = check_rule(rule_, dependencies, conclusion, ORACLE, terminal=True)
    assert isinstance(match, Match)
    proof = instance_proof(match, dependencies, conclusion)
    assert proof is not None
    return one_step(Query(dependencies, conclusion), proof)


PREMISES = (
    ("p1", "helps(alonzo) ⊕ harms(alonzo)"),
    ("p2", "compassion(alonzo)"),
    ("p3", "wildlife(alonzo)"),
    ("p4", "∀x (wildlife(x) ∧ care(x) → helps(x))"),
    ("p5", "∀x (empathy(x) ∨ compassion(x) → care(x))"),
)
STEPS = (
    ("s1", ["p2", "p5"], "care(alonzo)", "IMPLICATION_ELIMINATION"),
    ("s2", ["p3", "s1"], "wildlife(alonzo) ∧ care(alonzo)", "CONJUNCTION_INTRODUCTION"),
    ("s3", ["p4", "s2"], "helps(alonzo)", "IMPLICATION_ELIMINATION"),
    ("s4", ["p1", "s3"], "¬harms(alonzo)", "EXCLUSIVE_DISJUNCTION_ELIMINATION"),
    ("h_goal_false", ["s4"], "¬harms(alonzo)", "GOAL_BINDING"),
)


def certified_trace() -> Certificate:
    asked = problem(*PREMISES, goal="harms(alonzo)", answer="h_goal_false", id="alonzo")
    found = certify(Verifier(), asked, completion(*STEPS)).certificate
    assert isinstance(found, Certificate)
    return found
