"""A run that learns from rollouts: our parts into OpenRLHF, then a Ray cluster, then OpenRLHF's own entry point.

Names are rebound in OpenRLHF's modules before its entry point takes them from there. Nothing of it is copied.
"""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from proof_r1_formal.workers.cluster import keep_private
from training.common.display import Display
from training.config import Config
from training.openrlhf.cpu import install

if TYPE_CHECKING:
    from training.openrlhf.data import Prepared

ENTRY = "openrlhf.cli.train_ppo_ray"
ROOT = Path(__file__).resolve().parents[2]
JOB = "RAY_JOB_CONFIG_JSON_ENV_VAR"
"""Ray sets it in what a job starts."""
ENVIRONMENT = {"NCCL_DEBUG": "WARN", "RAY_ENABLE_ZERO_COPY_TORCH_TENSORS": "1", "TOKENIZERS_PARALLELISM": "true"}
"""What OpenRLHF gives its workers where it starts Ray itself."""
MEMORY = 500_000_000
"""Bytes of Ray's store of objects in a run without GPUs."""


class _Runtime(msgspec.Struct):
    env_vars: dict[str, str] = {}


class _Job(msgspec.Struct):
    """What a job was handed over with."""

    runtime_env: _Runtime = msgspec.field(default_factory=_Runtime)


def start(config: Config, display: Display, *, cpu: bool) -> None:
    """Train.

    Args:
        config: of the run.
        display: logs what is left out.
        cpu: whether there are no GPUs.

    Raises:
        ProofR1Error: what the configuration names cannot be used.
    """
    if JOB not in os.environ:
        keep_private()
    if cpu:
        install()
    from training.openrlhf.data import prepare
    from training.openrlhf.flags import Place, reinforcement

    prepared = prepare(config, display)
    ended = Place(Path(config.output)).ended
    if ended.exists() and int(ended.read_text()) >= prepared.steps:
        display.log(f"the run in {config.output} has ended; more optimiser.steps would continue it")
        return
    _compose(config, prepared, cpu=cpu)
    _connect(config, cpu=cpu)
    sys.argv = [ENTRY, *reinforcement(config, prepared.model, prepared.steps, cpu=cpu)]
    runpy.run_module(ENTRY, run_name="__main__")
    ended.write_text(str(prepared.steps))


def _compose(config: Config, prepared: Prepared, *, cpu: bool) -> None:
    """Put our parts into OpenRLHF."""
    import ray

    from training.openrlhf.actor import PolicyActor
    from training.openrlhf.agent import rollout_actor
    from training.openrlhf.controller import Controller
    from training.openrlhf.seams import rebind
    from training.openrlhf.strategy import strategy_of

    rollouts = rollout_actor(config, prepared.model, cpu=cpu)  # their base is what stands in OpenRLHF until now
    rebind("openrlhf.trainer.ppo_trainer.PPOTrainer", ray.remote(Controller))
    rebind("openrlhf.trainer.ray.ppo_actor.PolicyModelActor", ray.remote(num_gpus=1)(PolicyActor))
    rebind("openrlhf.trainer.ray.vllm_engine.RolloutRayActor", ray.remote(rollouts))
    rebind("openrlhf.utils.get_strategy", strategy_of(config, prepared.items, prepared.steps, cpu=cpu))


def _connect(config: Config, *, cpu: bool) -> None:
    """Join the cluster of the job that this is part of, or start a private one."""
    import ray

    runtime: dict[str, object] = {"worker_process_setup_hook": f"{install.__module__}.install"} if cpu else {}
    if JOB in os.environ:
        given = msgspec.json.decode(os.environ[JOB], type=_Job).runtime_env.env_vars
        missing = {name: value for name, value in ENVIRONMENT.items() if name not in given}
        ray.init(runtime_env={**runtime, "env_vars": missing})  # it refuses a variable that is given twice
        return
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    gpus = config.cluster.devices
    # without GPUs, those of the cluster are names for places; each of them takes a core, which is a name, too
    ray.init(
        address="local",
        num_gpus=gpus if cpu else None,
        num_cpus=2 * gpus + 2 if cpu else None,
        object_store_memory=MEMORY if cpu else None,
        include_dashboard=False,
        runtime_env={**runtime, "env_vars": {**ENVIRONMENT, "PYTHONPATH": path}},
    )
