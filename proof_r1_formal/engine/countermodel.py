"""From a solver's model, which is never taken on trust, to a countermodel that the reference evaluator confirms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from math import prod
from typing import Final, TypeAlias

from proof_r1_formal.errors import StructureError
from proof_r1_formal.kernel.answer import Refuted, TooLargeError, checking_steps, refutes
from proof_r1_formal.kernel.model import Element, Structure
from proof_r1_formal.kernel.query import Query
from proof_r1_formal.kernel.signature import Signature

MAX_ENTRIES: Final = 20_000
"""The most table entries that are read from a model."""
VISITS_PER_STEP: Final = 8
"""How many subformulas the evaluator visits at the price of one step."""

Row: TypeAlias = tuple[Element, ...]


def countermodel(
    query: Query,
    signature: Signature,
    domains: Mapping[str, int],
    holds: Callable[[str, Row], bool],
    value: Callable[[str, Row], Element],
    steps: int = 0,
) -> Refuted | None:
    """The refutation by the structure that the solver's model describes, if it is small enough and a countermodel.

    Args:
        query, signature: what the solver refuted, and its symbols.
        domains: number of elements of each sort of the signature.
        holds, value: of a predicate, or of a function, at a row of elements; ``StructureError`` if the model does not
            tell.
        steps: the price of finding the model.
    """

    def rows(sorts: tuple[str, ...]) -> Iterator[Row]:
        return product(*[range(domains[sort]) for sort in sorts])

    places = (*signature.predicates.values(), *[type_.arguments for type_ in signature.functions.values()])
    if sum(prod(domains[sort] for sort in sorts) for sorts in places) > MAX_ENTRIES:
        return None
    predicates, functions = signature.predicates.items(), signature.functions.items()
    try:
        tables = {name: frozenset([row for row in rows(sorts) if holds(name, row)]) for name, sorts in predicates}
        values = {name: {row: value(name, row) for row in rows(type_.arguments)} for name, type_ in functions}
        structure = Structure(domains, tables, values)
    except StructureError:
        return None
    return confirm_structure(query, structure, signature, steps)


def confirm_structure(query: Query, structure: Structure, signature: Signature, steps: int = 0) -> Refuted | None:
    """The refutation by a structure; None if the evaluator does not confirm it, or if it is too large to check.

    To the price of finding the structure, that of checking it is added, once here and once by who rechecks it.

    Raises:
        StructureError: the structure does not interpret a symbol of the query.
    """
    try:
        price = 2 * checking_steps(query, structure) // VISITS_PER_STEP
    except TooLargeError:
        return None
    return Refuted(structure, steps + price) if refutes(query, structure, signature) else None
