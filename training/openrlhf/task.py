"""The label of a prompt: its problem, and how to verify answers to it.

OpenRLHF hands an agent no settings, so they come with each label. This module is not part of ``agent``, which OpenRLHF
loads from its file under a name of its own.
"""

from __future__ import annotations

from typing import Any

import msgspec

from proof_r1_formal.credit.assigner import CreditAssigner


class Task(msgspec.Struct, frozen=True):
    """A label; as JSON in OpenRLHF's files.

    Attributes:
        problem: as JSON.
        rules: name of the rule catalogue, or its file.
        preset: of the credit.
        workers: processes that verify for an actor.
        timeout: seconds of one completion.
    """

    problem: str
    rules: str = "train"
    preset: str = "paper"
    workers: int = 1
    timeout: float = 60.0

    def assigner(self, tokenizer: Any, *, method: str = "proof_r1") -> CreditAssigner:
        """The object that verifies, and credits by a method."""
        return CreditAssigner(
            tokenizer,
            method=method,
            preset=self.preset,  # type: ignore[arg-type]  # the assigner checks both
            rules=self.rules,  # type: ignore[arg-type]
            workers=self.workers,
            timeout=self.timeout,
        )
