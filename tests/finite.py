"""The decision procedure of the effectively propositional class as a solver of its own."""

from __future__ import annotations

from proof_r1_formal.logic.query import Query
from proof_r1_formal.solvers.base import Answer, Unknown, checked_signature
from proof_r1_formal.solvers.finite import decided


class FiniteSolver:
    """Decides effectively propositional queries."""

    name = "finite"

    def decide(self, query: Query) -> Answer:
        """Whether the ground instances of the dependencies and of the negated conclusion have no common model."""
        signature = checked_signature(query)
        return signature if isinstance(signature, Unknown) else decided(query, signature)
