"""Proof terms and structures as JSON, and what is none."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.kernel.answer import Entailed, Query, Refuted
from proof_r1_formal.kernel.serial import (
    from_data,
    proof_from_data,
    proof_to_data,
    structure_from_data,
    structure_to_data,
    to_data,
)
from proof_r1_formal.kernel.syntax import Formula, const
from proof_r1_formal.kernel.term import Apply, Instance, Theorem
from proof_r1_formal.testing.strategies import formulas, queries
from proof_r1_formal.text.parse import parse_formula

ENGINE = EmbeddedSolver()


@given(formulas())
def test_formulas_come_back(formula: Formula) -> None:
    assert from_data(json.loads(json.dumps(to_data(formula)))) is formula


@given(queries())
def test_evidence_comes_back(query: Query) -> None:
    match ENGINE.decide(query):
        case Entailed(proof) if proof is not None:
            assert proof_from_data(json.loads(json.dumps(proof_to_data(proof)))) == proof
        case Refuted(model) if model is not None:
            assert structure_from_data(json.loads(json.dumps(structure_to_data(model)))) == model
        case _:
            pass


def test_a_line_is_an_object_that_names_its_kind() -> None:
    assert proof_to_data((Instance(0, const("tom")),)) == [{"line": "Instance", "main": 0, "term": ["app", "tom"]}]


def test_proofs_that_apply_theorems_are_not_written() -> None:
    theorem = Theorem("t", (), parse_formula("⊤"), ())
    with pytest.raises(ProofR1Error, match="theorem t"):
        proof_to_data((Apply(theorem, {}, ()),))


@pytest.mark.parametrize(
    "data",
    [
        {},
        [1],
        [{"line": "Nothing"}],
        [{"line": "Repeat"}],
        [{"line": "Repeat", "premise": "0"}],
        [{"line": "Repeat", "premise": True}],
        [{"line": "Repeat", "premise": 0, "more": 0}],
        [{"line": "Eliminate", "main": 0, "side": "middle", "other": None}],
        [{"line": "Introduce", "formula": ["and", ["top"]], "premises": [0]}],
        [{"line": "Introduce", "formula": ["and", ["top"], ["top"]], "premises": [0.5]}],
        [{"line": "Instance", "main": 0, "term": "tom"}],
        [{"line": "Absurd", "formula": ["top"], "block": {}}],
        [{"line": "Apply", "theorem": 0, "substitution": {}, "premises": []}],
        [{"line": "Truth", "formula": ["forall", ["app", "x"], ["top"]]}],
    ],
)
def test_what_is_no_proof(data: object) -> None:
    with pytest.raises(ProofR1Error):
        proof_from_data(data)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "data", [None, [], {"domains": {}}, {"domains": {"E": "1"}, "predicates": {}, "functions": {}}]
)
def test_what_is_no_structure(data: object) -> None:
    with pytest.raises(ProofR1Error):
        structure_from_data(data)  # type: ignore[arg-type]
