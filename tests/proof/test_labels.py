"""Labels and what follows: where they differ, and that the document says why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from proof_r1_formal.data import read_problems
from proof_r1_formal.data.problem import GOAL_FALSE, GOAL_TRUE, GOAL_UNCERTAIN, Problem
from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.kernel.answer import Reason, Unknown
from proof_r1_formal.kernel.syntax import ForAll, Formula, Implies
from proof_r1_formal.kernel.transform import constants, instantiate, negate
from proof_r1_formal.proof.labels import CONTRADICTORY, UNDECIDED, answer_by
from proof_r1_formal.text.equivalence import conjuncts
from tests import build
from tests.solvers import Told

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "english.md"


@pytest.mark.parametrize(
    ("premises", "answer"),
    [
        (("Q(a)", "∀x (Q(x) → P(x))"), GOAL_TRUE),
        (("Q(a)", "∀x (Q(x) → ¬P(x))"), GOAL_FALSE),
        (("Q(a)", "∀x (P(x) → Q(x))"), GOAL_UNCERTAIN),
        (("Q(a)", "∀x (Q(x) → P(x))", "¬P(a)"), CONTRADICTORY),
    ],
)
def test_the_answer_is_what_follows(premises: tuple[str, ...], answer: str) -> None:
    assert answer_by(EmbeddedSolver(), build.problem(*premises, goal="P(a)")) == answer


@pytest.mark.parametrize("about", ["⊥", "P(a)", "¬P(a)"])
def test_what_is_undecided_is_no_answer(about: str) -> None:
    assert answer_by(Told({about: Unknown(Reason.BUDGET)}), build.problem("Q(a)", goal="P(a)")) == UNDECIDED


# -- the labels of ProofWriter ----------------------------------------------------------------------------------------


def ground(problem: Problem) -> Iterator[Formula]:
    """The premises, rules about anything for each constant."""
    names = {name for premise in problem.premises for name in constants(premise.formula)}
    for premise in problem.premises:
        if isinstance(premise.formula, ForAll):
            yield from (instantiate(premise.formula, name) for name in names)
        else:
            yield premise.formula


def forward(problem: Problem) -> set[Formula]:
    """The literals that are told, or that rules give when they are applied from left to right only."""
    rules: list[tuple[set[Formula], set[Formula]]] = []
    known: set[Formula] = set()
    for formula in ground(problem):
        if isinstance(formula, Implies):
            rules.append((set(conjuncts(formula.left)), set(conjuncts(formula.right))))
        else:
            known.update(conjuncts(formula))
    while new := {fact for condition, facts in rules if condition <= known for fact in facts} - known:
        known |= new
    return known


def propagated(problem: Problem, *assumed: Formula) -> set[Formula] | None:
    """The literals that rules give in any direction; None if two of them contradict each other."""
    clauses: list[set[Formula]] = [{formula} for formula in assumed]
    for formula in ground(problem):
        if isinstance(formula, Implies):
            condition = {negate(literal) for literal in conjuncts(formula.left)}
            clauses += [{*condition, fact} for fact in conjuncts(formula.right)]
        else:
            clauses += [{fact} for fact in conjuncts(formula)]
    known: set[Formula] = set()
    while True:
        left = [{literal for literal in clause if negate(literal) not in known} for clause in clauses]
        if not all(left):
            return None
        new = {next(iter(clause)) for clause in left if len(clause) == 1} - known
        if not new:
            return known
        known |= new


def why(problem: Problem) -> str:
    """By what a problem whose label is missed has another answer."""
    goal = problem.options[0].formula
    known = propagated(problem)
    if known is None:
        return "contradictory premises"
    if {goal, negate(goal)} & known:
        return "contraposition"
    if None in (propagated(problem, goal), propagated(problem, negate(goal))):
        return "indirect proof"
    raise AssertionError(problem.id)


@pytest.mark.shared
@pytest.mark.slow
def test_labels_of_proofwriter_are_those_of_forward_chaining(shared_data: Path) -> None:
    problems = read_problems(shared_data / "proofwriter" / "logiclm_dev.json")
    solver = EmbeddedSolver()
    reasons: Counter[str] = Counter()
    document = DOCUMENT.read_text(encoding="utf-8")
    for problem in problems.values():
        known, goal = forward(problem), problem.options[0].formula
        chained = [name for name, f in ((GOAL_TRUE, goal), (GOAL_FALSE, negate(goal))) if f in known]
        assert (chained or [GOAL_UNCERTAIN]) == [problem.answer], problem.id
        answer = answer_by(solver, problem)
        if answer != problem.answer:
            reason = why(problem)
            assert (reason == "contradictory premises") == (answer == CONTRADICTORY)
            reasons[reason] += 1
            assert f"| `{problem.id.removeprefix('logiclm_dev/ProofWriter_')}` |" in document
    agree = len(problems) - reasons.total()
    assert f"| ProofWriter, 600 problems | 11,690 | {agree} | {100 * agree / len(problems):.1f} % |" in document
    assert [f"{count} by {reason}" in document for reason, count in reasons.items()] == [True] * 3


@pytest.mark.shared
def test_the_labels_of_prontoqa_follow(shared_data: Path) -> None:
    problems = read_problems(shared_data / "prontoqa" / "logiclm_dev_first250.json")
    solver = EmbeddedSolver()
    assert [p.id for p in problems.values() if answer_by(solver, p) != p.answer] == []
    assert f"| PrOntoQA, {len(problems)} problems | 7,332 | 250 | 100.0 % |" in DOCUMENT.read_text(encoding="utf-8")
