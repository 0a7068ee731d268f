"""Answers kept in a file: the same verdicts, nothing trusted."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given

from proof_r1_formal.errors import DataError
from proof_r1_formal.evidence.confirm import confirm
from proof_r1_formal.evidence.embedded import EmbeddedSolver
from proof_r1_formal.logic.parse import parse_formula
from proof_r1_formal.solvers.base import Answer, Entailed, Query, Reason, Refuted, Unknown
from proof_r1_formal.solvers.cache import AnswerCache, AnswerFile
from proof_r1_formal.testing.strategies import queries

MODUS_PONENS = Query(
    (parse_formula("∀x (cat(x) → animal(x))"), parse_formula("cat(tom)")), parse_formula("animal(tom)")
)
REFUTED = Query((parse_formula("p ∨ q"),), parse_formula("p"))


def no_more_questions(query: Query) -> Answer:
    raise AssertionError(f"{query} was not in the file")


def test_a_second_run_asks_nothing(tmp_path: Path) -> None:
    first = EmbeddedSolver(file=tmp_path / "answers")
    answers = [first.decide(query) for query in (MODUS_PONENS, REFUTED)]
    again = AnswerCache(no_more_questions, file=AnswerFile(tmp_path / "answers"))
    assert [again.decide(query) for query in (MODUS_PONENS, REFUTED)] == answers
    renamed = Query((parse_formula("dog(rex)"), parse_formula("∀y (dog(y) → pet(y))")), parse_formula("pet(rex)"))
    assert confirm(renamed, again.decide(renamed)).checked


@given(query=queries())
def test_answers_from_the_file_are_those_without_one(tmp_path_factory: pytest.TempPathFactory, query: Query) -> None:
    path = tmp_path_factory.mktemp("answers") / "answers"
    plain = EmbeddedSolver().decide(query)
    assert EmbeddedSolver(file=path).decide(query) == plain
    assert EmbeddedSolver(file=path).decide(query) == plain


@pytest.mark.parametrize(
    "forged",
    [
        b'{"proof": [{"line": "Repeat", "premise": 0}]}',
        b'{"proof": []}',
        b'{"proof": [{"line": "Nothing"}]}',
        b'{"countermodel": {"domains": {"Entity": 1}, "predicates": {"p0": [], "p1": []}, "functions": {}}}',
        b'{"countermodel": {"domains": {"Entity": 0}, "predicates": {}, "functions": {}}}',
        b"{}",
        b"no JSON",
    ],
)
def test_what_somebody_else_wrote_into_the_file_counts_for_nothing(tmp_path: Path, forged: bytes) -> None:
    path = tmp_path / "answers"
    answers = [EmbeddedSolver(file=path).decide(query) for query in (MODUS_PONENS, REFUTED)]
    with sqlite3.connect(path) as database:
        assert database.execute("UPDATE answers SET answer = ?", (forged,)).rowcount == 2
    database.close()
    assert [EmbeddedSolver(file=path).decide(query) for query in (MODUS_PONENS, REFUTED)] == answers
    assert isinstance(answers[0], Entailed)
    assert isinstance(answers[1], Refuted)


def test_answers_without_evidence_are_not_kept(tmp_path: Path) -> None:
    said: list[Answer] = [Entailed(), Refuted(), Unknown(Reason.BUDGET)]
    for answer in said:
        cache = AnswerCache(lambda query, answer=answer: answer, file=AnswerFile(tmp_path / "answers"))  # type: ignore[misc]
        assert cache.decide(REFUTED) == answer


def test_a_file_that_is_none_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not a database, but long enough to be read as the header of one" * 20)
    for path in (tmp_path / "text", tmp_path / "no" / "folder"):
        with pytest.raises(DataError, match="file of answers"):
            EmbeddedSolver(file=path).decide(REFUTED)
