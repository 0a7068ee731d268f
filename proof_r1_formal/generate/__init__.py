"""Making what a model learns from: proofs of problems, completions that tell them, and completions with one flaw."""

from proof_r1_formal.generate.synthesize import GaveUp, Proved, Prover, Reason, Result, Uncertain
from proof_r1_formal.generate.trajectories import Flaw, NearMiss, Thinking, completion, near_misses

__all__ = [
    "Flaw",
    "GaveUp",
    "NearMiss",
    "Proved",
    "Prover",
    "Reason",
    "Result",
    "Thinking",
    "Uncertain",
    "completion",
    "near_misses",
]
