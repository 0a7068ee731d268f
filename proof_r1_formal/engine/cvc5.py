"""cvc5 in process, by its optional Python package. A fresh term manager and solver for every query.

Finite model finding is on, so that satisfiable queries with quantifiers are decided too. The budget is cvc5's own
resource limit. Queries go in as SMT-LIB text; countermodels are read from cvc5's model value by value, proofs from what
it writes in Alethe.
"""

from __future__ import annotations

import importlib
from typing import Any

from proof_r1_formal.engine.alethe import BUDGET, AletheError, proof_of
from proof_r1_formal.engine.countermodel import Row, countermodel
from proof_r1_formal.engine.solver import Budget, Limits, checked_signature
from proof_r1_formal.errors import SolverError, StructureError
from proof_r1_formal.kernel.answer import Answer, Entailed, Query, Reason, Refuted, Unknown
from proof_r1_formal.kernel.model import Element
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.kernel.term import Proof
from proof_r1_formal.render.smtlib import function_name, predicate_name, script, sort_name

STEPS_PER_RESOURCE = 40
"""cvc5's unit is coarser than Z3's: so many steps are one of its resources, and a budget takes similar time in both."""


class Cvc5Solver:
    """Decides queries with cvc5.

    Args:
        limits: ``steps`` is forty times cvc5's resource limit; ``memory_mb`` is not enforced (cvc5 has no such limit).
        proofs: whether a "yes" comes with its proof, where that is read; without, cvc5 is quicker.

    Raises:
        SolverError: the package cvc5 is not installed.
    """

    def __init__(self, limits: Limits | None = None, *, proofs: bool = True) -> None:
        self._limits = limits or Limits()
        self._proofs = proofs
        try:
            self._library = importlib.import_module("cvc5")
        except ImportError as error:
            raise SolverError("cvc5", f"not usable ({error}); pip install 'proof-r1-formal[solvers]'") from error

    @property
    def name(self) -> str:
        """Name and version."""
        return f"cvc5 {self._library.__version__}"

    def decide(self, query: Query) -> Answer:
        """Whether the dependencies and the negated conclusion have no common model.

        Raises:
            SolverError: cvc5 does not take the query, or fails on it.
        """
        signature = checked_signature(query)
        if isinstance(signature, Unknown):
            return signature
        try:
            return self._decide(query, signature)
        except RuntimeError as error:  # the root of all that cvc5 raises
            raise SolverError(self.name, str(error)) from error

    def _decide(self, query: Query, signature: Signature) -> Answer:
        cvc5 = self._library
        manager = cvc5.TermManager()
        solver = cvc5.Solver(manager)
        for option, setting in {
            "produce-models": "true",
            "produce-proofs": str(self._proofs).lower(),
            "finite-model-find": "true",
            "rlimit-per": str(max(1, self._limits.steps // STEPS_PER_RESOURCE)),
            "tlimit-per": str(max(1, int(self._limits.seconds * 1000))),
        }.items():
            solver.setOption(option, setting)
        symbols = cvc5.SymbolManager(manager)
        parser = cvc5.InputParser(solver, symbols)
        parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script(query.assertions), "query")
        while not (command := parser.nextCommand()).isNull():
            if command.getCommandName() == "check-sat":  # as a command it prints the result and loses the reason
                break
            if complaint := command.invoke(solver, symbols):
                raise SolverError(self.name, complaint.strip())
        result = solver.checkSat()
        if result.isUnsat():
            budget = Budget(min(BUDGET, self._limits.steps))  # of the search for the lines of its proof
            proof = _proof(query, cvc5, solver, budget) if self._proofs else None
            return Entailed(proof, steps=budget.spent)
        if result.isSat():
            found = _countermodel(query, signature, cvc5, solver, manager, symbols)
            return Refuted(None if found is None else found.model)  # without a price: cvc5 counts none
        match result.getUnknownExplanation().name:
            case "RESOURCEOUT":
                return Unknown(Reason.BUDGET, "cvc5 used its steps")
            case "TIMEOUT" | "INTERRUPTED":
                return Unknown(Reason.TIMEOUT, "cvc5 used its time")
            case "MEMOUT":
                return Unknown(Reason.BUDGET, "cvc5 used its memory")
            case explanation:
                return Unknown(Reason.INCOMPLETE, f"cvc5 is incomplete here: {explanation}")


def _proof(query: Query, cvc5: Any, solver: Any, budget: Budget) -> Proof | None:
    """cvc5's proof as a term; None if it is not read as one."""
    try:
        texts = [solver.proofToString(each, cvc5.ProofFormat.ALETHE) for each in solver.getProof()]
        return proof_of(query, b"".join(texts).decode(), budget)
    except (AletheError, RuntimeError):  # what cvc5 raises
        return None


def _countermodel(
    query: Query, signature: Signature, cvc5: Any, solver: Any, manager: Any, symbols: Any
) -> Refuted | None:
    sorts = {sort.getSymbol(): sort for sort in symbols.getDeclaredSorts()}
    terms = {term.getSymbol(): term for term in symbols.getDeclaredTerms()}
    elements = {sort: solver.getModelDomainElements(sorts[sort_name(sort)]) for sort in signature.sorts}
    numbers = {sort: {each: number for number, each in enumerate(found)} for sort, found in elements.items()}

    def evaluate(symbol: str, places: tuple[str, ...], row: Row) -> Any:
        arguments = [elements[sort][element] for sort, element in zip(places, row, strict=True)]
        term = terms[symbol]
        return solver.getValue(manager.mkTerm(cvc5.Kind.APPLY_UF, term, *arguments) if arguments else term)

    def holds(predicate: str, row: Row) -> bool:
        truth = evaluate(predicate_name(predicate), signature.predicates[predicate], row)
        if not truth.isBooleanValue():
            raise StructureError(f"{predicate!r} has no truth value at {row}")
        return bool(truth.getBooleanValue())

    def value(function: str, row: Row) -> Element:
        type_ = signature.functions[function]
        result = evaluate(function_name(function), type_.arguments, row)
        try:
            return numbers[type_.result][result]
        except KeyError:
            raise StructureError(f"{function!r} has no value in the universe at {row}") from None

    return countermodel(query, signature, {sort: len(found) for sort, found in elements.items()}, holds, value)
