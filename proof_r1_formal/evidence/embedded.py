"""The embedded engine: the default solver, whose answers carry evidence.

In: a query. Out: an answer with a proof term or a countermodel. First comes proof search without cuts, which finds
nearly all proofs; then the decision procedure for the effectively propositional class, which finds countermodels, or Z3
outside the class; and at last, unless there is a countermodel, proof search with cuts. Where that finds nothing, a
"yes" is the decision procedure's or Z3's word, and comes without a proof.
"""

from __future__ import annotations

from functools import cached_property
from importlib.metadata import version
from pathlib import Path

from proof_r1_formal.evidence.search import BUDGET, find_proof
from proof_r1_formal.logic.syntax import BOTTOM
from proof_r1_formal.solvers.base import (
    Answer,
    Entailed,
    Limits,
    Query,
    Refuted,
    Solver,
    Unknown,
    checked_signature,
    flaw_of,
)
from proof_r1_formal.solvers.cache import AnswerCache, AnswerFile
from proof_r1_formal.solvers.finite import FiniteSolver

QUICK = 2_000
"""Steps of the search without cuts."""


class EmbeddedSolver:
    """Decides queries by its own means, and by Z3 where those end.

    Args:
        limits: of Z3; the engine's own budgets are fixed.
        cache: how many canonical queries are remembered; 0 for none.
        file: where countermodels are kept from run to run.
    """

    def __init__(self, limits: Limits | None = None, *, cache: int = 1 << 14, file: Path | None = None) -> None:
        self._limits = limits
        self._finite = FiniteSolver()
        self._cache = AnswerCache(self._solve, size=cache, file=None if file is None else AnswerFile(file))

    name = f"embedded {version('proof-r1-formal')}"

    @cached_property
    def _z3(self) -> Solver:
        from proof_r1_formal.solvers.z3 import Z3Solver

        return Z3Solver(self._limits)

    def decide(self, query: Query) -> Answer:
        """The answer, from memory or anew; both are the same."""
        if flaw := flaw_of(query):
            return flaw
        answer = self._cache.decide(query)
        if isinstance(answer, Unknown) and isinstance(clash := checked_signature(query), Unknown):
            return clash  # in the names of this query
        return answer

    def _solve(self, query: Query) -> Answer:
        if isinstance(clash := checked_signature(query), Unknown):
            return clash
        if query.conclusion is not BOTTOM:  # that asks whether premises are consistent, and mostly they are
            proof = find_proof(query.dependencies, query.conclusion, cuts=False, budget=QUICK)
            if proof is not None:
                return Entailed(proof)
        answer = self._finite.decide(query)
        if isinstance(answer, Unknown):
            answer = self._z3.decide(query)
        if isinstance(answer, Refuted):
            return answer
        proof = find_proof(query.dependencies, query.conclusion, budget=BUDGET)
        return answer if proof is None else Entailed(proof)
