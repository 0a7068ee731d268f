"""How large a model is, from its configuration alone: no weights are read."""

from __future__ import annotations

from pathlib import Path

import torch
from transformers import AutoConfig, AutoModelForCausalLM, PretrainedConfig

from proof_r1_formal.models.local import not_loaded
from training.config import Config


def shape(model: str) -> PretrainedConfig | None:
    """The configuration of a model in a folder or in the cache of models, or None."""
    try:
        found: PretrainedConfig = AutoConfig.from_pretrained(model, local_files_only=True)
    except (OSError, ValueError):
        return None
    return found


def sizes(config: Config, folder: str | Path) -> tuple[int, int, int]:
    """Weights of the model, of its input embedding (0 if the output layer is the same), and of what is trained."""
    try:
        shape = AutoConfig.from_pretrained(folder, local_files_only=True)
        with torch.device("meta"):  # sizes without weights
            model = AutoModelForCausalLM.from_config(shape)
    except (OSError, ValueError) as error:
        raise not_loaded("model", folder, error) from error
    parameters = sum([parameter.numel() for parameter in model.parameters()])
    inputs, outputs = model.get_input_embeddings().weight, model.get_output_embeddings().weight
    embedding = 0 if inputs is outputs else inputs.numel()
    if config.model.lora is None:
        return parameters, embedding, parameters
    layers = [
        module
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Linear) and name.rpartition(".")[2] in config.model.lora.targets
    ]
    trained = sum([config.model.lora.rank * (layer.in_features + layer.out_features) for layer in layers])
    return parameters, embedding, trained
