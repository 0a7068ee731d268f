"""The bytes of each token of a completion, and the text of these bytes.

In: a tokenizer as the JSON that the ``tokenizers`` library writes, and token ids. Out: a :class:`TokenText`. Its text
consists of the bytes of its tokens, so every place in the text is an exact place in the tokens. This also holds if a
token ends inside a character, and for ids that encoding the text would not give.

Special tokens have their bytes: models write ``<think>`` and even ``<summary>`` as one. Those that end a completion
have none. Which do is seen from their place, because a model may stop at several and its tokenizer names one.

Byte-level BPE, SentencePiece (with or without byte fallback) and word-level tokenizers are supported; others are
rejected.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TypeAlias

import msgspec

from proof_r1_formal import ProofR1Error


class TokenizerError(ProofR1Error):
    """A tokenizer whose tokens cannot be decoded, or an unknown token id."""


# -- a completion -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TokenText:
    """A completion as tokens and as text.

    Attributes:
        pieces: the bytes of each token; empty for a token without text (the end of the text).
    """

    pieces: tuple[bytes, ...]

    @cached_property
    def text(self) -> str:
        """The text to be verified; bytes that are not UTF-8 show as U+FFFD."""
        return "".join(run.text for run in self._runs)

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """The byte offset at which each token ends."""
        return tuple(accumulate(map(len, self.pieces)))

    def byte_offset(self, character: int) -> int:
        """The offset in bytes of a character offset of the text (at most the length of the text)."""
        run = self._runs[bisect_right(self._runs, character, key=lambda run: run.character_start) - 1]
        return run.byte_start + len(run.text[: character - run.character_start].encode())

    @cached_property
    def _runs(self) -> list[_Run]:
        """The stretches that are UTF-8, and between them those that are not."""
        data = b"".join(self.pieces)
        runs: list[_Run] = []
        characters = position = 0
        while True:
            try:
                runs.append(_Run(characters, position, data[position:].decode()))
                return runs
            except UnicodeDecodeError as error:
                valid = data[position : position + error.start].decode()
                bad = position + error.start
                runs.append(_Run(characters, position, valid))
                runs.append(_Run(characters + len(valid), bad, "\N{REPLACEMENT CHARACTER}"))
                characters, position = characters + len(valid) + 1, position + error.end


@dataclass(frozen=True, slots=True)
class _Run:
    """A stretch of the text, and where it starts in characters and in bytes."""

    character_start: int
    byte_start: int
    text: str


# -- a tokenizer ------------------------------------------------------------------------------------------------------


class _AddedToken(msgspec.Struct):
    id: int
    content: str
    special: bool = False


class _Pattern(msgspec.Struct):
    String: str | None = None


class _Decoder(msgspec.Struct):
    """A decoder, or a sequence of them, with the fields of those that are known."""

    type: str
    decoders: list[_Decoder] = []
    pattern: _Pattern | None = None
    content: str | None = None
    replacement: str | None = None


class _Model(msgspec.Struct):
    vocab: dict[str, int] | list[tuple[str, float]]


class _Tokenizer(msgspec.Struct):
    model: _Model
    decoder: _Decoder | None = None
    added_tokens: list[_AddedToken] = []


_Step: TypeAlias = Callable[[str], str | bytes]

_END_TAG = "</summary>"
"""The tag at which a completion may end that is part of its text."""


class TokenPieces:
    """The bytes of each token of a vocabulary.

    Args:
        tokenizer: the tokenizer as JSON: the text of ``tokenizer.json``, or ``backend_tokenizer.to_str()``.

    Raises:
        TokenizerError: it is not such JSON, or has an unknown decoder.
    """

    def __init__(self, tokenizer: str | bytes) -> None:
        try:
            read = msgspec.json.decode(tokenizer, type=_Tokenizer)
        except msgspec.DecodeError as error:
            raise TokenizerError(f"this is not the JSON of a tokenizer: {error}") from error
        vocabulary = read.model.vocab
        pairs = vocabulary.items() if isinstance(vocabulary, dict) else [(t, i) for i, (t, _) in enumerate(vocabulary)]
        self._tokens = {number: token for token, number in pairs}
        self._tokens |= {token.id: token.content for token in read.added_tokens}
        self._steps = _steps(read.decoder)
        self._known: dict[int, bytes] = {}
        self._ends = {token.id for token in read.added_tokens if token.special and token.content != _END_TAG}

    def read(self, ids: Sequence[int]) -> TokenText:
        """The completion with these token ids; special tokens at its end have no bytes, ``</summary>`` excepted.

        Raises:
            TokenizerError: the vocabulary has no token of an id.
        """
        end = len(ids)
        while end and ids[end - 1] in self._ends:
            end -= 1
        return TokenText((*[self.piece(number) for number in ids[:end]], *[b""] * (len(ids) - end)))

    def piece(self, number: int) -> bytes:
        """The bytes of one token inside a completion.

        Raises:
            TokenizerError: the vocabulary has no token of that id.
        """
        if number not in self._known:
            piece: str | bytes | None = self._tokens.get(number)
            if piece is None:
                raise TokenizerError(f"the tokenizer has no token of id {number}")
            for step in self._steps:
                if isinstance(piece, str):
                    piece = step(piece)
            self._known[number] = piece.encode() if isinstance(piece, str) else piece
        return self._known[number]


def _steps(decoder: _Decoder | None) -> list[_Step]:
    """The work of a decoder on each token alone.

    What it does at the start of the whole text (taking off a space) is left out: a completion does not start there.
    """
    match decoder:
        case None:
            return [lambda token: f" {token}"]  # tokens are joined with spaces
        case _Decoder(type="Sequence", decoders=parts):
            return [step for part in parts for step in _steps(part)]
        case _Decoder(type="ByteLevel"):
            return [_from_byte_level]
        case _Decoder(type="ByteFallback"):
            return [_from_byte_fallback]
        case _Decoder(type="Metaspace", replacement=str(mark)):
            return [lambda token: token.replace(mark, " ")]
        case _Decoder(type="Replace", pattern=_Pattern(String=str(old)), content=str(new)):
            return [lambda token: token.replace(old, new)]
        case _Decoder(type="Fuse" | "Strip"):
            return []
    raise TokenizerError(f"the tokenizer has a decoder that is not known: {decoder.type}")


_PLAIN = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
_OTHERS = [byte for byte in range(256) if byte not in _PLAIN]
BYTE_LEVEL = {chr(byte): byte for byte in _PLAIN} | {chr(256 + n): byte for n, byte in enumerate(_OTHERS)}
"""The byte that each character of byte-level BPE stands for: printable Latin-1 ones stand for themselves."""
_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")


def _from_byte_level(token: str) -> bytes:
    try:
        return bytes([BYTE_LEVEL[character] for character in token])
    except KeyError:  # an added token, which is written as it is
        return token.encode()


def _from_byte_fallback(token: str) -> str | bytes:
    byte = _BYTE.fullmatch(token)
    return token if byte is None else bytes([int(byte[1], 16)])
