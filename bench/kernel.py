"""How long Lean's kernel takes for the certificates of golden proofs, in batches and one process each."""

from __future__ import annotations

import resource
from collections.abc import Sequence
from typing import Any

from bench.traces import Sample
from proof_r1_formal.evidence.certificate import Certificate
from proof_r1_formal.evidence.lean import BATCH, LeanKernel, LeanTheorem
from proof_r1_formal.proof.certify import certify
from proof_r1_formal.proof.verify import Verifier

ALONE = 40
"""How many certificates get a process of their own."""


def certificates(samples: list[Sample]) -> dict[str, Any]:
    """CPU milliseconds of Lean per certificate, starting included; every one must be accepted."""
    kernel = LeanKernel.find()
    if kernel is None:
        return {"lean": None}
    verifier = Verifier()
    found = [certify(verifier, sample.problem, sample.completion).certificate for sample in samples]
    theorems = [certificate.answer() for certificate in found if isinstance(certificate, Certificate)]
    together = [theorems[start : start + BATCH] for start in range(0, len(theorems), BATCH)]
    alone = [[theorem] for theorem in theorems[:: max(1, len(theorems) // ALONE)]]
    batches, singles = _milliseconds_each(kernel, together), _milliseconds_each(kernel, alone)
    return {
        "lean": kernel.version,
        "certificates": len(theorems),
        "batch": BATCH,
        "ms_each_in_batches": round(batches, 2),
        "ms_each_alone": round(singles, 2),
        "times": round(singles / batches, 1),
    }


def _milliseconds_each(kernel: LeanKernel, files: Sequence[Sequence[LeanTheorem]]) -> float:
    before = _children()
    for theorems in files:
        assert all(judgement.accepted for judgement in kernel.check(theorems))
    return 1e3 * (_children() - before) / sum(map(len, files))


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
