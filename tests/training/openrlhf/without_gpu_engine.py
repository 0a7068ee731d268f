"""The part of a vLLM engine that receives weights, without a GPU.

OpenRLHF's allocates on ``cuda``. And vLLM's layers for CPUs repack their weights once they are loaded, so weights
cannot be loaded one by one: they are kept until the last one is there, and then vLLM reloads them all.
"""

from __future__ import annotations

from without_gpu import install

install()  # this process is started by vLLM, not by Ray

import torch  # noqa: E402 (only now)
from openrlhf.trainer.ray.vllm_worker_wrap import WorkerWrap  # noqa: E402


class CpuWorker(WorkerWrap):
    """Receives weights."""

    def update_weight(self, name: str, dtype: torch.dtype, shape: torch.Size, empty_cache: bool = False) -> None:
        """Receive one.

        Args:
            name: of the weight in the model.
            dtype, shape: of it.
            empty_cache: whether it is the last one.
        """
        assert dtype == self.model_config.dtype
        weight = torch.empty(shape, dtype=dtype)
        self._model_update_group.broadcast(weight, src=0)
        pending: list[tuple[str, torch.Tensor]] = self.__dict__.setdefault("_pending", [])
        pending.append((name, weight))
        if empty_cache:
            self.model_runner.reload_weights(weights_iterator=iter(pending))
            del self._pending
