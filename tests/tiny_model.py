"""Models of a few thousand weights in folders that ``transformers`` reads: nothing is downloaded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from proof_r1_formal import FIELDS

END = "<|end|>"


def make_tokenizer(texts: Iterable[str], vocabulary: int) -> Any:
    """A byte-level tokenizer in which a word, a connective or the frame of a step is never part of a longer token."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    identifier, dependencies, conclusion, rule = FIELDS
    frame = (
        "<summary>[\n",
        f'{{"{identifier}": "',
        f'", "{dependencies}": ["',
        f'"], "{conclusion}": "',
        f'", "{rule}": "',
        '"},\n',
        '"}\n]</summary>',
        '", "',
    )
    parts = [*map(re.escape, frame), ": ", r" [∧∨⊕→↔] ", r"[∀∃]\w+ ", r"\(\w+\)", r"\w+", r"[^\w\s]", r"\s"]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex("|".join(parts)), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary, special_tokens=["<|pad|>", END], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token=END, pad_token="<|pad|>", clean_up_tokenization_spaces=False
    )


def make_model(
    folder: Path,
    texts: Iterable[str],
    *,
    vocabulary: int,
    width: int,
    hidden: int,
    layers: int = 2,
    heads: int = 2,
    family: str = "Qwen2",
) -> tuple[Any, Any]:
    """Write a model with random weights and the tokenizer of these texts. Returns both.

    With the family Qwen2, ``AutoTokenizer`` replaces the pre-tokenizer of any folder by its own; not so with Llama.
    """
    import torch
    import transformers

    torch.set_num_threads(1)  # for a model this small, more wait for each other
    torch.manual_seed(0)
    tokenizer = make_tokenizer(texts, vocabulary)
    model = getattr(transformers, f"{family}ForCausalLM")(
        getattr(transformers, f"{family}Config")(
            vocab_size=len(tokenizer),
            hidden_size=width,
            intermediate_size=hidden,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            num_key_value_heads=heads,
            max_position_embeddings=4096,
            tie_word_embeddings=True,
            initializer_range=width**-0.5,  # 0.02 is for wide models: narrow ones learn slowly from it
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )
    save(model, tokenizer, folder)
    return model, tokenizer


def save(model: Any, tokenizer: Any, folder: Path) -> None:
    """Write both to a folder."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def teach(model: Any, tokenizer: Any, pairs: Sequence[tuple[str, str]], *, steps: int, rate: float, size: int) -> float:
    """Minimise the cross-entropy of answers to prompts, a batch of ``size`` pairs a step. Returns the last loss."""
    import torch

    rows = [(tokenizer.encode(prompt), [*tokenizer.encode(answer), tokenizer.eos_token_id]) for prompt, answer in pairs]
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.98), weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: min(1.0, (step + 1) / 20))
    loss = torch.zeros(())
    model.train()
    for step in range(steps):
        batch = [rows[(step * size + number) % len(rows)] for number in range(size)]
        width = max(len(prompt) + len(answer) for prompt, answer in batch)
        ids = torch.full((size, width), tokenizer.pad_token_id)
        labels = torch.full((size, width), -100)
        for row, (prompt, answer) in enumerate(batch):
            ids[row, : len(prompt) + len(answer)] = torch.tensor([*prompt, *answer])
            labels[row, len(prompt) : len(prompt) + len(answer)] = torch.tensor(answer)
        loss = model(input_ids=ids, labels=labels).loss  # no token sees the padding after it
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        optimiser.zero_grad()
    model.eval()
    return loss.item()
