"""Congruence closure: what it makes equal, and that its chains take one equation at a time.

That each link is an instance of Leibniz's law is checked wherever a proof is, line by line.
"""

from __future__ import annotations

from proof_r1_formal.engine.congruence import Congruence
from proof_r1_formal.kernel.syntax import App, Eq, Term, const
from proof_r1_formal.kernel.transform import subterms

A, B, C, D = (const(name) for name in "abcd")


def g(one: Term, other: Term) -> App:
    return App("g", (one, other))


def test_functions_of_equal_arguments_are_equal() -> None:
    value, same = Eq(g(B, B), C), Eq(A, B)
    terms = [value.left, C, A, g(A, A), g(A, D)]
    classes = Congruence(tuple(dict.fromkeys([part for term in terms for part in subterms(term)])))
    for equation in (value, same):
        classes.unite(equation.left, equation.right, equation)
    classes.close()
    assert list(classes.chain(g(A, A), C)) == [(same, g(B, A)), (same, g(B, B)), (value, C)]
    assert classes.find(g(A, D)) is not classes.find(C)
    assert list(classes.chain(A, A)) == []
