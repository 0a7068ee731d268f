"""Samples of problems: an agent solves each problem K times, with one optional round of repair.

In: problems, an agent, a model. Out: :class:`Samples`: completions with costs, and failures, K of both together for
each problem. A sample whose repair failed counts in both, because its first completion is kept.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

import msgspec

from proof_r1_formal.data.completions import Completion, Cost
from proof_r1_formal.data.failures import Failure
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.models.agents import Agent
from proof_r1_formal.models.chat import Model, Sampling, TimedModel
from proof_r1_formal.models.journal import Journal
from proof_r1_formal.models.repair import needs_repair, repair
from proof_r1_formal.models.runner import Done, Failed, Task, run
from proof_r1_formal.proof.report import TraceReport
from proof_r1_formal.rules.schema import Catalogue

_Number = TypeVar("_Number", int, float)


@dataclass(frozen=True, slots=True)
class Samples:
    """The result of sampling, in the order of problems and samples.

    Attributes:
        completions: with their costs.
        failures: the samples for which the model gave no answer.
    """

    completions: tuple[Completion, ...]
    failures: tuple[Failure, ...]


OnOutcome = Callable[[Done[str] | Failed[str]], object]
"""A callback for the outcome of each sample."""


def _ignore(_: Done[str] | Failed[str]) -> None:
    """Ignore the outcome."""


class _Conversation(Protocol):
    """A function from a model to one completion."""

    def __call__(self, model: TimedModel) -> Awaitable[str]: ...


async def sample(
    problems: Iterable[Problem],
    agent: Agent,
    model: Model,
    journal: Journal,
    *,
    method: str,
    samples: int = 3,
    concurrency: int = 8,
    on_outcome: OnOutcome = _ignore,
) -> Samples:
    """Solve problems.

    Args:
        problems: with distinct ids.
        agent: that solves them.
        model: of the agent.
        journal: of the replies; stored ones are reused.
        method: identifies the agent and its settings in the journal.
        samples: of each problem.
        concurrency: the most concurrent samples.
        on_outcome: called with each outcome as soon as it is known.

    Raises:
        ModelError: the model cannot be used.
    """
    wanted: dict[tuple[str, int], _Conversation] = {}
    for problem in problems:
        for number in range(samples):
            wanted[problem.id, number] = _solving(agent, problem)
    return await _collect(wanted, model, journal, method, concurrency, on_outcome)


async def repaired(
    problems: Mapping[str, Problem],
    first: Iterable[Completion],
    reports: Iterable[TraceReport],
    model: Model,
    journal: Journal,
    *,
    method: str,
    rules: Catalogue,
    sampling: Sampling,
    concurrency: int = 8,
    on_outcome: OnOutcome = _ignore,
) -> Samples:
    """Repair the completions that have errors; the others are kept.

    The cost of a repaired completion is that of both rounds. A failed repair is a failure, and the first completion is
    kept.

    Args:
        problems: by id.
        first: completions, with distinct pairs of problem and number.
        reports: on them, in order.
        model, journal, method, concurrency, on_outcome: see :func:`sample`.
        rules: that the proofs may name.
        sampling: of the replies.

    Raises:
        ModelError: the model cannot be used.
    """
    before = {(one.problem_id, one.sample): one for one in first}
    wanted: dict[tuple[str, int], _Conversation] = {}
    for (key, completion), report in zip(before.items(), reports, strict=True):
        if needs_repair(report):
            wanted[key] = _repairing(problems[key[0]], completion.completion, report, rules, sampling)
    again = await _collect(wanted, model, journal, f"repair of {method}", concurrency, on_outcome)
    after = {(one.problem_id, one.sample): _both(before[one.problem_id, one.sample], one) for one in again.completions}
    return Samples(tuple((before | after).values()), again.failures)


def _solving(agent: Agent, problem: Problem) -> _Conversation:
    return lambda model: agent.solve(problem, model)


def _repairing(
    problem: Problem, completion: str, report: TraceReport, rules: Catalogue, sampling: Sampling
) -> _Conversation:
    return lambda model: repair(problem, completion, report, model, rules=rules, sampling=sampling)


async def _collect(
    wanted: Mapping[tuple[str, int], _Conversation],
    model: Model,
    journal: Journal,
    method: str,
    concurrency: int,
    on_outcome: OnOutcome,
) -> Samples:
    tasks = [Task(f"{method}: {problem_id}, sample {number}", work) for (problem_id, number), work in wanted.items()]
    completions: list[Completion] = []
    failures: list[Failure] = []
    outcomes = await run(tasks, model, journal, concurrency=concurrency, on_outcome=on_outcome)
    for (problem_id, number), outcome in zip(wanted, outcomes, strict=True):
        match outcome:
            case Done(_, text, cost):
                completions.append(Completion(problem_id=problem_id, sample=number, completion=text, cost=cost))
            case Failed(_, problem, _):
                failures.append(Failure(problem_id, number, problem))
    return Samples(tuple(completions), tuple(failures))


def _both(first: Completion, second: Completion) -> Completion:
    """The second completion with the cost of both."""
    one, two = first.cost or Cost(), second.cost or Cost()
    cost = Cost(
        tokens=_sum(one.tokens, two.tokens),
        prompt_tokens=_sum(one.prompt_tokens, two.prompt_tokens),
        seconds=_sum(one.seconds, two.seconds),
        calls=_sum(one.calls, two.calls),
    )
    return msgspec.structs.replace(second, cost=cost)


def _sum(one: _Number | None, two: _Number | None) -> _Number | None:
    return None if one is None or two is None else one + two
