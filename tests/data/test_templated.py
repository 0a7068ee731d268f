"""ProofWriter and PrOntoQA: every sentence of the benchmark data is read, and what is wrong in a record is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from proof_r1_formal.data import read_problems
from proof_r1_formal.data.english import parse_english
from proof_r1_formal.data.problem import Problem, ProblemSet
from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.errors import DataError
from proof_r1_formal.proof.trajectory import summary
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.catalogue import TRAIN
from proof_r1_formal.text.equivalence import regroup
from proof_r1_formal.text.show import show
from tests.data.english_writer import write_english
from tests.data.files import write

THEORY = {
    "id": "T1_Q1",
    "context": "Bob is red. The cat does not like Bob. Red, cold things are round. ",
    "question": "Based on the above information, is the following statement true, false, or unknown? Bob is not round.",
    "options": ["A) True", "B) False", "C) Unknown"],
    "answer": "C",
}
ONTOLOGY = {
    "id": "O_1",
    "context": "Each yumpus is a dumpus. Dumpuses are not shy. Max is a yumpus.",
    "question": "Is the following statement true or false? Max is not shy.",
    "options": ["A) True", "B) False"],
    "answer": "A",
    "explanation": [
        *("Max is a yumpus.", "Each yumpus is a dumpus.", "Max is a dumpus.", "Dumpuses are not shy."),
        "Max is not shy.",
    ],
}


def read(tmp_path: Path, *records: object) -> ProblemSet:
    return read_problems(write(tmp_path, records, "dev.json"))


def completion_of(problem: Problem) -> str:
    """The reference proof as a model would write it."""
    (proof,) = problem.proofs
    return summary(proof)


def test_proofwriter(tmp_path: Path) -> None:
    problem = read(tmp_path, THEORY)["dev/T1_Q1"]
    assert [(p.id, show(p.formula), p.text) for p in problem.premises] == [
        ("h1", "red(Bob)", "Bob is red."),
        ("h2", "¬likes(the_cat, Bob)", "The cat does not like Bob."),
        ("h3", "∀x (red(x) ∧ cold(x) → round(x))", "Red, cold things are round."),
    ]
    assert [(o.label, show(o.formula)) for o in problem.options] == [
        ("True", "¬round(Bob)"),
        ("False", "¬¬round(Bob)"),
        ("Uncertain", "¬round(Bob)"),
    ]
    assert problem.answer == "h_goal_uncertain"
    assert problem.notes == ()


def test_prontoqa_and_its_chain_of_thought(tmp_path: Path) -> None:
    problem = read(tmp_path, ONTOLOGY)["dev/O_1"]
    assert [option.label for option in problem.options] == ["True", "False"]
    (proof,) = problem.proofs
    assert [(step.id, step.dependencies, step.conclusion, step.rule) for step in proof] == [
        ("s1", ("h1", "h3"), "dumpus(Max)", "IMPLICATION_ELIMINATION"),
        ("s2", ("h2", "s1"), "¬shy(Max)", "IMPLICATION_ELIMINATION"),
        ("h_goal_true", ("s2",), "¬shy(Max)", "GOAL_BINDING"),
    ]
    report = Verifier(EmbeddedSolver(), rules=TRAIN).verify(problem, completion_of(problem))
    assert [action.signal for action in report.actions] == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"context": "Bob is red. Bob is or."}, "premise h2: unexpected 'or' at line 1, column 8"),
        ({"context": ""}, "'context' must be a text of sentences"),
        ({"context": ["Bob is red."]}, "'context' must be a text of sentences; it is an array"),
        ({"context": "Bob likes Al. Al likes."}, "'likes' is used as a predicate of 2 arguments"),
        ({"question": f"{str(THEORY['question']).partition('?')[0]}? Round Bob."}, "the goal (question)"),
        ({"question": "Is Bob round?"}, "'question' must be"),
        ({"id": ""}, "'id' must be"),
    ],
)
def test_an_unusable_record_is_rejected_with_the_reason(tmp_path: Path, change: dict[str, object], told: str) -> None:
    found = read(tmp_path, {**THEORY, "id": "good"}, {**THEORY, **change})
    assert list(found) == ["dev/good"]
    (rejected,) = found.rejected
    assert rejected.line == 2
    assert told in rejected.reasons[0]


def test_prontoqa_knows_no_third_answer(tmp_path: Path) -> None:
    unknown = {**ONTOLOGY, "options": [*ONTOLOGY["options"], "C) Unknown"], "answer": "C"}
    (problem,) = read(tmp_path, unknown).values()
    assert (problem.answer, len(problem.options), problem.proofs) == (None, 2, ())
    assert "which is the letter of no option (True, False" in problem.notes[0]


@pytest.mark.parametrize(
    ("explanation", "told"),
    [
        ("Max is shy.", "an array of texts"),
        (["Max is a yumpus.", "Max is a dumpus."], "does not derive"),
        (["Max is a yumpus."], "does not derive"),
        ([], "does not derive"),
        ([*list(ONTOLOGY["explanation"])[:-1], "Each yumpus is a dumpus."], "does not derive"),
    ],
)
def test_an_explanation_of_another_shape_is_left_out_with_a_note(
    tmp_path: Path, explanation: object, told: str
) -> None:
    (problem,) = read(tmp_path, {**ONTOLOGY, "explanation": explanation}).values()
    assert problem.proofs == ()
    assert told in problem.notes[0]


def test_a_sentence_that_was_derived_may_be_used_again(tmp_path: Path) -> None:
    sentences = [*ONTOLOGY["explanation"], "Max is a dumpus.", "Max is not shy and Max is a dumpus."]
    (problem,) = read(tmp_path, {**ONTOLOGY, "explanation": sentences}).values()
    assert problem.notes == ()
    (proof,) = problem.proofs
    assert [(step.id, step.dependencies) for step in proof[1:]] == [
        ("s2", ("h2", "s1")),
        ("s3", ("s1", "s2")),
        ("h_goal_true", ("s3",)),
    ]


def test_similar_questions_are_of_no_known_format(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="unknown format"):
        read(tmp_path, {**THEORY, "question": "… true, false, or uncertain? Bob is red."})


# -- real data --------------------------------------------------------------------------------------------------------

FILES = {"proofwriter/logiclm_dev.json": 600, "prontoqa/logiclm_dev_first250.json": 250}


@pytest.mark.shared
@pytest.mark.parametrize(("name", "usable"), FILES.items())
def test_every_sentence_is_read_and_can_be_written(shared_data: Path, name: str, usable: int) -> None:
    found = read_problems(shared_data / name)
    assert (len(found), found.rejected) == (usable, ())
    assert not any(problem.notes or problem.answer is None for problem in found.values())
    told = {premise.formula for problem in found.values() for premise in problem.premises}
    for formula in told:
        assert regroup(parse_english(write_english(formula))) is regroup(formula)


@pytest.mark.shared
def test_the_explanations_of_prontoqa_are_proofs(shared_data: Path) -> None:
    verifier = Verifier(EmbeddedSolver(), rules=TRAIN)
    for problem in read_problems(shared_data / "prontoqa" / "logiclm_dev_first250.json").values():
        report = verifier.verify(problem, completion_of(problem))
        assert {action.signal for action in report.actions} == {1.0}, problem.id
        assert report.answer_correct is True


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "writer.jsonl",
            (
                '{"id": "OWA-1", "theory": "Anne is big.", "questions": {"Q1": {"question": "Anne is big.", '
                '"answer": true}, "Q2": {"question": "Anne is big.", "answer": true, "answer": false}}}'
            ),
            "the key 'answer' occurs twice in its part 2",
        ),
        (
            "taker.jsonl",
            (
                '{"context": "Anne is big.", "questions": [{"id": 7, "text": "Anne is big.", "text": "Anne is red."},'
                ' {"id": 8, "text": "Anne is big."}]}'
            ),
            "the key 'text' occurs twice in its part 1",
        ),
        (
            "onto.json",
            (
                '{"e1": {"test_example": {"question": "Tom is a cat.", "query": "Prove: Tom is a cat.", "query": "x"}},'
                ' "e2": {"test_example": {"question": "Tom is a cat.", "query": "Prove: Tom is a cat."}}}'
            ),
            "the key 'query' occurs twice in its part 1",
        ),
    ],
)
def test_a_key_that_a_question_has_twice_is_said(tmp_path: Path, name: str, text: str, said: str) -> None:
    """One of its values would be dropped; the other question is read."""
    (tmp_path / name).write_text(text)
    found = read_problems(tmp_path / name)
    assert [one.reasons for one in found.rejected] == [(said,)]
    assert len(found) == 1


@pytest.mark.parametrize("query", ["True or false: Tom is a cat.", "Prove: Tom is a cat."])
def test_a_single_example_of_prontoqa_is_one_by_its_query(query: str) -> None:
    record = {"id": "e", "question": "Tom is a cat.", "query": query, "answer": "True"}
    [problem] = read_problems([record]).values()
    assert (problem.question, problem.answer, len(problem.premises)) == (query, "h_goal_true", 1)
