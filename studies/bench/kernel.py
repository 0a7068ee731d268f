"""How long Lean's kernel takes: for the certificates of golden proofs, and for all the evidence of many rollouts."""

from __future__ import annotations

import resource
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from proof_r1_formal.assistants.certificate import Certificate
from proof_r1_formal.assistants.certify import certify
from proof_r1_formal.assistants.lean import BATCH, LeanKernel, LeanTheorem
from proof_r1_formal.assistants.lean_evidence import FindLean
from proof_r1_formal.data.completions import Completion
from proof_r1_formal.proof.batch import Settings, verify_many
from proof_r1_formal.proof.verify import Verifier
from studies.bench.cold import forget
from studies.bench.traces import Sample

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


def kernel_evidence(samples: list[Sample]) -> dict[str, Any]:
    """CPU seconds of verifying, with checked evidence and with evidence that Lean's kernel accepted as well."""
    kernel = LeanKernel.find()
    if kernel is None:
        return {"lean": None}
    problems = {sample.problem.id: sample.problem for sample in samples}
    completions = [
        Completion(problem_id=sample.problem.id, sample=number, completion=sample.completion)
        for number, sample in enumerate(samples)
    ]
    forget()
    before = _own()
    for _ in verify_many(problems, completions):
        pass
    checked = _own() - before
    forget()
    before, lean = _own(), _children()
    evidence: Counter[str] = Counter()
    for report in verify_many(problems, completions, settings=Settings(evidence="kernel", find_kernel=FindLean())):
        evidence.update([step.evidence for step in report.actions if step.evidence is not None])
    by_lean = _children() - lean
    by_kernel = _own() - before + by_lean
    return {
        "lean": kernel.version,
        "rollouts": len(samples),
        "evidence": dict(sorted(evidence.items())),
        "checked_seconds": round(checked, 2),
        "kernel_seconds": round(by_kernel, 2),
        "of_these_lean": round(by_lean, 2),
        "times": round(by_kernel / checked, 1),
        "ms_a_rollout": round(1e3 * by_kernel / len(samples), 2),
    }


def _milliseconds_each(kernel: LeanKernel, files: Sequence[Sequence[LeanTheorem]]) -> float:
    before = _children()
    for theorems in files:
        assert all(judgement.accepted for judgement in kernel.check(theorems))
    return 1e3 * (_children() - before) / sum(map(len, files))


def _own() -> float:
    return time.process_time()


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
