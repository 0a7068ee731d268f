"""The JSON object in a reply: which one counts, and replies that would take long to read."""

from __future__ import annotations

from proof_r1_formal.models.replies import MAX_FAILURES, json_object


def test_the_last_object_of_a_reply_counts() -> None:
    assert json_object('{"a": 1} or rather {"a": 2}') == {"a": 2}
    assert json_object(f'{{"a": {"9" * 5000}}} {{"a": 2}}') == {"a": 2}
    assert json_object('```json\n{"a": {"b": []}}\n```') == {"a": {"b": []}}
    assert json_object("{ {} }") == {}
    assert json_object("[1, 2]") is None


def test_an_object_in_the_thoughts_does_not_count() -> None:
    assert json_object('<think>{"a": 1}</think> no') is None


def test_a_reply_of_braces_is_given_up() -> None:
    assert json_object("{x}" * MAX_FAILURES + '{"a": 1}') == {"a": 1}
    assert json_object("{x}" * (MAX_FAILURES + 1) + '{"a": 1}') is None
    assert json_object("{" * 100_000) is None
