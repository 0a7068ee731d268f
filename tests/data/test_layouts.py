"""Layouts of files of completions: what people have is read, and what is unclear is refused with the remedy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from proof_r1_formal.data.completions import BadLine, Completion, encode, read_completions, write_completions
from proof_r1_formal.data.layouts import Fields
from proof_r1_formal.errors import ProofR1Error
from tests.data.files import write


def read(folder: Path, *records: Any, fields: Fields | None = None) -> list[Completion | BadLine]:
    return list(read_completions(write(folder, "\n".join(map(json.dumps, records))), fields))


def texts(folder: Path, *records: Any, fields: Fields | None = None) -> list[tuple[str, int, str]]:
    """Problem, number and text of each completion; all lines are completions."""
    found = read(folder, *records, fields=fields)
    assert [item for item in found if isinstance(item, BadLine)] == []
    return [(item.problem_id, item.sample, item.completion) for item in found if isinstance(item, Completion)]


def refusal(folder: Path, record: Any, fields: Fields | None = None) -> str:
    [item] = read(folder, record, fields=fields)
    assert isinstance(item, BadLine)
    return item.problem


USER, MODEL = {"role": "user", "content": "Is it?"}, {"role": "assistant", "content": "x"}
CHOICE = {"index": 0, "message": MODEL, "finish_reason": "stop"}


def batch(body: Any, **others: Any) -> dict[str, Any]:
    return {"id": "batch_req_1", "custom_id": "p", "response": {"status_code": 200, "body": body}, **others}


@pytest.mark.parametrize("key", ["problem_id", "task_id", "question_id", "custom_id", "doc_id", "id"])
def test_an_id_has_many_names(tmp_path: Path, key: str) -> None:
    assert texts(tmp_path, {key: "p", "response": "x"}) == [("p", 0, "x")]
    assert texts(tmp_path, {key: 7, "response": "x"}) == [("7", 0, "x")]


def test_the_id_of_the_user_counts_before_that_of_a_request(tmp_path: Path) -> None:
    assert texts(tmp_path, {"id": "cmpl-1", "task_id": "p", "text": "x"}) == [("p", 0, "x")]


@pytest.mark.parametrize(
    "answer",
    [
        *[{key: "x"} for key in ("completion", "response", "output", "generation", "text")],
        {"messages": [USER, MODEL]},
        {"messages": [USER, {"role": "assistant", "content": [{"type": "text", "text": "x"}]}]},
        {"messages": [{"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}, {"text": "x"}]}]},
        {"messages": [{"role": "assistant", "content": ["", "x"]}]},
        {"response": [USER, MODEL]},
        {"outputs": [{"text": "x", "finish_reason": "stop"}]},
        {"choices": [CHOICE]},
        {"messages": [USER], "response": "x"},
        {"completion": None, "response": "x"},
    ],
)
def test_an_answer_has_many_names(tmp_path: Path, answer: Any) -> None:
    assert texts(tmp_path, {"task_id": "p", "prompt": "Is it?", **answer}) == [("p", 0, "x")]


@pytest.mark.parametrize("key", ["completion", "completions", "responses", "outputs", "generations", "texts"])
def test_several_samples_may_be_a_list(tmp_path: Path, key: str) -> None:
    assert texts(tmp_path, {"problem_id": "p", key: ["x", "y"]}) == [("p", 0, "x"), ("p", 1, "y")]


def test_answers_without_a_number_get_one_in_the_order_of_the_file(tmp_path: Path) -> None:
    rows = [
        {"task_id": "p", "response": "x"},
        {"task_id": "q", "response": "y"},
        {"task_id": "p", "response": ["z", "w"]},
    ]
    assert texts(tmp_path, *rows) == [("p", 0, "x"), ("q", 0, "y"), ("p", 1, "z"), ("p", 2, "w")]
    for number in (3, 2**31 - 1):
        assert texts(tmp_path, {"task_id": "p", "response": "x", "sample": number}) == [("p", number, "x")]


def test_a_batch_file_is_read(tmp_path: Path) -> None:
    chat = {"id": "c", "choices": [CHOICE, {**CHOICE, "index": 1}]}
    assert texts(tmp_path, batch(chat, error=None)) == [("p", 0, "x"), ("p", 1, "x")]
    assert texts(tmp_path, batch({"choices": [{"text": "y", "finish_reason": "stop"}]})) == [("p", 0, "y")]
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "z"}]}
    assert texts(tmp_path, batch({"output": [{"type": "reasoning", "summary": []}, message]})) == [("p", 0, "z")]


def test_a_failed_request_is_not_an_answer(tmp_path: Path) -> None:
    failed = {"custom_id": "p", "response": None, "error": {"code": "expired", "message": "out of time"}}
    assert refusal(tmp_path, failed) == "the request failed: out of time"
    assert refusal(tmp_path, batch({"error": {"message": "no such model"}})) == "the request failed: no such model"


def test_an_answer_without_content_is_an_empty_completion(tmp_path: Path) -> None:
    """To leave it out would raise the scores."""
    refused = {**CHOICE, "message": {"role": "assistant", "content": None, "refusal": "No."}}
    assert texts(tmp_path, batch({"choices": [refused]})) == [("p", 0, "")]


def test_another_key_of_that_name_is_ignored(tmp_path: Path) -> None:
    [item] = read(tmp_path, {"problem_id": "p", "completion": "x", "truncated": "at 10 pm"})
    assert isinstance(item, Completion)
    assert b"truncated" not in encode(item)


def harness(**others: Any) -> dict[str, Any]:
    doc = {"problem": json.dumps({"id": "p", "premises": []})}
    return {"doc_id": 0, "doc": doc, "resps": [["x", "y"]], "filtered_resps": ["x"], "filter": "none", **others}


def test_samples_of_the_harness_are_read_before_its_filters(tmp_path: Path) -> None:
    assert texts(tmp_path, harness()) == [("p", 0, "x"), ("p", 1, "y")]
    assert texts(tmp_path, harness(doc={"task_id": "q"})) == [("q", 0, "x"), ("q", 1, "y")]
    assert texts(tmp_path, harness(doc={"problem": '{"id": 7}'})) == [("7", 0, "x"), ("7", 1, "y")]


def test_a_second_filter_of_the_harness_repeats_answers(tmp_path: Path) -> None:
    *first, last = read(tmp_path, harness(), harness(filter="first"))
    assert len(first) == 2
    assert isinstance(last, BadLine)
    assert "the filter 'first' repeats the answers of the filter 'none'" in last.problem
    chosen = Fields.of(["completion=filtered_resps"])  # each filter has answers of its own
    assert len(texts(tmp_path, harness(), harness(filter="first"), fields=chosen)) == 2


def test_the_position_of_a_document_is_no_id(tmp_path: Path) -> None:
    assert "`doc_id` is a position: --field problem_id=doc." in refusal(tmp_path, harness(doc={"question": "?"}))
    named = Fields.of(["problem_id=doc.number"])
    assert texts(tmp_path, harness(doc={"number": 4}), fields=named)[0] == ("4", 0, "x")


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"task_id": "p", "response": "x", "output": "y"}, "`response` and `output` could each be the answer"),
        ({"task_id": "p", "text": "x", "messages": [USER, MODEL]}, "`text` and `messages` could each be the answer"),
        ({"task_id": "p", "answer": "x"}, "no answer: expected `completion`, `response`"),
        ({"task_id": "p", "messages": [USER]}, "the line has: task_id, messages"),
        (dict.fromkeys("abcdefghi", 1), "the line has: a, b, c, d, e, f, g, h. Name it"),
        ({"response": "x"}, "no id of a problem: expected `problem_id`, `task_id`"),
        ({"task_id": True, "response": "x"}, "`task_id` is not the id of a problem"),
        ({"task_id": "", "response": "x"}, "`task_id` is not the id of a problem"),
        ({"task_id": "p", "response": 3}, "`response` is not an answer"),
        ({"task_id": "p", "response": ["x", 3]}, "`response.1` is not an answer"),
        ({"task_id": "p", "responses": []}, "the list of answers is empty"),
        ({"task_id": "p", "response": "x", "sample": -1}, "`sample` is not the number of a sample"),
        ({"task_id": "p", "response": "x", "sample": 2**31}, "`sample` is not the number of a sample"),
        ({"task_id": "p", "response": "x", "sample": True}, "`sample` is not the number of a sample"),
        ({"task_id": "p", "messages": []}, "no answer: expected `completion`, `response`"),
        (harness(doc={"problem": '{"id": true}'}), "`doc.problem` is not the id of a problem"),
        (
            {"task_id": "p", "messages": [{"role": "assistant", "content": ["x", 3]}]},
            "`messages.0.content` has a part that is neither a text nor an object",
        ),
        ({"task_id": "p", "messages": [{"role": "assistant", "content": 3}]}, "is neither a text nor a list of parts"),
        ({"task_id": "p", "response": [MODEL, USER]}, "does not end with a message of the role assistant"),
        ({"task_id": "\0", "response": "x"}, "control character"),
        (harness(resps=[["x"], ["y"]]), "`resps` has 2 requests"),
    ],
)
def test_an_unclear_line_is_refused_with_the_remedy(tmp_path: Path, record: Any, said: str) -> None:
    assert said in refusal(tmp_path, record)


def test_a_field_says_where_a_part_is(tmp_path: Path) -> None:
    row = {"meta": {"n": 12}, "turns": [{"say": "no"}, {"say": "x"}], "response": "other", "seed": 2}
    fields = Fields.of(["problem_id=folio/{meta.n}", "completion=turns[1].say", "sample=seed"])
    assert texts(tmp_path, row, fields=fields) == [("folio/12", 2, "x")]
    one = Fields.of(["completion=turns.1.say"])
    assert texts(tmp_path, {"task_id": "p", **row}, fields=one) == [("p", 0, "x")]
    assert refusal(tmp_path, {"task_id": "p"}, one) == "the line has nothing at `turns.1.say` (--field)"


def test_a_field_counts_in_the_own_layout_too(tmp_path: Path) -> None:
    row = {"problem_id": "p", "completion": "x", "raw": "y"}
    assert texts(tmp_path, row, fields=Fields.of(["completion=raw"])) == [("p", 0, "y")]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["text=x"], "expected name=path, with the name problem_id or completion or sample"),
        (["completion"], "expected name=path"),
        (["completion="], "expected name=path"),
        (["completion=a", "completion=b"], "--field completion is given twice"),
    ],
)
def test_a_wrong_field_is_an_error(given: list[str], said: str) -> None:
    with pytest.raises(ProofR1Error, match="--field") as error:
        Fields.of(given)
    assert said in str(error.value)


@pytest.mark.parametrize("kind", ["reasoning", "reasoning_text", "summary_text", "thinking", "thought"])
def test_thoughts_of_a_message_are_not_in_its_answer(tmp_path: Path, kind: str) -> None:
    """A draft of a summary there would be the one that counts."""
    draft = {"type": kind, "text": "<summary>[]</summary>"}
    message = {"role": "assistant", "content": [draft, {"type": "text", "text": "x"}, draft, {"text": "y"}, "z"]}
    for record in ({"task_id": "p", "messages": [USER, message]}, {"task_id": "p", "response": message}):
        assert texts(tmp_path, record) == [("p", 0, "xyz")]
    output = {"type": "message", "role": "assistant", "content": [draft, {"type": "output_text", "text": "z"}]}
    assert texts(tmp_path, batch({"output": [output]})) == [("p", 0, "z")]
    assert texts(tmp_path, {"task_id": "p", "response": {**message, "content": [draft]}}) == [("p", 0, "")]
    alone = {"task_id": "p", "response": [draft, {"type": "text", "text": "x"}]}
    assert "`response.0` holds thoughts, not an answer" in refusal(tmp_path, alone)


def test_the_completion_of_the_own_layout_counts_beside_other_keys(tmp_path: Path) -> None:
    """In any other layout two such keys are unclear."""
    both = {"completion": "x", "response": "y"}
    unclear = "`completion` and `response` could each be the answer"
    assert texts(tmp_path, {"problem_id": "p", **both}) == [("p", 0, "x")]
    for own in ({"task_id": "p"}, {"problem_id": 7}):
        assert refusal(tmp_path, {**own, **both}).startswith(unclear)
    named = Fields.of(["sample=n"])
    assert refusal(tmp_path, {"problem_id": "p", "n": 0, **both}, named).startswith(unclear)


def test_responses_are_those_of_an_evaluation_only_beside_its_document(tmp_path: Path) -> None:
    other = {"task_id": "p", "resps": [["scored elsewhere"]], "response": "x"}
    assert texts(tmp_path, other) == [("p", 0, "x")]
    assert texts(tmp_path, {"doc_id": 3, "doc": {"id": "q"}, "resps": [["x"]]}) == [("q", 0, "x")]


def test_answers_in_the_own_layout_are_numbered_too(tmp_path: Path) -> None:
    """Else all of them would be sample 0, and all but one would be left out of a table."""
    rows: list[Any] = [{"problem_id": "p", "completion": text} for text in "xy"]
    rows += [{"problem_id": "p", "sample": 5, "completion": "z"}, {"task_id": "p", "response": "v"}]
    rows += [{"problem_id": "p", "completion": "w"}]
    assert texts(tmp_path, *rows) == [("p", 0, "x"), ("p", 1, "y"), ("p", 5, "z"), ("p", 6, "v"), ("p", 7, "w")]


def test_the_own_keys_take_what_other_layouts_take(tmp_path: Path) -> None:
    assert texts(tmp_path, {"problem_id": 7, "completion": "x"}) == [("7", 0, "x")]
    assert texts(tmp_path, {"problem_id": "p", "completion": MODEL}) == [("p", 0, "x")]
    assert texts(tmp_path, {"problem_id": "p", "completion": None, "response": "x"}) == [("p", 0, "x")]


@pytest.mark.parametrize(
    ("record", "field", "cut"),
    [
        (batch({"choices": [{**CHOICE, "finish_reason": "length"}]}), None, [True]),
        (batch({"output": [], "incomplete_details": {"reason": "max_output_tokens"}}), None, [True]),
        ({"id": "p", "outputs": [{"text": "x", "finish_reason": "length"}]}, None, [True]),
        ({"problem_id": "p", "completion": "x", "truncated": True}, None, [True]),
        ({"task_id": "p", "response": "x", "finish_reason": "length"}, None, [True]),
        ({"task_id": "p", "response": "x", "finish_reason": "stop"}, None, [False]),
        ({"task_id": "p", "response": "x", "stop_reason": "max_tokens"}, None, [True]),
        ({"task_id": "p", "response": "x", "stop_reason": "end_turn"}, None, [False]),
        ({"task_id": "p", "response": "x", "truncated": True}, None, [True]),
        ({"task_id": "p", "messages": [USER, MODEL], "finish_reason": "length"}, None, [True]),
        ({"problem_id": "p", "completion": "x", "finish_reason": "length"}, None, [True]),
        ({"task_id": "p", "responses": ["x", "y"], "finish_reasons": ["stop", "length"]}, None, [False, True]),
        ({"task_id": "p", "responses": ["x", "y"], "finish_reason": ["length"]}, None, [False, False]),
        ({"task_id": "p", "out": [{"say": "x", "finish_reason": "length"}]}, "completion=out.0.say", [True]),
        ({"task_id": "p", "out": [{"say": "x", "finish_reason": "stop"}]}, "completion=out.0.say", [False]),
    ],
)
def test_an_answer_is_cut_off_by_what_stands_beside_it(
    tmp_path: Path, record: Any, field: str | None, cut: list[bool]
) -> None:
    items = read(tmp_path, record, fields=None if field is None else Fields.of([field]))
    found = [item for item in items if isinstance(item, Completion)]
    assert [item.truncated for item in found] == cut
    write_completions(tmp_path / "again.jsonl", found)
    assert list(read_completions(tmp_path / "again.jsonl")) == found


def test_messages_that_are_all_the_assistants_are_not_one_chat(tmp_path: Path) -> None:
    """The last would be read, and the others dropped silently."""
    said = refusal(tmp_path, {"task_id": "p", "choices": [MODEL, MODEL]})
    assert "`choices` has 2 messages of the assistant and no other" in said
    assert "--field completion=choices.0" in said
    assert texts(tmp_path, {"task_id": "p", "messages": [MODEL, MODEL]}) == [("p", 0, "x")]
