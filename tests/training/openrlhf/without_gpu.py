"""What makes OpenRLHF 0.11.2 run without a GPU; no part of the method is in here.

:func:`install` runs in the driver and first of all in each of Ray's workers. What is replaced: CUDA calls that OpenRLHF
makes unconditionally, NCCL by gloo, and the import of flash-attn, whose functions raise if anything calls them.

``python -m without_gpu --config FILE …`` in this folder is ``python -m training.openrlhf`` without GPUs.
"""

from __future__ import annotations

import importlib.machinery
import os
import sys
import types
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

ENGINE = "without_gpu_engine.CpuWorker"
"""What receives weights in an engine."""

ENVIRONMENT = {
    "DS_ACCELERATOR": "cpu",
    "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",  # an engine computes in its own process, and starts no other for that
    "VLLM_NO_USAGE_STATS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_OFFLINE": "1",
    "GLOO_SOCKET_IFNAME": "lo",
}
"""Environment variables for libraries that read nothing else, on one machine. Values that are set already stay."""


class _Index(str):
    """A device for ``.to(…)`` that can also be written after ``cuda:``, where only the number is wanted."""

    __slots__ = ()

    def __format__(self, _: str) -> str:
        return "0"


@cache
def install() -> None:
    """Make this process one that works without a GPU."""
    import torch

    if torch.cuda.is_available():
        return
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    _replace_flash_attention()
    replaced = {name: _nothing() for name in ("synchronize", "empty_cache", "set_device", "current_stream")}
    vars(torch.cuda).update(replaced, current_device=lambda: _Index("cpu"))
    _replace_mesh()
    _replace_sync()


def _nothing() -> Callable[..., object]:
    """A function that does nothing; a new one each time, as PyTorch's compiler has a rule for each that it knows."""

    def nothing(*_: object, **__: object) -> None:
        """There is no device to wait for."""

    return nothing


def _replace_flash_attention() -> None:
    if find_spec("flash_attn") is not None:
        return

    def absent(*_: object, **__: object) -> None:
        raise RuntimeError("flash-attn is not installed: packing and ring attention need a GPU")

    functions = ("index_first_axis", "pad_input", "unpad_input", "rearrange")
    _stub("flash_attn", {})
    _stub("flash_attn.utils", {})
    _stub("flash_attn.bert_padding", dict.fromkeys(functions, absent))
    _stub("flash_attn.utils.distributed", {"all_gather": absent})


def _stub(name: str, members: dict[str, Callable[..., None]]) -> None:
    module = types.ModuleType(name)
    module.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
    module.__path__ = []
    vars(module).update(members)
    sys.modules[name] = module


def _replace_mesh() -> None:
    from torch.distributed import device_mesh

    make = device_mesh.init_device_mesh
    device_mesh.init_device_mesh = lambda _kind, *args, **options: make("cpu", *args, **options)


def _replace_sync() -> None:
    utilities = vars(import_module("openrlhf.utils.distributed_util"))
    utilities["stateless_init_process_group"] = lambda host, port, rank, size, _: GlooGroup(host, port, rank, size)


class GlooGroup:
    """A policy and its engines; broadcasts as vLLM's NCCL communicator does.

    Args:
        host, port: of the first member.
        rank, size: which member this is, and of how many.
    """

    def __init__(self, host: str, port: int, rank: int, size: int) -> None:
        from vllm.distributed.utils import stateless_init_torch_distributed_process_group

        self._rank = rank
        self._group = stateless_init_torch_distributed_process_group(host, port, rank, size, backend="gloo")

    def broadcast(self, tensor: Tensor, src: int, stream: object = None) -> None:
        """Send a tensor, or receive it into one."""
        from torch.distributed import BroadcastOptions

        del stream
        options = BroadcastOptions()
        options.rootRank, options.rootTensor = src, 0
        self._group.broadcast([tensor.contiguous() if self._rank == src else tensor], options).wait()


# -- a run ------------------------------------------------------------------------------------------------------------


def cpu_strategy(args: Any) -> Any:
    """OpenRLHF's strategy without what DeepSpeed would compile: its optimiser, and communication in shared memory."""
    from without_gpu_parts import CpuStrategy

    return CpuStrategy(
        seed=args.train.seed,
        micro_train_batch_size=args.train.micro_batch_size,
        train_batch_size=args.train.batch_size,
        zero_stage=args.ds.zero_stage,
        args=args,
    )


def compose() -> None:
    """Put these parts where OpenRLHF's entry point takes them; ``GPUs`` are then names for places."""
    import ray
    from without_gpu_parts import rollout_actor

    vars(import_module("openrlhf.utils"))["get_strategy"] = cpu_strategy
    vars(import_module("openrlhf.trainer.ray.vllm_engine"))["RolloutRayActor"] = rollout_actor()
    start = ray.init

    def init(runtime_env: dict[str, Any]) -> Any:
        vars(ray)["init"] = start
        own: dict[str, Any] = {}
        if "RAY_JOB_CONFIG_JSON_ENV_VAR" not in os.environ:
            own = {"address": "local", "num_gpus": 2, "num_cpus": 6, "object_store_memory": 500_000_000}
            own["include_dashboard"] = False
        return start(**own, runtime_env={**runtime_env, "worker_process_setup_hook": "without_gpu.install"})

    vars(ray)["init"] = init


if __name__ == "__main__":
    install()
    compose()
    from training.openrlhf.__main__ import main

    sys.exit(main())
