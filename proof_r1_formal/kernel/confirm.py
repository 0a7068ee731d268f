"""Recheck answers with simpler programs than those that found them: proof checker, reference evaluator, Lean's kernel.

In: a query and a solver's answer. Out: the answer and whether its evidence holds. An answer whose evidence does not
hold counts as Unknown.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Protocol, TypeAlias

import msgspec

from proof_r1_formal.kernel.answer import Answer, Entailed, Reason, Refuted, TooLargeError, Unknown, is_countermodel
from proof_r1_formal.kernel.checker import check
from proof_r1_formal.kernel.errors import ProofError, SignatureError, StructureError
from proof_r1_formal.kernel.query import Query

Evidence: TypeAlias = Literal["kernel", "checked", "unsupported"]
"""The support of an answer: a kernel's acceptance, a checked proof or countermodel, the solver's word."""

EvidenceLevel: TypeAlias = Literal["none", "checked", "kernel"]
"""How the evidence of answers is rechecked: by the small checkers, by a kernel as well, or not at all."""


class Judgement(Protocol):
    """The word of a kernel: whether it accepts the evidence, and why not."""

    @property
    def accepted(self) -> bool: ...

    @property
    def reason(self) -> str: ...


class Kernel(Protocol):
    """A second check of evidence."""

    def judge(self, query: Query, answer: Answer) -> Judgement | None:
        """The word of the kernel; None if it cannot be given this evidence."""


class BatchKernel(Kernel, Protocol):
    """A kernel that is quicker for many answers at once."""

    def prepare(self, answers: Iterable[tuple[Query, Answer]]) -> None:
        """Check all the answers in one batch, for later calls of :meth:`judge`."""


class Confirmation(msgspec.Struct, frozen=True, gc=False):
    """An answer whose evidence was checked, where it has any.

    Attributes:
        answer: the solver's; Unknown if its evidence does not hold.
        evidence: its support; a kernel's acceptance includes the checker's or the evaluator's.
        used: the dependencies, by index, that the proof uses; None without a proof.
    """

    answer: Answer
    evidence: Evidence = "unsupported"
    used: frozenset[int] | None = None

    @property
    def checked(self) -> bool:
        """Whether there is evidence, and it holds."""
        return self.evidence != "unsupported"


def confirm(query: Query, answer: Answer) -> Confirmation:
    """Check the proof or the countermodel of an answer."""
    if isinstance(answer, Entailed) and answer.proof is not None:
        try:
            return Confirmation(answer, "checked", check(answer.proof, query.dependencies, query.conclusion))
        except ProofError as error:
            return _broken(answer, f"the solver's proof does not hold: {error}")
    if isinstance(answer, Refuted) and answer.model is not None:
        try:
            holds = is_countermodel(query, answer.model)
        except TooLargeError as error:
            return Confirmation(Unknown(Reason.BUDGET, str(error), answer.steps))
        except (SignatureError, StructureError) as error:
            return _broken(answer, f"the solver's countermodel does not hold: {error}")
        return Confirmation(answer, "checked") if holds else _broken(answer, "the solver's countermodel does not hold")
    return Confirmation(answer)


def confirm_by(kernel: Kernel, query: Query, confirmation: Confirmation) -> Confirmation:
    """Have a kernel check evidence that was checked here; a countermodel that is too large for it stays ``checked``."""
    judgement = kernel.judge(query, confirmation.answer) if confirmation.checked else None
    if judgement is None:
        return confirmation
    if not judgement.accepted:
        return _broken(confirmation.answer, f"the kernel does not accept the evidence: {judgement.reason}")
    return Confirmation(confirmation.answer, "kernel", confirmation.used)


def _broken(answer: Answer, problem: str) -> Confirmation:
    return Confirmation(Unknown(Reason.BROKEN, problem, answer.steps))
