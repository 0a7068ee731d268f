"""The declared dependency graph of a trace, and the closure of its answer.

Nodes are premises and actions. An edge runs from each declared dependency that names a premise or an *earlier* action
to the action that declares it; a name that is given twice means the first action of that name. So the graph has no
cycle.
The closure of the terminal action is its ancestors and itself: what the answer rests on.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from proof_r1_formal.proof.action import Action


@dataclass(frozen=True, slots=True)
class Closure:
    """What an answer rests on; empty without a terminal action.

    Attributes:
        premises: ids, in the order of the problem.
        actions: indices into the trace, ascending.
    """

    premises: tuple[str, ...] = ()
    actions: tuple[int, ...] = ()


def declared_closure(premises: Collection[str], actions: Sequence[Action], terminal: int | None) -> Closure:
    """The closure of the action at index ``terminal`` along declared dependencies.

    Args:
        premises: ids of the problem's premises, in order.
        actions: the trace.
        terminal: index of the terminal action; None if there is none.
    """
    if terminal is None:
        return Closure()
    first_of: dict[str, int] = {}
    for index, action in enumerate(actions):
        if action.id is not None:
            first_of.setdefault(action.id, index)
    used_premises: set[str] = set()
    inside = {terminal}
    frontier = [terminal]
    while frontier:
        index = frontier.pop()
        for name in actions[index].dependencies:
            earlier = first_of.get(name, index)
            if name in premises:
                used_premises.add(name)
            elif earlier < index and earlier not in inside:
                inside.add(earlier)
                frontier.append(earlier)
    return Closure(tuple([p for p in premises if p in used_premises]), tuple(sorted(inside)))
