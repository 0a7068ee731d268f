"""The declared closure against an independent computation with networkx."""

from __future__ import annotations

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from proof_r1_formal.proof.action import Action
from proof_r1_formal.proof.closure import Closure, closure_of

NAMES = ["h1", "h2", "h3", "s1", "s2", "s3", "s4", "s5", "ghost"]
PREMISES = ["h1", "h2", "h3"]


def closure(trace: list[Action], terminal: int | None) -> Closure:
    """The closure along declared dependencies."""
    return closure_of(PREMISES, [(action.id, action.dependencies) for action in trace], terminal)


actions = st.lists(
    st.builds(
        lambda name, dependencies: Action((0, 0), name, tuple(dict.fromkeys(dependencies))),
        st.sampled_from([None, "h1", "s1", "s2", "s3", "s4", "s5"]),
        st.lists(st.sampled_from(NAMES), max_size=4),
    ),
    min_size=1,
    max_size=12,
)


@given(actions, st.data())
def test_it_is_reachability_in_the_dependency_graph(trace: list[Action], data: st.DataObject) -> None:
    graph: nx.DiGraph[str | int] = nx.DiGraph()
    graph.add_nodes_from([*PREMISES, *range(len(trace))])
    for index, action in enumerate(trace):
        for name in action.dependencies:
            if name in PREMISES:
                graph.add_edge(name, index)
            else:
                first = next((i for i, other in enumerate(trace) if other.id == name), len(trace))
                if first < index:
                    graph.add_edge(first, index)
    terminal = data.draw(st.integers(0, len(trace) - 1))
    reached = nx.ancestors(graph, terminal) | {terminal}
    found = closure(trace, terminal)
    assert set(found.premises) | set(found.actions) == reached
    assert list(found.actions) == sorted(found.actions)
    assert list(found.premises) == [name for name in PREMISES if name in reached]


def test_no_terminal_action_no_closure() -> None:
    assert closure([Action((0, 0), "s1", ("h1",))], None) == Closure()


def test_a_dense_trace() -> None:
    trace = [Action((0, 0), f"s{n}", tuple(f"s{max(0, n - back)}" for back in (1, 2, 3, 4))) for n in range(200)]
    assert len(closure(trace, len(trace) - 1).actions) == 200


def test_a_long_chain() -> None:
    trace = [Action((0, 0), f"s{n}", (f"s{n - 1}",)) for n in range(20_000)]
    assert len(closure(trace, len(trace) - 1).actions) == 20_000
