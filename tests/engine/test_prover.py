"""Proof search: what it finds and how short, what it does not find, and that nothing but the query matters."""

from __future__ import annotations

import subprocess
import sys
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof_r1_formal.engine import prover
from proof_r1_formal.kernel import term as t
from proof_r1_formal.kernel.answer import Query
from proof_r1_formal.kernel.checker import check
from proof_r1_formal.kernel.model import Structure, evaluate
from proof_r1_formal.kernel.syntax import BOTTOM, TOP, And, Implies, Xor, atom, conjunction, const
from proof_r1_formal.rules.catalogue import FOLIO
from proof_r1_formal.rules.schema import Schema
from proof_r1_formal.rules.theorems import theorem
from proof_r1_formal.testing.strategies import queries
from tests.build import compound, pigeons, sequent


def search(query: Query, *, cuts: bool = True, budget: int = 20_000) -> t.Proof | None:
    """What is found; a proof is checked."""
    proof = prover.search(query.dependencies, query.conclusion, cuts=cuts, budget=budget).proof
    if proof is not None:
        check(proof, query.dependencies, query.conclusion)
    return proof


def inner(line: t.Line) -> t.Block:
    return line.block if isinstance(line, t.Suppose | t.Absurd | t.Arbitrary) else ()


def size(block: t.Block) -> int:
    """How many lines there are, those of blocks among them."""
    return sum(1 + size(inner(line)) for line in block)


# -- worked examples --------------------------------------------------------------------------------------------------

A = const("a")
SHORTEST: dict[str, t.Proof] = {
    "q; ¬¬p ⊢ p": (t.Repeat(1),),
    "p → q; p ⊢ q": (t.Eliminate(0, "right", 1),),
    "p → q; ¬q ⊢ ¬p": (t.Eliminate(0, "left", 1),),
    "¬(p → q) ⊢ p": (t.Eliminate(0, "left"),),
    "p ∧ q ⊢ q": (t.Eliminate(0, "right"),),
    "p ∨ q; ¬p ⊢ q": (t.Eliminate(0, "right", 1),),
    "p ⊕ q; p ⊢ ¬q": (t.Eliminate(0, "right", 1),),
    "¬(p ⊕ q); p ⊢ q": (t.Eliminate(0, "right", 1),),
    "p ↔ q; ¬q ⊢ ¬p": (t.Eliminate(0, "left", 1),),
    "p; q ⊢ p ∧ q": (t.Introduce(And(atom("p"), atom("q")), (0, 1)),),
    "p; ¬q ⊢ p ⊕ q": (t.Introduce(Xor(atom("p"), atom("q")), (0, 1)),),
    "∀x P(x) ⊢ P(a)": (t.Instance(0, A),),
    "¬∃x P(x) ⊢ ¬P(a)": (t.Instance(0, A),),
    '∀"x" p ⊢ p': (t.Instance(0, const("␣c1")),),
    "⊢ ⊤": (t.Truth(TOP),),
    "⊢ a = a": (t.Reflexivity(A),),
    "p; ¬p ⊢ q": (t.Contradiction(0, 1),),
}


@pytest.mark.parametrize("text", SHORTEST)
def test_a_step_that_is_one_line(text: str) -> None:
    assert search(sequent(text), cuts=False) == SHORTEST[text]


LENGTHS: dict[str, int] = {
    # suppositions
    "⊢ p → p": 2,
    "p → q; q → r ⊢ p → r": 3,
    "p ∨ q; p → r; q → r ⊢ r": 5,
    "⊢ p ∨ ¬p": 4,
    "⊢ ((p → q) → p) → p": 5,
    "¬(p ∧ q) ⊢ ¬p ∨ ¬q": 5,
    # truth and contradiction
    "p → ⊥ ⊢ ¬p": 2,
    # quantifiers
    "∀x P(x) ⊢ ∃x P(x)": 2,
    "∀x (P(x) → Q(x)); ∀x (Q(x) → R(x)) ⊢ ∀x (P(x) → R(x))": 6,
    "¬∀x P(x) ⊢ ∃x ¬P(x)": 2,
    "¬∃x P(x) ⊢ ∀x ¬P(x)": 2,
    "∃x P(x); ∀x (P(x) → Q(x)) ⊢ ∃x Q(x)": 4,
    "∃x (P(x) ∧ Q(x)) ⊢ ∃x P(x) ∧ ∃x Q(x)": 6,
    "∃x ∀y R(x,y) ⊢ ∀y ∃x R(x,y)": 4,
    "∀x (P(x) ∨ q) ⊢ ∀x P(x) ∨ q": 7,
    "⊢ ∃x (P(x) → ∀y P(y))": 7,
    # equality
    "a = b ⊢ b = a": 6,
    "a = b ⊢ f(a) = f(b)": 4,
    "a = b; P(f(f(a))) ⊢ P(f(f(b)))": 3,
    "P(a); ¬P(b) ⊢ ¬a = b": 3,
    "f(f(f(a))) = a; f(f(f(f(f(a))))) = a ⊢ f(a) = a": 6,
    "∀x x = a; P(a) ⊢ ∀x P(x)": 5,
}


@pytest.mark.parametrize("text", LENGTHS)
def test_found_without_cuts_and_short(text: str) -> None:
    proof = search(sequent(text), cuts=False)
    assert proof is not None
    assert size(proof) == LENGTHS[text]


@pytest.mark.parametrize(
    "schema", [schema for rule in FOLIO.rules for schema in rule.schemata], ids=lambda schema: schema.name
)
def test_the_proof_of_a_schema_is_short(schema: Schema) -> None:
    assert size(theorem(schema).proof) <= 13


CUTS = [
    sequent("p ↔ ¬p ⊢ q"),
    sequent("p ⊕ q ⊢ ¬(p ↔ q)"),
    sequent("p ↔ q; q ↔ r ⊢ p ↔ r"),
    sequent("⊢ (p ↔ (q ↔ r)) ↔ ((p ↔ q) ↔ r)"),
    sequent("⊢ ¬∃x ∀y (R(x,y) ↔ ¬R(y,y))"),
    pigeons(3, 2),
    pigeons(4, 3),
]


@pytest.mark.parametrize("query", CUTS, ids=range(len(CUTS)))
def test_found_with_cuts_only(query: Query) -> None:
    assert search(query, cuts=False) is None
    proof = search(query)
    assert proof is not None
    assert idle(proof, len(query.dependencies))[0] == []


# -- budget, names, order ---------------------------------------------------------------------------------------------


def test_the_search_ends_with_its_budget() -> None:
    query = pigeons(4, 3)
    assert search(query, budget=0) is None
    assert search(query, budget=200) is None
    assert search(sequent("p ⊢ p"), budget=0) is None
    assert search(sequent("∀x ∃y R(x,y) ⊢ ∃x R(x,x)"), budget=5_000) is None


@settings(max_examples=200)
@given(queries())
def test_a_larger_budget_changes_no_proof(query: Query) -> None:
    proof = search(query, budget=500)
    assert proof is None or search(query, budget=2_000) == proof


def test_new_constants_are_named_as_told_and_clash_with_none() -> None:
    query = sequent("∃x P(x); ∀x (P(x) → Q(x)); R(n1) ⊢ ∃x Q(x)")
    proof = prover.search(query.dependencies, query.conclusion, fresh="n").proof
    assert proof is not None
    check(proof, query.dependencies, query.conclusion)
    assert [line.constant for line in proof if isinstance(line, t.Witness)] == [const("n2")]


ALL = [*SHORTEST, *LENGTHS]


PROGRAM = """
import sys
from proof_r1_formal.engine.prover import search
from proof_r1_formal.text.parse import parse_formula
for text in sys.stdin:
    *premises, conclusion = [parse_formula(part) for part in text.split(";")]
    print(repr(search(premises, conclusion).proof))
"""


@pytest.mark.parametrize("seed", ["1", "2"])
def test_proofs_do_not_depend_on_the_order_of_hashes(seed: str) -> None:
    asked = [text.replace("⊢", ";" if text.split("⊢")[0] else "") for text in ALL]
    shown = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", PROGRAM],
        input="\n".join(asked),
        capture_output=True,
        encoding="utf-8",
        env={"PYTHONHASHSEED": seed},
        check=True,
    ).stdout
    assert shown.splitlines() == [repr(search(sequent(text))) for text in ALL]


# -- only what is needed ----------------------------------------------------------------------------------------------


def idle(block: t.Block, first: int) -> tuple[list[t.Line], set[int]]:
    """The lines that no later line of their block uses, unless they are its last; and what it uses from outside."""
    unused: list[t.Line] = []
    used: set[int] = set()
    for number, line in reversed(list(enumerate(block, start=first))):
        if number not in used and line is not block[-1]:
            unused.append(line)
        match line:
            case t.Suppose(_, within) | t.Absurd(_, within):
                more, numbers = idle(within, number + 1)
            case t.Arbitrary(_, _, within):
                more, numbers = idle(within, number)
            case t.Repeat(premise) | t.Generalise(_, premise, _):
                more, numbers = [], {premise}
            case t.Eliminate(main, _, other):
                more, numbers = [], {main, main if other is None else other}
            case t.Introduce(_, premises) | t.Apply(_, _, premises):
                more, numbers = [], {*premises}
            case t.Instance(main, _) | t.Witness(main, _):
                more, numbers = [], {main}
            case t.Contradiction(one, another):
                more, numbers = [], {one, another}
            case t.Truth() | t.Reflexivity() | t.Leibniz():
                more, numbers = [], set[int]()
        unused += more
        used |= {each for each in numbers if each < number}
    return unused, {each for each in used if each < first}


def test_idle_lines_are_seen() -> None:
    inside: t.Proof = (t.Absurd(atom("p"), (t.Truth(TOP), t.Contradiction(0, 1))), t.Instance(0, A), t.Repeat(1))
    assert idle(inside, 1)[0] == [t.Instance(0, A), t.Truth(TOP)]


@settings(max_examples=200)
@given(queries())
def test_no_line_is_idle(query: Query) -> None:
    proof = search(query, budget=2_000)
    assert proof is None or idle(proof, len(query.dependencies))[0] == []


# -- complete for propositions ----------------------------------------------------------------------------------------

PROPOSITIONS = [atom(name) for name in "pqrs"]
ROWS = [
    Structure(
        {}, {each.predicate: frozenset({()} if value else ()) for each, value in zip(PROPOSITIONS, row, strict=True)}
    )
    for row in product((False, True), repeat=len(PROPOSITIONS))
]


def decide(query: Query) -> bool:
    return all(evaluate(Implies(conjunction(query.dependencies), query.conclusion), row) for row in ROWS)


GROUND = st.recursive(st.sampled_from(PROPOSITIONS) | st.sampled_from((TOP, BOTTOM)), compound, max_leaves=8)


@settings(max_examples=1_000)
@given(st.builds(Query, st.lists(GROUND, max_size=4).map(tuple), GROUND))
def test_propositions_are_decided(query: Query) -> None:
    assert (search(query) is not None) == decide(query)
