"""A training run from one file in TRL's own terms: what ``proof-r1 train --engine trl`` does.

In: a YAML file with the fields of :class:`RunArguments`, of TRL's ``ModelConfig``, and of ``trl.ProofConfig`` (with
``method: sft``, of :class:`WarmUpConfig`), and changes as ``--field value``. Out: the trained model in ``output_dir``.
A run that was killed resumes from its last checkpoint, and a second run in the same folder is refused.
"""

from __future__ import annotations

import fcntl
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any, cast, get_args

import torch
import yaml
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
from transformers.trainer_utils import get_last_checkpoint
from trl import ModelConfig, SFTConfig, SFTTrainer, TrlParser, get_peft_config

from proof_r1_formal.data import read_problems
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.errors import DataError, ProofR1Error
from proof_r1_formal.integrations.datasets import PromptName, demonstrations_dataset, problems_dataset
from proof_r1_formal.integrations.trl import ProofConfig, ProofTrainer

SFT = "sft"


@dataclass
class RunArguments:
    """What a run needs beside TRL's fields.

    Attributes:
        problems, evaluation: files of problems to learn from, and to evaluate on (see ``eval_strategy``).
        prompt: ``full``, ``question`` or ``short``; see ``integrations.datasets``.
        max_prompt_tokens: problems with a longer prompt are left out; all are used if None.
        strict: a problem that cannot be used is an error.
    """

    problems: list[str]
    evaluation: list[str] = field(default_factory=list)
    prompt: str = "full"
    max_prompt_tokens: int | None = None
    strict: bool = False


@dataclass
class WarmUpConfig(SFTConfig):
    """TRL's configuration of supervised fine-tuning, for ``method: sft``: on reference proofs."""

    method: str = SFT
    rules: str = "train"
    max_length: int | None = 4096


@dataclass(frozen=True)
class Run:
    """A run that can start: its settings, data and tokenizer, and what was left out of the data."""

    arguments: RunArguments
    settings: ProofConfig | WarmUpConfig
    model: ModelConfig
    tokenizer: Any
    train: Any
    evaluation: Any
    lines: tuple[str, ...]


# -- settings ---------------------------------------------------------------------------------------------------------


def read_run(file: Path, changes: Sequence[str]) -> Run:
    """Read the file and the data.

    Args:
        file: the configuration.
        changes: ``--field value`` pairs, which replace fields of the file.

    Raises:
        ProofR1Error: a field is unknown or has a wrong value, the model's folder has no tokenizer, or a file cannot be
            read (with ``strict``, also if a problem cannot be used).
    """
    try:
        given = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise DataError(str(file), str(error)) from error
    if not isinstance(given, dict):
        raise DataError(str(file), "it must be a mapping from fields to values")
    kind = WarmUpConfig if SFT in (given.get("method"), *_after("--method", changes)) else ProofConfig
    try:
        parser = TrlParser((RunArguments, kind, ModelConfig))
        arguments, settings, model = parser.parse_args_and_config(["--config", str(file), *changes])
    except (ValueError, TypeError) as error:
        raise DataError(str(file), str(error)) from error
    if not model.model_name_or_path:
        raise DataError(str(file), "model_name_or_path must name a model or its folder")
    try:
        tokenizer = AutoTokenizer.from_pretrained(model.model_name_or_path)
    except (OSError, ValueError) as error:
        raise ProofR1Error(f"{model.model_name_or_path}: no tokenizer can be loaded: {error}") from error
    prepare = _demonstrations if kind is WarmUpConfig else _tasks
    train, lines = prepare(arguments.problems, arguments, settings, tokenizer)
    if not arguments.evaluation:
        return Run(arguments, settings, model, tokenizer, train, None, lines)
    evaluation, more = prepare(arguments.evaluation, arguments, settings, tokenizer)
    return Run(arguments, settings, model, tokenizer, train, evaluation, (*lines, *more))


def _after(flag: str, changes: Sequence[str]) -> list[str]:
    return [value for name, value in pairwise(changes) if name == flag]


# -- data -------------------------------------------------------------------------------------------------------------


def _tasks(files: Iterable[str], arguments: RunArguments, settings: Any, tokenizer: Any) -> tuple[Any, tuple[str, ...]]:
    """The problems with a label that the method can learn, and lines on what was left out and on lengths."""
    left_out: Counter[str] = Counter()
    kept = []
    for problem in _read(files, arguments.strict, left_out):
        if problem.option(problem.answer) is None:
            left_out["without an answer"] += 1
        elif problem.is_uncertain:
            left_out["the answer is Uncertain"] += 1
        else:
            kept.append(problem)
    rows = problems_dataset(kept, rules=settings.rules, prompt=_prompt(arguments)) if kept else []
    lengths = [len(_ids(tokenizer, row["prompt"])) for row in rows]
    return _fitting("problems", rows, lengths, arguments, left_out)


def _demonstrations(
    files: Iterable[str], arguments: RunArguments, settings: Any, tokenizer: Any
) -> tuple[Any, tuple[str, ...]]:
    left_out: Counter[str] = Counter()
    problems = list(_read(files, arguments.strict, left_out))
    left_out["without a reference proof"] += sum([not problem.proofs for problem in problems])
    rows = demonstrations_dataset(problems, rules=settings.rules, prompt=_prompt(arguments))
    lengths = [len(_ids(tokenizer, row["prompt"])) for row in rows]
    return _fitting("demonstrations", rows, lengths, arguments, left_out)


def _read(files: Iterable[str], strict: bool, left_out: Counter[str]) -> Iterator[Problem]:
    """The problems of all files; what cannot be read is counted.

    Raises:
        ProofR1Error: an id is in two files, a file cannot be read, or, if strict, one of its problems.
    """
    known: set[str] = set()
    for file in files:
        found = read_problems(file)
        if found.rejected and strict:
            advice = f"{file}: a problem cannot be used, and strict is set"
            raise ProofR1Error("\n".join([*found.left_out(file), advice]))
        left_out[f"cannot be read ({file})"] += len(found.rejected)
        if twice := known & found.keys():
            raise ProofR1Error(f"{file}: problem {min(twice)!r} is in another file, too")
        known |= found.keys()
        yield from found.values()


def _fitting(
    what: str, rows: Any, lengths: Sequence[int], arguments: RunArguments, left_out: Counter[str]
) -> tuple[Any, tuple[str, ...]]:
    limit = arguments.max_prompt_tokens
    fitting = [number for number, length in enumerate(lengths) if limit is None or length <= limit]
    left_out[f"the prompt is longer than {limit} tokens"] += len(lengths) - len(fitting)
    reasons = [f"{count} left out: {reason}" for reason, count in left_out.items() if count]
    if not fitting:
        raise ProofR1Error("\n".join([f"there are no {what} to learn from", *reasons]))
    used = [lengths[number] for number in fitting]
    size = f"prompts of {fmean(used):.0f} tokens on average, at most {max(used)}"
    return rows.select(fitting), (f"{len(fitting)} {what}; {size}", *reasons)


def _prompt(arguments: RunArguments) -> PromptName:
    if arguments.prompt not in get_args(PromptName):
        raise ProofR1Error(f"prompt must be one of {', '.join(get_args(PromptName))}, and is {arguments.prompt!r}")
    return cast("PromptName", arguments.prompt)


def _ids(tokenizer: Any, prompt: Any) -> list[int]:
    if isinstance(prompt, str):
        ids: list[int] = tokenizer(prompt)["input_ids"]
        return ids
    if tokenizer.chat_template is None:
        raise ProofR1Error("the tokenizer has no chat template: use prompt: question or prompt: short")
    chat: list[int] = tokenizer.apply_chat_template(prompt, add_generation_prompt=True, return_dict=False)
    return chat


# -- a run ------------------------------------------------------------------------------------------------------------


def describe(run: Run) -> Iterator[str]:
    """What the run will use: data, steps, and the memory that can be known beforehand."""
    yield from run.lines
    settings = run.settings
    batch = settings.per_device_train_batch_size * settings.gradient_accumulation_steps * settings.world_size
    if isinstance(settings, ProofConfig):
        groups = batch // settings.num_generations
        steps = int(len(run.train) // groups * settings.num_iterations * settings.num_train_epochs)
        yield f"a generation batch has {groups} problems × {settings.num_generations} completions"
    else:
        steps = int(len(run.train) * settings.num_train_epochs) // batch
    planned = settings.max_steps if settings.max_steps > 0 else steps
    yield f"{planned} updates; the data allow {steps} in {settings.num_train_epochs:g} epochs"
    yield from _memory(run)


def _memory(run: Run) -> Iterator[str]:
    config = AutoConfig.from_pretrained(run.model.model_name_or_path).get_text_config()
    with torch.device("meta"):  # sizes without weights
        weights = sum([one.numel() for one in AutoModelForCausalLM.from_config(config).parameters()])
    settings, gib = run.settings, 2**30
    yield f"{weights:,} weights: {weights * 16 / gib:.1f} GiB with gradients and Adam in float32, if all are trained"
    rows = settings.per_device_train_batch_size
    if isinstance(settings, ProofConfig):
        answer = settings.max_completion_length or 0
        heads = getattr(config, "num_key_value_heads", config.num_attention_heads)
        size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        cache = 2 * config.num_hidden_layers * heads * size * 4 * answer * rows * settings.gradient_accumulation_steps
        yield f"{weights * 4 / gib:.1f} GiB of the reference model, if kl_weight is not 0 and no adapter is trained"
        yield f"{cache / gib:.1f} GiB of keys and values for {answer} tokens of a generation batch in float32"
    else:
        answer = settings.max_length or 0
    logits = rows * answer * config.vocab_size * 8
    yield f"{logits / gib:.1f} GiB of logits and their gradient for {rows} rows of {answer} tokens"


def train(run: Run) -> Path:
    """Train, and save the model.

    Returns:
        The folder of the model.

    Raises:
        ProofR1Error: another run uses the folder.
    """
    folder = Path(run.settings.output_dir)
    with _alone(folder):
        trainer = _trainer(run)
        last = get_last_checkpoint(str(folder)) if folder.is_dir() else None
        trainer.train(resume_from_checkpoint=run.settings.resume_from_checkpoint or last)
        trainer.save_model(str(folder / "model"))
        if trainer.accelerator.is_main_process:
            run.tokenizer.save_pretrained(folder / "model")
    return folder / "model"


def _trainer(run: Run) -> Any:
    options: dict[str, Any] = {
        "train_dataset": run.train,
        "eval_dataset": run.evaluation,
        "processing_class": run.tokenizer,
        "peft_config": get_peft_config(run.model),
    }
    name = run.model.model_name_or_path
    loading = {"dtype": run.model.dtype, "attn_implementation": run.model.attn_implementation}
    run.settings.model_init_kwargs = loading | (run.settings.model_init_kwargs or {})
    if isinstance(run.settings, ProofConfig):
        return ProofTrainer(name, args=run.settings, **options)
    return SFTTrainer(name, args=run.settings, **options)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Refuse a second run in the folder of a run; processes of one run (``RANK``) take the lock once."""
    if os.environ.get("RANK", "0") != "0":
        yield
        return
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "run.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ProofR1Error(f"{folder}: another run uses this folder; choose another output_dir") from error
        yield
