"""The tokenizer of models from scratch: any text, and formulas spelt alike wherever they stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import PreTrainedTokenizerFast

from proof_r1_formal import TRAIN, ReferenceStep
from proof_r1_formal.credit.pieces import TokenPieces
from proof_r1_formal.generate import summary
from training.common.tokenizer import END, make_tokenizer

STEP = ReferenceStep("s1", ("h1", "h2"), "waters_roses(Mara)", "IMPLICATION_ELIMINATION")
LAST = ReferenceStep("h_goal_true", ("s1",), "waters_roses(Mara)", "GOAL_BINDING")
TEXTS = [f"h1: ∀x (on_duty(x) → waters_roses(x))\n{summary((STEP, LAST))}", *[rule.name for rule in TRAIN.rules]] * 3


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    return make_tokenizer(TEXTS, 600)


def test_any_text_can_be_written(tokenizer: PreTrainedTokenizerFast) -> None:
    pieces = TokenPieces(tokenizer.backend_tokenizer.to_str())

    @given(st.text())
    def same(text: str) -> None:
        text = text.encode("utf-8", "replace").decode()
        assert pieces.read(tokenizer.encode(text.replace(END, ""), add_special_tokens=False)).text == text.replace(
            END, ""
        )

    same()


def test_the_frame_of_a_step_is_few_tokens(tokenizer: PreTrainedTokenizerFast) -> None:
    pieces = TokenPieces(tokenizer.backend_tokenizer.to_str())
    ids = tokenizer.encode(summary((STEP, LAST)), add_special_tokens=False)
    assert [pieces.piece(number).decode() for number in ids] == [
        *("<summary>[\n", '{"id": "', "s1", '", "dependencies": ["', "h1", '", "', "h2", '"], "conclusion": "'),
        *("waters_roses", "(Mara)", '", "rule": "', "IMPLICATION_ELIMINATION", '"},\n'),
        *('{"id": "', "h_goal_true", '", "dependencies": ["', "s1", '"], "conclusion": "'),
        *("waters_roses", "(Mara)", '", "rule": "', "GOAL_BINDING", '"}\n]</summary>'),
    ]


def test_formulas_are_spelt_alike_in_premises_and_conclusions(tokenizer: PreTrainedTokenizerFast) -> None:
    for formula in ("waters_roses(Mara)", "∀x (on_duty(x) → ¬waters_roses(x))", "new(Bo) ⊕ (odd(Bo) ∧ ¬¬new(Bo))"):
        own = tokenizer.encode(formula, add_special_tokens=False)
        for before, after in (("h1: ", "\n"), ('"], "conclusion": "', '", "rule": "')):
            around = [tokenizer.encode(text, add_special_tokens=False) for text in (before, after)]
            assert tokenizer.encode(before + formula + after, add_special_tokens=False) == [
                *around[0],
                *own,
                *around[1],
            ]


def test_the_same_texts_make_the_same_tokenizer(tokenizer: PreTrainedTokenizerFast) -> None:
    assert make_tokenizer(TEXTS, 600).get_vocab() == tokenizer.get_vocab()
