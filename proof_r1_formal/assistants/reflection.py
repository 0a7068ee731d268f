"""Theorems by reflection: Lean's own checker (``theories/lean/ProofR1/Checker``) runs on proofs and structures as data.

In: claims with proof terms or structures. Out: theorems about the data, each proved by one evaluation. They are a second
way to a theorem, independent of ``lean_term`` and ``lean_model``: there, each line becomes an application of a lemma;
here, the checker reads the lines, and a theorem of Lean says that what it accepts is so.
"""

from __future__ import annotations

from collections.abc import Sequence

from proof_r1_formal.assistants.lean import LeanTheorem
from proof_r1_formal.assistants.lean_data import Numbers, claim_text, proof_text, structure_text
from proof_r1_formal.kernel.model import Structure
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.kernel.term import Proof

_CHECKER = "ProofR1.Checker"


def entailment(premises: Sequence[Formula], conclusion: Formula, proof: Proof) -> LeanTheorem:
    """The theorem that the premises entail the conclusion.

    Raises:
        ProofError: the proof cannot be written as data.
        SignatureError: the formulas use a symbol in two ways.
    """
    claim, data = _claim_and_proof(premises, conclusion, proof)
    return LeanTheorem(f": {_CHECKER}.Claim.Holds {claim}", f"{_CHECKER}.check_sound (p := {data}) rfl")


def verdict(premises: Sequence[Formula], conclusion: Formula, proof: Proof, accepted: bool) -> LeanTheorem:
    """The theorem that Lean's checker accepts the proof, or that it does not.

    Raises:
        ProofError: the proof cannot be written as data.
        SignatureError: the formulas use a symbol in two ways.
    """
    claim, data = _claim_and_proof(premises, conclusion, proof)
    return LeanTheorem(f": Eq ({_CHECKER}.check {claim} {data}) {str(accepted).lower()}", "rfl")


def _claim_and_proof(premises: Sequence[Formula], conclusion: Formula, proof: Proof) -> tuple[str, str]:
    numbers = Numbers((*premises, conclusion))
    data = proof_text(proof, premises, conclusion, numbers)  # before the claim, which declares what the proof names
    return claim_text(premises, conclusion, numbers), data


def refutation(premises: Sequence[Formula], conclusion: Formula, structure: Structure) -> LeanTheorem:
    """The theorem that the structure makes the premises true and the conclusion false.

    Raises:
        SignatureError: the formulas use a symbol in two ways.
        StructureError: the structure does not interpret a symbol.
    """
    formulas = (*premises, conclusion)
    numbers = Numbers(formulas)
    claim = claim_text(premises, conclusion, numbers)
    tables = structure_text(structure, formulas, numbers)
    return LeanTheorem(f": {_CHECKER}.Claim.Fails {claim}", f"{_CHECKER}.refutes_sound (T := {tables}) rfl")
