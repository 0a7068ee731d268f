"""A run of ``sft``: OpenRLHF's ``train_sft`` in one process per GPU of this machine.

This module is also what each of those processes runs: ``python -m training.openrlhf.imitation CONFIG FLAGS``.
"""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

from proof_r1_formal import ProofR1Error
from training.common.display import Display
from training.config import Config, ConfigError, read_config
from training.openrlhf.cpu import install

ENTRY = "openrlhf.cli.train_sft"


def start(config: Config, file: Path, display: Display, *, cpu: bool) -> None:
    """Train.

    Args:
        config: of the run.
        file: that holds it.
        display: logs what is left out.
        cpu: whether there are no GPUs.

    Raises:
        ProofR1Error: what the configuration names cannot be used, or a process failed.
    """
    if config.cluster.nodes > 1:
        raise ConfigError("cluster.nodes", "sft runs on one machine with the engine openrlhf")
    if cpu:
        install()
    from training.openrlhf.data import prepare
    from training.openrlhf.flags import imitation

    prepared = prepare(config, display)
    if config.data.evaluation:
        display.log("this engine scores nothing while it imitates: proof-r1 train --evaluate scores what comes out")
    flags = imitation(config, prepared.model, prepared.steps)
    launch = ["torch.distributed.run", "--standalone", "--nproc-per-node", str(config.cluster.gpus)]
    ended = subprocess.run(
        [sys.executable, "-m", *launch, "-m", __name__, str(file), "cpu" if cpu else "gpu", *flags], check=False
    )
    if ended.returncode:
        raise ProofR1Error(f"OpenRLHF's train_sft ended with status {ended.returncode}; what it said is above")


def main() -> None:
    """What each process does."""
    _, file, place, *flags = sys.argv
    cpu = place == "cpu"
    if cpu:
        install()
    from training.openrlhf.seams import rebind
    from training.openrlhf.strategy import strategy_of
    from training.openrlhf.tokenizer import get_tokenizer

    rebind("openrlhf.utils.get_tokenizer", get_tokenizer)
    rebind("openrlhf.utils.get_strategy", strategy_of(read_config(file), 0, 0, cpu=cpu))
    sys.argv = [ENTRY, *flags]
    runpy.run_module(ENTRY, run_name="__main__")


if __name__ == "__main__":
    main()
