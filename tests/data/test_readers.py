"""Readers: nothing is dropped in silence, files that are none are clear errors, and the native format round-trips."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proof_r1_formal.data import read_problems
from proof_r1_formal.data.completions import MAX_LINE, BadLine, Completion, read_completions
from proof_r1_formal.data.native import write_problems
from proof_r1_formal.data.problem import Premise, Problem, ProblemSet, three_way_options
from proof_r1_formal.errors import DataError
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.testing import strategies
from proof_r1_formal.text.parse import parse_formula
from proof_r1_formal.text.show import show

PROVERQA = {
    "id": 7,
    "nl2fol": {"Bo is kind.": "kind(Bo)", "Kind people smile.": "∀x (kind(x) → smiles(x))"},
    "conclusion_fol": "smiles(Bo)",
    "options": ["A) True", "B) False", "C) Uncertain"],
    "answer": "A",
    "question": "Does Bo smile?",
}
FOLIO = {
    "premises": ["Bo is kind.", "Kind people smile."],
    "premises-FOL": ["Kind(bo)", "∀x (Kind(x) → Smiles(x))"],
    "conclusion": "Bo smiles.",
    "conclusion-FOL": "Smiles(bo)",
    "label": "True",
}
NATIVE = {
    "id": "pets/1",
    "premises": [{"id": "h1", "formula": "cat(tom)"}],
    "options": [{"id": "h_goal_true", "label": "True", "formula": "cat(tom)"}],
    "answer": "h_goal_true",
}


def read(tmp_path: Path, *records: object, name: str = "easy.jsonl") -> ProblemSet:
    path = tmp_path / name
    path.write_text("\n".join(r if isinstance(r, str) else json.dumps(r) for r in records), encoding="utf-8")
    return read_problems(path)


def reasons(found: ProblemSet) -> str:
    return "\n".join(reason for rejected in found.rejected for reason in rejected.reasons)


# -- each format ------------------------------------------------------------------------------------------------------


def test_proverqa(tmp_path: Path) -> None:
    problem = read(tmp_path, PROVERQA)["easy/7"]
    assert [(p.id, show(p.formula), p.text) for p in problem.premises] == [
        ("h1", "kind(Bo)", "Bo is kind."),
        ("h2", "∀x (kind(x) → smiles(x))", "Kind people smile."),
    ]
    assert [(o.id, o.label, show(o.formula)) for o in problem.options] == [
        ("h_goal_true", "True", "smiles(Bo)"),
        ("h_goal_false", "False", "¬smiles(Bo)"),
        ("h_goal_uncertain", "Uncertain", "smiles(Bo)"),
    ]
    assert problem.answer == "h_goal_true"


def test_folio_of_both_versions(tmp_path: Path) -> None:
    newer = {
        **FOLIO,
        "premises": "\n".join(FOLIO["premises"]),
        "premises-FOL": "\n".join(FOLIO["premises-FOL"]),
        "example_id": 12,
    }
    found = read(tmp_path, FOLIO, newer, {**FOLIO, "label": "Unknown"}, name="folio.jsonl")
    assert list(found)[1] == "folio/12"
    formulas = [[premise.formula for premise in problem.premises] for problem in found.values()]
    assert formulas[0] == formulas[1]
    assert [p.answer for p in found.values()] == ["h_goal_true", "h_goal_true", "h_goal_uncertain"]


def test_a_json_array_is_read_as_lines_are(tmp_path: Path) -> None:
    (tmp_path / "easy.json").write_text(json.dumps([PROVERQA]), encoding="utf-8")
    assert read_problems(tmp_path / "easy.json") == read(tmp_path, PROVERQA)


# -- what is wrong or odd ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"nl2fol": {"x": "kind(Bo"}}, "premise h1"),
        ({"nl2fol": {"x": ""}}, "empty formula"),
        ({"nl2fol": {"x": 3}}, "a formula as text"),
        ({"nl2fol": {}}, "no premise"),
        ({"nl2fol": {"x": "kind(Bo)", "y": "kind(Bo, Al)"}}, "kind"),
        ({"nl2fol": {"x": "kind(Bo(Bo))"}}, "as a function of 1 argument and as a constant"),
        ({"conclusion_fol": "smiles(("}, "goal"),
        ({"id": None}, "id"),
    ],
)
def test_an_unusable_record_is_rejected_with_the_place(tmp_path: Path, change: dict[str, object], told: str) -> None:
    found = read(tmp_path, {**PROVERQA, **change}, {**PROVERQA, "id": 8})
    assert list(found) == ["easy/8"]
    assert [rejected.line for rejected in found.rejected] == [1]
    assert told in reasons(found)


def test_odd_but_usable_records_have_notes(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        {**FOLIO, "premises": ["Only one."]},
        {**FOLIO, "label": "Perhaps"},
        {**FOLIO, "conclusion-FOL": "Smiles(bo))"},
        name="folio.jsonl",
    )
    first, second, third = found.values()
    assert first.notes
    assert second.answer is None
    assert second.notes
    assert "surplus" in third.notes[0]


def test_two_premises_with_the_same_english_are_both_kept(tmp_path: Path) -> None:
    text = json.dumps(PROVERQA).replace('"Kind people smile."', '"Bo is kind."')
    problem = read(tmp_path, text)["easy/7"]
    assert [premise.id for premise in problem.premises] == ["h1", "h2"]


def test_broken_lines_and_repeated_ids_are_told(tmp_path: Path) -> None:
    found = read(tmp_path, PROVERQA, '{"id": NaN}', "{", "[]", PROVERQA, {**PROVERQA, "id": 9})
    assert list(found) == ["easy/7", "easy/9"]
    assert [rejected.line for rejected in found.rejected] == [2, 3, 4, 5]


@pytest.mark.parametrize(
    "content", [b"", b"\n\n", b"\xff\xfe\x00", b"not json", b"[]", b"3", b"[" * 100_000, b'{"a": 1}', b"\x00" * 50]
)
def test_files_that_hold_no_problem_are_errors(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "problems.jsonl"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_problems(path)
    assert str(path) in str(caught.value)


def test_a_missing_file_and_a_folder_are_errors(tmp_path: Path) -> None:
    for path in (tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(DataError):
            read_problems(path)
        with pytest.raises(DataError):
            list(read_completions(path))


@pytest.mark.parametrize(
    "change",
    [
        {"extra": 1},
        {"answer": "elsewhere"},
        {"premises": [{"id": "h1", "formula": "cat(tom)"}] * 2},
        {"options": [{"id": "h1", "label": "True", "formula": "cat(tom)"}], "answer": "h1"},
        {"premises": [{"id": "h1", "formula": "cat("}]},
        {"premises": "cat(tom)"},
    ],
)
def test_the_native_format_is_strict(tmp_path: Path, change: dict[str, object]) -> None:
    found = read(tmp_path, {**NATIVE, **change})
    assert found == {}
    assert len(found.rejected) == 1


# -- writing ----------------------------------------------------------------------------------------------------------


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=50)
@given(strategies.signatures().flatmap(lambda s: st.lists(strategies.formulas(s), min_size=1, max_size=4)), st.text())
def test_what_is_written_reads_back_equal(tmp_path: Path, formulas: list[Formula], text: str) -> None:
    premises = tuple(Premise(f"h{n}", f, show(f), "English") for n, f in enumerate(formulas, 1))
    problem = Problem("any/1", premises, three_way_options(formulas[0]), "h_goal_true", question=text)
    for name in ("p.jsonl", "p.json"):
        try:
            write_problems(tmp_path / name, [problem])
        except DataError as error:
            assert "not valid Unicode" in str(error)  # unpaired surrogates cannot be written as UTF-8
        else:
            assert read_problems(tmp_path / name) == {"any/1": problem}


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    goal = parse_formula("cat(tom)")
    problem = Problem("pets/1", (Premise("h1", goal, "cat(tom)"),), three_way_options(goal))
    write_problems(path, [problem])
    before = path.read_bytes()
    with pytest.raises(DataError, match="pets/1"):
        write_problems(path, [problem, problem])
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


# -- completions ------------------------------------------------------------------------------------------------------


def test_completions_keep_their_text_exactly(tmp_path: Path) -> None:
    texts = ["", "é\n𝒜", "\0", "\ud800", "<summary>[]</summary>"]
    path = tmp_path / "c.jsonl"
    path.write_text("\n".join(json.dumps({"problem_id": "p", "completion": t}) for t in texts), encoding="utf-8")
    assert [c.completion for c in read_completions(path) if isinstance(c, Completion)] == texts


def test_bad_lines_of_completions_are_told_and_the_rest_goes_on(tmp_path: Path) -> None:
    good = b'{"problem_id": "p", "sample": 1, "completion": "x"}'
    bad = [
        b"{",
        b"[]",
        b'{"problem_id": "p"}',
        b'{"problem_id": "", "completion": ""}',
        b'{"problem_id": "p", "completion": 3}',
        b'{"problem_id": "p", "sample": -1, "completion": ""}',
        b'{"problem_id": "p", "completion": NaN}',
        b'{"problem_id": "\xff", "completion": ""}',
        b"[" * 50_000,
        b'"' + b"x" * (MAX_LINE + 10) + b'"',
    ]
    path = tmp_path / "c.jsonl"
    path.write_bytes(b"\n".join([good, *bad, good]))
    items = list(read_completions(path))
    assert [isinstance(item, Completion) for item in items] == [True, *[False] * len(bad), True]
    assert [item.line for item in items if isinstance(item, BadLine)] == list(range(2, len(bad) + 2))


# -- real data --------------------------------------------------------------------------------------------------------


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "usable", "rejected", "noted"),
    [
        ("proverqa/easy.json", 300, 0, 4),
        ("proverqa/medium.json", 300, 0, 23),
        ("proverqa/hard.json", 300, 0, 49),
        ("llm_outputs/docailab_proverqa_golden_450.jsonl", 450, 0, 30),
        ("folio/folio_v0_validation.jsonl", 199, 5, 20),
        ("folio/folio_v2_train_first400.jsonl", 366, 34, 131),
    ],
)
def test_benchmark_files(shared_data: Path, name: str, usable: int, rejected: int, noted: int) -> None:
    found = read_problems(shared_data / name)
    counts = (len(found), len(found.rejected), sum(bool(p.notes) for p in found.values()))
    assert counts == (usable, rejected, noted), reasons(found)
    assert all(problem.answer for problem in found.values())


@pytest.mark.shared
def test_the_reference_proofs_are_read(shared_data: Path) -> None:
    problems = read_problems(shared_data / "llm_outputs" / "docailab_proverqa_golden_450.jsonl")
    assert all(problem.proofs for problem in problems.values())
    assert Counter(problem.difficulty for problem in problems.values()).keys() == {"easy", "medium", "hard"}


@pytest.mark.shared
def test_files_without_formulas_are_refused(shared_data: Path) -> None:
    with pytest.raises(DataError, match="unknown format"):
        read_problems(shared_data / "proverqa" / "few-easy-test.json")


def test_a_problem_set_is_a_mapping_from_id_to_problem(tmp_path: Path) -> None:
    found = read(tmp_path, PROVERQA, {**PROVERQA, "id": 8}, {**PROVERQA, "id": 7})
    assert isinstance(found, Mapping)
    assert list(found) == list(found.keys()) == ["easy/7", "easy/8"]
    assert [problem.id for problem in found.values()] == list(found)
    assert found == dict(found) != {}
    assert "easy/8" in found
    assert "easy/9" not in found
    assert found.get("easy/9") is None
    with pytest.raises(KeyError, match="no problem has the id 'easy/9'; ids here: easy/7, easy/8"):
        found["easy/9"]
    assert repr(found) == "<ProblemSet: 2 problems, 1 rejected records>"
