"""Graph of Verification, the procedure: steps of a solution as a graph, what to judge, which solution to select.

After Fang et al., "Graph of Verification: Structured Verification of LLM Reasoning with Directed Acyclic Graphs"
(2025), from its description. In: completions, and a model's judgements of their steps. Out: the completion that is
selected. ``integrations.inspect_agents`` asks the model.

The steps of a solution are the nodes of a graph, with an edge from each dependency. In topological order, a block of
nodes at a time, the model judges whether the block follows from its dependencies outside of it: premises, and steps
that have passed. It sees nothing else. The first block that fails ends the verification of a solution. Of the solutions
that pass, the first with the most frequent answer is selected; if none passes, the one that came furthest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter

from proof_r1_formal.data.problem import Problem
from proof_r1_formal.models.prompts import Message
from proof_r1_formal.models.replies import json_object
from proof_r1_formal.proof.action import Action, read_completion
from proof_r1_formal.text.show import show


@dataclass(frozen=True, slots=True)
class Graph:
    """A solution as blocks of steps to judge.

    Attributes:
        blocks: of the granularity's number of steps, in topological order; none if the steps do not form a graph.
        answer: id of the last step.
    """

    blocks: tuple[tuple[Action, ...], ...] = ()
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class Verified:
    """A solution after its verification.

    Attributes:
        completion: the solution.
        answer: id of its last step.
        passed: share of its blocks that passed before the first failure; 0 if its steps do not form a graph.
    """

    completion: str
    answer: str | None
    passed: Fraction


def graph_of(problem: Problem, completion: str, granularity: int | None) -> Graph:
    """The graph of a completion.

    Args:
        problem: the completion's.
        completion: any text.
        granularity: steps in a block; None for the whole solution.
    """
    actions = read_completion(completion).actions
    order = _topological(problem, actions)
    if order is None:
        return Graph()
    size = granularity or len(order)
    blocks = tuple([tuple(order[start : start + size]) for start in range(0, len(order), size)])
    return Graph(blocks, actions[-1].id)


def _topological(problem: Problem, actions: Sequence[Action]) -> list[Action] | None:
    """The steps in topological order; None if they do not form a graph.

    Steps do not form a graph if there are none, a step has no conclusion or no unique name, or a dependency is unknown
    or circular.
    """
    premises = {premise.id for premise in problem.premises}
    nodes: dict[str, Action] = {}
    for action in actions:
        if action.id is None or action.conclusion is None or action.id in nodes or action.id in premises:
            return None
        nodes[action.id] = action
    names = premises | set(nodes)
    if not nodes or any(name not in names for action in actions for name in action.dependencies):
        return None
    below: Mapping[str, list[str]] = {
        name: [of for of in action.dependencies if of in nodes] for name, action in nodes.items()
    }
    try:
        return [nodes[name] for name in TopologicalSorter(below).static_order()]
    except CycleError:
        return None


def judgement(problem: Problem, block: Sequence[Action], passed: Sequence[Action]) -> list[Message]:
    """The chat that asks whether a block follows from its dependencies.

    Args:
        problem: whose premises are given.
        block: steps.
        passed: the steps that have passed.
    """
    known = {premise.id: _premise(premise.text, show(premise.formula)) for premise in problem.premises}
    known |= {str(action.id): str(action.conclusion) for action in passed}
    inside = {action.id for action in block}
    outside = dict.fromkeys(name for action in block for name in action.dependencies if name not in inside)
    given = [f"{name}: {known[name]}" for name in outside]
    steps = [f"{a.id}: {a.conclusion} (from {', '.join(a.dependencies) or 'nothing'}; {a.rule})" for a in block]
    parts = ["Given:", *(given or ["(nothing)"]), "", "To be judged:", *steps]
    return [{"role": "system", "content": _JUDGE}, {"role": "user", "content": "\n".join(parts)}]


_JUDGE = """\
You check steps of a proof in first-order logic. Take everything under "Given" as true. Each step under "To be judged" \
names what it is drawn from: given statements, or other steps that are to be judged. Decide whether every step follows \
from these alone. A step that needs anything else does not follow.

Answer with one JSON object: {"valid": true} if all of them follow, or {"valid": false, "step": "…", "reason": "…"} \
for the first that does not."""


def _premise(text: str, formula: str) -> str:
    return f"{' '.join(text.split())} [{formula}]" if text else f"[{formula}]"


def is_valid(reply: str) -> bool:
    """Whether a reply accepts a block. An unclear reply does not."""
    judged = json_object(reply)
    return judged is not None and judged.get("valid") is True


def select(verified: Sequence[Verified]) -> Verified:
    """The solution that is selected, of at least one."""
    passing = [one for one in verified if one.passed == 1]
    if not passing:
        return max(verified, key=lambda one: one.passed)  # the first of those that came as far
    ((answer, _),) = Counter([one.answer for one in passing]).most_common(1)  # of equals the one that came first
    return next(one for one in passing if one.answer == answer)
