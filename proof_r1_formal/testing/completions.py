"""Hypothesis strategies for completions: an attempt in other layouts, and texts from valid to garbage."""

from __future__ import annotations

import json
from typing import get_args

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from proof_r1_formal.proof.action import FIELDS
from proof_r1_formal.rules.catalogue import TRAIN
from proof_r1_formal.rules.schema import Catalogue
from proof_r1_formal.testing.attempts import Attempt, Json, completion_of, valid_attempts
from proof_r1_formal.testing.corruptions import corrupted_attempts
from proof_r1_formal.text.show import Notation


@st.composite
def layouts(draw: DrawFn, attempt: Attempt) -> str:
    """Other ways of writing the same actions: thoughts, a fence, white space, order of fields, escapes, notations."""
    notation = draw(st.sampled_from(get_args(Notation)))
    order = draw(st.permutations(FIELDS))
    records = [{field: step.record(notation)[field] for field in order} for step in attempt.steps]
    body = json.dumps(records, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from((None, 1, "\t"))))
    body = draw(st.sampled_from(("{}", "\n{}\r\n", "```json\n{}\n```", "\n```\n{}```"))).format(body)
    thoughts = ("", "So:\n", "<think>P?</think>", "<think><summary>[]</summary></think>\n", "</think>")
    before, after = draw(st.sampled_from(thoughts)), draw(st.sampled_from(("", "\n", " That is all.")))
    return f"{before}<summary>{body}</summary>{after}"


def completions(catalogue: Catalogue = TRAIN) -> SearchStrategy[str]:
    """Completions from valid to garbage: other JSON, tags in any order, any text."""
    valid = valid_attempts(catalogue)
    json_values: SearchStrategy[Json] = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(FIELDS) | st.text(), inner),
        max_leaves=8,
    )
    pieces = ("<summary>", "</summary>", "<think>", "</think>", "[", "]", "{", "}", '"id"', '"', ":", ",", "```", "\n")
    return st.one_of(
        valid.flatmap(layouts),
        corrupted_attempts(valid, catalogue=catalogue).map(lambda corrupted: corrupted.completion),
        st.lists(json_values, max_size=4).map(completion_of),
        json_values.map(lambda value: f"<summary>{json.dumps(value)}</summary>"),
        st.lists(st.sampled_from(pieces) | any_text(), max_size=12).map("".join),
        any_text(),
    )


def any_text() -> SearchStrategy[str]:
    """Any text, unpaired surrogates and control characters too."""
    return st.text(st.characters(), max_size=20) | st.text(st.characters(categories=("Cs", "Cc", "Cf")), max_size=5)
