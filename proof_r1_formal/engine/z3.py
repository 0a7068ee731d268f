"""Z3 in process. A fresh context for every query, so that no answer depends on an earlier one.

The budget is Z3's own ``rlimit``. Queries go in as SMT-LIB text: that takes half the time of building Z3's terms with
its Python interface, and one translation serves all solvers. Countermodels are read from Z3's model value by value.
"""

from __future__ import annotations

from collections.abc import Sequence

import z3

from proof_r1_formal.engine.countermodel import Row, countermodel
from proof_r1_formal.engine.solver import Limits, checked_signature
from proof_r1_formal.errors import SolverError, StructureError
from proof_r1_formal.kernel.answer import Answer, Entailed, Query, Reason, Refuted, Unknown
from proof_r1_formal.kernel.model import Element
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.kernel.syntax import Atom, Formula
from proof_r1_formal.render.smtlib import function_name, predicate_name, script, sort_name

RLIMIT_PER_STEP = 4
"""How much ``rlimit`` the price of one step is."""
_LARGEST = 2**32 - 1  # Z3's limits are 32-bit numbers, and 0 stands for "none"


class Z3Solver:
    """Decides queries with Z3.

    Args:
        limits: ``steps`` is Z3's ``rlimit`` per query (a million takes about a second).
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()

    @property
    def name(self) -> str:
        """Name and version."""
        return f"z3 {z3.get_version_string()}"

    def decide(self, query: Query) -> Answer:
        """Whether the dependencies and the negated conclusion have no common model.

        Raises:
            SolverError: Z3 does not read the query.
        """
        signature = checked_signature(query)
        if isinstance(signature, Unknown):
            return signature
        solver = z3.SimpleSolver(ctx=z3.Context())
        _limit(solver, self._limits)
        try:
            solver.from_string(script(query.assertions))
        except z3.Z3Exception as error:
            raise SolverError(self.name, f"does not read the query: {error}") from error
        try:
            result = solver.check()
        except z3.Z3Exception as error:  # how SimpleSolver reports that memory ran out
            return _unknown(str(error), self._limits.steps // RLIMIT_PER_STEP)
        used = _spent(solver)
        steps = used // RLIMIT_PER_STEP
        if result == z3.unsat:
            return Entailed(steps=steps)
        if result == z3.sat:
            return _countermodel(query, signature, solver.model(), steps) or Refuted(steps=steps)
        # Z3 says "canceled" for rlimit and for timeout alike, and can blame quantifiers after either.
        if used >= self._limits.steps:
            return Unknown(Reason.BUDGET, f"Z3 used its {self._limits.steps} steps", steps)
        return _unknown(solver.reason_unknown(), steps)


def unsat_core(formulas: Sequence[Formula], guards: Sequence[Atom], limits: Limits) -> tuple[list[Atom] | None, int]:
    """Guards of formulas that cannot all hold, as few as Z3 finds.

    Args:
        formulas: closed, without quantifiers.
        guards: propositions; they are supposed to hold.
        limits: see :class:`Z3Solver`.

    Returns:
        The guards, or None if Z3 does not find that the formulas contradict each other; and the price in steps.
    """
    solver = z3.SimpleSolver(ctx=z3.Context())
    solver.set("core.minimize", True)
    _limit(solver, limits)
    names = {predicate_name(guard.predicate): guard for guard in guards}
    try:
        solver.from_string(script(formulas))
        result = solver.check(*[z3.Bool(name, solver.ctx) for name in names])
        core = [names[each.decl().name()] for each in solver.unsat_core()] if result == z3.unsat else None
    except z3.Z3Exception:  # how it reports that memory ran out
        return None, limits.steps // RLIMIT_PER_STEP
    return core, _spent(solver) // RLIMIT_PER_STEP


def _limit(solver: z3.Solver, limits: Limits) -> None:
    solver.set(
        rlimit=_within(limits.steps), timeout=_within(int(limits.seconds * 1000)), max_memory=_within(limits.memory_mb)
    )


def _spent(solver: z3.Solver) -> int:
    """How much ``rlimit`` was used."""
    used: int = solver.statistics().get_key_value("rlimit count")
    return used


def _unknown(reason: str, steps: int) -> Unknown:
    if "memory" in reason or "memout" in reason:
        return Unknown(Reason.BUDGET, "Z3 used its memory", steps)
    if reason in ("canceled", "timeout", "interrupted from keyboard"):
        return Unknown(Reason.TIMEOUT, "Z3 used its time", steps)
    return Unknown(Reason.INCOMPLETE, f"Z3 is incomplete here: {reason}", steps)


def _within(limit: int) -> int:
    return min(max(limit, 1), _LARGEST)


def _countermodel(query: Query, signature: Signature, model: z3.ModelRef, steps: int) -> Refuted | None:
    universes = {sort.name(): model.get_universe(sort) for sort in model.sorts()}
    elements: dict[str, list[z3.ExprRef]] = {}
    for sort in signature.sorts:
        name = sort_name(sort)
        # A sort that Z3's model does not need is free: one element will do, any constant stands for it.
        elements[sort] = list(universes.get(name, ())) or [z3.Const("element", z3.DeclareSort(name, model.ctx))]
    numbers = {sort: {each.get_id(): number for number, each in enumerate(found)} for sort, found in elements.items()}
    declarations = {declaration.name(): declaration for declaration in model.decls()}

    def evaluate(symbol: str, sorts: tuple[str, ...], row: Row) -> z3.ExprRef | None:
        """The value there; None for a symbol that Z3's model leaves free."""
        if symbol not in declarations:
            return None
        arguments = [elements[sort][element].as_ast() for sort, element in zip(sorts, row, strict=True)]
        # This is declarations[symbol](*arguments) without its checks of sorts, which take longer than all the rest.
        application = z3.Z3_mk_app(
            model.ctx.ref(), declarations[symbol].ast, len(arguments), (z3.Ast * len(arguments))(*arguments)
        )
        return model.eval(z3.ExprRef(application, model.ctx), model_completion=True)

    def holds(predicate: str, row: Row) -> bool:
        truth = evaluate(predicate_name(predicate), signature.predicates[predicate], row)
        if truth is None or z3.is_false(truth):
            return False
        if z3.is_true(truth):
            return True
        raise StructureError(f"{predicate!r} has no truth value at {row}")

    def value(function: str, row: Row) -> Element:
        type_ = signature.functions[function]
        result = evaluate(function_name(function), type_.arguments, row)
        if result is None or len(elements[type_.result]) == 1:
            return 0
        try:
            return numbers[type_.result][result.get_id()]
        except KeyError:
            raise StructureError(f"{function!r} has no value in the universe at {row}") from None

    return countermodel(query, signature, {sort: len(found) for sort, found in elements.items()}, holds, value, steps)
