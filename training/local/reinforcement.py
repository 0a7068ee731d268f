"""A step of a method that learns from rollouts: problems to completions, verdicts, credit, and updated weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from types import MappingProxyType

import msgspec
import torch

from proof_r1_formal import Catalogue, catalogue, evaluate_metrics
from proof_r1_formal.evaluate.measures import Measure
from training.config import Config
from training.credit import Baselines, is_eligible
from training.local.chance import generator_of, seed_of
from training.local.clock import Stopwatch
from training.local.forward import Example
from training.local.logs import StepRecord
from training.local.model import Policy
from training.local.order import Order
from training.local.sampling import Sample, Sampling, sample
from training.local.tasks import Task
from training.local.update import Update, chunks, prepare, update
from training.local.verification import Checked, Workers
from training.methods import (
    METHODS,
    BatchCredit,
    Imitation,
    PerAction,
    Rollout,
    TokenCredit,
    WholeTrajectory,
    credit_batch,
    divisor,
    rollout_of,
)
from training.pieces import TokenText

SIGNALS = (0.0, 0.1, 0.3, 1.0)
"""What a signal can be."""


@dataclass(frozen=True, slots=True)
class Tried:
    """A completion with its verdicts."""

    task: Task
    sample: Sample
    text: TokenText
    checked: Checked
    rollout: Rollout


class _Written(msgspec.Struct, frozen=True):
    """A rollout as it is kept: a line of a file of completions, with what came of it."""

    problem_id: str
    sample: int
    completion: str
    correct: bool | None
    signals: list[float]
    advantages: list[float]
    failure: str | None


class ReinforcementLearner:
    """Learns from rollouts.

    Args:
        policy: is changed.
        optimiser: of it.
        tasks: of which each item of the order is one.
        config: of the run.
        workers: verify.
        folder: where rollouts are written to.
    """

    def __init__(
        self,
        policy: Policy,
        optimiser: torch.optim.Optimizer,
        tasks: Sequence[Task],
        config: Config,
        workers: Workers,
        folder: Path,
    ) -> None:
        self._policy, self._optimiser, self._tasks = policy, optimiser, tasks
        self._config, self._workers, self._folder = config, workers, folder
        self._rules: Catalogue = catalogue(config.data.rules)
        self._baselines = Baselines.start(self._rules, config.credit)
        self.order = Order(len(tasks), config.seed, config.data.epochs, config.rollout.retries)

    @property
    def baselines(self) -> dict[str, float]:
        """The moving averages of the rules."""
        return dict(self._baselines.averages)

    @baselines.setter
    def baselines(self, averages: Mapping[str, float]) -> None:
        self._baselines = Baselines(MappingProxyType(dict(averages)))

    def step(
        self, step: int, items: tuple[int, ...], upcoming: tuple[int, ...], *, epoch: int, rate: float
    ) -> tuple[StepRecord, tuple[int, ...]]:
        """Sample, verify, credit and learn.

        Args:
            step: its number, from 1.
            items: which tasks.
            upcoming: those of the next step; nothing is done for them yet.
            epoch: the pass that they are from.
            rate: the learning rate, for the record.

        Returns:
            What happened; and the items to be put back, as no rollout had the right answer.
        """
        del upcoming
        config, policy = self._config, self._policy
        watch = Stopwatch(policy.device)
        seed = seed_of(config.seed, "step", step)
        torch.manual_seed(seed)  # for dropout
        tasks = [self._tasks[item] for item in items]
        pending: dict[Sample, tuple[TokenText, Future[Checked]]] = {}

        def verify(one: Sample) -> None:
            text = policy.pieces.read(one.ids)
            pending[one] = text, self._workers.verify(tasks[one.prompt].problem, text.text, one.number)

        with watch.part("rollout"):
            prompts = [task.prompt for task in tasks]
            samples = sample(policy, prompts, self._sampling(), generator_of(seed, policy.device), ended=verify)
        sampled = list(chunks(samples, config.rollout.samples))
        with watch.part("reference"):
            examples = [[Example(tasks[one.prompt].prompt, one.ids) for one in group] for group in sampled]
            minis = prepare(policy, examples, config.batch)
        with watch.part("verification"):
            groups = [[self._tried(tasks[one.prompt], one, *pending[one]) for one in group] for group in sampled]
        credit = self._credit(groups)
        with watch.part("update"):
            done = update(
                policy,
                self._optimiser,
                minis,
                credit.groups,
                batch=config.batch,
                loss=config.loss,
                max_gradient_norm=config.optimiser.max_gradient_norm,
            )
        self._baselines = credit.baselines
        failed = [item for item, group in zip(items, groups, strict=True) if not any(map(_is_right, group))]
        self._write(step, groups, credit)
        return self._record(step, epoch, rate, groups, credit, done, len(failed), watch), tuple(failed)

    def _sampling(self) -> Sampling:
        rollout = self._config.rollout
        return Sampling(
            rollout.samples, rollout.temperature, rollout.top_p, rollout.max_response_tokens, rollout.parallel
        )

    def _tried(self, task: Task, one: Sample, text: TokenText, future: Future[Checked]) -> Tried:
        checked = future.result()
        return Tried(task, one, text, checked, rollout_of(checked.report, text, self._config.credit))

    def _credit(self, groups: Sequence[Sequence[Tried]]) -> BatchCredit:
        """What the tokens earn; nothing on problems whose premises contradict each other, as anything follows there."""
        usable = [all(one.checked.report.consistency != "inconsistent" for one in group) for group in groups]
        rollouts = [[one.rollout for one in group] for group, use in zip(groups, usable, strict=True) if use]
        credited = credit_batch(METHODS[self._config.method], rollouts, self._baselines, self._config.credit)
        earned = iter(credited.groups)
        return BatchCredit(
            tuple(
                [
                    next(earned) if use else tuple([TokenCredit((0.0,) * len(one.sample.ids), 0) for one in group])
                    for group, use in zip(groups, usable, strict=True)
                ]
            ),
            credited.baselines,
        )

    # -- telling ------------------------------------------------------------------------------------------------------

    def _record(
        self,
        step: int,
        epoch: int,
        rate: float,
        groups: Sequence[Sequence[Tried]],
        credit: BatchCredit,
        done: Update,
        failed: int,
        watch: Stopwatch,
    ) -> StepRecord:
        rollouts = [one for group in groups for one in group]
        credits_ = [one for group in credit.groups for one in group]
        reports = [one.rollout.report for one in rollouts]
        actions = [action for report in reports for action in report.actions]
        advantages = [a for one in credits_ for a in one.advantages]
        sizes = [size for one in rollouts for size in one.rollout.alignment.sizes]
        scores = evaluate_metrics({one.task.problem.id: one.task.problem for one in rollouts}, reports).overall.scores
        seconds, verification = watch.seconds(), sum([one.checked.seconds for one in rollouts])
        return StepRecord(
            step=step,
            epoch=epoch,
            learning_rate=rate,
            problems=len(groups),
            rollouts=len(rollouts),
            reward=fmean(map(self._reward, rollouts)),
            parsed=fmean([report.parsed for report in reports]),
            answered=fmean([report.answer is not None for report in reports]),
            correct=fmean(map(_is_right, rollouts)),
            verified=scores[Measure.VERIFIED].value,
            eligible=fmean(map(is_eligible, reports)),
            signal=fmean([action.signal for action in actions]) if actions else 0.0,
            signals={str(s): sum([a.signal == s for a in actions]) / max(1, len(actions)) for s in SIGNALS},
            fvr=scores[Measure.FVR].value,
            rvr=scores[Measure.RVR].value,
            actions=len(actions) / len(rollouts),
            closure=sum([action.in_closure for action in actions]) / len(rollouts),
            mapped=sum([size > 0 for size in sizes]),
            unmapped=sum([size == 0 for size in sizes]),
            units=divisor(credits_),
            positive=sum([a for a in advantages if a > 0.0]),
            negative=sum([a for a in advantages if a < 0.0]),
            silent=fmean([not any(a for one in group for a in one.advantages) for group in credit.groups]),
            failed=failed,
            put_back=0,
            broken=sum([one.checked.failure is not None for one in rollouts]),
            tokens=fmean([len(one.sample.ids) for one in rollouts]),
            cut=fmean([not one.sample.ended for one in rollouts]),
            entropy=done.entropy,
            kl=done.kl,
            loss=done.loss,
            policy_loss=done.policy_loss,
            clip_fraction=done.clip_fraction,
            gradient_norm=done.gradient_norm,
            baselines=self.baselines,
            seconds=seconds,
            verification_seconds=verification,
            verification_share=verification / seconds.total,
            memory=watch.memory(),
        )

    def _reward(self, one: Tried) -> float:
        match METHODS[self._config.method]:
            case WholeTrajectory(_, reward):
                return reward(one.rollout.report)
            case PerAction() | Imitation():
                return float(_is_right(one) and is_eligible(one.rollout.report))

    def _write(self, step: int, groups: Sequence[Sequence[Tried]], credit: BatchCredit) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / f"step-{step:08}.jsonl").open("wb") as file:
            for group, earned in zip(groups, credit.groups, strict=True):
                for one, own in zip(group, earned, strict=True):
                    report = one.rollout.report
                    advantages = () if own.actions is None else own.actions.advantages
                    line = _Written(
                        problem_id=one.task.problem.id,
                        sample=one.sample.number,
                        completion=one.text.text,
                        correct=report.answer_correct,
                        signals=[action.signal for action in report.actions],
                        advantages=list(advantages),
                        failure=one.checked.failure,
                    )
                    file.write(msgspec.json.encode(line) + b"\n")


def _is_right(one: Tried) -> bool:
    return one.checked.report.answer_correct is True
