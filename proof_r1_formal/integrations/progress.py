"""A line of progress beside the trainer's bar: what a run is about, in one line for each entry of its log.

In: the log of a trainer of ``transformers`` (TRL's are). Out: lines on standard error, such as

    update 40 of 100: right 12.0 %, verified 9.5 %, RVR 41.8 %, 1,310 tokens/s, 3 min left

Entries without verdicts, those of supervised training, show the loss instead.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from time import monotonic
from typing import Any

from tqdm import tqdm
from transformers import TrainerCallback

SHARES = {"proof/right": "right", "proof/verified": "verified", "proof/RVR": "RVR"}
"""Name in the log of ``ProofTrainer`` -> name in the line."""
TOKENS = "num_tokens"
"""The entry of TRL's logs with the tokens since the start of the run."""


def progress_line(
    update: int, updates: int, entry: Mapping[str, Any], *, speed: float | None, left: float | None
) -> str:
    """The line of an entry of the log.

    Args:
        update: the number of updates so far.
        updates: of the whole run.
        entry: the entry.
        speed: tokens a second; None if it is not known.
        left: seconds to the end of the run; None if they are not known.
    """
    parts = [f"{name} {100 * entry[key]:.1f} %" for key, name in SHARES.items() if key in entry]
    parts = parts or [f"loss {float(entry['loss']):.4g}"]
    parts += [] if speed is None else [f"{speed:,.0f} tokens/s"]
    parts += [] if left is None else [f"{duration(left)} left"]
    return f"update {update:,} of {updates:,}: {', '.join(parts)}"


def duration(seconds: float) -> str:
    """Seconds in words for people: ``95 s``, ``12 min``, ``3.4 h``."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


class ProgressLine(TrainerCallback):
    """Writes the lines of a run; pass it to a trainer as one of its ``callbacks``.

    Speed and remaining time are those since this process started to train, evaluations and checkpoints included.
    """

    def __init__(self) -> None:
        self._start = 0.0
        self._first = 0
        self._tokens: float | None = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        del args, control, kwargs
        self._start, self._first = monotonic(), state.global_step
        self._tokens = None if state.global_step else 0.0  # a resumed run has seen tokens before

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
        del args, control, kwargs
        if not state.is_world_process_zero or "loss" not in (logs or {}):
            return  # evaluations and the summary of the run have entries of their own
        seconds = max(monotonic() - self._start, 1e-9)
        done = state.global_step - self._first
        left = seconds / done * (state.max_steps - state.global_step) if done else None
        tokens = logs.get(TOKENS)
        if tokens is not None and self._tokens is None:
            self._start, self._first, self._tokens = monotonic(), state.global_step, float(tokens)
            tokens = None
        speed = None if tokens is None or self._tokens is None else (float(tokens) - self._tokens) / seconds
        line = progress_line(state.global_step, state.max_steps, logs, speed=speed, left=left)
        tqdm.write(line, file=sys.stderr)
