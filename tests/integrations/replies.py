"""What a scripted model replies to the examples, for harnesses that evaluate it, and what this package says of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from proof_r1_formal import verify_many
from proof_r1_formal.data.completions import Completion
from proof_r1_formal.evaluation.measures import Estimate, Measure
from proof_r1_formal.evaluation.metrics import evaluate_metrics
from proof_r1_formal.models.prompts import question
from tests.build import example_completions, example_problems
from tests.scripted import Act, Body, Script

PROBLEMS = example_problems()
NAMES = {question(problem): name for name, problem in PROBLEMS.items()}


def answers(count: int) -> dict[str, list[str]]:
    """The first answers to each problem: the examples', then no proof; garden/1 has none at all."""
    given: dict[str, list[str]] = {name: [] for name in PROBLEMS}
    for one in example_completions():
        given[one.problem_id].append(one.completion)
    given["garden/1"] = []
    return {name: [*texts, *["no proof"] * count][:count] for name, texts in given.items()}


def asked_in_turn(count: int) -> Callable[[str], str]:
    """From a prompt to the next answer to its problem."""
    left: dict[str, Iterator[str]] = {name: iter(texts) for name, texts in answers(count).items()}
    return lambda prompt: next(left[next(name for asked, name in NAMES.items() if prompt.endswith(asked))])


def scores_of(count: int) -> Mapping[Measure, Estimate]:
    """What this package's own evaluation says of these answers."""
    given = [
        Completion(problem_id=name, sample=number, completion=text)
        for name, texts in answers(count).items()
        for number, text in enumerate(texts)
    ]
    return evaluate_metrics(PROBLEMS, verify_many(PROBLEMS, given)).overall.scores


def replying(answer: Callable[[str], str]) -> Script:
    """A server that replies to the last message of a chat."""

    def act(body: Body) -> Act:
        message = {"role": "assistant", "content": answer(body["messages"][-1]["content"])}
        return lambda handler: handler.whole(message, index=0, finish_reason="stop")

    return Script(act)
