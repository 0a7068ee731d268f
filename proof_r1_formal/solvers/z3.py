"""Z3 in process. A fresh context for every query, so that no verdict depends on an earlier one.

The budget is Z3's own ``rlimit``. A countermodel is read from Z3's model and attached only if the reference evaluator
confirms it.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import z3

from proof_r1_formal.errors import StructureError
from proof_r1_formal.logic.model import Structure
from proof_r1_formal.logic.signature import Signature
from proof_r1_formal.render import smtlib
from proof_r1_formal.solvers.base import Answer, Entailed, Limits, Query, Reason, Refuted, Unknown, is_countermodel

MAX_TABLE = 10_000
"""The most entries of a symbol's table that are read from a model."""


class Z3Solver:
    """Decides queries with Z3.

    Args:
        limits: ``steps`` is Z3's resource limit per query.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()

    @property
    def name(self) -> str:
        """Name and version."""
        return f"z3 {z3.get_version_string()}"

    def decide(self, query: Query) -> Answer:
        """Ask whether the dependencies and the negated conclusion have a common model."""
        signature = Signature.infer(query.assertions)
        lines = [*smtlib.declarations(signature), *(f"(assert {smtlib.term(f)})" for f in query.assertions)]
        context = z3.Context()
        solver = z3.SimpleSolver(ctx=context)
        solver.set(
            rlimit=self._limits.steps,
            timeout=max(1, int(self._limits.seconds * 1000)),
            max_memory=self._limits.memory_mb,
        )
        solver.from_string("\n".join(lines))
        try:
            result = solver.check()
        except z3.Z3Exception as error:
            return Unknown(Reason.BROKEN, f"Z3 gave up: {error}")
        if result == z3.unsat:
            return Entailed()
        if result == z3.sat:
            return Refuted(_countermodel(query, signature, solver.model(), context))
        return _unknown(solver.reason_unknown())


def _unknown(reason: str) -> Unknown:
    if "resource" in reason or reason == "canceled":  # Z3 says "canceled" when rlimit is spent inside some tactics
        return Unknown(Reason.BUDGET, "Z3's resource limit is spent")
    if "timeout" in reason:
        return Unknown(Reason.TIMEOUT, "Z3's wall-clock limit is spent")
    if "memory" in reason:
        return Unknown(Reason.BUDGET, "Z3's memory limit is spent")
    return Unknown(Reason.INCOMPLETE, "Z3's method is incomplete for this query")


def _countermodel(
    query: Query, signature: Signature, model: z3.ModelRef, context: z3.Context
) -> Structure | None:
    """The model as a structure, if it is finite, small enough and confirmed."""
    reader = _ModelReader(signature, model, context)
    structure = reader.structure()
    if structure is None:
        return None
    try:
        return structure if is_countermodel(query, structure) else None
    except StructureError:  # Z3's model leaves something open that the query needs
        return None


class _ModelReader:
    """Reads tables of all symbols by evaluating them at the elements of the finite universes."""

    def __init__(self, signature: Signature, model: z3.ModelRef, context: z3.Context) -> None:
        self._signature = signature
        self._model = model
        self._sorts = {name: z3.DeclareSort(smtlib.sort_name(name), ctx=context) for name in signature.sorts}
        self._elements = {name: self._universe(sort) for name, sort in self._sorts.items()}
        self._context = context

    def _universe(self, sort: z3.SortRef) -> list[z3.ExprRef]:
        universe = self._model.get_universe(sort)
        return list(universe) if universe else [self._model.eval(z3.FreshConst(sort), model_completion=True)]

    def structure(self) -> Structure | None:
        predicates: dict[str, frozenset[tuple[int, ...]]] = {}
        functions: dict[str, Mapping[tuple[int, ...], int]] = {}
        for name, sorts in self._signature.predicates.items():
            table = self._table(smtlib.predicate_name(name), sorts, z3.BoolSort(self._context))
            if table is None:
                return None
            predicates[name] = frozenset(point for point, value in table.items() if z3.is_true(value))
        for name, type_ in self._signature.functions.items():
            table = self._table(smtlib.function_name(name), type_.arguments, self._sorts[type_.result])
            if table is None:
                return None
            elements = self._elements[type_.result]
            indices = {point: _index(value, elements) for point, value in table.items()}
            functions[name] = {point: index for point, index in indices.items() if index is not None}
            if len(functions[name]) < len(indices):
                return None
        return Structure({name: len(found) for name, found in self._elements.items()}, predicates, functions)

    def _table(
        self, symbol: str, sorts: tuple[str, ...], result: z3.SortRef
    ) -> dict[tuple[int, ...], z3.ExprRef] | None:
        size = 1
        for sort in sorts:
            size *= len(self._elements[sort])
        if size > MAX_TABLE:
            return None
        declaration = z3.Function(symbol, *[self._sorts[sort] for sort in sorts], result)
        return {
            point: self._model.eval(
                declaration(*[self._elements[sort][i] for sort, i in zip(sorts, point, strict=True)]),
                model_completion=True,
            )
            for point in product(*[range(len(self._elements[sort])) for sort in sorts])
        }


def _index(value: z3.ExprRef, elements: list[z3.ExprRef]) -> int | None:
    return next((index for index, element in enumerate(elements) if element.eq(value)), None)
