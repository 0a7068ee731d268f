"""The checker in Python and the one in Lean give the same answers, and a difference would be seen."""

from __future__ import annotations

from itertools import islice
from random import Random

import pytest

from proof_r1_formal.assistants.lean import LeanKernel
from proof_r1_formal.errors import ProofError
from proof_r1_formal.kernel import term as t
from proof_r1_formal.kernel.pattern import Lambda
from proof_r1_formal.kernel.syntax import TOP, App, Atom, Eq, Exists, ForAll, Formula, Implies, Term, Var
from proof_r1_formal.kernel.syntax import const as c
from proof_r1_formal.testing.forgeries import Forger, Forgery
from proof_r1_formal.text.parse import parse_formula as f
from studies.bench import two_checkers
from studies.bench.two_checkers import compare
from tests.build import sequent
from tests.kernel.claims import VACUOUS

pytestmark = pytest.mark.usefixtures("closed")

X, Y = Var("x", "Entity"), Var("y", "Entity")
PERSON = Var("x", "Person")


def p(term: Term) -> Formula:
    return Atom("p", (term,))


def r(first: Term, second: Term) -> Formula:
    return Atom("r", (first, second))


ALL_P = ForAll(X, p(X))
SOME_P = Exists(X, p(X))
SWAP = t.Theorem(  # ∃x ∀y A(x,y) ⊢ ∀y ∃x A(x,y)
    "swap",
    (Exists(X, ForAll(Y, Atom("A", (X, Y)))),),
    ForAll(Y, Exists(X, Atom("A", (X, Y)))),
    (
        t.Witness(0, c("a")),
        t.Arbitrary(
            ForAll(Y, Exists(X, Atom("A", (X, Y)))),
            c("b"),
            (t.Instance(1, c("b")), t.Generalise(Exists(X, Atom("A", (X, c("b")))), 2, c("a"))),
        ),
    ),
)
SAME = Eq(c("a"), c("b"))
GA = App("g", (c("a"),))
LIKES = Lambda((X, Y), Atom("likes", (Y, X)))
OPEN = Lambda((X, Y), Atom("likes", (Y, Var("z", "Entity"))))
PET = Var("x", "Pet")

CASES: dict[str, tuple[t.Proof, str | tuple[tuple[Formula, ...], Formula], bool]] = {
    "no lines": ((), "q ⊢ q", False),
    "a premise again": ((t.Repeat(0),), "q ⊢ q", True),
    "a number below 0": ((t.Repeat(-1),), "q ⊢ q", False),
    "a number of no line": ((t.Repeat(1),), "q ⊢ q", False),
    "a line of an ended block": ((t.Suppose(f("q → q"), (t.Repeat(0),)), t.Repeat(1)), "⊢ q → q", False),
    "a contradiction shows anything": ((t.Contradiction(0, 1),), "q; ¬q ⊢ s", True),
    "reductio": ((t.Absurd(f("¬q"), (t.Contradiction(0, 1),)),), "q ⊢ q", True),
    "the other side is needed": ((t.Eliminate(0, "left"),), "q ∨ s ⊢ q", False),
    "introduction": ((t.Introduce(f("q ⊕ s"), (0, 1)),), "q; ¬s ⊢ q ⊕ s", True),
    "introduction of what is false": ((t.Introduce(f("q ⊕ s"), (0, 1)),), "q; s ⊢ ¬(q ⊕ s)", True),
    "an instance": ((t.Instance(0, c("a")),), ((ALL_P,), p(c("a"))), True),
    "an instance of ∃": ((t.Instance(0, c("a")),), ((SOME_P,), p(c("a"))), False),
    "domains are not empty": ((t.Instance(0, c("d")), t.Generalise(SOME_P, 1, c("d"))), ((ALL_P,), SOME_P), True),
    "an open term": ((t.Instance(0, X),), ((ALL_P,), p(c("a"))), False),
    "a function that it does not have": ((t.Instance(0, GA), t.Generalise(SOME_P, 1, GA)), ((ALL_P,), SOME_P), False),
    "a witness": ((t.Witness(0, c("w")), t.Generalise(SOME_P, 1, c("w"))), ((SOME_P,), SOME_P), True),
    "a witness of the claim": ((t.Witness(0, c("a")),), ((SOME_P,), p(c("a"))), False),
    "a witness that is known": (
        (t.Witness(0, c("w")), t.Witness(0, c("w")), t.Generalise(SOME_P, 1, c("w"))),
        ((SOME_P,), SOME_P),
        False,
    ),
    "a witness of an ended block": (
        (
            t.Suppose(Implies(TOP, SOME_P), (t.Witness(0, c("w")), t.Generalise(SOME_P, 2, c("w")))),
            t.Witness(0, c("w")),
            t.Generalise(SOME_P, 2, c("w")),
        ),
        ((SOME_P,), SOME_P),
        False,
    ),
    "truth": ((t.Truth(TOP),), "⊢ ⊤", True),
    "reflexivity": ((t.Reflexivity(c("a")),), ((), Eq(c("a"), c("a"))), True),
    "Leibniz": (
        (t.Leibniz(Implies(SAME, Implies(r(c("a"), c("b")), r(c("b"), c("a"))))),),
        ((), Implies(SAME, Implies(r(c("a"), c("b")), r(c("b"), c("a"))))),
        True,
    ),
    "Leibniz under a quantifier": (
        (t.Leibniz(Implies(SAME, Implies(ForAll(X, r(X, c("a"))), ForAll(X, r(X, c("b")))))),),
        ((), Implies(SAME, Implies(ForAll(X, r(X, c("a"))), ForAll(X, r(X, c("b")))))),
        False,
    ),
    "a constant of one sort only": (
        (t.Instance(0, c("d")), t.Instance(1, c("d")), t.Repeat(0)),
        ((ForAll(PERSON, p(PERSON)), ForAll(PET, Atom("pet", (PET,)))), ForAll(PERSON, p(PERSON))),
        False,
    ),
    "a constant of a sort": (
        (t.Instance(0, c("d")), t.Generalise(Exists(PERSON, p(PERSON)), 1, c("d"))),
        ((ForAll(PERSON, p(PERSON)),), Exists(PERSON, p(PERSON))),
        True,
    ),
    "a theorem": ((t.Apply(SWAP, {"A": LIKES}, (0,)),), "∃x ∀y likes(y,x) ⊢ ∀y ∃x likes(y,x)", True),
    "a theorem with an open value": ((t.Apply(SWAP, {"A": OPEN}, (0,)),), "∃x ∀y likes(y,x) ⊢ ∀y ∃x likes(y,x)", False),
    "a theorem about a sort that the claim does not have": (
        (t.Apply(VACUOUS, {"A": Lambda((), f("q")), "x": Var("x", "Pet")}, (0,)), t.Repeat(0)),
        "q ⊢ q",
        False,
    ),
    "a theorem without a value": ((t.Apply(SWAP, {}, (0,)),), "∃x ∀y likes(y,x) ⊢ ∀y ∃x likes(y,x)", False),
}


def claimed(case: tuple[t.Proof, str | tuple[tuple[Formula, ...], Formula], bool]) -> Forgery:
    proof, claim, _ = case
    if isinstance(claim, tuple):
        return Forgery(proof, *claim)
    query = sequent(claim)
    return Forgery(proof, query.dependencies, query.conclusion)


def test_both_checkers_answer_worked_cases(lean: LeanKernel) -> None:
    for name, case in CASES.items():
        assert (not two_checkers._fault(claimed(case))) == case[2], name
    found = compare(lean, map(claimed, CASES.values()))
    assert [said for _, said in found.different] == []
    assert found.accepted == sum(accepted for _, _, accepted in CASES.values())
    assert found.rejected + found.unwritable == len(CASES) - found.accepted
    assert found.unwritable <= 5


def test_both_checkers_answer_forged_proofs(lean: LeanKernel) -> None:
    found = compare(lean, islice(Forger(Random(3)).forgeries(), 250))
    assert [said for _, said in found.different] == []
    assert min(found.accepted, found.rejected, found.unwritable) >= 30


@pytest.mark.parametrize("accepts", [True, False])
def test_a_difference_is_seen(lean: LeanKernel, monkeypatch: pytest.MonkeyPatch, accepts: bool) -> None:
    """A checker that accepts everything, or nothing, differs from Lean's in all cases where it is wrong."""

    def wrong(*_: object) -> frozenset[int]:
        if accepts:
            return frozenset()
        raise ProofError("no")

    monkeypatch.setattr(two_checkers, "check", wrong)
    found = compare(lean, map(claimed, CASES.values()))
    assert len(found.different) == sum(accepted != accepts for _, _, accepted in CASES.values())
