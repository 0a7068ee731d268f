"""The quick parser against the grammar: whatever it reads, the grammar reads as the same formula."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from proof_r1_formal.testing import strategies
from proof_r1_formal.text.grammar import parse_by_grammar
from proof_r1_formal.text.parse import PLAIN_DEPTH, PLAIN_LENGTH, read_plain
from proof_r1_formal.text.show import show

PIECES = (
    *("∀x ", "∀x ¬", "∃y ∀x ", "x(y)"),
    *("∀x (", "∃y (", "∃x(", "∀xy (", "∀x", "(", ")", "P(x)", "P(x, a)", "likes(a", "Q x y", "is_kind Bob", "p", "x"),
    *("V", "v", "∧", "∨", "⊕", "→", "↔", "¬", ",", ", a)", "Not", "or", "the", "has fur", "true", "1)", "a.", "-b"),
    *("=", "'s", "forall x.", " ", "  ", "X", "Fx", "Ex(x)", "_", "1,000", "х", "∀x: ", "if", "\n"),
)
TEXTS = st.lists(st.sampled_from(PIECES), max_size=14).flatmap(
    lambda pieces: st.sampled_from(["", " "]).map(lambda gap: gap.join(pieces))
)
SIGNATURES = strategies.signatures(symbols=strategies.plain_names(), max_functions=0)
FORMULAS = SIGNATURES.flatmap(lambda signature: strategies.formulas(signature, equality=False))


def agrees(text: str) -> bool:
    """Whether the quick parser reads the text; if it does, the grammar must read the same formula."""
    formula = read_plain(text)
    if formula is not None:
        assert parse_by_grammar(text) is formula
    return formula is not None


@settings(max_examples=1_000)
@given(TEXTS | st.builds(show, FORMULAS, st.sampled_from(("unicode", "juxtaposed"))))
@example("∀x (P(x) ∧ ¬∃x (Q(x)) ∧ R(x))")  # the x of R may be that of ∀ or of ∃
@example("∀x (P(x)) ∧ Q(x)")
@example("∀x (P(x)) ∧ x(a)")
@example("∀xCat(x)")
@example("P v Q")
@example("¬P(a) Q(b)")
@example("P (a)")
@example("1) P(a)")
def test_what_is_read_quickly_is_what_the_grammar_reads(text: str) -> None:
    agrees(text)


@pytest.mark.long
@settings(max_examples=100_000)
@given(TEXTS | FORMULAS.map(show))
def test_many_texts(text: str) -> None:
    agrees(text)


@pytest.mark.parametrize(
    "text",
    [
        *("P(a)", "likes(bob, mary)", "is_kind Bob", "¬P a", "P ∧ Q → R", "¬(P(a) ⊕ Q(b)) ↔ R"),
        *("∀x (P(x) → ∃y (Q(x, y)))", "¬∃x (¬P(x)) → ∃x ∀y Q(x, y)"),
    ],
)
def test_the_usual_notation_needs_no_grammar(text: str) -> None:
    assert agrees(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "P(a", "P(a))", "P(f(a))", "a = b", "P and Q", "∀x P x", "forall x. P(x)", "P(a) ∨", "~P"),
        *("∀xP(x)", "∀x P(x) → Q(x)", "∃x P(x) ∧ Q", "P → Q → R", "∀x P(a)", "∀x (P(x) → Fx)", "∀X (P(X) → Q(x))"),
        *("P(1,000)", "Ex(x)", "_(a)", "Iga_Świątek(a)", "P(if)", "Ǝ(a)"),
        *('"a b"(c)', "not-guilty(tom)", "¬" * (PLAIN_DEPTH + 1) + "P", "P ∧ " * (PLAIN_LENGTH // 4) + "P"),
    ],
)
def test_the_unusual_is_left_to_the_grammar(text: str) -> None:
    assert read_plain(text) is None


@pytest.mark.shared
def test_reference_conclusions_are_read_by_the_fast_parser(shared_data: Path) -> None:
    lines = (shared_data / "reference_verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    texts = {
        json.loads(found)
        for line in lines[::5]
        for found in re.findall(r'"conclusion": ("(?:[^"\\]|\\.)*")', json.loads(line)["response"])
    }
    assert len(texts) > 500
    assert all(agrees(text) for text in sorted(texts))
