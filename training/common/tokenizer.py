"""Tokenizers: load that of a model, or make one for a model that is trained from scratch for this one task.

In: a folder, or texts. Out: a tokenizer of ``transformers``. In one that is made here, the frame of a step (its quotes,
brackets and field names) is a few tokens, and a word, an argument, a variable with its quantifier or a connective is
never part of a token with anything else. A formula is therefore spelled alike in a premise and in a conclusion, and can
be copied.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from proof_r1_formal import FIELDS
from proof_r1_formal.models.local import not_loaded

END = "<|end|>"
"""Ends a completion."""
PADDING = "<|padding|>"


def load_tokenizer(path: Path | str) -> PreTrainedTokenizerFast:
    """The tokenizer in a model's folder, as its ``tokenizer.json`` says: no class for a kind of model changes it.

    Raises:
        ModelError: there is none.
    """
    try:
        tokenizer: PreTrainedTokenizerFast = PreTrainedTokenizerFast.from_pretrained(path, local_files_only=True)
    except (OSError, ValueError) as error:
        raise not_loaded("tokenizer", path, error) from error
    return tokenizer


def make_tokenizer(texts: Iterable[str], vocabulary: int) -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer that can write any text.

    Args:
        texts: of the kind that it is for.
        vocabulary: the most tokens, 256 of which are the bytes.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_pieces()), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[PADDING, END],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token=END, pad_token=PADDING, clean_up_tokenization_spaces=False
    )


def _pieces() -> str:
    """The pattern of what a token is a part of: the frame of a step, a connective, a word, or any other character."""
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
    return "|".join([*map(re.escape, frame), ": ", " [∧∨⊕→↔] ", r"[∀∃]\w+ ", r"\(\w+\)", r"\w+", r"[^\w\s]", r"\s"])
