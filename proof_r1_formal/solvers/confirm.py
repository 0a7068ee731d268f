"""Recheck answers with simpler programs than those that found them: proof checker, reference evaluator, Lean's kernel.

In: a query and a solver's answer. Out: the answer and whether its evidence holds. An answer whose evidence does not
hold counts as Unknown.
"""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias

import msgspec

from proof_r1_formal.errors import ProofError, SignatureError, StructureError
from proof_r1_formal.evidence.checker import check
from proof_r1_formal.logic.query import Query
from proof_r1_formal.solvers.base import Answer, Entailed, Reason, Refuted, TooLargeError, Unknown, is_countermodel

Evidence: TypeAlias = Literal["kernel", "checked", "unsupported"]
"""What stands behind an answer: a kernel's acceptance, a checked proof or countermodel, the solver's word."""


class Judgement(Protocol):
    """What a kernel says: whether it accepts the evidence, and why not."""

    @property
    def accepted(self) -> bool: ...

    @property
    def reason(self) -> str: ...


class Kernel(Protocol):
    """What checks evidence once more, see :class:`~proof_r1_formal.assistants.kernel.KernelEvidence`."""

    def judge(self, query: Query, answer: Answer) -> Judgement | None:
        """What the kernel says; None if it cannot be given this evidence."""


class Confirmed(msgspec.Struct, frozen=True, gc=False):
    """An answer whose evidence was checked, where it has any.

    Attributes:
        answer: the solver's; Unknown if its evidence does not hold.
        evidence: what stands behind it; a kernel's acceptance includes the checker's or the evaluator's.
        used: the dependencies, by index, that the proof uses; None without a proof.
    """

    answer: Answer
    evidence: Evidence = "unsupported"
    used: frozenset[int] | None = None

    @property
    def checked(self) -> bool:
        """Whether there is evidence, and it holds."""
        return self.evidence != "unsupported"


def confirm(query: Query, answer: Answer, kernel: Kernel | None = None) -> Confirmed:
    """Check the proof or the countermodel of an answer.

    Args:
        query, answer: what was asked and said.
        kernel: also checks it, if it is given; a countermodel that is too large for it stays with the evaluator.
    """
    used: frozenset[int] | None = None
    if isinstance(answer, Entailed) and answer.proof is not None:
        try:
            used = check(answer.proof, query.dependencies, query.conclusion)
        except ProofError as error:
            return _broken(answer, f"the solver's proof does not hold: {error}")
    elif isinstance(answer, Refuted) and answer.model is not None:
        try:
            holds = is_countermodel(query, answer.model)
        except TooLargeError as error:
            return Confirmed(Unknown(Reason.BUDGET, str(error), answer.steps))
        except (SignatureError, StructureError) as error:
            return _broken(answer, f"the solver's countermodel is none: {error}")
        if not holds:
            return _broken(answer, "the solver's countermodel is none")
    else:
        return Confirmed(answer)
    judgement = None if kernel is None else kernel.judge(query, answer)
    if judgement is None:
        return Confirmed(answer, "checked", used)
    if not judgement.accepted:
        return _broken(answer, f"the kernel does not accept the evidence: {judgement.reason}")
    return Confirmed(answer, "kernel", used)


def _broken(answer: Answer, problem: str) -> Confirmed:
    return Confirmed(Unknown(Reason.BROKEN, problem, answer.steps))
