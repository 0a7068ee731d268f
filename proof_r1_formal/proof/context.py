"""Data that all completions of a problem share: formulas with sorts, symbols, and consistency of the premises."""

from __future__ import annotations

from functools import cached_property

from proof_r1_formal.data.problem import Problem, require_usable
from proof_r1_formal.engine.oracle import Oracle
from proof_r1_formal.kernel.answer import Answer, Entailed, Refuted, Unknown
from proof_r1_formal.kernel.syntax import Formula, Not
from proof_r1_formal.proof.action import Trace, read_completion
from proof_r1_formal.proof.answer import Consistency, Openness
from proof_r1_formal.proof.sorts import conclusions_with_sorts, with_sorts


class ProblemContext:
    """A problem, prepared for checking steps.

    Attributes:
        original: the problem as it was given.
        problem: the same with its sorts written into its formulas.
        symbols: of all its formulas.
        premises: id -> formula.

    Raises:
        SignatureError: the problem uses a symbol in two ways.
        TypeError, ProofR1Error: see :func:`~proof_r1_formal.data.problem.require_usable`.
    """

    def __init__(self, problem: Problem, oracle: Oracle) -> None:
        require_usable(problem)
        self.original = problem
        self.problem, self.symbols = with_sorts(problem)
        self.premises = {premise.id: premise.formula for premise in self.problem.premises}
        self._oracle = oracle

    def read(self, completion: str) -> Trace:
        """The actions with the problem's sorts written into their conclusions."""
        return conclusions_with_sorts(read_completion(completion), self.symbols)

    @cached_property
    def contradiction(self) -> Answer:
        """Whether the premises contradict each other. Each trace of the problem is charged for it, before all else."""
        return self._oracle.inconsistent(tuple(self.premises.values()))

    @property
    def consistency(self) -> Consistency:
        """Whether the premises have a model."""
        match self.contradiction:
            case Refuted():
                return "consistent"
            case Entailed():
                return "inconsistent"
            case Unknown():
                return "undecided"

    def uncertain(self, goal: Formula, oracle: Oracle) -> Openness:
        """Whether the premises leave the goal open: verified by a countermodel to it and one to its negation."""
        premises = tuple(self.premises.values())
        answers = [oracle.checked_answer(oracle.decide(premises, formula)) for formula in (goal, Not(goal))]
        if any(isinstance(answer, Entailed) for answer in answers):
            return "refuted"
        if all(isinstance(answer, Refuted) and answer.model is not None for answer in answers):
            return "verified"
        return "undecided"
