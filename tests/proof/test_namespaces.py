"""A predicate and a constant of one name are two symbols, from the problem to the bundle and its checker."""

from __future__ import annotations

import json
import re

import pytest

from proof_r1_formal.assistants.certify import certify, certify_many
from proof_r1_formal.assistants.lean import LeanKernel
from proof_r1_formal.assistants.lean_evidence import theorem_of
from proof_r1_formal.data.completions import Completion
from proof_r1_formal.engine import get_solver
from proof_r1_formal.kernel.answer import Entailed, Query, is_countermodel
from proof_r1_formal.kernel.signature import FunctionType, Signature
from proof_r1_formal.kernel.syntax import ENTITY
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.render import isabelle, smtlib, tptp
from proof_r1_formal.render import lean as lean_text
from proof_r1_formal.report.bundle import bundle, encode
from proof_r1_formal.report.page import page
from proof_r1_formal.text.parse import parse_formula
from studies.audit.local_check import local_checks
from tests.build import completion, problem
from tests.report.bundles import refusal
from tests.solvers import model_of

PREMISES = ("∀x (Tiger(x) → Cat(x))", "Tiger(Tiger)", "Cat(Tiger) → Rome")
FORMULAS = tuple(map(parse_formula, (*PREMISES, "Rome ∧ Near(Rome, Tiger)")))
ENTAILED = Query(FORMULAS[:2], parse_formula("Cat(Tiger)"))
REFUTED = Query(FORMULAS[:3], FORMULAS[3])
PROBLEM = problem(*PREMISES, goal="Cat(Tiger)")
TEXT = completion(
    ("s1", ["h1", "h2"], "Cat(Tiger)", "IMPLICATION_ELIMINATION"),
    ("s2", ["h2", "h3"], "Rome ∧ Rome(Rome)", "MODUS_TOLLENS"),
    ("h_goal_true", ["s1"], "Cat(Tiger)", "GOAL_BINDING"),
)


def test_a_signature_has_both() -> None:
    signature = Signature.infer(FORMULAS)
    entity = FunctionType((), ENTITY)
    assert signature.predicates == {"Tiger": (ENTITY,), "Cat": (ENTITY,), "Rome": (), "Near": (ENTITY, ENTITY)}
    assert signature.functions == {"Tiger": entity, "Rome": entity}


@pytest.mark.parametrize("name", ["embedded", "z3", "cvc5"])
def test_solvers_tell_them_apart(name: str) -> None:
    solver = get_solver(name)
    assert isinstance(solver.decide(ENTAILED), Entailed)
    assert is_countermodel(REFUTED, model_of(solver.decide(REFUTED)))


def test_each_notation_has_two_symbols() -> None:
    assert "(declare-fun p_Tiger (s_Entity) Bool)\n" in smtlib.script(FORMULAS)
    assert "(declare-fun f_Tiger () s_Entity)\n" in smtlib.script(FORMULAS)
    assert "p_Tiger(f_Tiger)" in tptp.problem(ENTAILED)
    assert "(p_Tiger : s_Entity → Prop) (p_Cat : s_Entity → Prop) (f_Tiger : s_Entity)" in lean_text.entailment(
        ENTAILED.dependencies, ENTAILED.conclusion
    )
    assert '"(p_Tiger f_Tiger)"' in isabelle.query_theory(ENTAILED, "T")
    assert lean_text.schema_statement([parse_formula("A(A)")], parse_formula("A(A)")) == (
        "∀ (s_Entity : Type) (p_A : s_Entity → Prop) (f_A : s_Entity), (p_A f_A) → (p_A f_A)"
    )


def test_lean_accepts_the_proof_and_the_countermodel(lean: LeanKernel) -> None:
    solver = get_solver("embedded")
    theorems = [theorem_of(query, solver.decide(query)) for query in (ENTAILED, REFUTED)]
    assert all(judgement.accepted for judgement in lean.check([theorem for theorem in theorems if theorem is not None]))
    assert None not in theorems


def test_certificates_bundles_and_the_page_hold_both(lean: LeanKernel) -> None:
    verifier = Verifier(evaluation=True)
    item = Completion(problem_id=PROBLEM.id, completion=TEXT)
    certification = certify(verifier, PROBLEM, TEXT)
    assert [action.semantic for action in certification.report.actions] == [True, False, True]
    assert certification.report.answer_correct
    assert [check.question is not None for check in local_checks(PROBLEM, TEXT)] == [True, True, True]
    assert certification.certificate is not None, certification.reason
    [(_, judged)] = certify_many(verifier, {PROBLEM.id: PROBLEM}, [item], lean)
    assert judged.is_theorem, list(judged.faults())
    written = encode(bundle(verifier, {PROBLEM.id: PROBLEM}, [(item, certification.report)]))
    assert refusal(json.loads(written)) is None
    shown = page(verifier, {PROBLEM.id: PROBLEM}, [item])
    index = re.search(rb'id="index">(.*?)</script>', shown, re.DOTALL)
    assert index is not None
    assert json.loads(index[1])["traces"][0]["verified"]
