"""The model of the study before it has learned anything: a small transformer with random weights, and its tokenizer.

In: problems with proofs. Out: a folder with a Llama of half a million parameters, and a byte-level BPE tokenizer that
was trained on these problems.

    python -m studies.teaching.model FOLDER_OF_PROBLEMS FOLDER_OF_THE_MODEL
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from proof_r1_formal import Problem, read_problems
from proof_r1_formal.generate import summary
from proof_r1_formal.models.prompts import text_prompt

VOCABULARY = 448
TEXTS = 4_000
"""Number of problems that the tokenizer is trained on."""
DEVIATION = 0.05
"""Of the initial weights. With 0.02 or 0.1, models did not learn to look up ids in 500 updates of exercises."""
LAYERS, WIDTH, HEADS, INNER, POSITIONS = 4, 96, 4, 288, 1024


def write_model(problems: Path, folder: Path, seed: int = 0) -> None:
    """Train the tokenizer, and write it with a model of random weights, the same each time."""
    rows = list(read_problems(problems / "warm-up.jsonl").values())
    tokenizer = make_tokenizer(_texts(iter(rows[:: max(1, len(rows) // TEXTS)])))
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=WIDTH,
        intermediate_size=INNER,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        max_position_embeddings=POSITIONS,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
        tie_word_embeddings=True,
        initializer_range=DEVIATION,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _texts(problems: Iterator[Problem]) -> Iterator[str]:
    for problem in problems:
        yield text_prompt(problem, english=False) + summary(problem.proofs[0])


_FRAME = (
    "<summary>[\n",
    '{"id": "',
    '", "dependencies": ["',
    '", "',
    '"], "conclusion": "',
    '", "rule": "',
    '"},\n',
    '"}\n]</summary>',
)
_WORDS = (": ", " [∧∨⊕→↔] ", r"\(a\)", "[hs][0-9]+", "[A-Z_]{2,}", r"\s", ".")
_PIECES = "|".join([*map(re.escape, _FRAME), *_WORDS])
"""A token is a part of one of these: the frame of a step, a connective, an argument, an id, a rule, a character."""


def make_tokenizer(texts: Iterator[str]) -> PreTrainedTokenizerFast:
    """A tokenizer of bytes and of what is frequent in the texts."""
    bare = Tokenizer(models.BPE())
    bare.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_PIECES), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    bare.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    special = ["<pad>", "<eos>"]
    bare.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=VOCABULARY, special_tokens=special, initial_alphabet=alphabet)
    )
    return PreTrainedTokenizerFast(tokenizer_object=bare, pad_token="<pad>", eos_token="<eos>")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit("usage: python -m studies.teaching.model FOLDER_OF_PROBLEMS FOLDER_OF_THE_MODEL")
    write_model(Path(sys.argv[1]), Path(sys.argv[2]))
