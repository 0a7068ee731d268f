"""Nodes: one object for equal ones, which cannot be changed, and whose table drops what nothing uses."""

from __future__ import annotations

import copy
import gc
import pickle
import sys
from threading import Barrier, Event, Thread

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof_r1_formal.kernel import syntax
from proof_r1_formal.kernel.syntax import (
    _FEW,
    _NODES,
    TOP,
    And,
    App,
    Atom,
    Formula,
    Node,
    Not,
    Or,
    Top,
    Xor,
    atom,
    const,
    drop_unused,
)
from proof_r1_formal.kernel.transform import subformulas
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules import catalogue
from proof_r1_formal.testing import strategies
from studies.bench.cold import clear_caches
from studies.bench.traces import generated

THREADS = 2
ROUNDS = 200


@given(strategies.formulas())
def test_copies_and_pickles_of_a_node_are_the_node(formula: Formula) -> None:
    assert pickle.loads(pickle.dumps(formula)) is formula
    assert copy.deepcopy(formula) is formula


def test_equal_nodes_are_one_object() -> None:
    assert And(atom("P", const("a")), TOP) is And(Atom("P", (App("a", ()),)), Top())
    assert len({And(TOP, TOP), Or(TOP, TOP), Xor(TOP, TOP), And(TOP, TOP)}) == 3


def test_a_node_cannot_be_changed() -> None:
    node = atom("P", const("a"))
    for name in ("predicate", "size", "memo", "other"):
        with pytest.raises(AttributeError, match=f"a Atom is immutable; its '{name}' cannot be set"):
            setattr(node, name, 1)
        with pytest.raises(AttributeError, match=f"a Atom is immutable; its '{name}' cannot be deleted"):
            delattr(node, name)


@settings(max_examples=15)
@given(st.lists(strategies.formulas(), min_size=8, max_size=12))
def test_unused_nodes_are_dropped_and_used_ones_are_kept(formulas: list[Formula]) -> None:
    """More than a hundred formulas, some at once: each time, all nodes that other tests use are looked at, too."""
    for formula in formulas:
        unused = And(formula, Not(And(atom("in no other formula"), formula)))
        key = (And, unused.left, unused.right)
        inner = (And, atom("in no other formula"), formula)
        assert key in _NODES
        assert inner in _NODES
        del unused, key, inner
    drop_unused()
    for formula in formulas:
        assert (And, formula, Not(And(atom("in no other formula"), formula))) not in _NODES
        assert all(_interned(part) for part in subformulas(formula))


def _interned(node: Node) -> bool:
    return type(node)(*[getattr(node, name) for name in type(node).__match_args__]) is node  # type: ignore[attr-defined]


def test_no_node_of_a_verified_trace_is_held_by_what_nodes_keep(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table could never drop nodes whose memos hold each other."""
    monkeypatch.setattr(catalogue, "_built_in", catalogue._built_in.__wrapped__)  # or there would be two of each
    sample = generated(names="held_")
    Verifier().verify(sample.problem, sample.completion)
    assert _names_with("held_")
    del sample
    clear_caches()
    gc.collect()
    for _ in range(3):  # what only the memo of a dropped node holds is dropped next time
        drop_unused()
    assert not _names_with("held_")


def _names_with(prefix: str) -> set[str]:
    """The names in the table that begin so; nodes of other tests may be too deep for a repr."""
    return {part for key in _NODES for part in key if isinstance(part, str) and part.startswith(prefix)}


def test_the_table_is_bounded_by_what_is_used() -> None:
    for number in range(5 * _FEW):
        Not(atom(f"P{number}"))
    size = len(_NODES)
    drop_unused()
    assert size <= max(_FEW, 5 * len(_NODES) // 4 + 1)


def test_a_node_that_another_thread_reads_meanwhile_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Node] = []

    def getrefcount(node: object) -> int:
        count = sys.getrefcount(node)
        if isinstance(node, Atom) and node.predicate == "read meanwhile" and not read:
            read.append(node)  # as a thread does that looks it up now
        return count

    monkeypatch.setattr(syntax, "getrefcount", getrefcount)
    atom("read meanwhile")
    drop_unused()
    assert atom("read meanwhile") is read[0]


def test_threads_make_one_node_while_another_drops_unused_ones() -> None:
    made: list[list[Node | None]] = [[None] * THREADS for _ in range(ROUNDS)]
    barrier, over = Barrier(THREADS), Event()

    def make(thread: int) -> None:
        for number in range(ROUNDS):
            barrier.wait()
            for _ in range(20):
                atom(f"shared {number}")  # may be dropped at once
            made[number][thread] = atom(f"shared {number}")

    def drop() -> None:
        while not over.is_set():
            drop_unused()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        makers = [Thread(target=make, args=(thread,)) for thread in range(THREADS)]
        dropper = Thread(target=drop)
        for thread in (*makers, dropper):
            thread.start()
        for thread in makers:
            thread.join()
        over.set()
        dropper.join()
    finally:
        sys.setswitchinterval(interval)
    assert all(len(set(map(id, nodes))) == 1 for nodes in made)
