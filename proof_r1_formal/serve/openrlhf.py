"""OpenRLHF's protocol for remote reward models: prompt and completion in one text, and its format of rewards."""

from __future__ import annotations

from collections.abc import Sequence

from proof_r1_formal.proof.rewards import Scored


def reply(scored: Sequence[Scored], **logs: Sequence[float]) -> dict[str, object]:
    """Rewards in the shape that OpenRLHF reads: numbers per rollout.

    Args:
        scored: what each earns.
        logs: more numbers for OpenRLHF's log, by name.
    """
    rewards = [one.reward for one in scored]
    known = {name: [float(getattr(one, name)) for one in scored] for name in ("parsed", "right", "verified")}
    return {"rewards": rewards, "scores": rewards, "extra_logs": {**known, **logs}}


def completion_of(query: str, prompt: str) -> str:
    """What follows the prompt; a tokenizer may have put something of its own before it.

    Raises:
        ValueError: the prompt does not stand in the query.

    >>> completion_of("<s>Why? Because.", "Why?")
    ' Because.'
    """
    start = query.find(prompt)
    if start < 0:
        raise ValueError("a query does not hold its prompt")
    return query[start + len(prompt) :]
