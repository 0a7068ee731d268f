"""Strict parsing: what has two plausible readings is rejected with both, and repair does not choose between them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof_r1_formal.errors import ParseError
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.kernel.transform import alpha_equivalent
from proof_r1_formal.testing.strategies import formulas, signatures
from proof_r1_formal.text.parse import parse_formula
from proof_r1_formal.text.readings import RESERVED_WORDS, list_markers
from proof_r1_formal.text.show import OutputNotation, show

TWO_READINGS = Path(__file__).with_name("two_readings.jsonl").read_text(encoding="utf-8").splitlines()
"""Text, place of the error, and a spelling of each reading; none if that reading is prose, or is not a formula."""
WRITTEN: tuple[OutputNotation, ...] = get_args(OutputNotation)
SIGNS = "¬∧⊕∨→↔∀∃="
MARKERS = ("1.", "12)", "a)", "B.", "iv)", "(2)", "(b)", "-", "−", "*", "•", "–")
TRICKY = (
    *("v", "V", "Λ", "is", "the", "The", "If", "in", "no", "doesn't", "distinct", "Not", "ForAll", "all", "birds"),
    *("xCat", "P", "Tiger", "not-known", "true'", "(a)", "1.", "-", "x-1", "a．b", "İ-1", "’"),
)
PLAIN = ("P", "Q", "R", "likes", "tom", "ann", "f")


def formulas_of(symbols: tuple[str, ...], *, variables: tuple[str, ...], max_size: int) -> st.SearchStrategy[Formula]:
    """Formulas whose symbols have these names."""
    return signatures(symbols=st.sampled_from(symbols), max_sorts=1).flatmap(
        lambda drawn: formulas(drawn, variables=variables, max_size=max_size)
    )


@pytest.mark.parametrize("line", TWO_READINGS)
def test_two_plausible_readings_are_rejected_with_both(line: str) -> None:
    text, offset, *readings = json.loads(line)
    with pytest.raises(ParseError) as caught:
        parse_formula(text)
    assert caught.value.location.offset == offset
    assert " or " in caught.value.problem or "looks like a list marker" in caught.value.problem
    if list_markers(text):
        assert parse_formula(text, repair=True).formula is parse_formula(readings[0])
    else:
        with pytest.raises(ParseError):
            parse_formula(text, repair=True)
    clear = [parse_formula(reading) for reading in readings if reading is not None]
    assert len(set(clear)) == len(clear)


@pytest.mark.parametrize("spelled", [str.lower, str.upper, str.title, str.swapcase])
@pytest.mark.parametrize("word", sorted(RESERVED_WORDS))
def test_a_reserved_word_is_no_predicate_in_any_case(word: str, spelled: Callable[[str], str]) -> None:
    text = f"{spelled(word)}(a, b)"
    if word in ("and", "or", "xor", "implies", "iff"):
        assert parse_formula(text) is parse_formula(f"a {word} b")
    else:
        with pytest.raises(ParseError):
            parse_formula(text)
    with pytest.raises(ParseError):
        parse_formula(f"P(a) ∧ {spelled(word)}" if word not in ("true", "false") else f"{spelled(word)} a")


@settings(max_examples=300)
@given(formulas_of(TRICKY, variables=(*TRICKY, "x"), max_size=8))
def test_names_that_could_be_misread_are_quoted(formula: Formula) -> None:
    """A bound name that a constant has, too, is shown as another one."""
    for notation in WRITTEN:
        read = parse_formula(show(formula, notation))
        assert alpha_equivalent(read, formula)
        assert show(read, notation) == show(formula, notation)


@settings(max_examples=60)
@given(formulas_of(PLAIN, variables=("x", "y"), max_size=5))
def test_no_list_marker_is_part_of_a_formula(formula: Formula) -> None:
    for marker in MARKERS:
        text = f"{marker} {show(formula)}"
        with pytest.raises(ParseError) as caught:
            parse_formula(text)
        assert caught.value.location.offset == 0
        try:
            assert parse_formula(text, repair=True).formula is formula
        except ParseError as error:
            assert error.location.offset == 0
        else:
            assert list_markers(text) == marker


@settings(max_examples=200)
@given(formulas_of(PLAIN, variables=("x", "y"), max_size=8), st.integers(0, 1 << 30))
def test_repair_keeps_every_sign_and_name(formula: Formula, seed: int) -> None:
    """Parentheses are put in or taken out at random, and there may be junk behind the formula."""
    random = Random(seed)
    text = show(formula)
    for _ in range(random.randint(1, 2)):
        place = random.randrange(len(text) + 1)
        text = (
            text[:place] + random.choice(["(", ")", ")", ""]) + text[place + (text[place : place + 1] in ("(", ")")) :]
        )
    text += random.choice(["", ".", " ;", " not", " Not: so", ") Note: not so", " ∧", " a", " v", "¬"])
    try:
        repaired = parse_formula(text, repair=True)
    except ParseError:
        return
    kept = text.partition(" Note:")[0]
    closed = sum(repair.startswith("closed") for repair in repaired.repairs)
    found, written = show(repaired.formula), Counter(kept)
    for sign in SIGNS:
        assert found.count(sign) - (closed if sign == "∀" else 0) == written[sign], (text, found)
    assert Counter(_names(found)) >= Counter(_names(kept)), (text, found)


def _names(text: str) -> list[str]:
    return "".join(char if char.isalnum() else " " for char in text).split()


@settings(max_examples=60)
@given(formulas_of(PLAIN, variables=("x", "y"), max_size=8))
def test_a_formula_that_is_cut_off_is_rejected_at_its_end(formula: Formula) -> None:
    text = show(formula)
    for end in range(len(text)):
        cut = text[:end]
        try:
            parse_formula(cut)
        except ParseError as error:
            if error.problem == "the formula ends too early":
                assert error.location.offset == len(cut)
            else:
                assert error.location.offset < max(len(cut), 1), (cut, error.problem)


@pytest.mark.shared
def test_english_sentences_are_no_formulas(shared_data: Path) -> None:
    sentences: set[str] = set()
    for name in ("easy", "medium", "hard"):
        for record in json.loads((shared_data / "proverqa" / f"{name}.json").read_text("utf-8")):
            sentences |= record["nl2fol"].keys()
    for name in ("folio_v0_validation", "folio_v2_train_first400"):
        for line in (shared_data / "folio" / f"{name}.jsonl").read_text("utf-8").splitlines():
            record = json.loads(line)
            premises = record["premises"]
            sentences |= {*(premises if isinstance(premises, list) else premises.split("\n")), record["conclusion"]}
    read = []
    for sentence in sentences:
        try:
            parse_formula(sentence, repair=True)
        except ParseError:
            continue
        read.append(sentence)
    assert len(sentences) > 11_000
    assert read == []
