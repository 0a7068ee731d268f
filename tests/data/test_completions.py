"""Completions: texts are kept exactly, bad lines have their reason and the rest goes on, and costs are as stated."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proof_r1_formal.data.completions import MAX_LINE, BadLine, Completion, Cost, read_completions, write_completions
from tests.data.files import write


def test_completions_keep_their_text_exactly(tmp_path: Path) -> None:
    texts = ["", "é\n𝒜", "\0", "\ud800", "<summary>[]</summary>"]
    path = tmp_path / "c.jsonl"
    path.write_text("\n".join(json.dumps({"problem_id": "p", "completion": t}) for t in texts), encoding="utf-8")
    assert [c.completion for c in read_completions(path) if isinstance(c, Completion)] == texts


def test_a_byte_order_mark_before_the_first_line_is_no_part_of_it(tmp_path: Path) -> None:
    line = '{"problem_id": "p", "completion": "\ufeffx"}\n'
    path = write(tmp_path, "\ufeff" + line + line + "\ufeff" + line)
    first, second, third = read_completions(path)
    assert first == Completion(problem_id="p", completion="\ufeffx")
    assert isinstance(second, Completion)
    assert isinstance(third, BadLine)


def test_completions_are_read_one_at_a_time(tmp_path: Path) -> None:
    path = write(tmp_path, '{"problem_id": "p", "completion": "x"}\n' * 3 + '{"problem_id"')
    items = read_completions(path)
    assert next(items) == Completion(problem_id="p", completion="x")
    assert [isinstance(item, BadLine) for item in items] == [False, False, True]


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (b'{"problem_id": "p", "problem_id": "q", "completion": ""}', "the key 'problem_id' occurs twice"),
        (b'{"problem_id": "p", "sample": true, "completion": ""}', "`$.sample`"),
        (b'{"problem_id": "p", "sample": 2147483648, "completion": ""}', "`$.sample`"),
        (b'{"problem_id": "p\\u0000", "completion": ""}', "control character"),
        (b'{"problem_id": "\\ud800", "completion": ""}', "control character"),
        (b'{"problem_id": "", "completion": ""}', "`$.problem_id`"),
        (b'{"problem_id": "p", "completion": {"a": 1}}', "`completion` is not an answer"),
        (b'{"problem_id": "p"}', "`completion`"),
        (b'{"problem_id": "p", "completion": NaN}', "NaN is not a JSON number"),
        (b'{"problem_id": "\xff", "completion": ""}', "not UTF-8"),
        (b"{", "not JSON"),
        (b"[]", "expected an object, not an array"),
        (b"[" * 50_000, "nested too deeply"),
        (b'"' + b"x" * (MAX_LINE + 10) + b'"', "the line is longer than"),
    ],
)
def test_a_bad_line_says_what_is_wrong_and_the_rest_goes_on(tmp_path: Path, bad: bytes, said: str) -> None:
    good = b'{"problem_id": "p", "sample": 1, "completion": "x"}'
    before, item, after = read_completions(write(tmp_path, b"\n".join([good, bad, good])))
    assert before == after == Completion(problem_id="p", sample=1, completion="x")
    assert isinstance(item, BadLine)
    assert item.line == 2
    assert said in item.problem


@pytest.mark.parametrize("depth", [64, 600, 900])
def test_other_keys_are_ignored_however_deep(tmp_path: Path, depth: int) -> None:
    nested = "[" * depth + "]" * depth
    path = write(tmp_path, f'{{"problem_id": "p", "completion": "x", "meta": {nested}}}')
    assert list(read_completions(path)) == [Completion(problem_id="p", completion="x")]


def test_a_completion_says_what_it_cost_as_far_as_that_is_known(tmp_path: Path) -> None:
    whole = Completion(problem_id="p", completion="x", cost=Cost(tokens=7, seconds=0.5, calls=1))
    write_completions(tmp_path / "c.jsonl", [whole, Completion(problem_id="q", completion="y")])
    lines = (tmp_path / "c.jsonl").read_text("ascii").splitlines()
    assert json.loads(lines[0])["cost"] == {"tokens": 7, "seconds": 0.5, "calls": 1}
    assert "cost" not in json.loads(lines[1])
    assert next(iter(read_completions(tmp_path / "c.jsonl"))) == whole
    (item,) = read_completions(write(tmp_path, '{"problem_id": "p", "completion": "x", "cost": {"tokens": -1}}'))
    assert isinstance(item, BadLine)
    assert "tokens" in item.problem
