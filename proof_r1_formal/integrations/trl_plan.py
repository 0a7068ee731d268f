"""The plan of a training run, before it starts: what ``proof-r1 train --dry-run`` prints.

In: a :class:`~proof_r1_formal.integrations.trl_run.Run`. Out: lines on data, updates, memory, and the time of an
update, which is measured: rows of average length go through the model and back. Where no card or a small one is here,
the arithmetic of an update gives an estimate for any card.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean
from time import perf_counter
from typing import Any

import torch
from peft import get_peft_model
from transformers import AutoConfig, AutoModelForCausalLM
from trl import get_peft_config

from proof_r1_formal.integrations.progress import duration
from proof_r1_formal.integrations.trl import ProofConfig
from proof_r1_formal.integrations.trl_run import Run

_GIB = 2**30
MEASURED = 3_000_000_000
"""The largest number of weights for which a plan measures a pass without an accelerator."""
_ESTIMATED_SPEED = 100e12
"""Operations a second for the estimate: 10 % of the peak of an H100 in bfloat16, 60 % of that of an RTX 4090."""
AT_ONCE, PASSES = 8, 3
"""Rows of a pass, and passes; the fastest counts, as the first allocates memory."""


def describe(run: Run) -> Iterator[str]:
    """The plan of the run: data, updates, memory and time, as far as they can be known beforehand."""
    yield from run.lines
    settings = run.settings
    rows = settings.per_device_train_batch_size * settings.gradient_accumulation_steps
    batch = rows * settings.world_size
    lengths = _row_lengths(run)
    if isinstance(settings, ProofConfig):
        groups = batch // settings.num_generations
        steps = int(len(run.train) // groups * settings.num_iterations * settings.num_train_epochs)
        yield f"a generation batch has {groups} problems × {settings.num_generations} completions"
    else:
        steps = int(len(run.train) * settings.num_train_epochs) // batch
        yield f"rows of {fmean(lengths):.0f} tokens on average, at most {max(lengths)}"
    updates = settings.max_steps if settings.max_steps > 0 else steps
    yield f"{updates} updates; the data allow {steps} in {settings.num_train_epochs:g} epochs"
    config = AutoConfig.from_pretrained(run.model.model_name_or_path).get_text_config()
    with torch.device("meta"):  # sizes without weights
        model = AutoModelForCausalLM.from_config(config)
        weights = sum([one.numel() for one in model.parameters()])
        trained = _trained(run, model)
    yield from _memory(run, config, weights, trained, max(lengths))
    yield _arithmetic(run, weights, trained, round(fmean(lengths)), rows)
    yield from _time(run, weights, round(fmean(lengths)), rows, updates)


def _trained(run: Run, model: Any) -> int:
    """The number of weights that are trained: those of the adapter, if the run has one, else all."""
    peft = get_peft_config(run.model)
    trained = model if peft is None else get_peft_model(model, peft)
    return sum([one.numel() for one in trained.parameters() if one.requires_grad])


def _row_lengths(run: Run) -> list[int]:
    """The tokens of each row; completions that are not written yet count with their greatest length."""
    settings = run.settings
    if isinstance(settings, ProofConfig):
        answer = settings.max_completion_length or 0
        return [_tokens(run.tokenizer, row["prompt"], None) + answer for row in run.train]
    return [_tokens(run.tokenizer, row["prompt"], row["completion"]) for row in run.train]  # none is cut


def _tokens(tokenizer: Any, prompt: Any, completion: Any) -> int:
    if isinstance(prompt, str):
        ends = 0 if completion is None else 1  # the end of the text
        return len(tokenizer(prompt + (completion or ""))["input_ids"]) + ends
    whole = [*prompt, *(completion or ())]
    return len(tokenizer.apply_chat_template(whole, add_generation_prompt=completion is None, return_dict=False))


def _memory(run: Run, config: Any, weights: int, trained: int, longest: int) -> Iterator[str]:
    settings, rows = run.settings, run.settings.per_device_train_batch_size
    size = 2 if run.model.dtype in ("bfloat16", "float16") else 4
    if trained == weights:
        yield f"{weights:,} weights: {weights * (12 + size) / _GIB:.1f} GiB with gradients and Adam in float32"
    else:
        yield (
            f"{weights:,} weights: {weights * size / _GIB:.1f} GiB in {run.model.dtype}; {trained:,} of the adapter "
            f"are trained: {trained * 16 / _GIB:.1f} GiB with gradients and Adam in float32"
        )
    scored = longest
    if isinstance(settings, ProofConfig):
        scored = settings.max_completion_length or 0
        heads = getattr(config, "num_key_value_heads", config.num_attention_heads)
        size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        cache = 2 * config.num_hidden_layers * heads * size * 4 * longest * rows * settings.gradient_accumulation_steps
        yield f"{weights * 4 / _GIB:.1f} GiB of the reference model, if kl_weight is not 0 and no adapter is trained"
        yield f"{cache / _GIB:.1f} GiB of keys and values for {longest} tokens of a generation batch in float32"
    logits = rows * scored * config.vocab_size * 8
    yield f"{logits / _GIB:.1f} GiB of logits and their gradient for {rows} rows of {scored} tokens"


def _arithmetic(run: Run, weights: int, trained: int, tokens: int, rows: int) -> str:
    """The operations of an update for one process: two for each weight and token, of each pass that it takes.

    Passes are forward, back to the activations, back to the weights that are trained, and with checkpointing forward
    again. Attention and sampling are not counted.
    """
    passes = 2 + trained / weights + run.settings.gradient_checkpointing
    operations = 2 * passes * weights * tokens * rows
    return (
        f"{operations / 1e12:,.0f} TFLOP an update for each process, without attention and sampling: by estimate "
        f"{duration(operations / _ESTIMATED_SPEED)} at {_ESTIMATED_SPEED / 1e12:.0f} TFLOP/s"
    )


def _time(run: Run, weights: int, tokens: int, rows: int, updates: int) -> Iterator[str]:
    """The time of updates, from one pass of one row."""
    device = run.settings.device
    if device.type == "cpu" and weights > MEASURED:
        yield "the time of an update is not measured: the model is too large for a CPU"
        return
    dtype = torch.bfloat16 if run.settings.bf16 else torch.float32
    model = AutoModelForCausalLM.from_pretrained(run.model.model_name_or_path, dtype=torch.float32).to(device)
    at_once = min(run.settings.per_device_train_batch_size, AT_ONCE)
    ids = torch.randint(0, model.config.get_text_config().vocab_size, (at_once, tokens), device=device)
    seconds = []
    for _ in range(PASSES):
        started = perf_counter()
        with torch.autocast(device.type, dtype, enabled=dtype is not torch.float32):
            loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        loss.item()  # an accelerator has ended its work
        seconds.append(perf_counter() - started)
    row = min(seconds) / at_once
    update = row * rows
    beside = "; sampling and verification come on top" if isinstance(run.settings, ProofConfig) else ""
    yield (
        f"{row:.3f} s for a row of {tokens} tokens forward and backward on {device.type}: about {update:.1f} s an "
        f"update, {duration(update * updates)} in all{beside}"
    )
