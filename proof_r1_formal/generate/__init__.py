"""Generation of training data: problems with certified answers, proofs, and completions with or without a flaw."""

from proof_r1_formal.generate.near_misses import NearMiss, near_misses
from proof_r1_formal.generate.problems import Generated, GeneratorSettings, generate_problems
from proof_r1_formal.generate.synthesize import GaveUp, Proved, Prover, Reason, Result, Uncertain
from proof_r1_formal.proof.trajectory import Thinking, completion, summary
from proof_r1_formal.testing.mutations import Flaw

__all__ = [
    "Flaw",
    "GaveUp",
    "Generated",
    "GeneratorSettings",
    "NearMiss",
    "Proved",
    "Prover",
    "Reason",
    "Result",
    "Thinking",
    "Uncertain",
    "completion",
    "generate_problems",
    "near_misses",
    "summary",
]
