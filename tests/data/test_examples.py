"""The examples: their answers are what follows from their premises."""

from __future__ import annotations

from pathlib import Path

from proof_r1_formal.data import read_problems
from proof_r1_formal.data.problem import GOAL_FALSE, GOAL_TRUE, GOAL_UNCERTAIN
from proof_r1_formal.engine import get_solver
from proof_r1_formal.kernel.answer import Entailed, Refuted
from proof_r1_formal.kernel.query import Query
from proof_r1_formal.kernel.syntax import BOTTOM, Formula

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"


def test_the_answer_of_every_example_is_what_its_premises_say() -> None:
    solver = get_solver("z3")
    found = read_problems(EXAMPLES / "problems.jsonl")
    assert found.rejected == ()
    for problem in found.values():
        premises = tuple(premise.formula for premise in problem.premises)
        goal, negation, _ = (option.formula for option in problem.options)

        def follows(formula: Formula, premises: tuple[Formula, ...] = premises) -> bool:
            answer = solver.decide(Query(premises, formula))
            assert isinstance(answer, Entailed | Refuted)
            return isinstance(answer, Entailed)

        assert not follows(BOTTOM), problem.id  # the premises have a model
        expected = GOAL_TRUE if follows(goal) else GOAL_FALSE if follows(negation) else GOAL_UNCERTAIN
        assert problem.answer == expected, problem.id
        assert problem.notes == ()
