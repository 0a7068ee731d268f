"""The JSON object that a prompt has requested, in the text of a model's reply, wherever it stands."""

from __future__ import annotations

from json import JSONDecoder

from proof_r1_formal.proof.thoughts import after_thoughts

MAX_FAILURES = 500
"""The most braces that open no object. Each of them may take a pass over the whole reply."""

_DECODER = JSONDecoder()


def json_object(text: str) -> dict[str, object] | None:
    """The last outermost JSON object after the thoughts; None if there is none, or after ``MAX_FAILURES``.

    >>> json_object('<think>{"valid": true}</think> So: {"valid": false, "why": {}} is it.')
    {'valid': False, 'why': {}}
    """
    position = after_thoughts(text)
    if position is None:
        return None
    found: dict[str, object] | None = None
    failures = 0
    while (position := text.find("{", position)) >= 0:
        try:
            value, position = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            failures += 1
            if failures > MAX_FAILURES:
                return None
            position += 1
        else:
            found = value
    return found
