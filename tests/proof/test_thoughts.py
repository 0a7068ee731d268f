"""A draft among thoughts is not the answer, in whichever format a model thinks."""

from __future__ import annotations

from pathlib import Path

import pytest

from check_bundle import actions_of
from proof_r1_formal.models.replies import json_object
from proof_r1_formal.proof.action import read_completion, summary_span
from proof_r1_formal.proof.report import Code
from proof_r1_formal.proof.thoughts import FORMATS, end_of_thoughts
from tests.proof.thoughts import CASES, Case, table

PAGE = Path(__file__).parents[2] / "docs" / "prompts.md"
DRAFT = "<summary>[1, 2]</summary>"
ANSWER = '<summary>[{"id": "s1", "dependencies": [], "conclusion": "P", "rule": "R"}]</summary>'


@pytest.mark.parametrize("case", CASES, ids=[case.opening.strip() for case in CASES])
@pytest.mark.parametrize("opened", [True, False])
def test_the_answer_follows_the_thoughts(case: Case, opened: bool) -> None:
    """Where the chat template opens the thoughts, the completion has no mark for their beginning."""
    text = f"{case.opening if opened else ''}So: {DRAFT}? No.{case.between}\n{ANSWER}"
    trace = read_completion(text)
    assert trace.parsed
    assert [action.id for action in trace.actions] == ["s1"]
    assert text[slice(*trace.actions[0].span)] == ANSWER[len("<summary>[") : -len("]</summary>")]
    assert actions_of(text)[0]
    assert [len(found) for _, found in actions_of(text)[1]] == [0]


@pytest.mark.parametrize("case", CASES, ids=[case.opening.strip() for case in CASES])
def test_a_reply_is_the_object_after_the_thoughts(case: Case) -> None:
    text = f'{case.opening}{{"valid": true}}{case.between}I cannot say.'
    assert json_object(text) is None
    assert json_object(f'{text}{{"valid": false}}') == {"valid": False}


@pytest.mark.parametrize("case", CASES, ids=[case.opening.strip() for case in CASES])
def test_thoughts_end_as_their_format_says(case: Case) -> None:
    assert case.between.startswith(end_of_thoughts(f"\n{case.opening}So:"))
    assert end_of_thoughts(f"{case.opening}So:") != ""
    assert end_of_thoughts(f"{case.opening}So:{case.between}") == ""
    assert end_of_thoughts(f"So: {case.opening}") == ""


@pytest.mark.parametrize(
    "text", [f"<think>So: {DRAFT}", f"So: {DRAFT}", f"[THINK]So: {DRAFT}", f"<muse>{DRAFT}</muse>"]
)
def test_without_a_known_end_the_first_summary_counts(text: str) -> None:
    assert len(read_completion(text + ANSWER).actions) == 2
    assert len(actions_of(text + ANSWER)[1]) == 2


def test_a_message_outside_the_final_channel_has_no_answer() -> None:
    text = f"<|channel|>analysis<|message|>So: {ANSWER}"
    trace = read_completion(text)
    (action,) = trace.actions
    assert (trace.parsed, action.span) == (False, (0, len(text)))
    assert [(each.code, each.message) for each in action.findings] == [
        (Code.MALFORMED, "there is no message in the final channel")
    ]
    assert actions_of(text)[0] is False
    assert summary_span(text) == trace
    assert json_object('<|channel|>analysis<|message|>{"valid": true}') is None


def test_every_known_format_is_in_the_table_of_the_page() -> None:
    assert table() in PAGE.read_text(encoding="utf-8"), "write it with `python -m tests.proof.thoughts`"
    known = [(case.opening, case.between) for case in CASES]
    for each in FORMATS:
        assert any(opening.startswith(each.opening) and each.closing in between for opening, between in known)
