"""Agents: transcripts in which each branch of their procedures is taken, with the answer and the number of calls."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path

import pytest

from proof_r1_formal import TRAIN, Premise, Problem, ReferenceStep, get_solver, parse_formula, three_way_options
from proof_r1_formal.data.problem import Option
from proof_r1_formal.errors import SolverError
from proof_r1_formal.generate import summary
from proof_r1_formal.kernel.answer import Answer
from proof_r1_formal.kernel.query import Query
from proof_r1_formal.models.agents import Agent
from proof_r1_formal.models.agents.answers import MAX_FAILURES, json_object
from proof_r1_formal.models.agents.direct import Direct
from proof_r1_formal.models.agents.graph_of_verification import GraphOfVerification, topological
from proof_r1_formal.models.agents.logic_agent import LogicAgent, Outcome, combine, judge, views
from proof_r1_formal.models.chat import CallError, Message, Reply, Sampling
from proof_r1_formal.models.journal import Journal
from proof_r1_formal.models.runner import Done, Task, run
from proof_r1_formal.proof.action import read_completion
from tests.patience import PATIENCE

SAMPLING = Sampling()
PROBLEM = Problem(
    "pets/1",
    (
        Premise("h1", parse_formula("∀x (barks(x) → dog(x))"), text="Whatever barks is a dog."),
        Premise("h2", parse_formula("barks(tom)"), text="Tom barks."),
    ),
    three_way_options(parse_formula("dog(tom)")),
    "h_goal_true",
    question="Is Tom a dog?",
)
STEP = ReferenceStep("s1", ("h1", "h2"), "dog(tom)", "IMPLICATION_ELIMINATION")


def solution(answer: str, *steps: ReferenceStep) -> str:
    """A completion that ends in an answer."""
    last = steps[-1].id if steps else "h2"
    return summary([*steps, ReferenceStep(answer, (last,), "dog(tom)", "GOAL_BINDING")])


class Transcript:
    """A model that answers from a script, by what it is asked for; it notes every chat."""

    name = "transcript"

    def __init__(self, script: Callable[[str, str], str]) -> None:
        self.script = script
        self.chats: list[list[Message]] = []
        self.seconds = 0.0

    async def reply(self, chat: Sequence[Message], sampling: Sampling) -> Reply:
        self.chats.append(list(chat))
        text = self.script(chat[0]["content"], chat[-1]["content"])
        return Reply(text=text, finish="stop", started=0, ended=0)

    def worked(self, started: float, ended: float) -> None:
        """Notes how long something else worked."""
        self.seconds += ended - started

    def kinds(self) -> Counter[str]:
        """How often what was asked for."""
        return Counter([kind(chat[0]["content"]) for chat in self.chats])


def kind(system: str) -> str:
    """What a system message asks for."""
    starts = {
        "You solve": "proof",
        "You check": "verification",
        "You put": "formalisation",
        "You look": "second thought",
    }
    (found,) = [name for start, name in starts.items() if system.startswith(start)]
    return found


# -- directly ---------------------------------------------------------------------------------------------------------


def test_directly_there_is_one_call() -> None:
    model = Transcript(lambda system, user: "anything")
    assert asyncio.run(Direct(TRAIN, SAMPLING).solve(PROBLEM, model)) == "anything"
    assert model.kinds() == {"proof": 1}


# -- graph of verification --------------------------------------------------------------------------------------------


def verified(
    solutions: Sequence[str], verdicts: Callable[[str], str], *, granularity: int | None = 1
) -> tuple[str, Transcript]:
    """What is selected of solutions, when blocks are judged so."""
    waiting = iter(solutions)
    model = Transcript(lambda system, user: next(waiting) if kind(system) == "proof" else verdicts(user))
    agent = GraphOfVerification(TRAIN, SAMPLING, candidates=len(solutions), granularity=granularity)
    return asyncio.run(agent.solve(PROBLEM, model)), model


YES, NO = '{"valid": true}', '{"valid": false, "step": "s1", "reason": "no"}'
GOOD = solution("h_goal_true", STEP)
BAD = solution("h_goal_false", replace(STEP, conclusion="¬dog(tom)"))


def unless(*words: str) -> Callable[[str], str]:
    """Judges a block valid unless one of its steps holds one of the words."""
    return lambda user: NO if any(word in user.split("To be judged:")[1] for word in words) else YES


def test_the_answer_that_passes_most_often_is_selected() -> None:
    other = solution("h_goal_uncertain", STEP)
    selected, model = verified([other, GOOD, GOOD.replace("s1", "t1")], unless())
    assert selected == GOOD
    assert model.kinds() == {"proof": 3, "verification": 6}


def test_a_frequent_answer_that_does_not_pass_is_not_selected() -> None:
    selected, model = verified([BAD, BAD, GOOD], unless("¬dog"))
    assert selected == GOOD
    assert model.kinds() == {"proof": 3, "verification": 1 + 1 + 2}  # the first block that fails is the last


def test_of_equals_the_first_is_selected() -> None:
    selected, _ = verified([BAD, GOOD], unless())
    assert selected == BAD


def test_the_furthest_is_selected_where_none_passes() -> None:
    selected, model = verified(["nonsense", BAD, GOOD], unless("¬dog", "h_goal"))
    assert selected == GOOD
    assert model.kinds() == {"proof": 3, "verification": 0 + 1 + 2}


@pytest.mark.parametrize("answer", ["", "valid", '{"valid": "true"}', "<think>" + YES + "</think>", YES + NO])
def test_an_unclear_verdict_passes_nothing(answer: str) -> None:
    selected, model = verified([GOOD, "nonsense"], lambda user: answer)
    assert selected == GOOD  # the first of two that came nowhere
    assert model.kinds() == {"proof": 2, "verification": 1}


@pytest.mark.parametrize(("granularity", "calls"), [(1, 3), (2, 2), (3, 1), (None, 1)])
def test_the_granularity_is_the_number_of_judged_steps(granularity: int | None, calls: int) -> None:
    three = solution("h_goal_true", STEP, replace(STEP, id="s2", dependencies=("s1", "h2")))
    selected, model = verified([three], unless(), granularity=granularity)
    assert selected == three
    assert model.kinds() == {"proof": 1, "verification": calls}


def test_a_block_sees_what_it_rests_on_and_nothing_else() -> None:
    _, model = verified([GOOD], unless())
    first, second = [chat[1]["content"] for chat in model.chats[1:]]
    assert first.splitlines() == [
        "Given:",
        "h1: Whatever barks is a dog. [∀x (barks(x) → dog(x))]",
        "h2: Tom barks. [barks(tom)]",
        "",
        "To be judged:",
        "s1: dog(tom) (from h1, h2; IMPLICATION_ELIMINATION)",
    ]
    assert second.splitlines()[:2] == ["Given:", "s1: dog(tom)"]
    assert "h1" not in second


def test_steps_are_judged_in_topological_order() -> None:
    turned = summary(
        [
            ReferenceStep("h_goal_true", ("s1",), "dog(tom)", "GOAL_BINDING"),
            replace(STEP, dependencies=("h1", "s0")),
            ReferenceStep("s0", ("h2",), "barks(tom)", "CONJUNCTION_ELIMINATION"),
        ]
    )
    order = topological(PROBLEM, read_completion(turned).actions)
    assert order is not None
    assert [action.id for action in order] == ["s0", "s1", "h_goal_true"]


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
def test_what_makes_no_graph_is_not_verified(steps: list[ReferenceStep]) -> None:
    model = Transcript(lambda system, user: YES)
    agent = GraphOfVerification(TRAIN, SAMPLING)
    found = asyncio.run(agent.verify(PROBLEM, summary(steps), model))
    assert (found.passed, model.chats) == (Fraction(0), [])


# -- logic agent ------------------------------------------------------------------------------------------------------

PREMISES = {"h1": "∀x (barks(x) → dog(x))", "h2": "barks(tom)"}
SOLVER = get_solver("z3")


def formulas(position: str, premises: dict[str, str] | None = None) -> str:
    return f"So: {json.dumps({'premises': premises or PREMISES, 'position': position})}"


def solved(positions: Sequence[str], thought: str) -> tuple[str, Transcript]:
    """The question for the proof that the agent ends with, when views and the second thought come out so."""
    waiting = iter(positions)

    def script(system: str, user: str) -> str:
        match kind(system):
            case "formalisation":
                return next(waiting)
            case "second thought":
                return thought
            case _:
                return f"proof after: {user}"

    model = Transcript(script)
    return asyncio.run(LogicAgent(TRAIN, SAMPLING, SOLVER).solve(PROBLEM, model)), model


AGREED = [formulas("dog(tom)"), formulas("¬dog(tom)"), formulas("∀x ¬dog(x)"), formulas("∃x dog(x)")]
CALLS = {"formalisation": 4, "second thought": 1, "proof": 1}


def decided(proof: str) -> str | None:
    """The option that the question for the proof names."""
    _, found, after = proof.partition("You have decided for ")
    return after.split(".")[0] if found else None


def test_the_solver_decides_and_reflection_confirms() -> None:
    proof, model = solved(AGREED, '{"answer": "h_goal_true", "reason": "Tom barks."}')
    assert decided(proof) == "h_goal_true"
    assert "Your reason: Tom barks." in proof
    assert model.kinds() == CALLS
    seen = model.chats[4][1]["content"]
    assert "Together they speak for h_goal_true." in seen
    assert seen.count("solver: the premises entail it\n") == 2
    assert seen.count("solver: the premises entail its negation") == 2


def test_reflection_changes_the_answer() -> None:
    proof, model = solved(AGREED, 'No. {"answer": "h_goal_uncertain", "reason": "h1 says something else."}')
    assert decided(proof) == "h_goal_uncertain"
    assert model.kinds() == CALLS


@pytest.mark.parametrize("thought", ["I cannot say.", '{"answer": "h_goal"}', '{"answer": 3}', "[]"])
def test_an_unclear_second_thought_changes_nothing(thought: str) -> None:
    proof, model = solved(AGREED, thought)
    assert decided(proof) == "h_goal_true"
    assert model.kinds() == CALLS


NOTHING = ["nonsense", formulas("dog(tom"), formulas("dog(tom)", {"h1": "p", "h2": "¬p"}), formulas("dog")]


def test_without_a_symbolic_answer_reflection_decides() -> None:
    proof, model = solved(NOTHING, '{"answer": "h_goal_false"}')
    assert decided(proof) == "h_goal_false"
    assert model.kinds() == CALLS
    assert "The solver gives no answer." in model.chats[4][1]["content"]


def test_without_any_answer_the_proof_decides() -> None:
    proof, model = solved(NOTHING, "I cannot say.")
    assert decided(proof) is None
    assert proof.startswith("proof after: Premises:")
    assert model.kinds() == CALLS


def test_contradicting_views_give_no_answer() -> None:
    _, model = solved([AGREED[0], formulas("dog(tom)"), *AGREED[2:]], "?")
    assert "The solver gives no answer." in model.chats[4][1]["content"]


def test_what_is_open_from_all_sides_is_uncertain() -> None:
    open_, denial = formulas("cat(tom)"), formulas("¬cat(tom)")
    proof, _ = solved([open_, denial, formulas("∀x ¬cat(x)"), formulas("∃x cat(x)")], "?")
    assert decided(proof) == "h_goal_uncertain"


def test_a_definite_view_counts_more_than_an_open_one() -> None:
    proof, _ = solved([formulas("cat(tom)"), formulas("¬dog(tom)"), "nonsense", "nonsense"], "?")
    assert decided(proof) == "h_goal_true"


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
def test_what_the_solver_says(premises: list[str], position: str, outcome: Outcome) -> None:
    assert judge(SOLVER, tuple(map(parse_formula, premises)), parse_formula(position)) is outcome


def test_a_solver_that_breaks_decides_nothing() -> None:
    class Broken:
        name = "broken"

        def decide(self, query: Query) -> Answer:
            raise SolverError(self.name, "there is none")

    assert judge(Broken(), (), parse_formula("p")) is Outcome.UNDECIDED


def test_the_time_of_the_solver_is_counted() -> None:
    came = threading.Event()

    class Waiting:
        """Decides nothing until something else has gone on."""

        name = "waiting"

        def decide(self, query: Query) -> Answer:
            assert came.wait(PATIENCE)
            return SOLVER.decide(query)

    model = Transcript(lambda system, user: AGREED[0] if kind(system) == "formalisation" else GOOD)

    async def work() -> str:
        task = asyncio.create_task(LogicAgent(TRAIN, SAMPLING, Waiting()).solve(PROBLEM, model))
        while not model.chats:
            await asyncio.sleep(0)
        came.set()
        return await task

    assert asyncio.run(work()) == GOOD
    assert model.seconds > 0


def test_the_completion_is_the_models_last_word() -> None:
    """Whatever was decided before: its proof binds the answer."""

    def script(system: str, user: str) -> str:
        return AGREED[0] if kind(system) == "formalisation" else BAD if kind(system) == "proof" else "?"

    completion = asyncio.run(LogicAgent(TRAIN, SAMPLING, SOLVER).solve(PROBLEM, Transcript(script)))
    assert read_completion(completion).actions[-1].id == "h_goal_false"


def test_calls_beside_a_failing_one_are_not_repeated(tmp_path: Path) -> None:
    class Failing(Transcript):
        """Refuses one call of several at once, before the others have come to anything."""

        refused = False

        async def reply(self, chat: Sequence[Message], sampling: Sampling) -> Reply:
            if not self.refused:
                self.refused = True
                raise CallError("refused", again=False)
            for _ in range(9):
                await asyncio.sleep(0)
            return await super().reply(chat, sampling)

    def script(system: str, user: str) -> str:
        return YES if kind(system) == "verification" else AGREED[0] if kind(system) == "formalisation" else GOOD

    agents: list[Agent] = [GraphOfVerification(TRAIN, SAMPLING), LogicAgent(TRAIN, SAMPLING, SOLVER)]
    for number, agent in enumerate(agents):
        tasks = [Task("t", partial(agent.solve, PROBLEM))]
        model = Failing(script)
        for calls in (2 + number, 2 + number + 1 + (2 if number else 6)):  # those beside it; then it, and the others
            with Journal(tmp_path / f"{number}.jsonl") as journal:
                (found,) = asyncio.run(run(tasks, model, journal))
            assert len(model.chats) == calls
        assert isinstance(found, Done)
        assert read_completion(found.found).actions[-1].id == "h_goal_true"


def test_other_options_are_views_of_their_own() -> None:
    options = tuple(Option(name, name, parse_formula(f"in(tom, {name})")) for name in ("house", "garden", "street"))
    problem = replace(PROBLEM, options=options, answer="garden")
    assert [view.entailed for view in views(problem)] == ["house", "garden", "street"]
    assert combine([]) is None


def test_no_agent_is_told_the_answer() -> None:
    """What is asked does not depend on it."""
    agents: list[Agent] = [
        Direct(TRAIN, SAMPLING),
        GraphOfVerification(TRAIN, SAMPLING),
        LogicAgent(TRAIN, SAMPLING, SOLVER),
    ]
    for agent in agents:
        asked = []
        for answer in ("h_goal_true", "h_goal_false", None):
            model = Transcript(lambda system, user: GOOD if kind(system) == "proof" else YES)
            asyncio.run(agent.solve(replace(PROBLEM, answer=answer, proofs=((STEP,),)), model))
            asked.append(model.chats)
        assert asked[0] == asked[1] == asked[2]


def test_the_last_object_of_a_reply_counts() -> None:
    assert json_object('{"a": 1} or rather {"a": 2}') == {"a": 2}
    assert json_object(f'{{"a": {"9" * 5000}}} {{"a": 2}}') == {"a": 2}


def test_a_reply_of_braces_is_given_up() -> None:
    assert json_object("{x}" * MAX_FAILURES + '{"a": 1}') == {"a": 1}
    assert json_object("{x}" * (MAX_FAILURES + 1) + '{"a": 1}') is None
    assert json_object('```json\n{"a": {"b": []}}\n```') == {"a": {"b": []}}
    assert json_object("{ {} }") == {}
    assert json_object("{" * 100_000) is None
    assert json_object("[1, 2]") is None
