"""The results of the rollouts of a step, whichever engine made them: the numbers of the log, and the file of rollouts.

In: completions with their verdicts and credit, problem by problem. Out: a :class:`StepRecord`, and a file that
``proof-r1 show`` and ``evaluate`` read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import msgspec

from proof_r1_formal import Problem, evaluate_metrics
from proof_r1_formal.credit.methods import GroupCredits, Imitation, Method, PerAction, Rollout, WholeTrajectory, divisor
from proof_r1_formal.credit.terms import Baselines, is_eligible, is_leap, padding, useless
from proof_r1_formal.credit.verification import Checked
from proof_r1_formal.evaluation.measures import Measure
from proof_r1_formal.outputs import check_folder, output
from training.centring import Signal, centring
from training.common.logs import Seconds, StepRecord

SIGNALS = (0.0, 0.1, 0.3, 1.0)
"""What a signal can be."""


@dataclass(frozen=True, slots=True)
class ScoredRollout:
    """A completion with its verdicts.

    Attributes:
        problem: that was asked.
        number: of the sample.
        text: of the completion; tokens: their number; ended: whether it ended by itself.
        checked: the report.
        rollout: the report with the tokens of its actions.
    """

    problem: Problem
    number: int
    text: str
    tokens: int
    ended: bool
    checked: Checked
    rollout: Rollout

    @property
    def right(self) -> bool:
        """Whether it selects the right option."""
        return self.checked.report.answer_correct is True


@dataclass(frozen=True, slots=True)
class Update:
    """What the updates of a step did; see ``logs.StepRecord``."""

    loss: float
    policy_loss: float
    kl: float
    entropy: float
    clip_fraction: float
    gradient_norm: float


def failed(group: Sequence[ScoredRollout]) -> bool:
    """Whether no rollout of a problem is right."""
    return not any(one.right for one in group)


@dataclass(frozen=True, slots=True)
class StepInfo:
    """What an engine knows of a step beside its rollouts; see ``logs.StepRecord``."""

    step: int
    epoch: int
    learning_rate: float
    seconds: Seconds
    memory: float
    vllm_kl: float = 0.0


def step_record(
    method: Method, groups: Sequence[Sequence[ScoredRollout]], credit: GroupCredits, update: Update, info: StepInfo
) -> StepRecord:
    """The record of a step.

    Args:
        method: that learns.
        groups: the rollouts of each problem.
        credit: what they earn.
        update: what the updates did.
        info: what the engine knows beside.
    """
    rollouts = [one for group in groups for one in group]
    credits_ = [one for group in credit.groups for one in group]
    reports = [one.rollout.report for one in rollouts]
    actions = [action for report in reports for action in report.actions]
    advantages = [a for one in credits_ for a in one.advantages]
    sizes = [size for one in rollouts for size in one.rollout.alignment.sizes]
    scores = evaluate_metrics({one.problem.id: one.problem for one in rollouts}, reports).overall.scores
    verification = sum([one.checked.seconds for one in rollouts])
    errors = centring([_signals(group, credit.baselines) for group in groups])["all"]
    return StepRecord(
        step=info.step,
        epoch=info.epoch,
        learning_rate=info.learning_rate,
        problems=len(groups),
        rollouts=len(rollouts),
        reward=fmean([_reward(method, one) for one in rollouts]),
        parsed=fmean([report.parsed for report in reports]),
        answered=fmean([report.answer is not None for report in reports]),
        correct=fmean([one.right for one in rollouts]),
        verified=scores[Measure.VERIFIED].value,
        eligible=fmean(map(is_eligible, reports)),
        signal=fmean([action.signal for action in actions]) if actions else 0.0,
        signals={str(s): sum([a.signal == s for a in actions]) / max(1, len(actions)) for s in SIGNALS},
        fvr=scores[Measure.FVR].value,
        rvr=scores[Measure.RVR].value,
        actions=len(actions) / len(rollouts),
        closure=sum([action.in_closure for action in actions]) / len(rollouts),
        padding=sum([padding(report) for report in reports]) / len(rollouts),
        useless=sum([useless(report) for report in reports]) / len(rollouts),
        leaps=fmean(map(is_leap, reports)),
        error_global=errors.by_global,
        error_by_rule=errors.by_rule,
        mapped=sum([size > 0 for size in sizes]),
        unmapped=sum([size == 0 for size in sizes]),
        units=divisor(credits_),
        positive=sum([a for a in advantages if a > 0.0]),
        negative=sum([a for a in advantages if a < 0.0]),
        silent=fmean([not any(a for one in group for a in one.advantages) for group in credit.groups]),
        failed=sum([failed(group) for group in groups]),
        put_back=0,
        broken=sum([one.checked.failure is not None for one in rollouts]),
        tokens=fmean([one.tokens for one in rollouts]),
        cut=fmean([not one.ended for one in rollouts]),
        entropy=update.entropy,
        kl=update.kl,
        loss=update.loss,
        policy_loss=update.policy_loss,
        clip_fraction=update.clip_fraction,
        gradient_norm=update.gradient_norm,
        baselines=dict(credit.baselines.averages),
        seconds=info.seconds,
        verification_seconds=verification,
        verification_share=verification / info.seconds.total,
        memory=info.memory,
        vllm_kl=info.vllm_kl,
    )


def _signals(group: Sequence[ScoredRollout], baselines: Baselines) -> list[Signal]:
    """The rule and the signal of every action."""
    actions = [action for one in group for action in one.rollout.report.actions]
    return [(baselines.bucket(action.declared_rule), action.signal) for action in actions]


def _reward(method: Method, one: ScoredRollout) -> float:
    match method:
        case WholeTrajectory(_, reward):
            return reward(one.rollout.report)
        case PerAction() | Imitation():
            return float(one.right and is_eligible(one.rollout.report))


class _Written(msgspec.Struct, frozen=True):
    """A rollout as it is stored: a line of a file of completions, with its result."""

    problem_id: str
    sample: int
    completion: str
    correct: bool | None
    signals: list[float]
    advantages: list[float]
    failure: str | None


def write_rollouts(folder: Path, step: int, groups: Sequence[Sequence[ScoredRollout]], credit: GroupCredits) -> None:
    """Keep the rollouts of a step.

    Args:
        folder: where to.
        step: names the file.
        groups: the rollouts of each problem.
        credit: what they earn.

    Raises:
        DataError: the file cannot be written.
    """
    check_folder(folder)
    with output(folder / f"step-{step:08}.jsonl") as file:
        for group, earned in zip(groups, credit.groups, strict=True):
            for one, own in zip(group, earned, strict=True):
                report = one.rollout.report
                line = _Written(
                    problem_id=one.problem.id,
                    sample=one.number,
                    completion=one.text,
                    correct=report.answer_correct,
                    signals=[action.signal for action in report.actions],
                    advantages=[] if own.actions is None else list(own.actions.advantages),
                    failure=one.checked.failure,
                )
                file.write(msgspec.json.encode(line) + b"\n")
