"""A predicate and a constant of one name are two symbols, from the file of a problem to the bundle and its checker."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from proof_r1_formal.assistants.kernel import theorem_of
from proof_r1_formal.assistants.lean import LeanKernel
from proof_r1_formal.data import read_problems
from proof_r1_formal.data.completions import Completion
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.engine import get_solver
from proof_r1_formal.kernel.answer import Entailed, is_countermodel
from proof_r1_formal.kernel.query import Query
from proof_r1_formal.kernel.signature import FunctionType, Signature
from proof_r1_formal.kernel.syntax import ENTITY
from proof_r1_formal.proof.certify import certify, certify_many
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.render import isabelle, smtlib, tptp
from proof_r1_formal.render import lean as lean_text
from proof_r1_formal.report.bundle import bundle, encode
from proof_r1_formal.report.page import page
from proof_r1_formal.text.parse import parse_formula
from studies.audit.local_check import local_checks
from tests.builders import model_of
from tests.report.bundles import refusal

PREMISES = ("∀x (Tiger(x) → Cat(x))", "Tiger(Tiger)", "Cat(Tiger) → Rome")
FORMULAS = tuple(map(parse_formula, (*PREMISES, "Rome ∧ Near(Rome, Tiger)")))
ENTAILED = Query(FORMULAS[:2], parse_formula("Cat(Tiger)"))
REFUTED = Query(FORMULAS[:3], FORMULAS[3])
STEPS = [
    {"id": "s1", "dependencies": ["h1", "h2"], "conclusion": "Cat(Tiger)", "rule": "IMPLICATION_ELIMINATION"},
    {"id": "s2", "dependencies": ["h2", "h3"], "conclusion": "Rome ∧ Rome(Rome)", "rule": "MODUS_TOLLENS"},
    {"id": "h_goal_true", "dependencies": ["s1"], "conclusion": "Cat(Tiger)", "rule": "GOAL_BINDING"},
]
TEXT = f"<summary>{json.dumps(STEPS)}</summary>"


@pytest.fixture
def problem(tmp_path: Path) -> Problem:
    """The problem as its reader makes it of a record like those of FOLIO."""
    record = {
        "premises": ["Tigers are cats.", "Tiger is a tiger.", "It rains in Rome if Tiger is a cat."],
        "premises-FOL": PREMISES,
        "conclusion": "Tiger is a cat.",
        "conclusion-FOL": "Cat(Tiger)",
        "label": "True",
    }
    path = tmp_path / "tiger.jsonl"
    path.write_text(json.dumps(record), "utf-8")
    found = read_problems(path)
    assert not found.rejected
    (known,) = found.values()
    return known


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


def test_certificates_bundles_and_the_page_hold_both(problem: Problem, lean: LeanKernel) -> None:
    verifier = Verifier(evaluation=True)
    completion = Completion(problem_id=problem.id, completion=TEXT)
    certification = certify(verifier, problem, TEXT)
    assert [action.semantic for action in certification.report.actions] == [True, False, True]
    assert certification.report.answer_correct
    assert [check.question is not None for check in local_checks(problem, TEXT)] == [True, True, True]
    assert certification.certificate is not None, certification.reason
    [(_, judged)] = certify_many(verifier, {problem.id: problem}, [completion], lean)
    assert judged.is_theorem, list(judged.faults())
    written = encode(bundle(verifier, {problem.id: problem}, [(completion, certification.report)]))
    assert refusal(json.loads(written)) is None
    shown = page(verifier, {problem.id: problem}, [completion])
    index = re.search(rb'id="index">(.*?)</script>', shown, re.DOTALL)
    assert index is not None
    assert json.loads(index[1])["traces"][0]["verified"]
