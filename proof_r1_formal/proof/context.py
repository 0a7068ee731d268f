"""Data that all completions of a problem share: formulas with sorts, symbols, and consistency of the premises.

Sorts are inferred from the whole problem, but a step uses only some of its formulas: that ``tom`` is an Animal may
follow from a premise that the step does not use. So the inferred sorts are first written into every term, of the
problem and of the conclusions about it. A problem with only the default sort stays unchanged.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from msgspec import structs

from proof_r1_formal.data.problem import Problem, require_usable
from proof_r1_formal.engine.oracle import Oracle
from proof_r1_formal.errors import SignatureError, require_type
from proof_r1_formal.kernel.answer import Answer, Entailed, Refuted, Unknown
from proof_r1_formal.kernel.signature import SignatureBuilder, symbols
from proof_r1_formal.kernel.syntax import Formula, Not
from proof_r1_formal.proof.action import Action, Trace, read_completion
from proof_r1_formal.proof.answer import Consistency, Openness
from proof_r1_formal.proof.report import Code, Finding


def with_sorts(problem: Problem) -> tuple[Problem, SignatureBuilder]:
    """The problem with the sorts written into its formulas, and its symbols.

    Raises:
        SignatureError: the problem uses a symbol in two ways.
    """
    known = SignatureBuilder(problem.formulas())
    if known.one_sort:
        return problem, known
    premises = tuple([replace(premise, formula=known.sorted(premise.formula)) for premise in problem.premises])
    options = tuple([replace(option, formula=known.sorted(option.formula)) for option in problem.options])
    problem = replace(problem, premises=premises, options=options)
    return problem, SignatureBuilder(problem.formulas())


def conclusions_with_sorts(trace: Trace, known: SignatureBuilder) -> Trace:
    """The trace with the sorts written into its conclusions, see :func:`conclusion_with_sorts`."""
    return structs.replace(trace, actions=tuple([conclusion_with_sorts(action, known)[0] for action in trace.actions]))


def conclusion_with_sorts(action: Action, known: SignatureBuilder) -> tuple[Action, bool]:
    """The action with the sorts written into its conclusion, and whether the conclusion fits any that fit the problem.

    A conclusion that clashes with the problem stays unchanged. One with a sort that the problem lacks gets a finding.

    Args:
        action: as read.
        known: the symbols of the problem, from :func:`with_sorts`.

    Returns:
        The second is true if the problem has every symbol of the conclusion, with the same arities and sorts. A
        conclusion that brings a symbol must be compared with others that bring it.

    Raises:
        TypeError: it is not an action.
    """
    require_type(action, Action, "action", "read_action() reads one, and gives None if there is none")
    formula = action.formula
    if formula is None:
        return action, False
    sorts = symbols(formula).sorts
    unknown = sorts.difference(known.signature().sorts) if sorts else sorts
    if unknown:
        problem = f"the problem has no sort {', '.join(sorted(unknown))}"
        return structs.replace(action, findings=(*action.findings, Finding(Code.SYMBOL_CLASH, problem))), False
    try:
        joint = known.extend(formula)
    except SignatureError:
        return action, False
    return (action if joint.one_sort else structs.replace(action, formula=joint.sorted(formula))), joint is known


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
