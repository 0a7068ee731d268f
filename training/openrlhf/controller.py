"""The process that controls a run: OpenRLHF's trainer with our advantages, scores and state.

OpenRLHF's loss is a mean over the T tokens of an optimiser's step. The method divides the policy loss of a batch by N_B
and the distance to the reference policy by its B rollouts (``docs/training.md``):

    L = -1/N_B Σ_k Σ_j s(ρ A)  +  λ_KL/B Σ_k Σ_j k3

So the advantages are multiplied by T/N_B, and the coefficient of the KL is λ_KL T/B. Everything else is OpenRLHF's, on
any number of GPUs.
"""

from __future__ import annotations

from operator import attrgetter
from statistics import fmean
from typing import Any

import msgspec
import torch
from openrlhf.trainer.ppo_trainer import PPOTrainer
from openrlhf.trainer.ppo_utils.experience import Experience
from openrlhf.trainer.ppo_utils.experience_maker import RemoteExperienceMaker
from openrlhf.utils.logging_utils import init_logger

from proof_r1_formal.credit.assigner import BatchCredit
from proof_r1_formal.credit.methods import Rollout
from proof_r1_formal.data.native import from_json
from proof_r1_formal.integrations.runs import evaluation_scores
from training.openrlhf.task import Task

STATE = "proof_r1"
"""The key of a checkpoint with the averages of the rules."""
Trainer: Any = attrgetter("__ray_metadata__.modified_class.__ray_actor_class__")(PPOTrainer)
"""The class that OpenRLHF gave to ``ray.remote``; an actor cannot be subclassed."""


class ProofExperienceMaker(RemoteExperienceMaker):
    """Makes experiences whose advantages are those of the method. Its arguments are OpenRLHF's."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        settings = self.args.proof_r1
        self.assigner = settings.task("").assigner(self.tokenizer, method=settings.method)
        self.credit: BatchCredit | None = None
        self._kl_weight = self.kl_ctl.value

    @torch.no_grad()
    def compute_advantages_and_returns(self, experiences: list[Experience]) -> list[Experience]:
        """The experiences with the advantages of their tokens, and the coefficient of the KL for them."""
        rows = sorted(
            [(index, one, row) for one in experiences for row, index in enumerate(one.index)], key=lambda row: row[0]
        )
        rollouts: list[Rollout] = [one.labels[row] for _, one, row in rows]
        self.credit = credit = self.assigner.assign(rollouts, self.args.rollout.n_samples_per_prompt)
        tokens = sum([int(one.action_mask.sum()) for one in experiences])
        self.kl_ctl.value = self._kl_weight * tokens / len(rows)
        for one in experiences:
            one.advantages = torch.zeros_like(one.action_mask, dtype=torch.float32)
            one.kl = None  # as OpenRLHF's own advantages leave it
            one.labels = [""] * len(one.labels)  # the processes of the policy need no reports
        for (_, one, row), earned in zip(rows, credit.advantages, strict=True):
            # column j of a mask over actions is about token j + 1
            one.advantages[row, one.action_mask[row].bool()] = torch.tensor(earned) * (tokens / credit.divisor)
        return experiences


class Controller(Trainer):
    """Controls a run. Its arguments are OpenRLHF's."""

    experience_maker: Any

    def __init__(self, *args: Any, **sampling: Any) -> None:
        super().__init__(*args, **sampling)
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

    def train_step(self, rollout_samples: Any, global_step: int) -> tuple[dict[str, Any], int]:
        """A step; what the verifier says of it goes to the log: ``proof/signal``, ``proof/FVR`` …"""
        status, step = super().train_step(rollout_samples, global_step)
        credit: BatchCredit = self.experience_maker.credit
        found = {f"proof/{name}": value for name, value in (*credit.metrics.items(), ("broken", credit.broken))}
        return {**status, **found}, step

    def init_checkpoint_states(self) -> dict[str, Any]:
        """OpenRLHF's state of a run, also where the run was lost while its first checkpoint was written."""
        start = {"episode": 0, "global_step": 0, "total_consumed_prompts": 0, "data_loader_state_dict": {}}
        state: dict[str, Any] = super().init_checkpoint_states() or start
        if STATE in state:
            self.experience_maker.assigner.load_state_dict(state[STATE])
        return state

    def save_logs_and_checkpoints(self, global_step: int, logs_dict: Any = None, client_states: Any = None) -> None:
        """See OpenRLHF; checkpoints hold the averages of the rules, too."""
        averages = self.experience_maker.assigner.state_dict()
        super().save_logs_and_checkpoints(global_step, logs_dict, {**(client_states or {}), STATE: averages})

    @torch.no_grad()
    def evaluate(self, global_step: int, **sampling: Any) -> dict[str, float]:
        """Scores of all problems of the evaluation; OpenRLHF would ask for them in waves of a training batch."""
        wave, self.args.rollout.batch_size = self.args.rollout.batch_size, len(self.eval_dataloader)
        try:
            samples = self.samples_generator.generate_eval_samples(**sampling)
        finally:
            self.args.rollout.batch_size = wave
        problems = {}
        for label in self.eval_dataloader.dataset.labels:
            problem = from_json(msgspec.json.decode(label, type=Task).problem)
            problems[problem.id] = problem
        found = evaluation_scores(problems, [label.report for sample in samples for label in sample.labels])
        found["eval_tokens"] = fmean([float(sample.response_length.float().mean()) for sample in samples])
        for logger in filter(None, (self.wandb_logger, self.tensorboard_logger)):
            logger.log_eval(global_step, found)
        init_logger(__name__).info(f"Evaluation after step {global_step}: {found}")
        return found
