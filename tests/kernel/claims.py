"""Claims, constants, theorems and small structures that the tests of the proof checker share."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product
from typing import Any

from proof_r1_formal.kernel.model import Structure
from proof_r1_formal.kernel.pattern import Lambda
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.kernel.syntax import App, Formula, Term, atom, const, var
from proof_r1_formal.kernel.term import Arbitrary, Block, Contradiction, Instance, Repeat, Suppose, Theorem
from proof_r1_formal.text.parse import parse_formula

A, B, C, D = const("a"), const("b"), const("c"), const("d")
X, Y = var("x"), var("y")


def f(text: str) -> Any:
    """A formula; of any kind, since some lines of the tests are wrong on purpose."""
    return parse_formula(text)


def claim(text: str) -> tuple[tuple[Formula, ...], Formula]:
    """``p; q ⊢ r`` read as premises and conclusion."""
    left, right = text.split("⊢")
    return tuple([f(part) for part in left.split(";") if part.strip()]), f(right)


def fa(term: Term) -> App:
    return App("f", (term,))


VACUOUS = Theorem("vacuous", (f("A"),), f('∀"x" A'), (Arbitrary(f('∀"x" A'), const("c"), (Repeat(0),)),))
SPECIALISE = Theorem("specialise", (f("∀x A(x)"),), f("A(t)"), (Instance(0, const("t")),))
P_OF_A: dict[str, Lambda | Term] = {"A": Lambda((X,), atom("P", X)), "t": A}
EX_FALSO: Block = (Contradiction(0, 1),)
FREE = atom("P", X)
SELF = Theorem("self", (), f("A → A"), (Suppose(f("A → A"), (Repeat(0),)),))


def tables(signature: Signature, domains: dict[str, int]) -> Iterator[Structure]:
    """All structures with these domains."""

    def rows(sorts: tuple[str, ...]) -> list[tuple[int, ...]]:
        return list(product(*[range(domains[sort]) for sort in sorts]))

    relations = [
        [frozenset(row for row, holds in zip(rows(sorts), values, strict=True) if holds)
         for values in product((False, True), repeat=len(rows(sorts)))]
        for sorts in signature.predicates.values()
    ]  # fmt: skip
    functions = [
        [dict(zip(rows(kind.arguments), values, strict=True))
         for values in product(range(domains[kind.result]), repeat=len(rows(kind.arguments)))]
        for kind in signature.functions.values()
    ]  # fmt: skip
    for chosen in product(*relations):
        for maps in product(*functions):
            yield Structure(
                domains,
                dict(zip(signature.predicates, chosen, strict=True)),
                dict(zip(signature.functions, maps, strict=True)),
            )


def small_structures(signature: Signature, *, most: int) -> Iterator[Structure]:
    """Structures of one and two elements per sort; the first so many of each size."""
    for sizes in product((1, 2), repeat=len(signature.sorts)):
        yield from islice(tables(signature, dict(zip(signature.sorts, sizes, strict=True))), most)
