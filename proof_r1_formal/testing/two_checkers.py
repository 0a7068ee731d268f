"""The checker in Python and the one in Lean, held to the same answers.

In: proofs with their claims, and Lean's kernel. Out: how many both accept, how many both reject, and where they differ.
Lean's kernel evaluates ``check`` of ``theories/lean/ProofR1/Checker`` in theorems that say what it answers, so a
difference is a theorem that the kernel rejects. A proof that cannot be written as data must be one that the checker in
Python rejects.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from proof_r1_formal.assistants import reflection
from proof_r1_formal.assistants.lean import BATCH, LeanKernel, LeanTheorem
from proof_r1_formal.errors import ProofError, SignatureError
from proof_r1_formal.kernel.checker import check
from proof_r1_formal.testing.forgeries import Forgery


@dataclass(slots=True)
class Comparison:
    """What the two checkers say of the same proofs.

    Attributes:
        accepted, rejected: how many both accept, and both reject.
        unwritable: how many the checker in Python rejects and that cannot be written as Lean's data.
        different: the others, each with what was said.
    """

    accepted: int = 0
    rejected: int = 0
    unwritable: int = 0
    different: list[tuple[Forgery, str]] = field(default_factory=list)


def compare(kernel: LeanKernel, proofs: Iterable[Forgery]) -> Comparison:
    """Ask both checkers about each proof."""
    found = Comparison()
    waiting: list[tuple[Forgery, str, LeanTheorem]] = []

    def ask() -> None:
        for (proof, fault, _), judgement in zip(waiting, kernel.check([each[2] for each in waiting]), strict=True):
            if not judgement.accepted:
                found.different.append((proof, f"Python: {fault or 'accepted'}; Lean: {judgement.reason}"))
            elif fault:
                found.rejected += 1
            else:
                found.accepted += 1
        waiting.clear()

    for proof in proofs:
        fault = _fault(proof)
        try:
            theorem = reflection.verdict(proof.premises, proof.conclusion, proof.proof, accepted=not fault)
        except (ProofError, SignatureError) as error:
            if fault:
                found.unwritable += 1
            else:
                found.different.append((proof, f"Python: accepted; not written: {error}"))
            continue
        waiting.append((proof, fault, theorem))
        if len(waiting) == BATCH:
            ask()
    ask()
    return found


def _fault(proof: Forgery) -> str:
    """What the checker in Python says against the proof; empty if it accepts it."""
    try:
        check(*proof)
    except ProofError as error:
        return str(error)
    return ""
