"""The answer of a problem by a solver, to compare with its label.

In: a problem and a solver. Out: the id of the option that the premises entail, or the reason why there is none.
"""

from __future__ import annotations

from proof_r1_formal.data.problem import GOAL_UNCERTAIN, Problem
from proof_r1_formal.engine.solver import Solver
from proof_r1_formal.kernel.answer import Entailed, Query, Refuted
from proof_r1_formal.kernel.syntax import BOTTOM

CONTRADICTORY = "premises contradictory"
"""The premises entail everything, so no option is the answer."""
UNDECIDED = "undecided"
"""The solver did not decide."""


def answer_by(solver: Solver, problem: Problem) -> str:
    """The id of the first option that the premises entail; Uncertain's if they entail none.

    Returns:
        The id, or :data:`CONTRADICTORY` or :data:`UNDECIDED`.
    """
    premises = tuple(premise.formula for premise in problem.premises)
    consistency = solver.decide(Query(premises, BOTTOM))
    if isinstance(consistency, Entailed):
        return CONTRADICTORY
    claims = [option for option in problem.options if option.id != GOAL_UNCERTAIN]
    answers = [solver.decide(Query(premises, option.formula)) for option in claims]
    for option, answer in zip(claims, answers, strict=True):
        if isinstance(answer, Entailed):
            return option.id
    open_ = all(isinstance(answer, Refuted) for answer in (consistency, *answers))
    return GOAL_UNCERTAIN if open_ else UNDECIDED
