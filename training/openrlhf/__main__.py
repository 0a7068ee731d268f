"""A run of this engine: ``python -m training.openrlhf --config FILE [KEY=VALUE …]``, alone or as a Ray job.

In: a configuration. Out: what OpenRLHF's own entry points make with our parts in them. In a Ray job, the run is on its
cluster; otherwise it is on a private one in this machine that ends with the run.
"""

from __future__ import annotations

import fcntl
import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import structs
from rich.console import Console

from proof_r1_formal import ProofR1Error
from proof_r1_formal.outputs import write_output
from training.common.display import Display
from training.common.start import check_same_run
from training.config import Config, ConfigError, read_config, write_config
from training.openrlhf import imitation, reinforcement
from training.openrlhf.flags import check
from training.openrlhf.memory import check_memory
from training.openrlhf.reinforcement import JOB

INTERRUPTED = 130
"""Exit status of a run that was asked to stop."""


def run(config: Config, display: Display) -> None:
    """Train.

    Args:
        config: of the run.
        display: logs what is left out.

    Raises:
        ProofR1Error: the configuration, or what it names, cannot be used.
    """
    cpu = without_gpu(config)
    check(config, cpu=cpu)
    check_machine(config, cpu=cpu)
    if not cpu:
        check_memory(config)
    if JOB in os.environ and not Path(config.output).is_absolute():
        raise ConfigError(
            "output", "in a job, give an absolute path that all nodes share: a job's own folder goes with it"
        )
    config = structs.replace(config, output=str(Path(config.output).absolute()))  # workers may be elsewhere
    with claimed(config) as file:
        if config.method == "sft":
            imitation.start(config, file, display, cpu=cpu)
        else:
            reinforcement.start(config, display, cpu=cpu)


def without_gpu(config: Config) -> bool:
    """Whether a run uses no GPU."""
    if config.model.device != "auto":
        return config.model.device == "cpu"
    return not gpus()


def check_machine(config: Config, *, cpu: bool) -> None:
    """Whether this machine is one that the run can be on; a job's cluster is not looked at.

    Raises:
        ConfigError: it is not.
    """
    here = gpus()
    if cpu and here:
        raise ConfigError("model.device", "not with the engine openrlhf: it uses the GPU of this machine; use auto")
    if JOB in os.environ:
        return
    cluster = config.cluster
    if cluster.nodes > 1:
        raise ConfigError("cluster.nodes", "several machines need a Ray cluster that they have joined: --address")
    needed = cluster.gpus if config.method == "sft" else cluster.devices
    if not cpu and here < needed:  # Ray would wait for more
        raise ConfigError("cluster", f"it takes {needed} GPUs, and this machine has {here}")


def gpus() -> int:
    """How many GPUs this machine has that PyTorch can use."""
    import torch

    return torch.cuda.device_count() if torch.cuda.is_available() else 0


@contextmanager
def claimed(config: Config) -> Iterator[Path]:
    """The run's folder for this process alone; gives the file in it that holds the configuration.

    Raises:
        ConfigError: the folder holds a run that is running, that must not be resumed, or that learns something else.
    """
    folder = Path(config.output)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ConfigError("output", f"a run is going on in {folder}") from error
        file = folder / "config.yaml"
        if file.exists():
            if not config.checkpoint.resume:
                raise ConfigError("checkpoint.resume", f"{folder} holds a run already; choose another output")
            check_same_run(config, file.read_text(encoding="utf-8"))
        write_output(file, write_config(config).encode())
        yield file


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
        display.log(str(error))
        return 2
    except KeyboardInterrupt:
        display.log("stopped; the same command resumes from the latest checkpoint")
        return INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main())
