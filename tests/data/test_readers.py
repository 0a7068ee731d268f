"""Readers of problems: what is read of each format, what exactly is said of odd and hostile files, and writing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from proof_r1_formal.data import read_problems
from proof_r1_formal.data.completions import read_completions
from proof_r1_formal.data.native import write_problems
from proof_r1_formal.data.problem import (
    Premise,
    Problem,
    ReferenceStep,
    completed_id,
    require_usable,
    three_way_options,
)
from proof_r1_formal.errors import DataError
from proof_r1_formal.kernel.syntax import App, ForAll, Formula, Implies, Not, atom, var
from proof_r1_formal.kernel.transform import alpha_normal
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.testing import strategies
from proof_r1_formal.text.parse import parse_formula
from proof_r1_formal.text.show import show
from tests import build
from tests.build import completion, nested
from tests.data.files import FOLIO, NATIVE, PROVERQA, line, only_problem, read, write

GOAL = parse_formula("Smiles(bo)")
STEP = {"id": "s1", "dependencies": ["h1", "h2"], "conclusion": "smiles Bo", "rule": "IMPLICATION_ELIMINATION"}

# -- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\n\n  \n"])
@pytest.mark.parametrize("start", ["", "\ufeff", "\n"])
def test_byte_order_marks_and_line_ends_do_not_matter(tmp_path: Path, start: str, ending: str) -> None:
    text = start + ending.join([line(PROVERQA), line(PROVERQA, id=8), ""])
    assert list(read_problems(write(tmp_path, text))) == ["set/7", "set/8"]


def test_line_separators_inside_a_text_do_not_end_the_line(tmp_path: Path) -> None:
    question = "a\u2028b\u2029c\x85d"
    text = "\n".join(line(PROVERQA, id=number, question=question) for number in (7, 8))
    assert [problem.question for problem in read_problems(write(tmp_path, text)).values()] == [question] * 2


@pytest.mark.parametrize(
    ("content", "place", "said"),
    [
        ("[\n" + line(PROVERQA) + ",\n" + line(PROVERQA, id=8), 3, "not JSON"),
        ('[{"id": NaN}]', 1, "NaN is not a JSON number"),
        ("[" * 9_000 + "]" * 9_000, 1, "nested too deeply"),
        ('{\n "id": 7,\n "options": [\n  "A) True"\n', 5, "not JSON"),
        (b'{"id": "\xe9"}', 1, "not UTF-8 (at byte 8 of the line); convert the file to UTF-8"),
        (f"[{line(PROVERQA)},\n".encode() + b'{"id": "\xe9"}]', 2, "not UTF-8 (at byte 8 of the line)"),
        (
            "not json",
            1,
            "JSON, JSON Lines and CSV tables of records, and problems of TPTP (fof, tff, cnf)",
        ),
        ("fof".encode("utf-16"), 1, "supported are JSON"),
        ("", None, "the file is empty"),
        ("3", None, "no record found"),
        ('{"a": 1}', None, "native (keys premises, options)"),
        ("{}", None, "unknown format, without keys; known formats: "),
        ('{}\n{"a": 1, "b": 2, "a": 3}', None, "unknown format, with the keys a, b; known formats: "),
        (
            '[3, {"question": "\\ud800"}]',
            None,
            "no record can be read; the first, record 2: not read: half of a surrogate pair, which is not a character",
        ),
    ],
)
def test_a_file_that_is_no_problem_file_is_one_clear_error(
    tmp_path: Path, content: str | bytes, place: int | None, said: str
) -> None:
    with pytest.raises(DataError) as caught:
        read_problems(write(tmp_path, content))
    assert caught.value.line == place
    assert said in caught.value.problem


def test_paths_and_formats_that_are_none(tmp_path: Path) -> None:
    for path in ("a\0b", "x" * 5000, tmp_path, tmp_path / "none.jsonl"):
        with pytest.raises(DataError):
            read_problems(path)
        with pytest.raises(DataError):
            list(read_completions(path))
    with pytest.raises(DataError, match="Known: auto, proverqa, folio, native"):
        read_problems(write(tmp_path, line(PROVERQA)), format="csv")  # type: ignore[arg-type]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=200)
@given(st.binary(max_size=60) | st.text(alphabet='[]{}",:\\n0u\0 ', max_size=40).map(str.encode))
@example(line(PROVERQA).encode()[:-1])
def test_no_file_makes_a_reader_raise_anything_else(tmp_path: Path, content: bytes) -> None:
    path = write(tmp_path, content)
    for reader in (read_problems, lambda p: list(read_completions(p))):
        try:
            reader(path)
        except DataError as error:
            assert str(path) in str(error)


@pytest.mark.parametrize("key", ["nl2fol", "conclusion_fol", "premises-FOL", "conclusion-FOL"])
def test_one_key_of_a_format_says_which_it_is(tmp_path: Path, key: str) -> None:
    """A file in which each record lacks a key is one of records to reject, not one of no known format."""
    found = read(tmp_path, {"id": 1, "answer": "A", key: "kind(Bo)"})
    assert len(found.rejected) == 1
    assert "keys" not in found.rejected[0].reasons[0]


def test_a_problem_set_is_a_mapping_from_id_to_problem(tmp_path: Path) -> None:
    found = read(tmp_path, PROVERQA, {**PROVERQA, "id": 8}, {**PROVERQA, "id": 7})
    assert isinstance(found, Mapping)
    assert [problem.id for problem in found.values()] == list(found) == ["set/7", "set/8"]
    assert found == dict(found)
    assert found.get("set/9") is None
    with pytest.raises(KeyError, match="no problem has the id 'set/9'; ids here: set/7, set/8"):
        found["set/9"]
    assert repr(found) == "<ProblemSet: 2 problems, 1 rejected records>"


# -- records ----------------------------------------------------------------------------------------------------------


def test_proverqa(tmp_path: Path) -> None:
    problem = read(tmp_path, PROVERQA)["set/7"]
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


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ('{"id": 1, "id": 2}', "the key 'id' occurs twice"),
        ("[1]", "a record must be an object, not an array"),
        ('{"id": Infinity}', "not read: Infinity is not a JSON number"),
        (f'{{"id": {"9" * 5000}}}', "not read: Exceeds the limit (4300 digits)"),
        (line(PROVERQA).replace("Bo is", "Bo\0is"), "not JSON: Invalid control character"),
        (f'{{"e": {"[" * 100}{"]" * 100}}}', "not read: arrays or objects are nested deeper than 64"),
        (line(PROVERQA).replace("Bo is", "Bo\\udc00is"), "not read: half of a surrogate pair in the key 'Bo\\udc00is"),
        (b'{"id": "x\xff"}', "not UTF-8 (at byte 9 of the line); convert the file to UTF-8"),
        (line(PROVERQA, id=True), "'id' must be a whole number or a non-empty text; it is a truth value"),
        (line(PROVERQA, id="\0"), "the id 'set/\\x00' contains a control character"),
        (line(PROVERQA, conclusion_fol="smi\0les(Bo)"), "the goal (conclusion_fol): unexpected character U+0000"),
        (
            line(PROVERQA, conclusion_fol=None),
            "the goal (conclusion_fol): expected a formula as text; the record has none",
        ),
        (line(PROVERQA, nl2fol=[]), "'nl2fol' must be an object from English to formulas; it is an array"),
        (line(FOLIO), "'nl2fol' must be an object from English to formulas; it is missing"),
        (line(PROVERQA, nl2fol={"x": ""}), "premise h1: an empty formula"),
        (
            line(PROVERQA, nl2fol={"x": '"\\ud800"(Bo)'}),
            "premise h1: a name in quotes that is empty, does not end, or holds a control character or half of a",
        ),
        (line(PROVERQA, nl2fol={}), "the record has no premise"),
        (line(PROVERQA, nl2fol={"x": "kind(Bo)", "y": "kind(Bo, Al)"}), "premise h2: 'kind' is used as"),
        (line(PROVERQA, nl2fol={"x": "kind(Bo(Bo))"}), "premise h1: 'Bo' is used as a function of 1 argument and"),
        (line(PROVERQA, id="8"), "line 1 already has the id 'set/8'"),
    ],
)
def test_a_bad_record_is_rejected_alone_at_its_line(tmp_path: Path, bad: str | bytes, reason: str) -> None:
    bad = bad.encode() if isinstance(bad, str) else bad
    good = [line(PROVERQA, id=number).encode() for number in (8, 9)]
    found = read_problems(write(tmp_path, b"\n".join([good[0], bad, good[1]])))
    assert list(found) == ["set/8", "set/9"]
    (rejected,) = found.rejected
    assert rejected.line == 2
    assert rejected.reasons[0].startswith(reason)


def test_every_reason_is_told_not_only_the_first(tmp_path: Path) -> None:
    bad = line(PROVERQA, nl2fol={"a": "", "b": "kind(Bo", "c": "p(Bo)", "d": "p(Bo, Bo)"}, conclusion_fol=1)
    (rejected,) = read_problems(write(tmp_path, bad)).rejected
    assert [reason.partition(":")[0] for reason in rejected.reasons] == [
        "premise h1",
        "premise h2",
        "the goal (conclusion_fol)",
        "premise h4",
    ]


def test_repeated_english_keeps_both_premises_and_says_so(tmp_path: Path) -> None:
    problem = only_problem(write(tmp_path, line(PROVERQA).replace("Kind people smile.", "Bo is kind.")))
    assert [(p.id, p.source, p.text) for p in problem.premises] == [
        ("h1", "kind(Bo)", "Bo is kind."),
        ("h2", "∀x (kind(x) → smiles(x))", "Bo is kind."),
    ]
    assert problem.notes == ("'nl2fol' has 'Bo is kind.' more than once; every occurrence is a premise",)


@pytest.mark.parametrize(
    ("change", "answer"),
    [
        ({"answer": "B"}, "h_goal_false"),
        ({"options": ["A) false", "B) true", "C) unknown"]}, "h_goal_false"),
        ({"answer": "D"}, None),
        ({"answer": None}, None),
        ({"options": "A) True"}, None),
        ({"options": ["A) True", "A) False"]}, None),
        ({"options": ["A) Maybe"]}, None),
    ],
)
def test_the_answer_is_what_the_letter_stands_for_or_unknown(
    tmp_path: Path, change: dict[str, object], answer: str | None
) -> None:
    problem = only_problem(write(tmp_path, line(PROVERQA, **change)))
    assert problem.answer == answer
    assert len(problem.notes) == (answer is None)


def test_reference_proofs_are_read_or_left_out_with_a_note(tmp_path: Path) -> None:
    good = only_problem(write(tmp_path, line(PROVERQA, canonical_proofs=[{"proof_id": "p", "steps": [STEP]}])))
    assert good.proofs == ((ReferenceStep("s1", ("h1", "h2"), "smiles Bo", "IMPLICATION_ELIMINATION"),),)
    assert good.notes == ()
    unusable: list[object] = [{}, [{}], [{"steps": [{"id": "s1"}]}], [{"steps": [{**STEP, "dependencies": [1]}]}]]
    for proofs in unusable:
        bad = only_problem(write(tmp_path, line(PROVERQA, canonical_proofs=proofs)))
        assert bad.proofs == ()
        assert bad.notes[0].startswith("'canonical_proofs' is left out: ")


def test_difficulty_is_the_records_own_else_the_files(tmp_path: Path) -> None:
    own = only_problem(write(tmp_path, line(PROVERQA, difficulty="odd"), "hard.jsonl"))
    assert (own.id, own.difficulty) == ("odd/7", "odd")
    files = only_problem(write(tmp_path, line(PROVERQA), "hard.jsonl"))
    assert (files.id, files.difficulty) == ("hard/7", "hard")
    none = only_problem(write(tmp_path, line(PROVERQA), "mine.jsonl"))
    assert (none.id, none.difficulty) == ("mine/7", "")


def test_which_datasets_are_repaired(tmp_path: Path) -> None:
    folio = write(tmp_path, line(FOLIO, **{"conclusion-FOL": "Smiles(bo))"}), "folio.jsonl")
    assert only_problem(folio).notes == ("the goal (conclusion-FOL): dropped 1 surplus ')'",)
    assert only_problem(folio).options == three_way_options(GOAL)
    assert read_problems(folio, repair=False) == {}
    proverqa = write(tmp_path, line(PROVERQA, conclusion_fol="smiles(Bo))"))
    assert read_problems(proverqa) == {}
    assert only_problem(proverqa, repair=True).notes == ("the goal (conclusion_fol): dropped 1 surplus ')'",)


LINES = {**FOLIO, "premises": "Bo is kind.\nKind people smile.", "premises-FOL": "Kind(bo)\n∀x (Kind(x) → Smiles(x))"}


def test_blank_lines_of_folio(tmp_path: Path) -> None:
    ends = only_problem(write(tmp_path, line(LINES, **{"premises-FOL": f"\n{LINES['premises-FOL']}\n \n"})))
    assert [premise.text for premise in ends.premises] == ["Bo is kind.", "Kind people smile."]
    assert ends.notes == ("'premises-FOL' begins or ends with blank lines; they are left out",)
    found = read_problems(write(tmp_path, line(LINES, **{"premises-FOL": "Kind(bo)\n\nSmiles(bo)"})))
    assert found.rejected[0].reasons == ("premise h2: an empty formula at line 1, column 1 in ''",)
    nothing = read_problems(write(tmp_path, line(LINES, **{"premises-FOL": ""})))
    assert nothing.rejected[0].reasons == ("the record has no premise",)


def test_lines_of_folio_may_end_as_on_windows_and_begin_with_a_bracket(tmp_path: Path) -> None:
    windows = {name: str(LINES[name]).replace("\n", "\r\n") for name in ("premises", "premises-FOL")}
    expected = only_problem(write(tmp_path, line(LINES)))
    assert only_problem(write(tmp_path, line(LINES, **windows))) == expected
    formulas = "[Kind(bo) ∨ Old(bo)] → Smiles(bo)\nKind(bo)", "[Kind(bo) ∧ Old(bo)]\n[Smiles(bo)]"
    for text in formulas:
        found = only_problem(write(tmp_path, line(LINES, **{"premises-FOL": text})))
        assert [premise.formula for premise in found.premises] == list(map(parse_formula, text.split("\n")))
    unread = read_problems(write(tmp_path, line(LINES, **{"premises-FOL": "['Kind(bo)' 'Old(bo)']"})))
    [reason] = unread.rejected[0].reasons
    assert reason.endswith("; it is a text that begins with '[' and is not a list of JSON or Python")


@pytest.mark.parametrize(
    ("change", "note"),
    [
        ({"label": "Perhaps"}, "'label' is 'Perhaps', which names no option"),
        ({"premises": ["Bo", "is", "kind."]}, "3 premises in English but 2 formulas; the English is left out"),
        ({"conclusion-FOL": "Smiles(x)"}, "the goal: 'x' is a constant here but a variable in another formula"),
        ({"conclusion-FOL": "Smiles(bо)"}, "the symbols 'bo' and 'bо' look the same in other letters"),  # a Cyrillic о
    ],
)
def test_what_is_odd_in_a_record_of_folio_is_noted(tmp_path: Path, change: dict[str, object], note: str) -> None:
    problem = only_problem(write(tmp_path, line(LINES, **change)))
    assert len(problem.notes) == 1
    assert problem.notes[0].startswith(note)
    assert (problem.answer is None) == ("label" in change)
    assert (problem.premises[0].text == "") == ("premises" in change)


THREE_WAY = {
    "id": "p",
    "premises": [{"id": "h1", "formula": "P(a)"}],
    "options": [{"id": n, "label": label, "formula": "P(a)"} for n, label in (("t", "true"), ("u", "Uncertain"))],
}


@pytest.mark.parametrize("label", ["Uncertain", "UNCERTAIN", "uncertain", "Unknown", " unknown\n"])
def test_a_label_for_uncertain_means_that_in_every_spelling(tmp_path: Path, label: str) -> None:
    options = [*THREE_WAY["options"][:1], {"id": "u", "label": label, "formula": "P(a)"}]
    problem = only_problem(write(tmp_path, line(THREE_WAY, options=options, answer="u")))
    assert problem == only_problem(write(tmp_path, line(THREE_WAY, answer="u")))
    assert [option.label for option in problem.options] == ["True", "Uncertain"]
    assert problem.is_uncertain
    assert not replace(problem, answer="t").is_uncertain
    assert not replace(problem, answer=None).is_uncertain
    assert problem.notes == ()
    assert not Verifier().verify(problem, completion(("u", ["h1"], "P(a)", "GOAL_BINDING"))).verified


def test_a_label_that_may_mean_uncertain_has_a_note(tmp_path: Path) -> None:
    told = {}
    for first in ("True", "house"):
        for formula in ("P(a)", "Q(a)"):
            labels = ((first, "P(a)"), ("cannot say", formula))
            options = [{"id": f"o{n}", "label": label, "formula": text} for n, (label, text) in enumerate(labels)]
            problem = only_problem(write(tmp_path, line(THREE_WAY, options=options)))
            write_problems(tmp_path / "again.jsonl", [replace(problem, notes=())])
            assert only_problem(tmp_path / "again.jsonl") == problem
            told[first, formula] = [re.findall("'([^']*)'", note)[0] for note in problem.notes]
    assert told == {
        ("True", "P(a)"): ["cannot say"],
        ("True", "Q(a)"): ["cannot say"],
        ("house", "P(a)"): ["house", "cannot say"],
        ("house", "Q(a)"): [],
    }


@pytest.mark.parametrize("goal", ["∀x (Kind(x) = Smiles(x))", "∃x Near(Kind(x), bo)"])
def test_a_name_is_no_predicate_and_function_of_a_problem(tmp_path: Path, goal: str) -> None:
    found = read_problems(write(tmp_path, line(FOLIO, **{"conclusion-FOL": goal})))
    ((reason,),) = [record.reasons for record in found.rejected]
    assert "'Kind' is used as a predicate of 1 argument and as a function of 1 argument" in reason


def test_a_reader_may_name_the_notation_of_a_file(tmp_path: Path) -> None:
    path = write(tmp_path, line(FOLIO, **{"conclusion-FOL": "exists x. Kind(x) -> Old(bo)"}))
    for notation, meaning in (("nltk", "(∃x Kind(x)) → Old(bo)"), ("lean", "∃x (Kind(x) → Old(bo))")):
        for repair in (True, False):
            (problem,) = read_problems(path, notation=notation, repair=repair).values()  # type: ignore[arg-type]
            assert problem.options[0].formula is parse_formula(meaning)
    assert read_problems(path) == {}


@pytest.mark.parametrize("formula", ["Kind(bo) ^ Old(bo)", "Kind(bo) → Old(bo)) ∧ Kind(bo)", "∃x Kind(x) → Old(bo)"])
def test_a_record_with_two_readings_is_rejected_with_both(tmp_path: Path, formula: str) -> None:
    found = read_problems(write(tmp_path, line(FOLIO, **{"conclusion-FOL": formula})))
    ((reason,),) = [record.reasons for record in found.rejected]
    assert reason.startswith("the goal (conclusion-FOL): ")
    assert " or " in reason


@pytest.mark.parametrize(
    "change",
    [
        {"answer": "elsewhere"},
        {"premises": [{"id": "h1", "formula": "cat(tom)"}] * 2},
        {"premises": [{"id": "", "formula": "cat(tom)"}]},
        {"premises": [{"id": "h\u0007", "formula": "cat(tom)"}]},
        {"options": [{"id": "h1", "label": "True", "formula": "cat(tom)"}], "answer": "h1"},
    ],
)
def test_the_native_format_is_strict(tmp_path: Path, change: dict[str, object]) -> None:
    found = read(tmp_path, {**NATIVE, **change})
    assert found == {}
    assert len(found.rejected) == 1


@pytest.mark.parametrize(
    ("known", "advice"),
    [
        (["easy/7", "easy/8"], "; if it is easy/7, say so: --field problem_id=easy/{KEY}"),
        (["easy/7", "hard/7", "hard/8"], ""),  # which of the two is meant is not guessed
        (["7", "easy/8"], ""),
        ([], ""),
    ],
)
def test_advice_on_an_id_without_its_first_part(known: list[str], advice: str) -> None:
    assert completed_id("7", known) == advice


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (lambda p: replace(p, premises=(replace(p.premises[0], id=1),)), "the id of a premise of problem 'set/1'"),
        (lambda p: replace(p, options=(replace(p.options[0], id=None),)), "the id of a option of problem 'set/1'"),
        (lambda p: replace(p, premises=(replace(p.premises[0], formula="P(a)"),)), "the formula of premise 'h1'"),
        (lambda p: replace(p, premises=("P(a)",)), "each premise of problem 'set/1'"),
        (lambda p: replace(p, premises=3), "the premises of problem 'set/1'"),
    ],
)
def test_a_part_of_another_type_is_told(changed: Callable[[Problem], Problem], told: str) -> None:
    require_usable(problem_of(GOAL))
    with pytest.raises(TypeError, match=told):
        require_usable(changed(problem_of(GOAL)))


# -- writing ----------------------------------------------------------------------------------------------------------


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=50)
@given(strategies.signatures().flatmap(lambda s: st.lists(strategies.formulas(s), min_size=1, max_size=4)), st.text())
@example([GOAL], '"\\ud800"')  # as text it is no half of a character
def test_what_is_written_reads_back_equal(tmp_path: Path, formulas: list[Formula], text: str) -> None:
    premises = [Premise(f"h{n}", f, show(f), "English") for n, f in enumerate(formulas, 1)]
    problem = build.problem(*premises, goal=formulas[0], question=text)
    for name in ("p.jsonl", "p.json"):
        try:
            write_problems(tmp_path / name, [problem])
        except DataError as error:
            assert "not valid Unicode" in str(error)  # unpaired surrogates cannot be written as UTF-8
        else:
            [back] = read_problems(tmp_path / name).values()
            found = []
            for one in (back, problem):  # a variable that looks like a constant has another name
                normal = tuple([replace(p, formula=alpha_normal(p.formula)) for p in one.premises])
                options = tuple([replace(o, formula=alpha_normal(o.formula)) for o in one.options])
                found.append(replace(one, premises=normal, options=options))
            assert found[0] == found[1]


def test_a_variable_that_looks_like_a_constant_is_renamed(tmp_path: Path) -> None:
    """TPTP writes variables and constants in different cases; a reader of ``∀X (P(X) → Q(x))`` might confuse them."""
    variable = var("X")
    formula = ForAll(variable, Implies(atom("P", variable), atom("Q", App("x", ()))))
    write_problems(tmp_path / "p.jsonl", [problem_of(formula)])
    [back] = read_problems(tmp_path / "p.jsonl").values()
    assert alpha_normal(back.premises[0].formula) is alpha_normal(formula)
    assert back.premises[0].formula is not formula


def problem_of(formula: Formula, text: str = "") -> Problem:
    return build.problem(Premise("h1", formula, "as it stood", text), goal=GOAL, answer=None, id="set/1")


@pytest.mark.parametrize(
    ("problems", "said"),
    [
        ([], "there are no problems"),
        ([problem_of(atom("Kind", var("x")))], "would not read back equal"),  # a free variable would be a constant
        ([problem_of(nested(Not, GOAL, 300))], "would be rejected"),
        ([problem_of(nested(Not, GOAL, 5000))], "nested too deeply"),
        ([problem_of(atom("Smiles"))], "would be rejected"),  # a predicate of no and of one argument
        ([problem_of(GOAL, "\ud800")], "not valid Unicode"),
        ([problem_of(GOAL), problem_of(GOAL)], "two problems have the id 'set/1'"),
        ([build.problem(goal=GOAL, id="")], "would be rejected"),
        ([build.problem(goal=GOAL, answer="h_goal")], "would be rejected"),
    ],
)
@pytest.mark.parametrize("name", ["out.jsonl", "out.json"])
def test_what_would_not_read_back_equal_is_not_written(
    tmp_path: Path, name: str, problems: list[Problem], said: str
) -> None:
    with pytest.raises(DataError, match=said):
        write_problems(tmp_path / name, problems)
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_problem_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"each problem must be a Problem.* has them as its values\(\)"):
        write_problems(tmp_path / "p.jsonl", {"set/1": problem_of(GOAL)})  # type: ignore[dict-item]
    assert list(tmp_path.iterdir()) == []


def test_problems_are_not_written_to_a_folder(tmp_path: Path) -> None:
    for path, problem in ((tmp_path, "is a folder"), (tmp_path / "none" / "out.jsonl", "No such file or directory")):
        with pytest.raises(DataError, match=problem):
            write_problems(path, [problem_of(GOAL)])
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path, problem = tmp_path / "p.jsonl", problem_of(GOAL)
    write_problems(path, [problem])
    before = path.read_bytes()
    with pytest.raises(DataError, match="set/1"):
        write_problems(path, [problem, problem])
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


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
    assert counts == (usable, rejected, noted)
    assert all(problem.answer for problem in found.values())
