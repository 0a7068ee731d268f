"""Answers checked again by what is simpler than what found them: proof checker and reference evaluator.

In: a query and a solver's answer. Out: the answer and whether its evidence holds. An answer whose evidence does not
hold is no answer.
"""

from __future__ import annotations

from dataclasses import dataclass

from proof_r1_formal.errors import ProofError, StructureError
from proof_r1_formal.evidence.checker import check
from proof_r1_formal.solvers.base import Answer, Entailed, Query, Reason, Refuted, Unknown, is_countermodel


@dataclass(frozen=True, slots=True)
class Confirmed:
    """An answer whose evidence was checked, where it has any.

    Attributes:
        answer: the solver's; Unknown if its evidence does not hold.
        checked: whether there is evidence, and it holds.
        used: the dependencies, by index, that the proof uses; None without a proof.
    """

    answer: Answer
    checked: bool = False
    used: frozenset[int] | None = None


def confirm(query: Query, answer: Answer) -> Confirmed:
    """Check the proof or the countermodel of an answer."""
    match answer:
        case Entailed(proof) if proof is not None:
            try:
                used = check(proof, query.dependencies, query.conclusion)
            except ProofError as error:
                return Confirmed(Unknown(Reason.BROKEN, f"the solver's proof does not hold: {error}"))
            return Confirmed(answer, True, used)
        case Refuted(model) if model is not None:
            try:
                holds = is_countermodel(query, model)
            except StructureError as error:
                return Confirmed(Unknown(Reason.BROKEN, f"the solver's countermodel is none: {error}"))
            return (
                Confirmed(answer, True)
                if holds
                else Confirmed(Unknown(Reason.BROKEN, "the solver's countermodel is none"))
            )
        case _:
            return Confirmed(answer)
