"""The dependency graph of a trace, and the closure of its answer.

Nodes are premises and actions. An edge runs from each dependency of an action that names a premise or an *earlier*
action to that action; a name that is given twice means the first action of that name. So the graph has no cycle. The
closure of the terminal action consists of itself and its ancestors: the answer depends on them.

With the dependencies that actions declare it is the *declared* closure; with those that checked proofs use, the *used*
one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from proof_r1_formal.kernel.compiling import mypyc_attr


@mypyc_attr(native_class=False)
@dataclass(frozen=True, slots=True)
class Closure:
    """The premises and actions that an answer depends on; empty without a terminal action.

    Attributes:
        premises: ids, in the order of the problem.
        actions: indices into the trace, ascending.
    """

    premises: tuple[str, ...] = ()
    actions: tuple[int, ...] = ()


def closure_of(
    premises: Collection[str], actions: Sequence[tuple[str | None, tuple[str, ...]]], terminal: int | None
) -> Closure:
    """The closure of the action at index ``terminal``.

    Args:
        premises: ids of the problem's premises, in order.
        actions: id and dependencies of each action of the trace.
        terminal: index of the terminal action, or None.
    """
    if terminal is None:
        return Closure()
    first_of = {name: index for index, (name, _) in reversed(list(enumerate(actions)))}
    needed = set(actions[terminal][1])
    inside = [terminal]
    for index in range(terminal - 1, -1, -1):
        name, dependencies = actions[index]
        if name in needed and name not in premises and first_of[name] == index:
            inside.append(index)
            needed.update(dependencies)
    return Closure(tuple([name for name in premises if name in needed]), tuple(inside[::-1]))
