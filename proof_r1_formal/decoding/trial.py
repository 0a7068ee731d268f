"""What guided decoding keeps of a step that it took back."""

from __future__ import annotations

import msgspec

from proof_r1_formal.proof.report import Code


class Trial(msgspec.Struct, frozen=True):
    """A step that was taken back.

    Attributes:
        text: of the step, and what the last token wrote behind it.
        tokens: that it took.
        findings: why it failed.
    """

    text: str
    tokens: int
    findings: tuple[Code, ...]
