"""What tests of decoding share: a model with random weights, and texts drawn from a grammar at random."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from proof_r1_formal.decoding.sampler import Decoder
from tests.build import PROBLEMS, tiny_model

Draw = Callable[[str, int], str | None]
"""A grammar in llguidance's dialect and a seed -> a text of its language; None if it became too long."""


@pytest.fixture(scope="session")
def decoder(tmp_path_factory: pytest.TempPathFactory) -> Decoder:
    """A model with random weights that knows the words of the examples."""
    texts = PROBLEMS.read_text(encoding="utf-8").splitlines()
    folder = tmp_path_factory.mktemp("decoding") / "tiny"
    return Decoder(*tiny_model(folder, texts, vocabulary=500, width=16, hidden=32))


@pytest.fixture(scope="session")
def draw(decoder: Decoder) -> Draw:
    """Draws every token that the grammar allows with the same probability."""
    import llguidance.numpy
    from llguidance import LLMatcher

    tokens = decoder.tokens
    mask = llguidance.numpy.allocate_token_bitmask(1, tokens.vocab_size)

    def drawn(grammar: str, seed: int) -> str | None:
        matcher = LLMatcher(tokens, LLMatcher.grammar_from_lark(grammar))
        assert not matcher.is_error(), matcher.get_error()
        random, ids = np.random.default_rng(seed), []
        while not matcher.is_stopped():
            llguidance.numpy.fill_next_token_bitmask(matcher, mask, 0)
            bits = np.unpackbits(mask[0].view(np.uint8), bitorder="little")[: tokens.vocab_size]
            ids.append(int(random.choice(np.flatnonzero(bits))))
            matcher.consume_token(ids[-1])
            if len(ids) > 4000:
                return None
        return tokens.decode_bytes(ids).decode()

    return drawn
