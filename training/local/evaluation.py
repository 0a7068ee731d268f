"""Scores of a policy: completions of the evaluation problems, verified and measured."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path

from proof_r1_formal import Completion
from proof_r1_formal.credit.verification import Checked, Workers
from training.common.evaluation import evaluation_record, write_answers
from training.common.logs import EvaluationRecord
from training.common.tasks import Task
from training.config import Config
from training.local.chance import generator_of, seed_of
from training.local.model import Policy
from training.local.sampling import Sample, Sampling, sample


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
