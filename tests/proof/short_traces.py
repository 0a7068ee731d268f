"""Short traces for the tests of the verifier, and one verifier for them."""

from __future__ import annotations

from proof_r1_formal.data.problem import Problem
from proof_r1_formal.proof.report import TraceReport
from proof_r1_formal.proof.verify import Verifier
from tests.build import completion

CE, CI, GB = "CONJUNCTION_ELIMINATION", "CONJUNCTION_INTRODUCTION", "GOAL_BINDING"


VERIFIER = Verifier()


def run(case: Problem, *steps: tuple[str, list[str], str, str]) -> TraceReport:
    return VERIFIER.verify(case, completion(*steps))
