"""The loop: from a configuration, or from the latest checkpoint in its folder, to a trained model.

A run's folder holds ``config.yaml``, ``log.jsonl`` and ``tensorboard/`` (``logs``), ``checkpoints/`` (``checkpoint``),
``rollouts/`` and ``evaluations/`` (completions, as ``proof-r1 show`` and ``evaluate`` read them), and at the end
``model/``: the trained model, or its adapters. A model from scratch starts as what is in ``initial/``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import torch
from msgspec import structs

from proof_r1_formal import Problem, Settings
from proof_r1_formal.credit.methods import METHODS, Imitation
from proof_r1_formal.credit.verification import Workers
from proof_r1_formal.outputs import check_folder, write_output
from training.common.display import Display
from training.common.folders import write_folder
from training.common.logs import EvaluationRecord, ImitationRecord, Log, StepRecord
from training.common.order import Order, Position
from training.common.start import check_same_run, starting_model
from training.common.tasks import Task, demonstrations, log_left_out, make_tasks, read_files, training_problems
from training.config import Config, ConfigError, write_config
from training.local import checkpoint
from training.local.checkpoint import State
from training.local.evaluation import evaluate_policy
from training.local.imitation import ImitationLearner
from training.local.model import Policy, load_policy, save_model
from training.local.reinforcement import ReinforcementLearner
from training.local.update import learning_rate, make_optimiser


class Learner(Protocol):
    """The steps of a method."""

    baselines: dict[str, float]

    @property
    def order(self) -> Order:
        """The order of the items of steps."""

    def step(
        self, step: int, items: tuple[int, ...], upcoming: tuple[int, ...], *, epoch: int, rate: float
    ) -> tuple[StepRecord | ImitationRecord, tuple[int, ...]]:
        """Make a step. Returns its record, and the items to put back."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The end of a run.

    Attributes:
        step: number of finished steps.
        model: folder of the trained model; None if the run was asked to stop before its end.
    """

    step: int
    model: Path | None


def train(config: Config, display: Display, *, stopping: Callable[[], bool] = lambda: False) -> Finished:
    """Train, from the start or from the latest checkpoint.

    Args:
        config: of the run.
        display: logs progress.
        stopping: called after each step; if true, the run writes a checkpoint and stops.

    Raises:
        ProofR1Error: what the configuration names cannot be used, or training diverged.
    """
    folder = Path(config.output)
    state = starting_state(config)
    problems = training_problems(config, display)
    policy = load_policy(config.model, starting_model(config, problems), reference=config.method != "sft")
    _check_context(config, policy)
    tasks = _tasks(problems, policy, config, display)
    if not tasks:
        raise ConfigError("data.train", "there is no problem to train on")
    optimiser = make_optimiser(policy, config.optimiser)
    check_folder(folder)
    write_output(folder / "config.yaml", write_config(config).encode())
    log = Log(folder, size=state.log, step=state.step, tensorboard=config.tensorboard)
    with _workers(config) as workers, log:
        learner: Learner
        if isinstance(METHODS[config.method], Imitation):
            given = demonstrations(tasks, policy.tokenizer, config, display)
            learner = ImitationLearner(policy, optimiser, given, config, workers)
        else:
            learner = ReinforcementLearner(policy, optimiser, tasks, config, workers, folder / "rollouts")
        asked = evaluation_tasks(policy, config, display)
        run = _Run(config, policy, optimiser, learner, asked, workers, log, display)
        return run.go(state, stopping)


def evaluate(config: Config, display: Display) -> EvaluationRecord:
    """Score the latest checkpoint of a run, or its initial model.

    Args:
        config: of the run.
        display: logs it.

    Raises:
        ProofR1Error: there is nothing to score on, or the model cannot be used.
    """
    latest = checkpoint.latest(_checkpoints(config))
    start = starting_model(config, training_problems(config, display) if config.model.path is None else [])
    policy = load_policy(config.model, start, reference=False)
    step = 0
    if latest is not None:
        checkpoint.restore(latest, policy)
        step = checkpoint.read_state(latest).step
    tasks = evaluation_tasks(policy, config, display)
    if not tasks:
        raise ConfigError("data.evaluation", "there is no problem to score on")
    with _workers(config) as workers:
        record = evaluate_policy(policy, tasks, config, workers, step=step, out=_evaluation(config, step))
    display.show(record)
    return record


# -- the loop ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Run:
    """Everything that steps need."""

    config: Config
    policy: Policy
    optimiser: torch.optim.Optimizer
    learner: Learner
    asked: tuple[Task, ...]
    workers: Workers
    log: Log
    display: Display

    def go(self, state: State, stopping: Callable[[], bool]) -> Finished:
        """Make the steps that are missing."""
        config, order = self.config, self.learner.order
        if state.step:
            self._restore(state)
        self.display.start(config.method, done=state.step, total=self._steps())
        if state.step == 0 and config.evaluation.at_start:
            self._evaluate(0)
        step, position, saved = state.step, state.position, state.step
        while not (over := step >= config.optimiser.steps or not order.take(position, 1)[0]) and not stopping():
            step += 1
            position = self._step(step, position)
            last = step == config.optimiser.steps or not order.take(position, 1)[0]
            if last or _due(step, config.evaluation.every):
                self._evaluate(step)
            if last or _due(step, config.checkpoint.every):
                self._save(step, position)
                saved = step
        if not over:
            if saved < step:
                self._save(step, position)
            return Finished(step, None)
        model = Path(config.output) / "model"
        write_folder(model, lambda new: save_model(self.policy, new))
        return Finished(step, model)

    def _step(self, step: int, position: Position) -> Position:
        order, size = self.learner.order, self.config.batch.problems
        items, position = order.take(position, size)
        rate = learning_rate(self.config.optimiser, step - 1)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        upcoming, _ = order.take(position, size)
        record, again = self.learner.step(step, items, upcoming, epoch=position.epoch, rate=rate)
        after = order.put_back(position, again)
        if isinstance(record, StepRecord):
            record = structs.replace(record, put_back=len(after.again) - len(position.again))
        self.log.write(record)
        self.display.show(record)
        return after

    def _evaluate(self, step: int) -> None:
        if self.asked:
            out = _evaluation(self.config, step)
            record = evaluate_policy(self.policy, self.asked, self.config, self.workers, step=step, out=out)
            self.log.write(record)
            self.display.show(record)

    def _save(self, step: int, position: Position) -> None:
        state = State(
            step=step,
            position=position,
            items=self.learner.order.count,
            baselines=self.learner.baselines,
            log=self.log.size,
            config=write_config(self.config),
        )
        checkpoint.save(_checkpoints(self.config), state, self.policy, self.optimiser, keep=self.config.checkpoint.keep)

    def _restore(self, state: State) -> None:
        if state.items != self.learner.order.count:
            problem = f"the run had {state.items} items to train on, now there are {self.learner.order.count}"
            raise ConfigError("data", f"{problem}; choose another output folder")
        latest = checkpoint.latest(_checkpoints(self.config))
        assert latest is not None  # the state is from there
        checkpoint.restore(latest, self.policy, self.optimiser)
        self.learner.baselines = state.baselines
        self.display.log(f"resuming after step {state.step}")

    def _steps(self) -> int:
        """How many steps there are; problems that are put back make it more, up to the configured number."""
        order = self.learner.order
        if order.retries:
            return self.config.optimiser.steps
        return min(self.config.optimiser.steps, -(-order.count * order.epochs // self.config.batch.problems))


def _due(step: int, every: int) -> bool:
    return every > 0 and step % every == 0


# -- where it starts --------------------------------------------------------------------------------------------------


def starting_state(config: Config) -> State:
    """The state of the latest checkpoint, or the initial state.

    Raises:
        ConfigError: its folder holds a run that must not be resumed, or one with another configuration.
    """
    folder = Path(config.output)
    if not config.checkpoint.resume and (folder / "log.jsonl").exists():
        raise ConfigError("checkpoint.resume", f"{folder} holds a run already; let it go on, or choose another output")
    latest = checkpoint.latest(_checkpoints(config))
    text = write_config(config)
    if latest is None:
        return State(step=0, position=Position(), items=0, baselines={}, log=0, config=text)
    state = checkpoint.read_state(latest)
    check_same_run(config, state.config)
    return state


def evaluation_tasks(policy: Policy, config: Config, display: Display) -> tuple[Task, ...]:
    """The tasks of the evaluation."""
    problems = list(read_files(config.data.evaluation, config.data, display).values())[: config.evaluation.problems]
    return _tasks(problems, policy, config, display)


def _tasks(problems: list[Problem], policy: Policy, config: Config, display: Display) -> tuple[Task, ...]:
    made = make_tasks(problems, policy.tokenizer, config.data, max_prompt_tokens=config.rollout.max_prompt_tokens)
    log_left_out(made.left_out, "prompts", display)
    return made.tasks


def _workers(config: Config) -> Workers:
    settings = Settings(rules=config.data.rules, evaluation=False)
    return Workers(settings, count=config.rollout.workers, timeout=config.rollout.timeout)


def _checkpoints(config: Config) -> Path:
    return Path(config.output) / "checkpoints"


def _evaluation(config: Config, step: int) -> Path:
    return Path(config.output) / "evaluations" / f"step-{step:08}.jsonl"


def _check_context(config: Config, policy: Policy) -> None:
    longest = config.rollout.max_prompt_tokens + config.rollout.max_response_tokens
    positions = policy.model.config.get_text_config().max_position_embeddings
    if longest > positions:
        raise ConfigError("rollout", f"prompt and completion can have {longest} tokens, the model reads {positions}")
