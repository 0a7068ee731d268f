"""Credit per action in verl 0.9: the trainer of ``trainer.v1.trainer_mode=proof_r1``, in verl's registry of trainers.

verl's estimators of advantages get rewards, masks and groups, but neither tokens nor problems, so the method does not
fit there. Its registry of trainers takes subclasses: this one replaces the estimator, and nothing else. With
``loss_agg_mode=seq-mean-token-sum`` verl's loss divides the sum over tokens by the B rollouts of a batch, so advantages
are multiplied by B/N_B, and loss and KL are those of ``docs/training.md``.

Set ``VERL_USE_EXTERNAL_MODULES=proof_r1_formal.integrations.verl_trainer``, and give ``+proof_r1.method=…``,
``+proof_r1.preset=…``, ``+proof_r1.rules=…``, ``+proof_r1.workers=…`` or ``+proof_r1.timeout=…``.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
import transfer_queue as tq
from omegaconf import OmegaConf, open_dict
from tensordict import TensorDict
from verl.trainer.ppo.utils import need_critic
from verl.trainer.ppo.v1.trainer_base import register_trainer
from verl.trainer.ppo.v1.trainer_sync import PPOTrainerSync

from proof_r1_formal.credit.assigner import CreditAssigner
from proof_r1_formal.credit.methods import Rollout
from proof_r1_formal.data.native import from_json
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.integrations.runs import load_averages, save_averages
from proof_r1_formal.integrations.verl import DATA_SOURCE

LOG = logging.getLogger(__name__)
_FIELDS_OF_OURS = {"method", "preset", "rules", "workers", "timeout"}
"""Of ``credit.assigner.CreditAssigner``, in the section ``proof_r1`` of verl's configuration."""
FIELDS = ["uid", "data_source", "reward_model", "responses", "response_mask"]


@register_trainer("proof_r1")
class ProofTrainer(PPOTrainerSync):
    """verl's synchronous trainer with an advantage for every token; rows are those of ``integrations.verl.rows``.

    Raises:
        ProofR1Error: a setting under which verl's loss is not that of the method, with the reason.
    """

    def __init__(self, config: Any) -> None:
        check(config)
        with open_dict(config):
            config.trainer.v1.trainer_mode = "sync"  # verl chooses parts of the trainer by this name
        super().__init__(config)
        self._given: dict[str, Any] = OmegaConf.to_container(config.get("proof_r1", OmegaConf.create()))

    @cached_property
    def assigner(self) -> CreditAssigner:
        """Made when the tokenizer is known."""
        return CreditAssigner(self.tokenizer, **self._given)

    def _compute_advantage(self, batch: Any, metrics: dict[str, Any]) -> Any:
        """Verify the rollouts of a batch, and store the advantages of their tokens in verl's queue.

        A session that fails leaves no rollout, and verl fills the batch with rows of a prompt of their own in which no
        token is the model's. These rows have no credit, and the missing rollout no part in its group.
        """
        data = tq.kv_batch_get(keys=batch.keys, partition_id=batch.partition_id, select_fields=FIELDS)
        uids, sources = list(data["uid"]), list(data["data_source"])
        if other := sorted({one for one in sources if one != DATA_SOURCE}):
            raise ProofR1Error(
                f"data_source: rows of {other[0]!r} are in the batch; this trainer takes {DATA_SOURCE!r}"
            )
        ids = [one.tolist() for one in data["responses"].unbind()]
        problems = [from_json(one["ground_truth"]) for one in data["reward_model"]]
        groups = _groups_of(uids, data["response_mask"].unbind())
        order = [row for group in groups.values() for row in group]
        found = self.assigner.verify([problems[row] for row in order], [ids[row] for row in order])
        verified = dict(zip(order, found, strict=True))
        size = self.config.actor_rollout_ref.rollout.n
        places: list[int | None] = []  # the rows group by group; None for a missing rollout
        rollouts: list[Rollout] = []
        for uid, group in groups.items():
            problem, lacking = problems[group[0]], size - len(group)
            if lacking < 0:
                raise ProofR1Error(f"problem {problem.id} has {len(group)} responses, more than rollout.n={size}")
            if lacking:
                LOG.warning("problem %s (uid %s): %d of %d sessions gave no response", problem.id, uid, lacking, size)
            places += [*group, *[None] * lacking]
            rollouts += [*[verified[row] for row in group], *[self.assigner.missing(problem)] * lacking]
        credit = self.assigner.assign(rollouts, size)
        scale = len(ids) / credit.divisor
        advantages = [torch.zeros(len(one)) for one in ids]
        for place, earned in zip(places, credit.advantages, strict=True):
            if place is not None:
                advantages[place] = torch.tensor(earned[: len(ids[place])], dtype=torch.float32) * scale
        nested = torch.nested.as_nested_tensor(advantages, layout=torch.jagged)
        noted = {**credit.metrics, "broken": credit.broken}
        metrics.update({f"proof/{name}": value for name, value in noted.items()})
        fields = TensorDict({"advantages": nested, "returns": nested.clone()}, batch_size=len(ids))
        return tq.kv_batch_put(keys=batch.keys, partition_id=batch.partition_id, fields=fields)

    # -- checkpoints --------------------------------------------------------------------------------------------------

    def _save_checkpoint(self) -> None:
        folder = Path(self.config.trainer.default_local_dir) / f"global_step_{self.global_steps}"
        folder.mkdir(parents=True, exist_ok=True)  # before verl declares the checkpoint complete
        save_averages(folder, self.assigner)
        super()._save_checkpoint()

    def _load_checkpoint(self) -> None:
        super()._load_checkpoint()
        if self.global_steps:
            trainer = self.config.trainer
            given = trainer.resume_from_path if trainer.resume_mode == "resume_path" else None
            folder = Path(given or Path(trainer.default_local_dir) / f"global_step_{self.global_steps}")
            load_averages(folder, self.assigner)


def _groups_of(uids: Sequence[str], masks: Iterable[torch.Tensor]) -> dict[str, list[int]]:
    """The rows of each prompt; those without a token of the model's own are in none.

    Args:
        uids: of the prompts of the rows.
        masks: for each row, which tokens are the model's own.

    Raises:
        ProofR1Error: a row has tokens of both kinds.
    """
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for row, (uid, mask) in enumerate(zip(uids, masks, strict=True)):
        if bool(mask.all()):
            groups[uid].append(row)
        elif bool(mask.any()):
            raise ProofR1Error("a response has tokens of tools or of an environment; only the model's own have credit")
    return dict(groups)


def check(config: Any) -> None:
    """Refuse settings of verl under which its loss is not that of the method.

    Raises:
        ProofR1Error: the setting, what it must be, and why.
    """
    actor, algorithm = config.actor_rollout_ref.actor, config.algorithm
    if unknown := sorted((config.get("proof_r1") or {}).keys() - _FIELDS_OF_OURS):
        raise ProofR1Error(f"proof_r1.{unknown[0]} is not known; there are {', '.join(sorted(_FIELDS_OF_OURS))}")
    for name, found, wanted, why in (
        ("actor_rollout_ref.actor.loss_agg_mode", actor.loss_agg_mode, "seq-mean-token-sum", "it divides by B alone"),
        (
            "actor_rollout_ref.actor.ppo_mini_batch_size",
            actor.ppo_mini_batch_size,
            config.data.train_batch_size,
            "N_B is that of the whole batch",
        ),
        ("critic.enable", need_critic(config), False, "tokens have advantages without a critic"),
        ("algorithm.use_kl_in_reward", bool(algorithm.use_kl_in_reward), False, "rewards are not used; use_kl_loss"),
        (
            "actor_rollout_ref.actor.kl_loss_type",
            actor.kl_loss_type if actor.use_kl_loss else "low_var_kl",
            "low_var_kl",
            "the KL is estimated by k3",
        ),
        *[
            (f"algorithm.rollout_correction.{name}", (algorithm.get("rollout_correction") or {}).get(name), None, why)
            for name, why in (("rollout_is", "it weighs tokens"), ("rollout_rs", "it leaves out tokens"))
        ],
    ):
        if found != wanted:
            raise ProofR1Error(f"{name} must be {wanted!r} and is {found!r}: {why}")
