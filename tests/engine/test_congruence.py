"""Congruence closure: what it makes equal, and that its chains take one equation at a time."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from proof_r1_formal.engine.congruence import Congruence
from proof_r1_formal.kernel.checker import check
from proof_r1_formal.kernel.syntax import App, Atom, Eq, Implies, Term, const
from proof_r1_formal.kernel.term import Leibniz, Line
from proof_r1_formal.kernel.transform import subterms

A, B, C, D = (const(name) for name in "abcd")
TERMS = st.recursive(
    st.sampled_from([A, B, C, D]),
    lambda inner: st.tuples(inner).map(lambda row: App("f", row)) | st.tuples(inner, inner).map(lambda r: App("g", r)),
    max_leaves=4,
)
EQUATIONS = st.lists(st.builds(Eq, TERMS, TERMS), max_size=8)


def f(term: Term) -> App:
    return App("f", (term,))


def closed(equations: list[Eq], *terms: Term) -> Congruence:
    sides = [side for equation in equations for side in (equation.left, equation.right)]
    found = Congruence(tuple(dict.fromkeys([part for term in (*sides, *terms) for part in subterms(term)])))
    for equation in equations:
        found.unite(equation.left, equation.right, equation)
    found.close()
    return found


def test_functions_of_equal_arguments_are_equal() -> None:
    classes = closed([Eq(A, B), Eq(f(B), C)], f(A), f(D))
    assert classes.find(f(A)) is classes.find(C)
    assert classes.find(f(D)) is not classes.find(C)
    assert list(classes.chain(f(A), C)) == [(Eq(A, B), f(B)), (Eq(f(B), C), C)]


@given(EQUATIONS, st.lists(TERMS, max_size=4))
def test_each_link_is_an_instance_of_leibnizs_law(equations: list[Eq], terms: list[Term]) -> None:
    classes = closed(equations, *terms)
    known = [part for term in terms for part in subterms(term)]
    known += [side for equation in equations for side in (equation.left, equation.right)]
    for one, other in pairwise(known):
        if classes.find(one) is classes.find(other):
            current = one
            for equation, following in classes.chain(one, other):
                assert equation in equations
                law = Implies(equation, Implies(Atom("P", (current,)), Atom("P", (following,))))
                line: Line = Leibniz(law)
                check((line,), (), law)
                current = following
            assert current is other
