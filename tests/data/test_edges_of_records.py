"""Records at their limits: depth, half characters in any place, their numbers in messages, and progress."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from proof_r1_formal.data import read_problems
from proof_r1_formal.data.native import write_problems
from proof_r1_formal.data.records import MAX_NESTING, Broken, JsonObject, Record, check, decode, describe
from proof_r1_formal.errors import DataError
from tests.build import problem


def nested(depth: int, *, objects: bool) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"a": value} if objects else [value]
    return value


def reasons(options: object) -> str:
    """Why a record with these options cannot be read; empty if it can."""
    records: list[dict[str, object]] = [
        {"id": "p", "premises": [], "options": options},
        {"id": "q", "premises": [], "options": []},
    ]
    return " ".join([reason for rejected in read_problems(records).rejected for reason in rejected.reasons])


@pytest.mark.parametrize("objects", [False, True])
def test_the_greatest_depth_is_read_from_texts_and_from_python(objects: bool) -> None:
    told = f"nested deeper than {MAX_NESTING}"
    for depth, fits in ((MAX_NESTING, True), (MAX_NESTING + 1, False)):
        assert isinstance(check(1, decode(json.dumps(nested(depth, objects=objects)))), Record if fits else Broken)
        assert (told in reasons(nested(depth - 1, objects=objects))) == (not fits)  # the record is a level, too


@pytest.mark.parametrize("value", [None, True, 1, 1.5, "a", [], {}, (), [None], {"a": (1, "b")}])
def test_values_of_python_are_values_of_json(value: object) -> None:
    assert "is not a value of JSON" not in reasons(value)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("null", "null"),
        ("true", "a truth value"),
        ("0", "a number"),
        ("1.5", "a number"),
        ('""', "a text"),
        ("[]", "an array"),
        ("{}", "an object"),
    ],
)
def test_the_kind_of_a_value(text: str, kind: str) -> None:
    assert describe(decode(text)) == kind


def test_other_values_of_python_are_named() -> None:
    assert reasons({1, 2}) == "not read: a set is not a value of JSON"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"a": [1, {"b": "\\ud800"}]}', "which is not a character, in a[1].b"),
        ('["\\ud800"]', "which is not a character, in [0]"),
        ('"\\ud800"', "which is not a character, in the record"),
        ('{"\\ud800": 1}', "in the key '\\ud800' of the record"),
        ('{"a": {"\\ud800": 1}}', "in the key '\\ud800' of a"),
    ],
)
def test_half_a_character_is_found_in_its_place(text: str, place: str) -> None:
    found = check(7, decode(text))
    assert isinstance(found, Broken)
    assert found.line == 7
    assert found.problem.endswith(place)


def test_whole_characters_are_no_fault() -> None:
    value = decode('{"a": ["\\ud835\\udcab", {"é": "x"}]}')
    assert check(3, value) == Record(3, value)
    assert isinstance(value, JsonObject)


def test_progress_counts_the_records_read(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    write_problems(path, [problem("P(a)")])
    path.write_text(path.read_text("utf-8") + '{"id": "broken"}\n', "utf-8")
    told: list[tuple[int, int]] = []
    found = read_problems(path, progress=lambda done, of: told.append((done, of)))
    assert told == [(1, 2), (2, 2)]
    assert (len(found), len(found.rejected)) == (1, 1)


def test_the_title_of_a_shown_problem_is_no_markup() -> None:
    stream = StringIO()
    Console(file=stream, width=100).print(replace(problem("P(a)"), id="[bold]x[/bold]", question="Is it [so]?"))
    assert "[bold]x[/bold]" in stream.getvalue()
    assert "Is it [so]?" in stream.getvalue()
    rows = [line.split() for line in stream.getvalue().splitlines()]
    assert rows[1:3] == [["h1", "P(a)"], ["h_goal_true", "G(a)", "True", "(right)"]]


@pytest.mark.parametrize("first", ['{"id": ', "[1]", '"text"'])
def test_a_broken_first_line_is_left_out_alone(tmp_path: Path, first: str) -> None:
    whole = problem("P(a)", goal="P(a)")
    write_problems(tmp_path / "p.jsonl", [whole])
    (tmp_path / "p.jsonl").write_text(f"{first}\n" + (tmp_path / "p.jsonl").read_text(encoding="utf-8"))
    found = read_problems(tmp_path / "p.jsonl")
    assert ([*found], [record.line for record in found.rejected]) == ([whole.id], [1])


def test_an_array_that_is_cut_is_no_file_of_lines(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text('[{"id": "p",\n{"id": "q"}\n')
    with pytest.raises(DataError):
        read_problems(tmp_path / "p.json")
