"""Solvers for tests: one with given answers, one that counts its steps, one for the effectively propositional class."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.engine.finite import decide_finite
from proof_r1_formal.engine.solver import checked_signature
from proof_r1_formal.kernel.answer import Answer, Query, Reason, Refuted, Unknown, is_countermodel
from proof_r1_formal.kernel.model import Structure
from proof_r1_formal.text.show import show


class Told:
    """A solver with given answers.

    Args:
        answers: the text of a conclusion -> the answer to questions about it.
        others: the answer to all other questions; without it, the embedded engine's.
    """

    name = "told"

    def __init__(self, answers: Mapping[str, Answer] = MappingProxyType({}), others: Answer | None = None) -> None:
        self._answers, self._others, self._engine = answers, others, EmbeddedSolver()

    def decide(self, query: Query) -> Answer:
        return self._answers.get(show(query.conclusion)) or self._others or self._engine.decide(query)


SILENT = Told(others=Unknown(Reason.BUDGET))
"""A solver that decides nothing."""


class Metering(EmbeddedSolver):
    """Counts the steps that its answers cost."""

    steps = 0

    def decide(self, query: Query) -> Answer:
        answer = super().decide(query)
        self.steps += answer.steps
        return answer


class FiniteSolver:
    """Decides effectively propositional queries."""

    name = "finite"

    def decide(self, query: Query) -> Answer:
        """Whether the ground instances of the dependencies and of the negated conclusion have no common model."""
        signature = checked_signature(query)
        return signature if isinstance(signature, Unknown) else decide_finite(query, signature)


def reason_of(answer: Answer) -> Reason:
    """Why the answer is Unknown."""
    assert isinstance(answer, Unknown), answer
    return answer.reason


def model_of(answer: Answer) -> Structure:
    """The structure of a refutation."""
    assert isinstance(answer, Refuted), answer
    assert answer.model is not None
    return answer.model


def assert_refuted(query: Query, answer: Answer) -> None:
    """The answer is a refutation, and its structure is a countermodel."""
    assert is_countermodel(query, model_of(answer))
