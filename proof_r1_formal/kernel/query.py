"""Queries ``Γ ⊨ φ``: what a solver is asked."""

from __future__ import annotations

import msgspec

from proof_r1_formal.kernel.syntax import Formula, Not


class Query(msgspec.Struct, frozen=True, gc=False):
    """Do the dependencies entail the conclusion? All formulas are closed; domains are non-empty."""

    dependencies: tuple[Formula, ...]
    conclusion: Formula

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """The dependencies and the conclusion."""
        return (*self.dependencies, self.conclusion)

    @property
    def assertions(self) -> tuple[Formula, ...]:
        """The dependencies and the negated conclusion: they have a common model exactly if there is no entailment."""
        return (*self.dependencies, Not(self.conclusion))
