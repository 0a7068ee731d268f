"""All small structures of a signature, and whether one of them is a countermodel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, product

from proof_r1_formal.kernel.answer import Query, refutes
from proof_r1_formal.kernel.model import Structure
from proof_r1_formal.kernel.signature import FunctionType, Signature
from proof_r1_formal.kernel.syntax import ENTITY


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


def refuted_by(query: Query, structures: Iterable[Structure]) -> bool:
    """Whether one of the small structures is a countermodel; the symbols of the query are inferred once for all."""
    signature = Signature.infer(query.formulas)
    return any(refutes(query, structure, signature) for structure in structures)


SMALL = Signature(
    {"p": (ENTITY,), "r": (ENTITY, ENTITY), "t": ("Town",)},
    {"a": FunctionType((), ENTITY), "b": FunctionType((), ENTITY)},
    (ENTITY, "Town"),
)

SMALL_STRUCTURES = tuple(small_structures(SMALL))
"""Every structure of ``SMALL`` whose sorts have one or two elements."""
