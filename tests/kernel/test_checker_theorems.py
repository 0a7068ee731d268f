"""Applied theorems, sorts and claims: instances neither capture variables nor mix sorts."""

from __future__ import annotations

import pytest

from proof_r1_formal.errors import ProofError
from proof_r1_formal.kernel import term as t
from proof_r1_formal.kernel.answer import Query
from proof_r1_formal.kernel.checker import check
from proof_r1_formal.kernel.pattern import Lambda
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.kernel.syntax import ENTITY, TOP, App, Atom, Eq, Exists, ForAll, Formula, Var, atom, const
from tests.finite import refuted_by, small_structures
from tests.kernel.claims import FREE, P_OF_A, SELF, SPECIALISE, A, B, C, D, X, Y, claim, f

RELATION = Lambda((X, Y), atom("R", X, Y))
LIKES = Lambda((Y, X), atom("likes", Y, X))
SAME_LETTER = t.Theorem("a letter and a variable x", (f("∀x A(x)"),), f("A(x)"), (t.Instance(0, const("x")),))
SAME_LETTER_INSIDE = t.Theorem(
    "a letter x under a quantifier of x",
    (Exists(Y, atom("B", Y, const("x"))),),
    Exists(Y, ForAll(X, atom("B", Y, const("x")))),
    (
        t.Witness(0, A),
        t.Arbitrary(ForAll(X, atom("B", A, const("x"))), B, (t.Repeat(1),)),
        t.Generalise(Exists(Y, ForAll(X, atom("B", Y, const("x")))), 2, A),
    ),
)
PERSON = Var("x", "Person")
SAME_NAME = t.Theorem(
    "one name of two sorts",
    (ForAll(Var("y", ENTITY), Exists(Var("z", "Person"), atom("A", Var("y", ENTITY), Var("z", "Person")))),),
    ForAll(X, Exists(PERSON, atom("A", X, PERSON))),
    (t.Repeat(0),),
)
PEOPLE = Lambda((Var("u", "Person"), Var("v", "Person")), atom("R", Var("u", "Person"), Var("v", "Person")))
ALL_ARE_ONE_PERSON = Lambda((X,), ForAll(Var("y", "Person"), Eq(X, Var("y", "Person"))))
ALL_ARE_ONE = Lambda((PERSON,), ForAll(Y, Eq(PERSON, Y)))
EQUAL = (
    *(t.Instance(3, C), t.Instance(4, C)),
    *(t.Leibniz(f("b = c → (a = c → a = b)")), t.Eliminate(7, "right", 6), t.Eliminate(8, "right", 5)),
)
"""From ``∀y a = y`` and ``∀y b = y``, lines 3 and 4, that ``a = b``."""
UNSOUND: dict[str, tuple[str, t.Proof]] = {
    "a letter of a theorem becomes the variable that the theorem binds": (
        "∀x ∃y likes(y,x) ⊢ ∃y ∀x likes(y,x)",
        (
            t.Apply(SAME_LETTER, {"A": Lambda((X,), Exists(Y, atom("likes", Y, X))), "x": X}, (0,)),
            t.Apply(SAME_LETTER_INSIDE, {"B": LIKES, "x": X}, (1,)),
        ),
    ),
    "two variables of a theorem become one": (
        "∀x ∃y R(x,y) ⊢ ∃x R(x,x)",
        (
            t.Apply(
                t.Theorem("renamed", (f("∀x ∃y A(x,y)"),), f("∀u ∃v A(u,v)"), (t.Repeat(0),)),
                {"A": RELATION, "u": X, "v": X},
                (0,),
            ),
            t.Instance(1, A),
        ),
    ),
    "a constant of a theorem becomes a variable": (
        "∀x ∃y R(y,x) ⊢ ∃x R(x,x)",
        (
            t.Apply(SPECIALISE, {"A": Lambda((Y,), Exists(X, atom("R", X, Y))), "t": Y}, (0,)),
            t.Apply(
                t.Theorem("renamed", (f("∃x A(x,t)"),), f("∃y A(y,t)"), (t.Repeat(0),)), {"A": RELATION, "t": Y}, (1,)
            ),
        ),
    ),
    "a theorem's variable keeps its sort and its constant takes another": (
        "∀x ∀y x = y; Q(a) ∧ Q(b); ∀x:Person (Q(x) → Q(x)) ⊢ a = b",
        (
            t.Apply(SPECIALISE, {"A": ALL_ARE_ONE, "t": A}, (0,)),
            t.Apply(SPECIALISE, {"A": ALL_ARE_ONE, "t": B}, (0,)),
            *EQUAL,
        ),
    ),
    "a hole of that name hides that a theorem's variable keeps its sort": (
        "∀x ∀y x = y; Q(a) ∧ Q(b); ∀x:Person (Q(x) → Q(x)) ⊢ a = b",
        (
            t.Apply(SPECIALISE, {"A": ALL_ARE_ONE, "t": A, "x": Lambda((), TOP)}, (0,)),
            t.Apply(SPECIALISE, {"A": ALL_ARE_ONE, "t": B, "x": Lambda((), TOP)}, (0,)),
            *EQUAL,
        ),
    ),
    "a theorem's variable takes another sort and its hole does not": (
        "∀x:Person ∀y:Person x = y; Q(a) ∧ Q(b); ∀x (Q(x) → Q(x)) ⊢ a = b",
        (
            t.Apply(SPECIALISE, {"x": PERSON, "A": ALL_ARE_ONE_PERSON, "t": A}, (0,)),
            t.Apply(SPECIALISE, {"x": PERSON, "A": ALL_ARE_ONE_PERSON, "t": B}, (0,)),
            *EQUAL,
        ),
    ),
    "two variables of one name and two sorts become one": (
        "∀y:Person ∃z:Person R(y,z); ∃x:Person x = a ⊢ ∃x:Person R(x,x)",
        (t.Apply(SAME_NAME, {"A": PEOPLE, "y": Var("y", "Person"), "x": PERSON}, (0,)), t.Instance(2, A)),
    ),
}


@pytest.mark.parametrize("case", UNSOUND)
def test_instances_of_theorems_neither_capture_nor_mix_sorts(case: str) -> None:
    """The claim does not hold, and every line but the theorem's instance is right."""
    text, proof = UNSOUND[case]
    query = Query(*claim(text))
    assert refuted_by(query, small_structures(Signature.infer(query.assertions), most=4096))
    with pytest.raises(ProofError):
        check(proof, query.dependencies, query.conclusion)


def test_a_sort_of_the_conclusion_alone_counts() -> None:
    """That there is only one thing does not entail that there is only one person: persons are another sort."""
    inner = t.Arbitrary(f("∀y:Person c = y"), D, (t.Instance(0, C), t.Instance(1, D)))
    proof = (t.Arbitrary(f("∀x:Person ∀y:Person x = y"), C, (inner,)),)
    premises, conclusion = claim("∀x ∀y x = y ⊢ ∀x:Person ∀y:Person x = y")
    with pytest.raises(ProofError, match="not of the sort"):
        check(proof, premises, conclusion)
    check(proof, [f("∀x:Person ∀y:Person x = y")], conclusion)


@pytest.mark.parametrize(
    "theorem",
    [
        SAME_LETTER,
        SAME_LETTER_INSIDE,
        t.Theorem("a predicate and a constant", (f("A(t)"), atom("t")), atom("t"), (t.Repeat(1),)),
        t.Theorem("a predicate and a variable", (f("∀x A(x)"), atom("x")), atom("x"), (t.Repeat(1),)),
        t.Theorem("two arities", (f("A(t)"), atom("A")), atom("A"), (t.Repeat(1),)),
    ],
    ids=lambda theorem: theorem.name,
)
def test_a_theorem_uses_each_name_in_one_way(theorem: t.Theorem) -> None:
    with pytest.raises(ProofError, match="in two ways"):
        check((t.Apply(theorem, {}, ()),), *claim("p ⊢ p"))


def test_a_proof_brings_in_no_sort_and_no_sorted_constant() -> None:
    """Each would be harmless here, and the checker of bundles refuses it, too."""
    person = App("a", (), "Person")
    for line in (
        t.Generalise(f("∃x:Person P(x)"), 0, A),
        t.Apply(SELF, {"A": Lambda((), f("∃x:Person P(x)"))}, ()),
        t.Generalise(f("∃x P(x)"), 0, person),
        t.Generalise(f("∃x P(x)"), 0, App("g", (A,))),
    ):
        with pytest.raises(ProofError, match=r"sort|functions"):
            check((line, t.Repeat(0)), *claim("P(a) ⊢ P(a)"))
    with pytest.raises(ProofError, match="new constant"):
        check((t.Witness(0, App("c", (), "Person")), t.Repeat(0)), *claim("∃x:Person P(x) ⊢ ∃x:Person P(x)"))
    with pytest.raises(ProofError, match="names another sort"):
        check((t.Instance(0, App("a", (), "Dog")), t.Repeat(0)), *claim("∀x:Person P(x); P(a) ⊢ ∀x:Person P(x)"))


def test_theorems_are_stated_about_the_default_sort() -> None:
    people = t.Theorem("people", (f("∀x:Person A(x)"),), f("∀y:Person A(y)"), (t.Repeat(0),))
    apply = t.Apply(people, {"A": Lambda((PERSON,), Atom("P", (PERSON,)))}, (0,))
    with pytest.raises(ProofError, match="stated about the default sort"):
        check((apply,), *claim("∀x:Person P(x) ⊢ ∀x:Person P(x)"))


def test_a_term_may_name_its_own_sort() -> None:
    for sort in (ENTITY, "Person"):
        constant, variable = App("c", (), sort), Var("x", sort)
        check((t.Instance(0, constant),), [ForAll(variable, Atom("P", (variable,)))], Atom("P", (constant,)))


def test_a_bound_variable_of_a_theorem_keeps_its_name() -> None:
    with pytest.raises(ProofError, match="only the sort may change"):
        check((t.Apply(SPECIALISE, {**P_OF_A, "x": Y}, (0,)),), *claim("∀x P(x) ⊢ P(a)"))


def test_a_term_with_too_many_arguments_is_no_term_of_the_sort() -> None:
    with pytest.raises(ProofError):
        check((t.Instance(0, App("f", (A, A))),), *claim("∀x:Person Q(f(x)) ⊢ p"))


@pytest.mark.parametrize("claimed", [((FREE,), f("p")), ((f("p"),), FREE)], ids=["premise", "conclusion"])
def test_claims_are_closed(claimed: tuple[tuple[Formula, ...], Formula]) -> None:
    with pytest.raises(ProofError, match="free variable"):
        check((t.Repeat(0),), *claimed)


def test_symbols_of_claims_with_sorts_have_one_use() -> None:
    with pytest.raises(ProofError, match="taking sort Dog"):
        check((t.Repeat(0),), *claim("∀x:Person P(x); ∀x:Dog P(x) ⊢ ∀x:Person P(x)"))
