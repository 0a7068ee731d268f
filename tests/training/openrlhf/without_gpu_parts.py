"""OpenRLHF's strategy and rollout actor without a GPU; import them after ``without_gpu.install``."""

from __future__ import annotations

from importlib import import_module
from operator import attrgetter
from typing import Any

import ray
from openrlhf.trainer.ray.vllm_engine import RolloutRayActor
from openrlhf.utils.deepspeed import DeepspeedStrategy
from without_gpu import ENGINE


class CpuStrategy(DeepspeedStrategy):
    """Without what DeepSpeed would compile."""

    def setup_distributed(self, *args: object, **options: object) -> None:
        """Join the other ranks."""
        backend = import_module("deepspeed.comm.torch")  # an import statement finds PyTorch behind that attribute
        vars(backend)["build_shm_op"] = lambda: None
        super().setup_distributed(*args, **options)

    def get_ds_train_config(self, optim_dict: dict[str, Any] | None = None, **options: object) -> dict[str, Any]:
        """DeepSpeed's configuration, with PyTorch's AdamW."""
        made: dict[str, Any] = super().get_ds_train_config(optim_dict, **options)
        if optim_dict is not None:
            made["optimizer"] = {**optim_dict, "params": {**optim_dict["params"], "torch_adam": True}}
        return made


def rollout_actor() -> Any:
    """OpenRLHF's actor whose engine receives weights without a GPU."""
    base: Any = attrgetter("__ray_metadata__.modified_class.__ray_actor_class__")(RolloutRayActor)

    class CpuRolloutActor(base):
        async def __init__(self, *args: object, **options: object) -> None:  # type: ignore[misc]  # Ray waits for it
            await super().__init__(*args, **options | {"worker_extension_cls": ENGINE})

    return ray.remote(CpuRolloutActor)
