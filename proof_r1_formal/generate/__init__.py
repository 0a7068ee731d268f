"""Generation of training data: problems with certified answers, and completions that prove them."""

from proof_r1_formal.generate.correction import Correction, correct
from proof_r1_formal.generate.problems import Generated, GeneratorSettings, generate_problems
from proof_r1_formal.generate.synthesize import GaveUp, Proved, Prover, Reason, Result, Uncertain
from proof_r1_formal.proof.trajectory import Thinking, completion, summary

__all__ = [
    "Correction",
    "GaveUp",
    "Generated",
    "GeneratorSettings",
    "Proved",
    "Prover",
    "Reason",
    "Result",
    "Thinking",
    "Uncertain",
    "completion",
    "correct",
    "generate_problems",
    "summary",
]
