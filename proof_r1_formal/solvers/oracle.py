"""The questions that verification asks, answered by one solver with a bounded memory of exact repeats.

In: formulas. Out: the solver's answers, unchanged; ``Unknown`` stays Unknown. Questions of equivalence and validity
whose answer is no are mostly settled by fingerprints (a counterexample in a fixed structure), without the solver.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from proof_r1_formal.logic.fingerprint import fingerprint
from proof_r1_formal.logic.syntax import BOTTOM, Formula, Iff, Not, Term
from proof_r1_formal.logic.transform import regrouped
from proof_r1_formal.solvers.base import Answer, Entailed, Query, Refuted, Solver
from proof_r1_formal.solvers.finite import GroundDependencies


class Oracle:
    """Asks ``solver``, remembering the last ``memory`` distinct questions.

    Args:
        solver: decides.
        tables: whether truth tables may answer in its place where many questions share their dependencies.
        memory: how many answers are remembered.
    """

    def __init__(self, solver: Solver, *, tables: bool = False, memory: int = 1 << 14) -> None:
        self.solver = solver
        self._tables = tables
        self.entails = lru_cache(maxsize=memory)(self._entails)
        """Do the dependencies entail the conclusion?"""

    def _entails(self, dependencies: tuple[Formula, ...], conclusion: Formula) -> Answer:
        return self.solver.decide(Query(dependencies, conclusion))

    def equivalent(self, first: Formula, second: Formula) -> Answer:
        """Are the formulas logically equivalent? A refutation may come without a model."""
        if first is second or regrouped(first) is regrouped(second):
            return Entailed()
        if fingerprint(first).differs(fingerprint(second)):
            return Refuted()
        return self.entails((), Iff(first, second))

    def valid(self, formula: Formula) -> Answer:
        """Is the formula a tautology? A refutation may come without a model."""
        return self.entails((), formula) if fingerprint(formula).is_true_everywhere() else Refuted()

    def contradictory(self, formula: Formula) -> Answer:
        """Is the negation of the formula a tautology?"""
        return self.entails((), Not(formula)) if fingerprint(formula).is_false_everywhere() else Refuted()

    def inconsistent(self, formulas: tuple[Formula, ...]) -> Answer:
        """Do the formulas have no model? A refutation carries one."""
        return self.entails(formulas, BOTTOM)

    def assuming(self, dependencies: tuple[Formula, ...], terms: Mapping[str, Iterable[Term]]) -> Assuming:
        """The oracle for questions with the same dependencies.

        Args:
            dependencies: closed formulas.
            terms: the ground terms of all that will be asked, by sort.
        """
        return Assuming(self, dependencies, GroundDependencies(dependencies, terms) if self._tables else None)


class Assuming:
    """Answers questions with the same dependencies."""

    def __init__(self, oracle: Oracle, dependencies: tuple[Formula, ...], ground: GroundDependencies | None) -> None:
        self._oracle = oracle
        self._dependencies = dependencies
        self._ground = ground

    def entail(self, conclusion: Formula) -> Answer:
        """Do the dependencies entail the conclusion? A refutation may come without a model, a "yes" without a proof."""
        match None if self._ground is None else self._ground.entail(conclusion):
            case True:
                return Entailed()
            case False:
                return Refuted()
            case None:
                return self._oracle.entails(self._dependencies, conclusion)
