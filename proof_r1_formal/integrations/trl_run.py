"""A training run from one file in TRL's own terms: what ``proof-r1 train`` does.

In: a YAML file with the fields of :class:`DataArguments`, of TRL's ``ModelConfig``, and of ``trl.ProofConfig`` (with
``method: sft``, of :class:`WarmUpConfig`), and changes as ``--field value``. Out: the trained model in ``output_dir``,
and pictures of its curves in ``output_dir/curves`` if matplotlib is installed (extra ``plots``).
A run that was killed resumes from its last checkpoint, and a second run in the same folder is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

import torch
import yaml
from transformers.trainer_utils import get_last_checkpoint
from trl import ModelConfig, SFTConfig, SFTTrainer, TrlParser, get_peft_config

from proof_r1_formal.errors import DataError, ProofR1Error
from proof_r1_formal.evaluation.curves import draw_curves
from proof_r1_formal.integrations.progress import ProgressLine
from proof_r1_formal.integrations.runs import (
    DataArguments,
    Rows,
    alone,
    check_data,
    demonstration_rows,
    load_tokenizer,
    task_rows,
)
from proof_r1_formal.integrations.trl import ProofConfig, ProofTrainer
from proof_r1_formal.rules.catalogue import catalogue

SFT = "sft"


@dataclass
class WarmUpConfig(SFTConfig):
    """TRL's configuration of supervised fine-tuning, for ``method: sft``: on reference proofs.

    Attributes:
        method: ``sft``.
        rules: name of the rule catalogue, for the prompt.
    """

    method: str = SFT
    rules: str = "train"
    max_length: int | None = 4096


@dataclass(frozen=True)
class Run:
    """A run that can start: its settings, data and tokenizer, and what was left out of the data."""

    arguments: DataArguments
    settings: ProofConfig | WarmUpConfig
    model: ModelConfig
    tokenizer: Any
    train: Any
    evaluation: Any
    lines: tuple[str, ...]


class _OptionError(Exception):
    """A field has a wrong value, or is missing: ``name`` is its option, empty if there are several."""

    def __init__(self, message: str) -> None:
        found = re.match(r"argument (--\w+)\S*: ", message)
        self.name = found[1] if found else ""
        super().__init__(f"{self.name[2:]}: {message[found.end() :]}" if found else message)


class _Parser(TrlParser):
    """TRL's parser, which ends with one error, and not with all options before it."""

    def error(self, message: str) -> NoReturn:
        raise _OptionError(message)


# -- settings ---------------------------------------------------------------------------------------------------------


def read_run(file: Path, changes: Sequence[str]) -> Run:
    """Read the file, with changes to its fields as ``--field value``, and the data.

    Without an accelerator, ``use_cpu`` is true and ``bf16`` false, unless the file or a change sets them.

    Raises:
        ProofR1Error: a field, method, preset or catalogue is unknown or has a wrong value, the model's folder has no
            fast tokenizer, or a file cannot be read (with ``strict``, also if a problem cannot be used).
    """
    try:
        given = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise DataError(str(file), str(error)) from error
    if not isinstance(given, dict):
        raise DataError(str(file), "it must be a mapping from fields to values")
    *_, method = [given.get("method"), *[value for name, value in pairwise(changes) if name == "--method"]]
    kind = WarmUpConfig if method == SFT else ProofConfig
    try:
        parser = _Parser((DataArguments, kind, ModelConfig))
        if not torch.accelerator.is_available():  # TRL's defaults are an error on a CPU
            parser.set_defaults(use_cpu=True, bf16=False)
        arguments, settings, model = parser.parse_args_and_config(["--config", str(file), *changes])
    except _OptionError as error:
        raise (ProofR1Error(f"{error}") if error.name in changes else DataError(str(file), f"{error}")) from None
    except (ValueError, TypeError) as error:
        raise DataError(str(file), str(error)) from error
    if not model.model_name_or_path:
        raise DataError(str(file), "model_name_or_path must name a model or its folder")
    if isinstance(settings, ProofConfig):
        settings.check_names()
    else:
        catalogue(settings.rules)
    check_data(arguments)
    tokenizer = load_tokenizer(model.model_name_or_path)
    if isinstance(settings, ProofConfig):
        settings.assigner(tokenizer).close()  # it refuses what it cannot use
    prepare: Callable[..., Rows] = task_rows
    if isinstance(settings, WarmUpConfig):
        prepare = partial(demonstration_rows, max_tokens=settings.max_length)
    train, lines = prepare(arguments.problems, arguments, rules=settings.rules, tokenizer=tokenizer)
    if not arguments.evaluation:
        return Run(arguments, settings, model, tokenizer, train, None, lines)
    evaluation, more = prepare(arguments.evaluation, arguments, rules=settings.rules, tokenizer=tokenizer)
    return Run(arguments, settings, model, tokenizer, train, evaluation, (*lines, *more))


# -- a run ------------------------------------------------------------------------------------------------------------


def train(run: Run, *, callbacks: Sequence[Any] = ()) -> Path:
    """Train, and save the model. ``callbacks`` are further ones of the trainer.

    Returns:
        The folder of the model.

    Raises:
        ProofR1Error: another run uses the folder.
    """
    folder = Path(run.settings.output_dir)
    with alone(folder):
        trainer = _trainer(run, callbacks)
        last = get_last_checkpoint(str(folder)) if folder.is_dir() else None
        trainer.train(resume_from_checkpoint=run.settings.resume_from_checkpoint or last)
        trainer.save_model(str(folder / "model"))
        if trainer.accelerator.is_main_process:
            run.tokenizer.save_pretrained(folder / "model")
            draw_curves(trainer.state.log_history, folder / "curves")
    return folder / "model"


def _trainer(run: Run, callbacks: Sequence[Any]) -> Any:
    loading = {"dtype": run.model.dtype, "attn_implementation": run.model.attn_implementation}
    run.settings.model_init_kwargs = loading | (run.settings.model_init_kwargs or {})
    kind: Any = ProofTrainer if isinstance(run.settings, ProofConfig) else SFTTrainer
    return kind(
        run.model.model_name_or_path,
        args=run.settings,
        train_dataset=run.train,
        eval_dataset=run.evaluation,
        processing_class=run.tokenizer,
        peft_config=get_peft_config(run.model),
        callbacks=[ProgressLine(), *callbacks],
    )
