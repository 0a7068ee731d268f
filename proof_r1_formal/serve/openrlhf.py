"""OpenRLHF's protocol for remote reward models: prompt and completion in one text, and its format of rewards."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import normalize

from proof_r1_formal.proof.report import Scored


def reply(scored: Sequence[Scored], **logs: Sequence[float]) -> dict[str, object]:
    """Rewards in the shape that OpenRLHF reads: numbers per rollout, with more numbers for its log, by name."""
    rewards = [one.reward for one in scored]
    known = {name: [float(getattr(one, name)) for one in scored] for name in ("parsed", "right", "verified")}
    return {"rewards": rewards, "scores": rewards, "extra_logs": {**known, **logs}}


_MARK = 32  # characters by which a part of a prompt is recognised
_HEAD = 64  # characters that a tokenizer may put before a prompt


def completion_of(query: str, prompt: str) -> str:
    """The completion, which follows the prompt; a tokenizer may have put something of its own before it.

    The tokenizer may also have changed the prompt to NFC, or cut it at its longest length: at its end, or at its start.

    Raises:
        ValueError: neither the prompt nor a part of it stands in the query.

    >>> completion_of("<s>Why? Because.", "Why?")
    ' Because.'
    """
    forms = (prompt, normalize("NFC", prompt))
    for form in forms:
        if (start := query.find(form)) >= 0:
            return query[start + len(form) :]
    for form in forms:
        end = query.find(form[-_MARK:]) + _MARK
        if end >= _MARK and end - _common(query[:end][::-1], form[::-1]) <= _HEAD:
            return query[end:]  # the prompt's start is missing
        start = query.find(form[:_MARK])
        if 0 <= start <= _HEAD:
            return query[start + _common(query[start:], form) :]  # its end is missing
    raise ValueError("a query does not hold its prompt")


def _common(one: str, other: str) -> int:
    """The length of what two texts start with."""
    different = (number for number, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(different, min(len(one), len(other)))
