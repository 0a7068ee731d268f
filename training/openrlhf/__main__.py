"""A run of this engine: ``python -m training.openrlhf --config FILE [KEY=VALUE …]``, alone or as a Ray job.

In: a configuration. Out: what OpenRLHF's own entry points make with our parts in them. In a Ray job, the run is on its
cluster; otherwise it is on a private one in this machine that ends with the run.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from pathlib import Path

from msgspec import structs
from rich.console import Console

from proof_r1_formal import ProofR1Error
from training.config import Config, ConfigError, read_config, write_config
from training.local.display import Display
from training.local.trainer import check_same_run
from training.openrlhf import imitation, reinforcement
from training.openrlhf.flags import check
from training.openrlhf.reinforcement import JOB


def run(config: Config, display: Display) -> None:
    """Train.

    Args:
        config: of the run.
        display: is told what is left out.

    Raises:
        ProofR1Error: the configuration, or what it names, cannot be used.
    """
    cpu = without_gpu(config)
    check(config, cpu=cpu)
    if JOB in os.environ and not Path(config.output).is_absolute():
        raise ConfigError(
            "output", "in a job, give an absolute path that all nodes share: a job's own folder goes with it"
        )
    config = structs.replace(config, output=str(Path(config.output).absolute()))  # workers may be elsewhere
    file = claim(config)
    if config.method == "sft":
        imitation.start(config, file, display, cpu=cpu)
    else:
        reinforcement.start(config, display, cpu=cpu)


def without_gpu(config: Config) -> bool:
    """Whether a run uses no GPU."""
    if config.model.device != "auto":
        return config.model.device == "cpu"
    import torch

    return not torch.cuda.is_available()


def claim(config: Config) -> Path:
    """Write the configuration into the run's folder; returns the file.

    Raises:
        ConfigError: the folder holds a run that shall not go on, or one that learns something else.
    """
    file = Path(config.output) / "config.yaml"
    if file.exists():
        if not config.checkpoint.resume:
            raise ConfigError("checkpoint.resume", f"{config.output} holds a run already; choose another output")
        check_same_run(config, file.read_text(encoding="utf-8"))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(write_config(config), encoding="utf-8")
    return file


def main() -> int:
    """Read the command line and train."""
    parser = ArgumentParser(prog="python -m training.openrlhf")
    parser.add_argument("--config", type=Path, required=True, help="configuration, see training/configs")
    parser.add_argument("changes", nargs="*", metavar="KEY=VALUE", help="changes to it")
    given = parser.parse_args()
    display = Display(Console(stderr=True, highlight=False))
    try:
        run(read_config(given.config, given.changes), display)
    except ProofR1Error as error:
        display.say(str(error))
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
