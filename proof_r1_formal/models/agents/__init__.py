"""Agents, which obtain a completion from a model: by one question, or by several (baseline agents).

None of them knows the right answer, or asks the verifier.
"""

from __future__ import annotations

from typing import Protocol

from proof_r1_formal.data.problem import Problem
from proof_r1_formal.models.chat import TimedModel


class Agent(Protocol):
    """Solves problems with a model."""

    async def solve(self, problem: Problem, model: TimedModel) -> str:
        """A completion: thoughts, and a summary whose last action binds an option.

        Raises:
            CallError: the model does not reply.
        """
