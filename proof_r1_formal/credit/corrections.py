"""Corrections as tokens: the model's own tokens up to its first wrong step, then those of an expert.

In: a rollout's tokens, and the text-level correction of ``generate.correction``. Out: a :class:`CorrectedRollout`, a
row that a trainer can put in the place of the rollout. Tokens of the model stay as long as all their bytes stay; the
rest is encoded.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import msgspec

from proof_r1_formal.credit.align import Alignment, align
from proof_r1_formal.credit.pieces import TokenizerError, TokenPieces, TokenText
from proof_r1_formal.proof.report import TraceReport

Encode: TypeAlias = Callable[[str], Sequence[int]]
"""The ids of the tokens of a text, without special ones."""


class CorrectedText(msgspec.Struct, frozen=True, gc=False):
    """A correction of a completion, and the report on it.

    Attributes:
        kept: number of characters of the completion that stay.
        added: the text that follows.
        accepted: number of actions that stay.
        report: on the whole corrected completion.
    """

    kept: int
    added: str
    accepted: int
    report: TraceReport


@dataclass(frozen=True, slots=True)
class CorrectedRollout:
    """A correction as a row of a batch.

    Attributes:
        ids: of its tokens, the end of the text included.
        start: number of tokens that the model wrote; the others are the expert's.
        accepted: number of actions that stay: the index of the expert's first action.
        report: on the corrected completion.
        alignment: of its actions with its tokens.
    """

    ids: tuple[int, ...]
    start: int
    accepted: int
    report: TraceReport
    alignment: Alignment


def corrected_rollout(
    ids: Sequence[int], completion: TokenText, corrected: CorrectedText, pieces: TokenPieces, encode: Encode, end: int
) -> CorrectedRollout | None:
    """The row of a correction; None if a token that stays in part has a byte of no text, so that no other begins as it.

    Args:
        ids: of the completion's tokens.
        completion: the bytes of these tokens.
        corrected: what stays of its text, and what follows.
        pieces: of the vocabulary.
        encode: encodes the text that follows.
        end: id of the token that ends a text.

    Raises:
        TokenizerError: the tokenizer does not encode the text as its bytes; some put a space before each text.
    """
    data = b"".join(completion.pieces)
    stays = completion.byte_offset(corrected.kept)
    start = bisect_right(completion.ends, stays)
    while start and not completion.pieces[start - 1]:  # the end of the text
        start -= 1
    while True:  # a token may end inside a character
        begin = completion.ends[start - 1] if start else 0
        try:
            between = data[begin:stays].decode()
        except UnicodeDecodeError:
            if not start:
                return None
            start -= 1
            continue
        break
    row = (*ids[:start], *encode(between + corrected.added), end)
    text = pieces.read(row)
    if b"".join(text.pieces) != data[:stays] + corrected.added.encode():
        raise TokenizerError("the tokenizer changes a text that it encodes, so no correction can be made of its tokens")
    spans = [step.span for step in corrected.report.actions]
    return CorrectedRollout(row, start, corrected.accepted, corrected.report, align(text, spans))
