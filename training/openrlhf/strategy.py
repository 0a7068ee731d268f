"""How DeepSpeed is set up, and data is taken: OpenRLHF's strategy, with the configuration of the run in it.

The strategy is what OpenRLHF hands to all of its actors, so they find the configuration there.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from importlib import import_module

from openrlhf.utils.deepspeed import DeepspeedStrategy

from training.config import Config


class Strategy(DeepspeedStrategy):
    """OpenRLHF's strategy, which takes data in the order of its file.

    Args:
        args: OpenRLHF's.
        config: of the run.
        items: that there are to learn from.
        steps: that there will be.
    """

    def __init__(self, args: Namespace, config: Config, items: int, steps: int) -> None:
        super().__init__(
            seed=args.train.seed,
            full_determinism=args.train.full_determinism_enable,
            max_norm=config.optimiser.max_gradient_norm,
            micro_train_batch_size=args.train.micro_batch_size,
            train_batch_size=args.train.batch_size,
            zero_stage=args.ds.zero_stage,
            args=args,
        )
        self.config = config
        self.items = items
        self.steps = steps

    def setup_dataloader(
        self,
        replay_buffer: object,
        batch_size: int,
        pin_memory: bool = False,
        shuffle: bool = True,
        *args: object,
        **options: object,
    ) -> object:
        """Data in the order of its file, which is that of the run; see OpenRLHF for the arguments."""
        del shuffle
        return super().setup_dataloader(replay_buffer, batch_size, pin_memory, False, *args, **options)


class CpuStrategy(Strategy):
    """The same without what DeepSpeed would compile: its optimiser, and its communication in shared memory."""

    def setup_distributed(self, *args: object, **options: object) -> None:
        """Join the other ranks."""
        backend = import_module("deepspeed.comm.torch")  # an import statement finds PyTorch behind that attribute
        vars(backend)["build_shm_op"] = lambda: None
        super().setup_distributed(*args, **options)

    def get_ds_train_config(self, optim_dict: dict[str, object] | None = None, **options: object) -> dict[str, object]:
        """DeepSpeed's configuration, with PyTorch's AdamW."""
        made: dict[str, object] = super().get_ds_train_config(optim_dict, **options)
        if optim_dict is not None:
            assert isinstance(optim_dict["params"], dict)
            made["optimizer"] = {**optim_dict, "params": {**optim_dict["params"], "torch_adam": True}}
        return made


def strategy_of(config: Config, items: int, steps: int, *, cpu: bool) -> Callable[[Namespace], Strategy]:
    """What takes the place of OpenRLHF's ``get_strategy``.

    Args:
        config: of the run.
        items: that there are to learn from.
        steps: that there will be.
        cpu: whether it runs without GPUs.
    """
    kind = CpuStrategy if cpu else Strategy
    return lambda args: kind(args, config, items, steps)
