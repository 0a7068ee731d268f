"""One rank of the policy's processes: ``python rank.py FOLDER``, with the environment of ``torch.distributed``.

In: ``FOLDER/batch.pt``: OpenRLHF's arguments, the experiences of all ranks, a model, the coefficient of the KL. Out:
``weights.pt``: the weights after one step of gradient descent with rate 1, so that the difference is the gradient. All
of it in float32, which DeepSpeed can do and OpenRLHF has no flag for.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from without_gpu import install

install()

import torch  # noqa: E402
from openrlhf.models import Actor  # noqa: E402
from openrlhf.trainer.ray.ppo_actor import ActorPPOTrainer  # noqa: E402
from transformers import AutoModelForCausalLM  # noqa: E402
from without_gpu_parts import CpuStrategy  # noqa: E402


class Descent(CpuStrategy):
    """Plain gradient descent in float32."""

    def get_ds_train_config(self, optim_dict: dict[str, Any] | None = None, **options: object) -> dict[str, Any]:
        made: dict[str, Any] = super().get_ds_train_config(optim_dict, **options)
        made["zero_allow_untested_optimizer"] = True
        made["bf16"] = {"enabled": False}
        made["gradient_clipping"] = 0.0
        if optim_dict is not None:
            made["optimizer"] = {"type": "SGD", "params": {"lr": 1.0}}
        return made


def main() -> None:
    folder = Path(sys.argv[1])
    args, parts, model, kl = torch.load(folder / "batch.pt", weights_only=False)
    strategy = Descent(
        micro_train_batch_size=args.train.micro_batch_size,
        train_batch_size=args.train.batch_size,
        zero_stage=args.ds.zero_stage,
        args=args,
    )
    strategy.setup_distributed()
    actor = Actor(
        AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32), temperature=args.rollout.temperature
    )
    actor.packing_samples = False
    settings = {
        "optim": "adam",
        "adam": vars(args.actor.adam),
        "lr_scheduler": "constant",
        "lr_warmup_ratio": 0.0,
        "max_norm": 0.0,
        "scheduler_steps": 1,
    }
    actor, optimiser, scheduler = strategy.prepare((actor, settings))
    trainer = ActorPPOTrainer(
        strategy,
        actor,
        ema_model=None,
        actor_optim=optimiser,
        actor_scheduler=scheduler,
        micro_train_batch_size=args.train.micro_batch_size,
    )
    for experience in parts[strategy.get_rank()]:
        trainer.replay_buffer.append(experience)
    trainer.ppo_train(kl)
    if strategy.is_rank_0():
        torch.save(actor.model.module.state_dict(), folder / "weights.pt")


if __name__ == "__main__":
    main()
