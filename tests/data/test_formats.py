"""Files as people have them: tables, records in memory, and the published forms of templated English."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from proof_r1_formal.data import read_problems
from proof_r1_formal.data.problem import GOAL_FALSE, GOAL_TRUE, GOAL_UNCERTAIN, ProblemSet
from proof_r1_formal.data.records import JsonObject, Record, read_records, records_of
from proof_r1_formal.errors import DataError
from proof_r1_formal.text.show import show
from tests.data.files import FOLIO, only_problem, write

PROOFWRITER = {
    "id": "AttNeg-OWA-D1-7",
    "maxD": 1,
    "theory": "Bob is red. Red things are kind. ",
    "questions": {
        "Q1": {"question": "Bob is kind.", "answer": True, "QDep": 1},
        "Q2": {"question": "Bob is not red.", "answer": False, "QDep": 0},
        "Q3": {"question": "Bob is big.", "answer": "Unknown", "QDep": 0},
    },
}
RULETAKER = {
    "id": "AttNeg-D1-7",
    "context": "Bob is red. Red things are kind.",
    "questions": [{"id": "AttNeg-D1-7-1", "text": "Bob is kind.", "label": True, "meta": {}}],
}
PRONTOQA = {
    "question": "Each yumpus is a dumpus. Dumpuses are not shy. Max is a yumpus.",
    "query": "True or false: Max is shy.",
    "chain_of_thought": [
        *("Max is a yumpus.", "Each yumpus is a dumpus.", "Max is a dumpus.", "Dumpuses are not shy."),
        "Max is not shy.",
    ],
    "answer": "False",
}


def read(folder: Path, content: object) -> ProblemSet:
    return read_problems(write(folder, content, "dev.json"))


# -- tables and records in memory -------------------------------------------------------------------------------------


def table(*rows: Mapping[str, object], index: bool = False) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([""] * index + list(rows[0]))
    for number, row in enumerate(rows):
        writer.writerow([number] * index + [row[name] for name in rows[0]])
    return text.getvalue()


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=100)
@given(
    st.lists(st.from_regex(r"[a-zA-Z][a-z -]{0,5}", fullmatch=True), min_size=2, max_size=4, unique=True).flatmap(
        lambda names: st.lists(st.fixed_dictionaries({name: st.text(max_size=9) for name in names}), min_size=1)
    )
)
@example([{"a": "1\u2028\x85", "b": '"\n\r\n,'}])
def test_a_table_holds_the_texts_of_its_rows(rows: list[dict[str, str]]) -> None:
    expected = [JsonObject(tuple([(name, row[name]) for name in rows[0]])) for row in rows]
    for records in (read_records(table(*rows).encode(), "any"), records_of([dict(e.members) for e in expected], "any")):
        assert [record.value for record in records if isinstance(record, Record)] == expected


def test_folio_as_a_table(tmp_path: Path) -> None:
    (as_json,) = read(tmp_path, [FOLIO]).values()
    joined = {key: "\n".join(value) if isinstance(value, list) else value for key, value in FOLIO.items()}
    written = {key: json.dumps(value) if isinstance(value, list) else value for key, value in FOLIO.items()}
    for row in (FOLIO, joined, written):
        for index in (False, True):
            problem = only_problem(write(tmp_path, "\ufeff" + table(row, index=index), "dev.csv"))
            assert (problem.premises, problem.options) == (as_json.premises, as_json.options)
            assert problem.answer == GOAL_TRUE


@pytest.mark.parametrize("start", ["", "\ufeff"])
@pytest.mark.parametrize("indent", [None, 2, "\t"])
def test_an_array_may_have_any_line_breaks(tmp_path: Path, start: str, indent: int | str | None) -> None:
    found = read(tmp_path, start + json.dumps([FOLIO, PROOFWRITER], indent=indent).replace("\n", "\r\n"))
    assert list(found) == ["dev/1"]
    assert read(tmp_path, start + json.dumps(PROOFWRITER, indent=indent)).keys() == {
        f"dev/AttNeg-OWA-D1-7_Q{number}" for number in (1, 2, 3)
    }


@pytest.mark.parametrize("cell", ["['P(a)' 'Q(a)']", "['P(a)', 'Q(a)'", "[P(a), Q(a)]", "[1] * 3"])
def test_a_list_that_is_not_written_as_one_is_refused(tmp_path: Path, cell: str) -> None:
    found = read(tmp_path, table({**FOLIO, "premises-FOL": cell}))
    assert "'premises-FOL' must be an array" in found.rejected[0].reasons[0]


def test_a_row_of_another_length_is_rejected_with_its_line(tmp_path: Path) -> None:
    row = table(FOLIO)
    found = read(tmp_path, f"{row}a,b\n{row.split(chr(10), 1)[1]}")
    assert len(found) == 2
    assert [(each.line, each.reasons) for each in found.rejected] == [(3, ("the row has 2 cells and the header 5",))]
    (broken,) = read(tmp_path, f'{row}a,"b" c,').rejected
    assert "not CSV" in broken.reasons[0]


def test_records_in_memory_read_as_those_of_a_file(tmp_path: Path) -> None:
    from_file = read_problems(write(tmp_path, [FOLIO, PROOFWRITER], "records.json"), format="folio")
    assert read_problems([FOLIO, PROOFWRITER], format="folio") == from_file
    assert read_problems(iter([FOLIO])).keys() == {"records/1"}


def test_a_dataset_is_read_under_the_name_of_its_split() -> None:
    datasets = pytest.importorskip("datasets")
    rows = datasets.Dataset.from_list([FOLIO, {**FOLIO, "label": "Uncertain"}], split="train")
    found = read_problems(rows)
    assert {name: problem.answer for name, problem in found.items()} == {
        "train/1": GOAL_TRUE,
        "train/2": GOAL_UNCERTAIN,
    }
    with pytest.raises(DataError, match=r"not a DatasetDict of 'train'; name one of these"):
        read_problems(datasets.DatasetDict({"train": rows}))


@pytest.mark.parametrize(
    ("records", "told"),
    [
        ([], "no record found"),
        (["text"], "no record found"),
        (3, "not a int"),
        ({"train": [FOLIO]}, "not a dict of 'train'; name one of these"),
    ],
)
def test_what_holds_no_records_is_refused(records: object, told: str) -> None:
    with pytest.raises(DataError, match=told):
        read_problems(records)  # type: ignore[arg-type]


def test_a_row_that_is_nested_too_deeply_is_rejected() -> None:
    deep: object = 1
    for _ in range(9_000):
        deep = [deep]
    (rejected,) = read_problems([FOLIO, {"a": deep}]).rejected
    assert "nested deeper than" in rejected.reasons[0]


# -- templated English as published -----------------------------------------------------------------------------------


def test_proofwriter_as_published(tmp_path: Path) -> None:
    found = read(tmp_path, PROOFWRITER)
    assert [(problem.id, problem.answer) for problem in found.values()] == [
        ("dev/AttNeg-OWA-D1-7_Q1", GOAL_TRUE),
        ("dev/AttNeg-OWA-D1-7_Q2", GOAL_FALSE),
        ("dev/AttNeg-OWA-D1-7_Q3", GOAL_UNCERTAIN),
    ]
    first = found["dev/AttNeg-OWA-D1-7_Q1"]
    assert [show(premise.formula) for premise in first.premises] == ["red(Bob)", "∀x (red(x) → kind(x))"]
    assert (show(first.options[0].formula), first.question, first.notes) == ("kind(Bob)", "Bob is kind.", ())


def test_proofwriter_of_the_hub_and_its_paraphrases(tmp_path: Path) -> None:
    row = {"id": "AttNegNatLang-OWA-7", "theory": "Bob is red.", "question": "Bob is red.", "answer": "True"}
    found = read(tmp_path, [row, {**row, "theory": "Bob, who is red, has been kind for some time."}, row])
    assert list(found) == ["dev/AttNegNatLang-OWA-7_1", "dev/AttNegNatLang-OWA-7_3"]
    assert found["dev/AttNegNatLang-OWA-7_1"].answer == GOAL_TRUE
    assert "premise h1: unexpected" in found.rejected[0].reasons[0]


def test_labels_of_closed_worlds_are_left_out_with_a_note(tmp_path: Path) -> None:
    closed = {**PROOFWRITER, "id": "AttNeg-CWA-D1-7"}
    row = {"context": "Bob is red.", "question": "Bob is kind.", "label": "not entailment"}
    for record, names in (
        (closed, [f"dev/AttNeg-CWA-D1-7_Q{number}" for number in (1, 2, 3)]),
        (RULETAKER, ["dev/AttNeg-D1-7-1"]),
        (row, ["dev/1"]),
    ):
        found = read(tmp_path, record)
        assert list(found) == names
        for problem in found.values():
            assert problem.answer is None
            assert "in a closed world, what cannot be shown is false" in problem.notes[0]
            assert show(problem.premises[0].formula) == "red(Bob)"


def test_prontoqa_as_published(tmp_path: Path) -> None:
    proof = {key: value for key, value in PRONTOQA.items() if key != "answer"} | {"query": "Prove: Max is not shy."}
    first, second = read(
        tmp_path,
        {
            "example1": {"in_context_example0": PRONTOQA, "in_context_example1": PRONTOQA, "test_example": PRONTOQA},
            "example2": {"test_example": proof},
        },
    ).values()
    notes = ("examples in context are left out (2)",)
    assert (first.id, first.answer, first.notes) == ("dev/example1", GOAL_FALSE, notes)
    assert (second.id, second.answer, second.notes) == ("dev/example2", GOAL_TRUE, ())
    assert [step.conclusion for step in first.proofs[0]] == ["dumpus(Max)", "¬shy(Max)", "¬shy(Max)"]
    assert first.proofs[0][-1].id == GOAL_FALSE


def test_a_proof_that_fails_has_its_label(tmp_path: Path) -> None:
    """What is to be proved is true, unless the record says otherwise."""
    query = {"query": "Prove: Max is shy."}
    for record, answer in ((PRONTOQA | query, GOAL_FALSE), (PRONTOQA | query | {"answer": "True"}, GOAL_TRUE)):
        (problem,) = read(tmp_path, {"example1": {"test_example": record}}).values()
        assert (problem.answer, problem.question) == (answer, "Prove: Max is shy.")


def test_prontoqa_out_of_distribution(tmp_path: Path) -> None:
    """Compound sentences are read. A proof by cases ("Assume …") is left out with a note."""
    test = {
        "question": "Max is a yumpus or a dumpus. "
        "Everything that is a yumpus or a dumpus is a wumpus, a rompus, and a tumpus.",
        "query": "Prove: Max is a rompus and a tumpus.",
        "chain_of_thought": ["Assume Max is a yumpus.", "Max is a yumpus or a dumpus."],
    }
    (problem,) = read(tmp_path, {"example1": {"test_example": test}}).values()
    assert [show(premise.formula) for premise in problem.premises] == [
        "yumpus(Max) ∨ dumpus(Max)",
        "∀x (yumpus(x) ∨ dumpus(x) → wumpus(x) ∧ rompus(x) ∧ tumpus(x))",
    ]
    assert (show(problem.options[0].formula), problem.answer) == ("rompus(Max) ∧ tumpus(Max)", GOAL_TRUE)
    assert problem.proofs == ()
    assert [note for note in problem.notes if "'chain_of_thought' is left out: sentence 1" in note]


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ({**PROOFWRITER, "questions": {}}, "'question' must be a sentence; it is missing"),
        ({**PROOFWRITER, "id": None}, "'id' must be a whole number"),
        ({**RULETAKER, "questions": []}, "'question' must be a sentence; it is missing"),
        ({"example1": {"test_example": 3}}, "'question' must be"),
        ({"example1": {"test_example": {**PRONTOQA, "query": "Max?"}}}, "'query' must be"),
        ({"example1": {"test_example": PRONTOQA}, "example2": {}}, "'question' must be"),
    ],
)
def test_a_record_without_a_question_is_rejected(tmp_path: Path, record: object, told: str) -> None:
    found = read(tmp_path, record)
    assert found.rejected
    assert told in "\n".join(found.rejected[0].reasons)
