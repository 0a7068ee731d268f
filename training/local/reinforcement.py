"""A step of a method that learns from rollouts: problems to completions, verdicts, credit, and updated weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from types import MappingProxyType

import torch

from proof_r1_formal import Catalogue, Problem, catalogue
from proof_r1_formal.credit.methods import METHODS, credit_batch, rollout_of
from proof_r1_formal.credit.pieces import TokenText
from proof_r1_formal.credit.terms import Baselines
from proof_r1_formal.credit.verification import Checked, Workers
from proof_r1_formal.decoding.grammar import GrammarError, completion_grammar
from training.common.logs import StepRecord
from training.common.order import Order, chunks
from training.common.outcomes import ScoredRollout, StepInfo, failed, step_record, write_rollouts
from training.common.tasks import Task
from training.config import Config
from training.local.chance import generator_of, seed_of
from training.local.clock import Stopwatch
from training.local.forward import Example
from training.local.model import Policy
from training.local.sampling import Sample, Sampling, sample
from training.local.update import prepare, update


class ReinforcementLearner:
    """Learns from rollouts.

    Args:
        policy: is changed.
        optimiser: of it.
        tasks: of which each item of the order is one.
        config: of the run.
        workers: verify.
        folder: of the rollouts.
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
            items: numbers of the tasks.
            upcoming: those of the next step; nothing is done for them yet.
            epoch: the pass that they are from.
            rate: the learning rate, for the record.

        Returns:
            The record of the step, and the items to put back because no rollout had the right answer.
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
            generator = generator_of(seed, policy.device)
            grammars = [self._grammar(task.problem) for task in tasks] if config.rollout.constrain else None
            samples = sample(policy, prompts, self._sampling(), generator, ended=verify, grammars=grammars)
        sampled = list(chunks(samples, config.rollout.samples))
        with watch.part("reference"):
            examples = [[Example(tasks[one.prompt].prompt, one.ids) for one in group] for group in sampled]
            minis = prepare(policy, examples, config.batch, temperature=config.rollout.learning_temperature)
        with watch.part("verification"):
            groups = [[self._scored(tasks[one.prompt], one, *pending[one]) for one in group] for group in sampled]
        rollouts = [[one.rollout for one in group] for group in groups]
        credit = credit_batch(METHODS[config.method], rollouts, self._baselines, config.credit)
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
        write_rollouts(self._folder, step, groups, credit)
        record = step_record(
            METHODS[config.method], groups, credit, done, StepInfo(step, epoch, rate, watch.seconds(), watch.memory())
        )
        return record, tuple([item for item, group in zip(items, groups, strict=True) if failed(group)])

    def _grammar(self, problem: Problem) -> str | None:
        """The grammar of its answers; none where nothing can be proved."""
        try:  # a model that is asked the short question writes no thoughts
            found = completion_grammar(problem, self._rules)
            return found.to_llguidance(thoughts=self._config.data.prompt != "short")
        except GrammarError:
            return None

    def _sampling(self) -> Sampling:
        rollout = self._config.rollout
        return Sampling(
            rollout.samples, rollout.temperature, rollout.top_p, rollout.max_response_tokens, rollout.parallel
        )

    def _scored(self, task: Task, one: Sample, text: TokenText, future: Future[Checked]) -> ScoredRollout:
        checked = future.result()
        rollout = rollout_of(checked.report, text, self._config.credit, verified=checked.failure is None)
        return ScoredRollout(task.problem, one.number, text.text, len(one.ids), one.ended, checked, rollout)
