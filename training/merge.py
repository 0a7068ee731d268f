"""An adapter merged into its model: ``python -m training.merge --model FOLDER --adapter FOLDER --out FOLDER``.

Out: a model for ``transformers`` and inference servers, with the tokenizer of the adapter.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path

import torch
from msgspec import structs

from proof_r1_formal import ProofR1Error
from training.common.folders import write_folder
from training.config import ConfigError, Model
from training.local.model import load_policy, save_model


def write_merged(model: Model, start: Path | str, folder: Path) -> None:
    """Write a model with the adapter ``model.warm_up`` in its weights.

    Args:
        model: names the adapter, and the type of the weights.
        start: folder of the model without it.
        folder: of the result; it appears completely or not at all.

    Raises:
        ModelError: there is no such model or adapter.
    """
    merged = load_policy(structs.replace(model, lora=None, device="cpu"), start, reference=False)
    torch.nn.Module.to(merged.model, merged.dtype)
    folder.parent.mkdir(parents=True, exist_ok=True)
    write_folder(folder, lambda new: save_model(merged, new))


def main() -> int:
    """Merge."""
    parser = ArgumentParser(prog="python -m training.merge")
    parser.add_argument("--model", required=True, help="folder of the model")
    parser.add_argument("--adapter", required=True, help="folder of the adapter: model/ of a run")
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    parser.add_argument("--dtype", choices=("bfloat16", "float32"), default="bfloat16", help="of the weights")
    given = parser.parse_args()
    try:
        if given.out.exists():
            raise ConfigError("--out", f"{given.out} is there already")
        write_merged(Model(path=given.model, warm_up=given.adapter, dtype=given.dtype), given.model, given.out)
    except ProofR1Error as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
