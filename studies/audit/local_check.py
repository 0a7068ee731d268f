"""The local check of every action: do the formulas that it declares as dependencies entail its conclusion?

In: a problem and a completion. Out: one :class:`LocalCheck` per action, a query for any solver or the reason why there
is none. Unlike verification this keeps no state: a dependency is the premise or the *raw* conclusion of the earlier
action of that name, admitted or not, so whether one action is right does not depend on any solver's word on another.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from proof_r1_formal.data.problem import Problem
from proof_r1_formal.engine.solver import checked_signature
from proof_r1_formal.kernel.answer import Query, Unknown
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.proof.action import Action, read_completion
from proof_r1_formal.proof.context import conclusions_with_sorts, with_sorts
from proof_r1_formal.proof.report import Code


class Fault(StrEnum):
    """Why an action raises no question; of several reasons the first of these."""

    UNPARSABLE_FORMULA = "unparsable formula"
    """The conclusion does not parse, or it and the dependencies use a symbol in two ways."""
    DUPLICATE_ID = "duplicate id"
    """Its id is that of a premise or of an earlier action."""
    MALFORMED = "malformed"
    """The summary is not an array, or the element does not have exactly the four fields with their types."""
    MISSING_DEPENDENCY = "missing dependency"
    """A dependency is neither a premise nor an earlier action with a formula."""


@dataclass(frozen=True, slots=True)
class LocalCheck:
    """The question of an action.

    Attributes:
        id: of the action, as written; None if it has none.
        question: whether its dependencies entail its conclusion, or why that cannot be asked.
    """

    id: str | None
    question: Query | Fault


def local_checks(problem: Problem, completion: str) -> tuple[LocalCheck, ...]:
    """The local check of each action of a completion, in order. Any text is accepted.

    If several actions have one id, later actions refer to the first.
    """
    problem, symbols = with_sorts(problem)
    known: dict[str, Formula] = {premise.id: premise.formula for premise in problem.premises}
    taken = set(known)
    checks = []
    for action in conclusions_with_sorts(read_completion(completion), symbols).actions:
        checks.append(LocalCheck(action.id, _question(action, known, duplicate=action.id in taken)))
        if action.id is not None:
            taken.add(action.id)
            if action.formula is not None:
                known.setdefault(action.id, action.formula)
    return tuple(checks)


def _question(action: Action, known: dict[str, Formula], *, duplicate: bool) -> Query | Fault:
    if any(finding.code in (Code.UNPARSABLE_CONCLUSION, Code.SYMBOL_CLASH) for finding in action.findings):
        return Fault.UNPARSABLE_FORMULA
    if duplicate:
        return Fault.DUPLICATE_ID
    if action.findings or action.formula is None:
        return Fault.MALFORMED
    if any(name not in known for name in action.dependencies):
        return Fault.MISSING_DEPENDENCY
    query = Query(tuple([known[name] for name in action.dependencies]), action.formula)
    return Fault.UNPARSABLE_FORMULA if isinstance(checked_signature(query), Unknown) else query
