"""Start a command of verl, and end where its workers would ask for GPUs: ``verl_start.py OVERRIDE …``.

verl's entry point reads and validates the configuration. Then the trainer that it names is made, and with it what
verl's workers make of their parts of the configuration before they load a model: verl's own classes, which check
themselves.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from types import ModuleType
from typing import Any

PARTS = "actor", "rollout", "model"
"""The parts of a worker's configuration."""


def start(config: Any, task_runner_class: Any) -> None:
    """What happens in place of a start of Ray."""
    from omegaconf import OmegaConf
    from verl.trainer.ppo.reward import get_custom_reward_fn
    from verl.trainer.ppo.v1 import get_trainer_cls
    from verl.utils.config import omega_conf_to_dataclass

    del task_runner_class
    config.transfer_queue.enable = True
    OmegaConf.resolve(config)
    trainer = get_trainer_cls(config.trainer.v1.trainer_mode)(config=config)
    parts = [omega_conf_to_dataclass(config.actor_rollout_ref[part]) for part in PARTS]
    wrapped = get_custom_reward_fn(config)
    function = "none" if wrapped is None else wrapped.args[0].__name__
    trainer._init_resource_pool_mgr()
    [worker] = trainer.role_worker_mapping  # without adapters it is the reference, too
    names = [type(part).__name__ for part in parts]
    reached = type(trainer).__name__, *names, function, str(parts[-1].lora_rank), worker.name
    sys.stdout.write(f"reached {' '.join(reached)}\n")


def without_vllm() -> None:
    """verl checks an adapter's rank with vLLM's list of ranks, in a module that it refuses to import without vLLM."""
    for name, members in (("", {}), (".utils", {"get_vllm_max_lora_rank": int})):
        module = ModuleType(f"verl.workers.rollout.vllm_rollout{name}")
        vars(module).update(members)
        sys.modules[module.__name__] = module


if __name__ == "__main__":
    from verl.trainer import main_ppo

    if find_spec("vllm") is None:
        without_vllm()

    vars(main_ppo)["run_ppo"] = start
    main_ppo.main()
