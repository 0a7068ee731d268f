"""Masks on the tokens of a model, by a grammar in the dialect of ``llguidance``.

In: a tokenizer, then a grammar and the tokens of a text as they come. Out: which tokens may come next.
"""

from __future__ import annotations

from copy import copy
from importlib.util import find_spec
from typing import TYPE_CHECKING

from proof_r1_formal.decoding.grammar import GrammarError
from proof_r1_formal.errors import ProofR1Error

if TYPE_CHECKING:
    import numpy as np
    from llguidance import LLTokenizer
    from numpy.typing import NDArray
    from transformers import PreTrainedTokenizerBase


PROBE = '{"id": "h1"}'
"""Text with a space inside, which byte-level tokenizers write as another character."""


class DecodingError(ProofR1Error):
    """A model or a tokenizer that cannot be used here, or what is missing."""


def mask_tokens(tokenizer: PreTrainedTokenizerBase, width: int) -> LLTokenizer:
    """The source of masks; the width is the number of outputs of the model, some of which may not be tokens.

    Raises:
        DecodingError: ``llguidance`` is not installed, does not know the tokenizer, or reads another text from tokens.
    """
    if find_spec("llguidance") is None:
        raise DecodingError("constrained sampling needs the extra decoding: pip install 'proof-r1-formal[decoding]'")
    import llguidance.hf

    try:
        tokens = llguidance.hf.from_tokenizer(tokenizer, n_vocab=max(width, len(tokenizer)))  # type: ignore[arg-type]
    except ValueError as error:
        raise DecodingError(f"the tokenizer cannot be used with a grammar: {error}") from error
    read = tokens.decode_bytes(tokenizer.encode(PROBE, add_special_tokens=False))
    if read.strip() != PROBE.encode():
        raise DecodingError(
            f"the tokenizer cannot be used with a grammar: llguidance reads {read!r} from the tokens of {PROBE!r}. "
            "For a byte-level tokenizer, set tokenizer.backend_tokenizer.decoder = tokenizers.decoders.ByteLevel()"
        )
    return tokens


class Mask:
    """The grammar of one text, and how far the text is.

    Raises:
        GrammarError: it is not a grammar.
    """

    def __init__(self, tokens: LLTokenizer, grammar: str) -> None:
        import llguidance.numpy
        from llguidance import LLMatcher

        self._matcher = LLMatcher(tokens, LLMatcher.grammar_from_lark(grammar))
        if self._matcher.is_error():
            raise GrammarError(f"the grammar cannot be used: {self._matcher.get_error()}")
        self._bits = llguidance.numpy.allocate_token_bitmask(1, tokens.vocab_size)

    def fork(self) -> Mask:
        """An independent copy."""
        new = copy(self)
        new._matcher, new._bits = self._matcher.deep_copy(), self._bits.copy()
        return new

    def allowed(self, width: int) -> NDArray[np.bool_]:
        """Whether each of the first tokens may come next."""
        import llguidance.numpy
        import numpy as np

        llguidance.numpy.fill_next_token_bitmask(self._matcher, self._bits, 0)
        return np.unpackbits(self._bits[0].view(np.uint8), bitorder="little")[:width].astype(bool)

    def add(self, token: int) -> None:
        """Add a token, one that may come next."""
        self._matcher.consume_token(token)

    def take_back(self, count: int) -> None:
        """Take the last tokens back.

        Raises:
            GrammarError: that is not possible.
        """
        if not self._matcher.rollback(count):
            raise GrammarError(f"the grammar cannot go back: {self._matcher.get_error()}")

    @property
    def complete(self) -> bool:
        """Whether nothing may follow."""
        return self._matcher.is_stopped()
