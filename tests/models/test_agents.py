"""The procedures of the agents: views and deductions of LogicAgent, graphs and selection of Graph of Verification."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from proof_r1_formal import ReferenceStep, get_solver, parse_formula
from proof_r1_formal.data.problem import Option
from proof_r1_formal.errors import SolverError
from proof_r1_formal.kernel.answer import Answer, Query
from proof_r1_formal.models.graph_of_verification import Verified, graph_of, is_valid, judgement, select
from proof_r1_formal.models.logic_agent import Deduction, Outcome, View, combine, deduce, judge, request, views
from proof_r1_formal.proof.trajectory import summary
from tests.models.agent_replies import AGREED, GOOD, NO, PROBLEM, STEP, YES, formulas

SOLVER = get_solver("embedded")


# -- LogicAgent -------------------------------------------------------------------------------------------------------


def deduced(*replies: str) -> list[Deduction]:
    """The deductions from replies to the views of the problem."""
    return [deduce(view, reply, SOLVER) for view, reply in zip(views(PROBLEM), replies, strict=True)]


def test_four_views_agree_on_an_answer() -> None:
    found = deduced(*AGREED)
    assert [one.outcome for one in found] == [Outcome.ENTAILED, Outcome.DENIED, Outcome.DENIED, Outcome.ENTAILED]
    assert [one.answer for one in found] == ["h_goal_true", "h_goal_true", None, None]
    assert combine(found) == "h_goal_true"


def test_contradicting_views_give_no_answer() -> None:
    assert combine(deduced(AGREED[0], formulas("dog(tom)"), *AGREED[2:])) is None


def test_what_all_views_leave_open_is_uncertain() -> None:
    positions = ("cat(tom)", "¬cat(tom)", "∀x ¬cat(x)", "∃x cat(x)")
    assert combine(deduced(*map(formulas, positions))) == "h_goal_uncertain"


def test_a_definite_view_counts_more_than_an_open_one() -> None:
    assert combine(deduced(formulas("cat(tom)"), formulas("¬dog(tom)"), "nonsense", "nonsense")) == "h_goal_true"


@pytest.mark.parametrize(
    "reply",
    [
        "nonsense",
        "",
        formulas("dog(tom"),
        '{"premises": ["barks(tom)"], "position": "dog(tom)"}',
        '{"premises": {"h1": 3}, "position": "dog(tom)"}',
        '{"premises": {"h1": "barks(tom)"}}',
        formulas("∀x dog(x) → barks(tom)"),  # two readings: nobody chooses one
    ],
)
def test_a_reply_without_formulas_implies_nothing(reply: str) -> None:
    found = deduce(View("", "a", "b", "c"), reply, SOLVER)
    assert (found.outcome, found.answer) == (Outcome.UNREADABLE, None)


@pytest.mark.parametrize(
    ("premises", "position", "outcome"),
    [
        (["p → q", "p"], "q", Outcome.ENTAILED),
        (["p → q", "p"], "¬q", Outcome.DENIED),
        (["p → q"], "q", Outcome.OPEN),
        (["p", "¬p"], "q", Outcome.INCONSISTENT),
        (["∀x ¬unicorn(x)"], "∀x (unicorn(x) → pink(x))", Outcome.VACUOUS),
        (["∀x ∀y ¬loves(x, y)"], "∀x ∀y (loves(x, y) → kind(x))", Outcome.VACUOUS),
        (["∀x (unicorn(x) → pink(x))"], "∀x (unicorn(x) → pink(x))", Outcome.ENTAILED),
        (["p(a)"], "p(a, a)", Outcome.UNDECIDED),
    ],
)
def test_each_outcome_of_the_solver(premises: list[str], position: str, outcome: Outcome) -> None:
    assert judge(SOLVER, tuple(map(parse_formula, premises)), parse_formula(position)) is outcome


def test_a_solver_that_breaks_decides_nothing() -> None:
    class Broken:
        name = "broken"

        def decide(self, query: Query) -> Answer:
            raise SolverError(self.name, "there is none")

    assert judge(Broken(), (), parse_formula("p")) is Outcome.UNDECIDED


def test_other_options_are_views_of_their_own() -> None:
    options = tuple(Option(name, name, parse_formula(f"in(tom, {name})")) for name in ("house", "garden", "street"))
    problem = replace(PROBLEM, options=options, answer="garden")
    assert [view.entailed for view in views(problem)] == ["house", "garden", "street"]
    assert combine([]) is None


@pytest.mark.parametrize("reply", ["I cannot say.", '{"answer": "h_goal"}', '{"answer": 3}', "[]"])
def test_an_unclear_reflection_changes_nothing(reply: str) -> None:
    assert "You have decided for h_goal_true.\n" in request(PROBLEM, reply, "h_goal_true")
    assert request(PROBLEM, reply, None) == ""


def test_a_reflection_decides() -> None:
    reply = 'No. {"answer": "h_goal_uncertain", "reason": "h1 says something else."}'
    expected = "You have decided for h_goal_uncertain. Your reason: h1 says something else.\n"
    assert expected in request(PROBLEM, reply, "h_goal_true")


# -- Graph of Verification --------------------------------------------------------------------------------------------


def test_steps_are_judged_in_topological_order() -> None:
    turned = summary(
        [
            ReferenceStep("h_goal_true", ("s1",), "dog(tom)", "GOAL_BINDING"),
            replace(STEP, dependencies=("h1", "s0")),
            ReferenceStep("s0", ("h2",), "barks(tom)", "CONJUNCTION_ELIMINATION"),
        ]
    )
    graph = graph_of(PROBLEM, turned, 1)
    assert [[action.id for action in block] for block in graph.blocks] == [["s0"], ["s1"], ["h_goal_true"]]
    assert graph.answer == "s0"  # the last one as written


@pytest.mark.parametrize(("granularity", "sizes"), [(1, [1, 1, 1]), (2, [2, 1]), (3, [3]), (None, [3])])
def test_the_granularity_is_the_size_of_a_block(granularity: int | None, sizes: list[int]) -> None:
    three = [STEP, replace(STEP, id="s2", dependencies=("s1", "h2")), replace(STEP, id="h_goal_true")]
    graph = graph_of(PROBLEM, summary(three), granularity)
    assert [len(block) for block in graph.blocks] == sizes


@pytest.mark.parametrize(
    "steps",
    [
        [],
        [replace(STEP, dependencies=("s1",))],
        [replace(STEP, dependencies=("s2",)), replace(STEP, id="s2", dependencies=("s1",))],
        [replace(STEP, dependencies=("h9",))],
        [STEP, STEP],
        [replace(STEP, id="h1")],
    ],
)
def test_steps_that_are_not_a_graph_are_not_judged(steps: list[ReferenceStep]) -> None:
    assert graph_of(PROBLEM, summary(steps), 1).blocks == ()


def test_a_block_shows_its_dependencies_and_nothing_else() -> None:
    (first,), (second,) = graph_of(PROBLEM, GOOD, 1).blocks
    assert judgement(PROBLEM, [first], [])[1]["content"].splitlines() == [
        "Given:",
        "h1: Whatever barks is a dog. [∀x (barks(x) → dog(x))]",
        "h2: Tom barks. [barks(tom)]",
        "",
        "To be judged:",
        "s1: dog(tom) (from h1, h2; IMPLICATION_ELIMINATION)",
    ]
    assert judgement(PROBLEM, [second], [first])[1]["content"].splitlines()[:3] == ["Given:", "s1: dog(tom)", ""]


@pytest.mark.parametrize("reply", ["", "valid", '{"valid": "true"}', f"<think>{YES}</think>", YES + NO])
def test_an_unclear_judgement_accepts_nothing(reply: str) -> None:
    assert not is_valid(reply)
    assert is_valid(f"{NO} or rather {YES}")


def test_the_most_frequent_answer_that_passes_is_selected() -> None:
    def solved(completion: str, answer: str, passed: float = 1) -> Verified:
        return Verified(completion, answer, Fraction(passed))

    one, two, three = solved("1", "a"), solved("2", "b"), solved("3", "b")
    assert select([one, two, three]) == two
    assert select([one, two]) == one  # of equals the first
    assert select([one, replace(two, passed=Fraction(1, 2)), replace(three, passed=Fraction(1, 2))]) == one
    partial = [solved("1", "a", 0), solved("2", "b", 0.5), solved("3", "b", 0.5)]
    assert select(partial) == partial[1]
