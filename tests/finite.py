"""The decision procedure of the effectively propositional class as a solver of its own; all small structures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, product

from proof_r1_formal.engine.finite import decide_finite
from proof_r1_formal.engine.solver import checked_signature
from proof_r1_formal.kernel.answer import Answer, Query, Unknown, is_countermodel
from proof_r1_formal.kernel.model import Structure
from proof_r1_formal.kernel.signature import FunctionType, Signature
from proof_r1_formal.kernel.syntax import ENTITY
from tests.solvers import model_of


class FiniteSolver:
    """Decides effectively propositional queries."""

    name = "finite"

    def decide(self, query: Query) -> Answer:
        """Whether the ground instances of the dependencies and of the negated conclusion have no common model."""
        signature = checked_signature(query)
        return signature if isinstance(signature, Unknown) else decide_finite(query, signature)


def assert_refuted(query: Query, answer: Answer) -> None:
    """The answer is a refutation, and its structure is a countermodel."""
    assert is_countermodel(query, model_of(answer))


def structures(signature: Signature, domains: Mapping[str, int]) -> Iterator[Structure]:
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


def small_structures(signature: Signature, *, most: int | None = None) -> Iterator[Structure]:
    """Structures of one and two elements per sort; all of them, or the first ``most`` of each size."""
    for sizes in product((1, 2), repeat=len(signature.sorts)):
        yield from islice(structures(signature, dict(zip(signature.sorts, sizes, strict=True))), most)


SMALL = Signature(
    {"p": (ENTITY,), "r": (ENTITY, ENTITY), "t": ("Town",)},
    {"a": FunctionType((), ENTITY), "b": FunctionType((), ENTITY)},
    (ENTITY, "Town"),
)

SMALL_STRUCTURES = tuple(small_structures(SMALL))
"""Every structure of ``SMALL`` whose sorts have one or two elements."""
