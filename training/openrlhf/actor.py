"""The policy's process: the loss in place of OpenRLHF's, its divisor, and merged weights for the engines.

In: experiences with advantages and ``info["units"]``. Out: steps of the optimiser along the gradient of
``training.loss``.

OpenRLHF divides by the tokens of an optimiser's step; we divide by its mapped actions (N_B), and the distance to the
reference by its rollouts (|B|). DeepSpeed divides each gradient by the number of micro-batches that it adds up, and
takes the mean over ranks: the loss is multiplied by both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace

import torch
from openrlhf.models import Actor
from openrlhf.trainer.ppo_utils.experience import Experience
from openrlhf.trainer.ppo_utils.replay_buffer import NaiveReplayBuffer
from openrlhf.trainer.ray import ppo_actor
from openrlhf.utils.loss_utils import iter_grad_accum_global_norm
from peft import PeftModel
from peft.tuners.lora import Linear
from torch import Tensor
from torch.utils.data import DataLoader

from training.common.order import chunks
from training.config import LossSettings
from training.loss import policy_loss
from training.openrlhf.experience import UNITS
from training.openrlhf.seams import class_behind, rebind
from training.openrlhf.strategy import Strategy
from training.openrlhf.tokenizer import get_tokenizer

Found = tuple[Tensor, Tensor, Tensor, None, None]
"""Loss, share of clipped tokens, mean log ratio, and two that OpenRLHF's corrections would fill."""

Normalisers = dict[str, float | Tensor]
"""What is the same for the micro-batches of a mini-batch: OpenRLHF's, and N_B."""

# -- the loss ---------------------------------------------------------------------------------------------------------


def action_loss(
    log_probs: Tensor,
    old_log_probs: Tensor,
    advantages: Tensor,
    action_mask: Tensor,
    rollout_log_probs: Tensor | None = None,
    *,
    reference: Tensor | None,
    settings: LossSettings,
    units: float,
    rollouts: float,
    scale: float,
    told: dict[str, object],
    **_: object,
) -> Found:
    """``training.loss.policy_loss`` with the face of OpenRLHF's ``PolicyLoss``.

    Args:
        log_probs, old_log_probs, advantages, action_mask: of a micro-batch.
        rollout_log_probs: those of the engine, which are not used.
        reference: log-probabilities under the reference policy; None where its weight is 0.
        settings: the constants.
        units, rollouts: N_B and |B| of the mini-batch.
        scale: what DeepSpeed will divide the gradient by.
        told: gets what is logged.
    """
    del rollout_log_probs
    mask = action_mask.bool()
    found = policy_loss(
        log_probs.float(),
        old_log_probs.float(),
        (old_log_probs if reference is None else reference).float(),
        advantages,
        mask,
        divisor=max(1.0, units),
        rollouts=round(rollouts),
        settings=settings,
    )
    credited = (advantages != 0.0).sum().clamp(min=1)
    told |= {"surrogate": found.policy * scale, "clip_fraction": found.clipped / credited}
    moved = torch.where(mask, old_log_probs - log_probs.detach(), torch.zeros_like(old_log_probs))
    return found.value * scale, found.clipped / credited, moved.sum() / mask.sum(), None, None


def with_units(
    batches: Iterable[Experience], strategy: Strategy, accumulated: int, mask_of: Callable[[Experience], Tensor]
) -> Iterator[tuple[Experience, Normalisers]]:
    """OpenRLHF's pairs of micro-batch and normalisers, with N_B of their mini-batch among these."""
    for window in chunks(list(batches), max(1, accumulated)):
        units = torch.tensor([sum([float(torch.as_tensor(one.info[UNITS]).sum()) for one in window])])
        total = strategy.all_reduce(units, op="sum").item()
        for batch, normalisers in iter_grad_accum_global_norm(iter(window), strategy, accumulated, mask_of):
            yield batch, {**normalisers, UNITS: total}


def in_order(
    dataset: NaiveReplayBuffer,
    *,
    batch_size: int,
    shuffle: bool,
    drop_last: bool,
    pin_memory: bool,
    collate_fn: Callable[[list[Experience]], Experience],
) -> DataLoader[Experience]:
    """Rollouts in the order of their problems, so that a mini-batch is one of problems; see PyTorch."""
    del shuffle
    return DataLoader(dataset, batch_size=batch_size, drop_last=drop_last, pin_memory=pin_memory, collate_fn=collate_fn)


class ActionTrainer(ppo_actor.ActorPPOTrainer):
    """Updates the policy."""

    actor: Actor

    def training_step(
        self, experience: Experience, kl_ctl: float, step: int, loss_batch_info: Normalisers
    ) -> dict[str, object]:
        """A pass over a micro-batch, see OpenRLHF; its own distance to the reference weighs nothing."""
        del kl_ctl
        normalisers = dict(loss_batch_info)
        accumulated = max(1, self.strategy.accumulated_gradient)
        self.actor_loss_fn = partial(
            action_loss,
            reference=experience.base_action_log_probs,
            settings=self.strategy.config.loss,
            units=float(normalisers.pop(UNITS)),
            rollouts=float(normalisers["global_batch_size"]) * accumulated,
            scale=float(normalisers["dp_size"]) * accumulated,
            told=experience.info,
        )
        done: dict[str, object] = super().training_step(experience, 0.0, step, normalisers)
        return done

    def broadcast_to_vllm(self) -> None:
        """Send the weights to the engines, adapters merged: the names of unmerged ones mean nothing to them."""
        own, policy = self.actor, self.actor.model.module
        if isinstance(policy, PeftModel):
            weights = merged(policy)
            stand_in = SimpleNamespace(module=SimpleNamespace(named_parameters=lambda: iter(weights)))
            self.actor = SimpleNamespace(is_vlm=False, model=stand_in)
        try:
            super().broadcast_to_vllm()
        finally:
            self.actor = own


# -- weights ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Merged:
    """A weight with its adapter in it; added up when it is asked for, so that there is never a copy of them all.

    Attributes:
        weight: without the adapter.
        layer: that has the adapter.
    """

    weight: Tensor
    layer: Linear

    requires_grad = True

    @property
    def shape(self) -> torch.Size:
        """Of the weight."""
        return self.weight.shape

    @property
    def dtype(self) -> torch.dtype:
        """Of the weight."""
        return self.weight.dtype

    @property
    def data(self) -> Tensor:
        """The sum, added in float32 and rounded once: rounded first, small updates of large weights would be lost."""
        with torch.no_grad():
            sums: Tensor = self.weight.float() + self.layer.get_delta_weight("default").float()
        return sums.to(self.dtype)


def merged(policy: PeftModel) -> list[tuple[str, Tensor | Merged]]:
    """The weights of a model with adapters under the names that they have without."""
    base = policy.get_base_model()
    layers = {name: layer for name, layer in base.named_modules() if isinstance(layer, Linear)}
    weights: list[tuple[str, Tensor | Merged]] = []
    for name, weight in base.named_parameters():
        if ".lora_" in name:
            continue
        owner, adapted, _ = name.partition(".base_layer.weight")
        plain = name.replace(".base_layer.", ".")
        weights.append((plain, Merged(weight, layers[owner]) if adapted else weight))
    return weights


# -- the process ------------------------------------------------------------------------------------------------------


def compose() -> None:
    """Put trainer, divisor, order and tokenizer into OpenRLHF's module, in the process of the policy."""
    module = "openrlhf.trainer.ray.ppo_actor"
    rebind(f"{module}.ActorPPOTrainer", ActionTrainer)
    rebind(f"{module}.iter_grad_accum_global_norm", with_units)
    rebind(f"{module}.DataLoader", in_order)
    rebind(f"{module}.get_tokenizer", get_tokenizer)


class PolicyActor(class_behind("openrlhf.trainer.ray.ppo_actor.PolicyModelActor")):  # type: ignore[misc]
    """OpenRLHF's, with this trainer."""

    def init_model_from_pretrained(self, *args: object, **options: object) -> object:
        """Load the policy; see OpenRLHF for the arguments."""
        compose()
        return super().init_model_from_pretrained(*args, **options)
