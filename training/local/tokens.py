"""A byte-level tokenizer made from scratch for models that only ever see this one task.

In: texts. Out: a tokenizer of ``transformers``. The frame of a step (its quotes, brackets and field names) is a few
tokens, and a word, an argument, a variable with its quantifier or a connective is never part of a token with anything
else: so a formula is spelt alike in a premise and in a conclusion, and can be copied.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from proof_r1_formal import FIELDS

END = "<|end|>"
"""Ends a completion."""
PADDING = "<|padding|>"


def make_tokenizer(texts: Iterable[str], vocabulary: int) -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer that can write any text.

    Args:
        texts: of the kind that it is for.
        vocabulary: at most so many tokens, 256 of which are the bytes.
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
