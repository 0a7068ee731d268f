"""Checkpoints: all that a run needs to go on as if it had never stopped, written so that there is never half of one.

A checkpoint is a folder ``step-00000100`` with ``weights.safetensors`` (what is trained), ``optimiser.pt`` and
``state.json``. It is written under another name, flushed to the disk and renamed; what was left half done is ignored.
"""

from __future__ import annotations

import errno
import shutil
from pathlib import Path
from pickle import UnpicklingError

import msgspec
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from proof_r1_formal import ProofR1Error
from training.common.folders import write_folder
from training.common.order import Position
from training.local.model import Policy


class CheckpointError(ProofR1Error):
    """A checkpoint that cannot be read, or is of another run."""


class State(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run is; nothing random is left to keep, see ``training.local``.

    Attributes:
        step: steps that are done.
        position: in the data.
        items: how many there are in it.
        baselines: moving averages of the rules.
        log: bytes of the log that tell of those steps.
        config: of the run, as YAML.
    """

    step: int
    position: Position
    items: int
    baselines: dict[str, float]
    log: int
    config: str


def save(folder: Path, state: State, policy: Policy, optimiser: torch.optim.Optimizer, *, keep: int) -> None:
    """Write a checkpoint and remove the oldest ones.

    Args:
        folder: of all checkpoints.
        state: where the run is.
        policy, optimiser: as they are now.
        keep: how many checkpoints stay.

    Raises:
        DataError: it cannot be written.
    """

    def write(new: Path) -> None:
        weights = {name: value.detach().cpu().contiguous() for name, value in policy.trained().items()}
        save_file(weights, new / "weights.safetensors")
        try:
            torch.save(optimiser.state_dict(), new / "optimiser.pt")
        except RuntimeError as error:  # PyTorch does not say why it could not write
            raise OSError(errno.EIO, "PyTorch could not write the whole file") from error
        (new / "state.json").write_bytes(msgspec.json.format(msgspec.json.encode(state), indent=1))

    write_folder(folder / f"step-{state.step:08}", write)
    for old in _all(folder)[:-keep]:
        shutil.rmtree(old)


def latest(folder: Path) -> Path | None:
    """The checkpoint with the most steps."""
    return max(_all(folder), default=None)


def read_state(checkpoint: Path) -> State:
    """Where the run was.

    Raises:
        CheckpointError: the file cannot be read.
    """
    try:
        return msgspec.json.decode((checkpoint / "state.json").read_bytes(), type=State)
    except (OSError, msgspec.DecodeError) as error:
        raise CheckpointError(f"{checkpoint}: the state cannot be read: {error}") from error


def restore(checkpoint: Path, policy: Policy, optimiser: torch.optim.Optimizer | None = None) -> None:
    """Put the weights of a checkpoint into a policy, and the rest into its optimiser.

    Raises:
        CheckpointError: it cannot be read, or is of another model.
    """
    trained = policy.trained()
    try:
        weights = load_file(checkpoint / "weights.safetensors")
        state = torch.load(checkpoint / "optimiser.pt", weights_only=True, map_location="cpu")
    except (OSError, EOFError, RuntimeError, ValueError, SafetensorError, UnpicklingError) as error:
        raise CheckpointError(f"{checkpoint}: the checkpoint cannot be read: {error}") from error
    shapes = {name: value.shape for name, value in weights.items()}
    if shapes != {name: value.shape for name, value in trained.items()}:
        raise CheckpointError(f"{checkpoint}: the checkpoint is of a model of another shape")
    with torch.no_grad():
        for name, value in weights.items():
            trained[name].copy_(value)
    if optimiser is not None:
        optimiser.load_state_dict(state)


def _all(folder: Path) -> list[Path]:
    return sorted(folder.glob("step-*"))
