"""The decision procedure of the effectively propositional class as a solver of its own, and small structures."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations, product

from proof_r1_formal.engine.finite import decide_finite
from proof_r1_formal.engine.solver import checked_signature
from proof_r1_formal.kernel.answer import Answer, Refuted, Unknown, is_countermodel
from proof_r1_formal.kernel.model import Structure
from proof_r1_formal.kernel.query import Query
from proof_r1_formal.kernel.signature import FunctionType, Signature
from proof_r1_formal.kernel.syntax import ENTITY


class FiniteSolver:
    """Decides effectively propositional queries."""

    name = "finite"

    def decide(self, query: Query) -> Answer:
        """Whether the ground instances of the dependencies and of the negated conclusion have no common model."""
        signature = checked_signature(query)
        return signature if isinstance(signature, Unknown) else decide_finite(query, signature)


def assert_refuted(query: Query, answer: Answer) -> None:
    """The answer is a refutation, and its structure is a countermodel."""
    assert isinstance(answer, Refuted)
    assert answer.model is not None
    assert is_countermodel(query, answer.model)


SMALL = Signature(
    {"p": (ENTITY,), "r": (ENTITY, ENTITY), "t": ("Town",)},
    {"a": FunctionType((), ENTITY), "b": FunctionType((), ENTITY)},
    (ENTITY, "Town"),
)


@cache
def small_structures() -> tuple[Structure, ...]:
    """Every structure of ``SMALL`` whose sorts have one or two elements."""

    def relations(*sizes: int) -> Iterator[frozenset[tuple[int, ...]]]:
        rows = list(product(*map(range, sizes)))
        for count in range(len(rows) + 1):
            yield from map(frozenset, combinations(rows, count))

    return tuple(
        Structure({ENTITY: n, "Town": m}, {"p": p, "r": r, "t": t}, {"a": {(): a}, "b": {(): b}})
        for n, m in product((1, 2), repeat=2)
        for p, r, t in product(relations(n), relations(n, n), relations(m))
        for a, b in product(range(n), repeat=2)
    )
