"""The process that controls a run: OpenRLHF's trainer, with our experiences, log, evaluation and state in checkpoints.

In: the groups of actors. Out: in the run's folder what the local engine writes there, too: ``log.jsonl``, ``rollouts/``
and ``evaluations/``. A run that goes on has its baselines from the checkpoint; the log after it is truncated.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import NotRequired, TypedDict

import torch

from proof_r1_formal import Completion
from proof_r1_formal.credit.methods import METHODS
from training.common.evaluation import evaluation_record, write_answers
from training.common.logs import Log, Seconds
from training.common.order import chunks
from training.common.outcomes import StepInfo, Update, step_record, write_rollouts
from training.config import Config, ConfigError
from training.openrlhf.experience import ProofExperienceMaker, Row, pieces_of, scored_rollout
from training.openrlhf.seams import class_behind, rebind
from training.openrlhf.tokenizer import get_tokenizer


class State(TypedDict):
    """What a checkpoint holds beside the weights: OpenRLHF's place in the run, and ours."""

    episode: int
    global_step: int
    total_consumed_prompts: int
    data_loader_state_dict: dict[str, object]
    baselines: NotRequired[dict[str, float]]
    log: NotRequired[int]
    items: NotRequired[int]


class Controller(class_behind("openrlhf.trainer.ppo_trainer.PPOTrainer")):  # type: ignore[misc]
    """Controls a run. Its arguments are OpenRLHF's; the strategy holds the configuration."""

    experience_maker: ProofExperienceMaker

    def __init__(self, *args: object, **sampling: object) -> None:
        rebind("openrlhf.trainer.ppo_trainer.get_tokenizer", get_tokenizer)
        super().__init__(*args, **sampling)
        self._config: Config = self.strategy.config
        self._folder = Path(self._config.output)
        self.generate_kwargs["temperature"] = self._config.rollout.temperature  # OpenRLHF's is that of the loss
        stock = self.experience_maker
        self.experience_maker = ProofExperienceMaker(
            stock.actor_model_group,
            stock.critic_model_group,
            stock.reward_model_group,
            stock.initial_model_group,
            stock.kl_ctl,
            stock.strategy,
            stock.tokenizer,
        )

    def fit(self, global_step: int = 0) -> None:
        """Train, from the start or from the latest checkpoint; see OpenRLHF."""
        state = self.init_checkpoint_states()
        done, items = state["global_step"], self.strategy.items
        if state.get("items", items) != items:
            raise ConfigError(
                "data.train", f"the run that is to go on had {state['items']} items, and these are {items}"
            )
        if "baselines" in state:
            self.experience_maker.baselines = state["baselines"]
        board = self._config.tensorboard
        with Log(self._folder, size=state.get("log", 0), step=done, tensorboard=board) as self._log:
            if self.eval_dataloader is not None and self._config.evaluation.at_start and done == 0:
                self.evaluate(0)
            super().fit(global_step)

    def init_checkpoint_states(self) -> State:
        """Where the run is; at its start, too, if it was lost while its first checkpoint was written."""
        kept: State | None = super().init_checkpoint_states()
        return kept or State(episode=0, global_step=0, total_consumed_prompts=0, data_loader_state_dict={})

    def save_logs_and_checkpoints(
        self, global_step: int, logs_dict: dict[str, float] | None = None, client_states: State | None = None
    ) -> None:
        """Tell of a step, score the policy and keep a checkpoint if it is time; see OpenRLHF for the arguments."""
        logged, settings = logs_dict or {}, self._config.evaluation
        last = global_step == self.strategy.steps
        self._write_step_record(global_step, logged)
        if self.eval_dataloader is not None and (last or (settings.every and global_step % settings.every == 0)):
            self.evaluate(global_step)  # before the checkpoint, which ends the log for a run that resumes from it
        if last:
            self.args.ckpt.save_steps = 1  # there is one at the end
        ours = {"baselines": self.experience_maker.baselines, "log": self._log.size, "items": self.strategy.items}
        super().save_logs_and_checkpoints(global_step, logged, {**(client_states or {}), **ours})

    def _write_step_record(self, step: int, logged: Mapping[str, float]) -> None:
        config, maker = self._config, self.experience_maker
        made = maker.made
        assert made is not None  # there was a step
        write_rollouts(self._folder / "rollouts", step, made.groups, made.credit)
        update = Update(
            loss=logged["policy_loss"],
            policy_loss=logged["surrogate"],
            kl=made.kl,
            entropy=made.surprise,
            clip_fraction=logged["clip_fraction"],
            gradient_norm=logged["actor_grad_norm"],
        )
        seconds = Seconds(
            rollout=logged["timing/generation"],
            reference=logged["timing/make_experience"],
            update=logged["timing/ppo_train"] + logged["timing/broadcast"],
            total=logged["timing/step_total"],
        )
        info = StepInfo(
            step=step,
            epoch=(step - 1) * config.batch.problems // self.strategy.items,
            learning_rate=logged["actor_lr"],
            seconds=seconds,
            memory=0.0,  # of other processes
            vllm_kl=made.mismatch,
        )
        self._log.write(step_record(METHODS[config.method], made.groups, made.credit, update, info))

    @torch.no_grad()
    def evaluate(self, global_step: int, **_: object) -> dict[str, float]:
        """Score the policy as the configuration says; OpenRLHF gets none of these scores."""
        config, settings, start = self._config, self._config.evaluation, time.perf_counter()
        sampling = {
            **self.generate_kwargs,
            "temperature": settings.temperature,
            "top_p": settings.top_p,
            "n_samples_per_prompt": settings.samples,
        }
        sampled = self.samples_generator.generate_eval_samples(**sampling)
        pieces = pieces_of(self.args.actor.model_name_or_path)
        answers = [
            scored_rollout(Row(one, 0), number, pieces, config)
            for group in chunks(sampled, settings.samples)
            for number, one in enumerate(group)
        ]
        record = evaluation_record(
            {one.problem.id: one.problem for one in answers},
            [one.checked for one in answers],
            {(one.problem.id, one.number): one.tokens for one in answers},
            step=global_step,
            samples=settings.samples,
            seconds=time.perf_counter() - start,
        )
        write_answers(
            self._folder / "evaluations" / f"step-{global_step:08}.jsonl",
            [Completion(problem_id=one.problem.id, sample=one.number, completion=one.text) for one in answers],
        )
        self._log.write(record)
        return {}
