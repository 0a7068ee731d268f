"""Scores of a policy, for both engines: verified completions of the evaluation problems to a record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from proof_r1_formal import Completion, Problem, evaluate_metrics
from proof_r1_formal.credit.verification import Checked
from proof_r1_formal.data.completions import write_completions
from training.common.logs import EvaluationRecord, Score

RESAMPLES = 400
"""Number of bootstrap resamples of the problems, for the intervals of scores."""


def write_answers(path: Path, completions: Iterable[Completion]) -> None:
    """Store the completions of an evaluation."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_completions(path, sorted(completions, key=lambda one: (one.problem_id, one.sample)))


def evaluation_record(
    problems: Mapping[str, Problem],
    checked: Sequence[Checked],
    lengths: Mapping[tuple[str, int], int],
    *,
    step: int,
    samples: int,
    seconds: float,
) -> EvaluationRecord:
    """The record of an evaluation of either engine.

    Args:
        problems: of the evaluation, by id.
        checked: their completions.
        lengths: of the completions in tokens, by problem and sample.
        step, samples, seconds: see :class:`~training.common.logs.EvaluationRecord`.
    """
    reports = [one.report for one in checked]
    metrics = evaluate_metrics(problems, reports, lengths=lengths, length_unit="tokens", resamples=RESAMPLES)
    scores = {str(name): Score(one.value, one.spread, one.interval) for name, one in metrics.overall.scores.items()}
    actions = [action for report in reports for action in report.actions]
    return EvaluationRecord(
        step=step,
        problems=len(problems),
        samples=samples,
        scores=scores,
        signal=fmean([action.signal for action in actions]) if actions else 0.0,
        actions=len(actions) / len(reports),
        closure=sum([action.in_closure for action in actions]) / len(reports),
        broken=sum([one.failure is not None for one in checked]),
        tokens=fmean(lengths.values()),
        seconds=seconds,
    )
