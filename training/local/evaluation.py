"""Scores of a policy: completions of the evaluation problems, verified and measured."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from statistics import fmean

from proof_r1_formal import Completion, Problem, evaluate_metrics
from proof_r1_formal.data.completions import write_completions
from training.config import Config
from training.local.chance import generator_of, seed_of
from training.local.logs import EvaluationRecord, Score
from training.local.model import Policy
from training.local.sampling import Sample, Sampling, sample
from training.local.tasks import Task
from training.local.verification import Checked, Workers


def evaluate_policy(
    policy: Policy, tasks: Sequence[Task], config: Config, workers: Workers, *, step: int, out: Path | None = None
) -> EvaluationRecord:
    """Sample answers to all tasks and score them. The same policy gets the same scores, whenever it is asked.

    Args:
        policy: is not changed.
        tasks: what is asked; at least one.
        config: how to sample: its section ``evaluation``.
        workers: verify.
        step: number of training steps that are done, for the record.
        out: file to write the completions to.
    """
    start = time.perf_counter()
    settings = config.evaluation
    sampling = Sampling(
        settings.samples,
        settings.temperature,
        settings.top_p,
        config.rollout.max_response_tokens,
        config.rollout.parallel,
    )
    completions: list[Completion] = []
    lengths: dict[tuple[str, int], int] = {}
    pending: list[Future[Checked]] = []

    def verify(one: Sample) -> None:
        problem = tasks[one.prompt].problem
        text = policy.pieces.read(one.ids).text
        completions.append(Completion(problem_id=problem.id, sample=one.number, completion=text))
        lengths[problem.id, one.number] = len(one.ids)
        pending.append(workers.verify(problem, text, one.number, evaluation=True))

    generator = generator_of(seed_of(settings.seed, "evaluation"), policy.device)
    sample(policy, [task.prompt for task in tasks], sampling, generator, ended=verify)
    if out is not None:
        write_answers(out, completions)
    return evaluation_record(
        {task.problem.id: task.problem for task in tasks},
        [future.result() for future in pending],
        lengths,
        step=step,
        samples=settings.samples,
        seconds=time.perf_counter() - start,
    )


def write_answers(path: Path, completions: Iterable[Completion]) -> None:
    """Keep the completions of an evaluation."""
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
    """The record of an evaluation, whichever engine made it.

    Args:
        problems: that were asked, by id.
        checked: their completions.
        lengths: of these in tokens, by problem and sample.
        step, samples, seconds: see there.
    """
    reports = [one.report for one in checked]
    scores = evaluate_metrics(problems, reports, lengths=lengths, length_unit="tokens").overall.scores
    actions = [action for report in reports for action in report.actions]
    return EvaluationRecord(
        step=step,
        problems=len(problems),
        samples=samples,
        scores={str(measure): Score(estimate.value, estimate.spread) for measure, estimate in scores.items()},
        signal=fmean([action.signal for action in actions]) if actions else 0.0,
        actions=len(actions) / len(reports),
        closure=sum([action.in_closure for action in actions]) / len(reports),
        broken=sum([one.failure is not None for one in checked]),
        tokens=fmean(lengths.values()),
        seconds=seconds,
    )
