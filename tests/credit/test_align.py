"""Alignment: with three kinds of tokenizers made here, and against counting byte by byte."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from proof_r1_formal import ReferenceStep
from proof_r1_formal.credit.align import NOBODY, Alignment, align
from proof_r1_formal.credit.pieces import TokenizerError, TokenPieces, TokenText
from proof_r1_formal.generate import summary
from proof_r1_formal.proof.action import read_completion

THOUGHTS = "From h1 and h2: ∀x (größer(x) → ¬klein(x)). From s1: 爱(ann) ⊕ 🙂(bob). So the answer is h_goal_true."
PROOF = (
    ReferenceStep("s1", ("h1", "h2"), "∀x (größer(x) → ¬klein(x))", "IMPLICATION_ELIMINATION"),
    ReferenceStep("s2", ("s1",), "爱(ann) ⊕ 🙂(bob)", "EXCLUSIVE_DISJUNCTION_ELIMINATION"),
    ReferenceStep("h_goal_true", ("s2",), "爱(ann) ⊕ 🙂(bob)", "GOAL_BINDING"),
)
TEXT = f"<think>{THOUGHTS}</think>\n{summary(PROOF)}"
CORPUS = [TEXT.replace("🙂", "x"), "the cat is on the mat and ∧ is a sign", '{"id": "s1", "dependencies": ["h1"]}'] * 4
END, THINK = "<end>", "</think>"


@cache
def tokenizer(kind: str) -> Tokenizer:
    """A tokenizer trained here, with an end token that says nothing and a marker that is text."""
    match kind:
        case "byte-level":
            made = Tokenizer(models.BPE())
            made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
            made.decoder = decoders.ByteLevel()
            alphabet = pre_tokenizers.ByteLevel.alphabet()
            made.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=330, initial_alphabet=alphabet))
        case "sentencepiece":
            made = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>"))
            made.normalizer = normalizers.Replace(" ", "▁")
            made.decoder = decoders.Sequence(
                [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
            )
            fallback = ["<unk>", *[f"<0x{byte:02X}>" for byte in range(256)]]
            trainer = trainers.BpeTrainer(vocab_size=420, special_tokens=fallback, limit_alphabet=60)
            made.train_from_iterator(CORPUS, trainer)
            # Training marks every token that it is told to have as special; in SentencePiece, bytes are no such tokens.
            data = json.loads(made.to_str())
            data["added_tokens"] = []
            made = Tokenizer.from_str(json.dumps(data))
        case _:
            made = Tokenizer(models.Unigram())
            made.pre_tokenizer = pre_tokenizers.Metaspace()
            made.decoder = decoders.Metaspace()
            characters = sorted({*"".join(CORPUS), *TEXT})
            trainer = trainers.UnigramTrainer(
                vocab_size=300, initial_alphabet=characters, unk_token="<unk>", special_tokens=["<unk>"]
            )
            made.train_from_iterator([*CORPUS, TEXT], trainer)
    made.add_special_tokens([AddedToken(END, special=True)])
    made.add_tokens([AddedToken(THINK, special=False, normalized=False)])
    return made


KINDS = ("byte-level", "sentencepiece", "unigram")


def ids_of(kind: str, text: str) -> list[int]:
    ids: list[int] = tokenizer(kind).encode(text).ids
    return ids


def pieces_of(kind: str) -> TokenPieces:
    return TokenPieces(tokenizer(kind).to_str())


# -- what tokens say --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_the_text_is_what_the_tokenizer_decodes(kind: str) -> None:
    ids = [*ids_of(kind, TEXT), tokenizer(kind).token_to_id(END)]
    completion = pieces_of(kind).read(ids)
    decoded = tokenizer(kind).decode(ids)
    assert completion.text.removeprefix(" ") == decoded.removeprefix(" ")
    if kind != "unigram":  # it puts a space after the marker
        assert decoded == TEXT
    assert completion.pieces[-1] == b""
    aligned = align(completion, [action.span for action in read_completion(completion.text).actions])
    assert aligned.mapped == (True,) * 3


@given(st.lists(st.integers(0, 329), max_size=60))
def test_any_byte_level_ids_have_their_decoded_text(ids: list[int]) -> None:
    ids = [number for number in ids if number < tokenizer("byte-level").get_vocab_size()]
    assert pieces_of_byte_level().read(ids).text == tokenizer("byte-level").decode(ids)


@cache
def pieces_of_byte_level() -> TokenPieces:
    return pieces_of("byte-level")


@given(st.lists(st.binary(max_size=4), max_size=30))
def test_offsets_in_characters_are_offsets_in_bytes(pieces: list[bytes]) -> None:
    completion = TokenText(tuple(pieces))
    data = b"".join(pieces)
    assert completion.text == data.decode(errors="replace")
    offsets = [completion.byte_offset(character) for character in range(len(completion.text) + 1)]
    assert offsets[0] == 0
    assert offsets[-1] == len(data)
    for character, (start, stop) in enumerate(pairwise(offsets)):
        assert data[start:stop].decode(errors="replace") == completion.text[character]


def test_without_a_decoder_tokens_are_words() -> None:
    words = Tokenizer(models.WordLevel({"<unk>": 0, "Ann": 1, "reads": 2, "∧": 3}, unk_token="<unk>"))
    completion = TokenPieces(words.to_str()).read([1, 2, 3, 1])
    assert completion.text == " Ann reads ∧ Ann"
    assert completion.text.removeprefix(" ") == words.decode([1, 2, 3, 1])
    assert align(completion, [(5, 12)]).owners == (NOBODY, 0, 0, NOBODY)


def test_what_is_no_known_tokenizer_is_refused() -> None:
    wordpiece = Tokenizer(models.WordPiece({"a": 0}, unk_token="a"))
    wordpiece.decoder = decoders.WordPiece()
    with pytest.raises(TokenizerError, match="WordPiece"):
        TokenPieces(wordpiece.to_str())
    with pytest.raises(TokenizerError, match="JSON"):
        TokenPieces("{}")
    with pytest.raises(TokenizerError, match="no token of id 99999"):
        pieces_of("byte-level").read([99999])


# -- which action they belong to --------------------------------------------------------------------------------------


def counted(completion: TokenText, spans: list[tuple[int, int]]) -> list[int]:
    """The owners, by giving every byte to its action and counting."""
    owner_of_byte: list[int] = []
    for index, character in enumerate(completion.text):
        inside = [n for n, (start, stop) in enumerate(spans) if start <= index < stop]
        owner_of_byte += [inside[0] if inside else NOBODY] * len(character.encode())
    owners, position = [], 0
    for piece in completion.pieces:
        votes = Counter(n for n in owner_of_byte[position : position + len(piece)] if n != NOBODY)
        owners.append(min(votes, key=lambda n: (-votes[n], n)) if votes else NOBODY)
        position += len(piece)
    return owners


@given(st.text("ab∧🙂é{}", max_size=30), st.data())
def test_alignment_is_counting_bytes(text: str, data: st.DataObject) -> None:
    """On any cut of a text into tokens, through the middle of characters, and on any spans."""
    encoded = text.encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(encoded)), max_size=12)))
    pieces = [encoded[a:b] for a, b in zip([0, *cuts], [*cuts, len(encoded)], strict=True)]
    bounds = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8, unique=True)))
    spans = list(zip(bounds[::2], bounds[1::2], strict=False))
    completion = TokenText(tuple(pieces))
    aligned = align(completion, spans)
    assert list(aligned.owners) == counted(completion, spans)
    assert aligned.sizes == tuple([aligned.owners.count(n) for n in range(len(spans))])


def test_tokens_across_boundaries() -> None:
    completion = TokenText((b'[{"a', b'"}, {"', b'bb"}', b"]", b""))
    assert completion.text == '[{"a"}, {"bb"}]'
    aligned = align(completion, [(1, 6), (8, 14)])  # the second token has two bytes of each
    assert aligned == Alignment((0, 0, 1, NOBODY, NOBODY), (2, 1))
    completion = TokenText((b'[{"a', b'"},{"b', b'b"}', b"]"))
    assert align(completion, [(1, 6), (7, 13)]).owners == (0, 1, 1, NOBODY)


def test_an_action_without_a_token_of_its_own_is_unmapped() -> None:
    assert align(TokenText((b"[1,[2,3]]",)), [(1, 2), (3, 8)]).mapped == (False, True)


# -- what they get ----------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(NOBODY, 3), max_size=20), st.lists(st.floats(-5, 5), min_size=4, max_size=4))
def test_the_weights_of_every_mapped_action_sum_to_one(owners: list[int], advantages: list[float]) -> None:
    aligned = Alignment(tuple(owners), tuple([owners.count(n) for n in range(4)]))
    projected = aligned.project(advantages)
    for number, advantage in enumerate(advantages):
        shares = [share for share, owner in zip(projected, owners, strict=True) if owner == number]
        assert len(set(shares)) < 2
        assert sum(shares) == pytest.approx(advantage if aligned.mapped[number] else 0.0)
    assert all(share == 0.0 for share, owner in zip(projected, owners, strict=True) if owner == NOBODY)
