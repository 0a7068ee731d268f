"""Where a run starts: the model it starts from, and whether it may resume another run.

In: a configuration. Out: the folder of a model with its tokenizer; a model from scratch is written first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import torch
import yaml
from transformers import Qwen2Config, Qwen2ForCausalLM
from transformers.utils import logging as transformers_logging

from proof_r1_formal import Problem
from training.common.folders import write_folder
from training.common.tasks import sample_texts
from training.common.tokenizer import make_tokenizer
from training.config import Config, ConfigError, Scratch, write_config

CONTEXT = 8192
"""Positions of a model made from scratch; they cost nothing."""

FREE = (
    "output",
    "tensorboard",
    "checkpoint.",
    "cluster.",
    "evaluation.",
    "data.evaluation",
    "data.strict",
    "data.epochs",
    "optimiser.steps",
    "rollout.workers",
    "rollout.timeout",
    "model.device",
    "model.threads",
)
"""The keys of a configuration that may change when a run resumes."""


def check_same_run(config: Config, before: str) -> None:
    """Refuse to resume a run under a configuration that changes what is learned.

    Args:
        config: to resume with.
        before: that of the run so far, as YAML.

    Raises:
        ConfigError: they differ in more than may.
    """
    then, now = (dict(_values(yaml.safe_load(source))) for source in (before, write_config(config)))
    changed = [key for key in now if then.get(key) != now[key] and not key.startswith(FREE)]
    if changed:
        raise ConfigError(", ".join(changed), f"differs from the run in {config.output}; choose another output folder")


def starting_model(config: Config, problems: list[Problem]) -> str | Path:
    """The folder of the model that training starts from; one from scratch is made if it is not there yet.

    Args:
        config: of the run.
        problems: of whose texts the tokenizer of a model from scratch is made.
    """
    transformers_logging.disable_progress_bar()
    scratch = config.model.scratch
    if scratch is None:
        assert config.model.path is not None  # one of the two is there
        return config.model.path
    folder = Path(config.output) / "initial"
    if not folder.exists():
        texts = sample_texts(problems, config.data)
        write_folder(folder, lambda new: make_model(scratch, texts, new, seed=config.seed))
    return folder


def make_model(scratch: Scratch, texts: Iterable[str], folder: Path, *, seed: int) -> None:
    """Write a model with random weights and its tokenizer to a folder.

    Args:
        scratch: what model.
        texts: prompts and answers; the tokenizer is made of them.
        folder: where to.
        seed: of the weights.
    """
    transformers_logging.disable_progress_bar()
    tokenizer = make_tokenizer(texts, scratch.vocabulary)
    torch.manual_seed(seed)
    model = Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=len(tokenizer),
            hidden_size=scratch.width,
            intermediate_size=scratch.hidden,
            num_hidden_layers=scratch.layers,
            num_attention_heads=scratch.heads,
            num_key_value_heads=scratch.heads,
            max_position_embeddings=CONTEXT,
            tie_word_embeddings=True,
            initializer_range=scratch.width**-0.5,  # 0.02 is for wide models: narrow ones learn slowly from it
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _values(tree: object, key: str = "") -> Iterator[tuple[str, object]]:
    """The values of a configuration by their keys."""
    if isinstance(tree, dict):
        for name, value in tree.items():
            yield from _values(value, f"{key}.{name}" if key else name)
    else:
        yield key, tree
