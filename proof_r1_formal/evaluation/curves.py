"""Curves of a training run: what a trainer's own log says at each step, as pictures.

In: the entries of a log, as ``transformers`` keeps them in ``trainer_state.json``: mappings from names to numbers, with
``step``. Out: pictures for :func:`~proof_r1_formal.evaluation.drawing.write_pictures`: ``training`` (of the batches)
and ``evaluation`` (of the held-out problems), each with a panel for every quantity that the log has.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from proof_r1_formal.errors import DataError
from proof_r1_formal.evaluation.drawing import Curve, Picture, can_draw, lines, write_pictures

Entry: TypeAlias = Mapping[str, object]
Panels: TypeAlias = Mapping[str, Mapping[str, str]]
"""By the label of an axis: the curves, each with the name that it has in the log."""

TRAINING: Panels = {
    "right (share of completions)": {"right": "proof/right", "verified": "proof/verified"},
    "FVR, RVR": {"FVR": "proof/FVR", "RVR": "proof/RVR"},
    "signal (mean of actions)": {"": "proof/signal"},
    "shares of signals": {name: f"proof/signal_{name}" for name in ("0", "0.1", "0.3", "1")},
    "silent groups (share)": {"": "proof/silent_groups"},
    "actions per completion": {"": "proof/actions"},
    "length (tokens)": {"": "completions/mean_length"},
    "KL to the reference (nats)": {"": "kl"},
    "entropy (nats)": {"": "entropy"},
    "loss": {"": "loss"},
    "gradient norm": {"": "grad_norm"},
    "accuracy of tokens": {"": "mean_token_accuracy"},
}
"""The panels of ``training``; those that the log does not have are left out."""
EVALUATION: Panels = {
    "accuracy": {"Avg@K": "eval_avg", "Pass@K": "eval_pass"},
    "FVR, RVR": {"FVR": "eval_fvr", "RVR": "eval_rvr"},
    "right answers (share)": {"verified": "eval_verified", "rule-verified": "eval_rule_verified"},
    "length (tokens)": {"": "eval_completions/mean_length"},
    "loss": {"": "eval_loss"},
}
"""The panels of ``evaluation``."""


def curve_pictures(log: Sequence[Entry]) -> dict[str, Picture]:
    """The pictures of a log; those without any number are left out."""
    pictures = {}
    for name, panels in (("training", TRAINING), ("evaluation", EVALUATION)):
        if found := _panels(log, panels):
            pictures[name] = lines("update", found, marked=name == "evaluation")
    return pictures


def _panels(log: Iterable[Entry], panels: Panels) -> dict[str, dict[str, Curve]]:
    entries = list(log)
    found = {}
    for label, names in panels.items():
        curves = {shown: _curve(entries, name) for shown, name in names.items()}
        curves = {shown: curve for shown, curve in curves.items() if curve.xs}
        if curves:
            found[label] = curves
    return found


def _curve(log: Iterable[Entry], name: str) -> Curve:
    points = [(entry["step"], entry[name]) for entry in log if "step" in entry and name in entry]
    kept = [(x, y) for x, y in points if isinstance(x, int | float) and isinstance(y, int | float) and y == y]
    return Curve([x for x, _ in kept], [y for _, y in kept])


def draw_curves(log: Sequence[Entry], folder: Path) -> bool:
    """Write the pictures of a log to a folder, if matplotlib is installed; returns whether it is."""
    if can_draw():
        write_pictures(curve_pictures(log), folder)
    return can_draw()


def _read_log(path: Path) -> list[Entry]:
    """The entries of a ``trainer_state.json``.

    Raises:
        DataError: the file cannot be read, or has no log.
    """
    try:
        log = json.loads(path.read_text(encoding="utf-8"))["log_history"]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise DataError(str(path), f"it is not the state of a trainer: {error}") from error
    if not isinstance(log, list) or not all(isinstance(entry, dict) for entry in log):
        raise DataError(str(path), "log_history must be a list of objects")
    return log
