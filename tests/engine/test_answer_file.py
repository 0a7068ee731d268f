"""Countermodels kept in a file: the same reports, and nothing that is read is trusted."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given

from proof_r1_formal.data.problem import Premise, Problem, three_way_options
from proof_r1_formal.engine.answer_file import MAX_BYTES, MAX_STEPS, AnswerFile, _key
from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.errors import DataError
from proof_r1_formal.kernel.answer import Answer, Entailed, Reason, Refuted, Unknown
from proof_r1_formal.kernel.checker import check
from proof_r1_formal.kernel.confirm import confirm
from proof_r1_formal.kernel.query import Query
from proof_r1_formal.kernel.serial import proof_to_data
from proof_r1_formal.kernel.syntax import And
from proof_r1_formal.kernel.term import Eliminate, Introduce
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.testing.strategies import queries
from proof_r1_formal.text.parse import parse_formula
from tests.finite import FiniteSolver

MODUS_PONENS = Query(
    (parse_formula("∀x (cat(x) → animal(x))"), parse_formula("cat(tom)")), parse_formula("animal(tom)")
)
REFUTED = Query((parse_formula("p ∨ q"),), parse_formula("p"))
FUNCTION = Query((parse_formula("∃x red(x)"),), parse_formula("∀x red(f(x))"))
"""Refuted by two elements, of which one is red, and f leads to the other."""


def with_entry(path: Path, query: Query, blob: object) -> None:
    """Put an entry for a query into a file."""
    EmbeddedSolver(file=path).decide(REFUTED)
    with sqlite3.connect(path) as database:
        database.execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", (_key(query), blob))
    database.close()


def test_a_second_run_asks_for_no_countermodel_again(tmp_path: Path) -> None:
    first = EmbeddedSolver(file=tmp_path / "answers")
    answers = [first.decide(query) for query in (REFUTED, FUNCTION)]
    file = AnswerFile(tmp_path / "answers")
    assert [file.get(query) for query in (REFUTED, FUNCTION)] == answers
    second = EmbeddedSolver(file=tmp_path / "answers")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(second, "_solve", None)
        assert [second.decide(query) for query in (REFUTED, FUNCTION)] == answers


def test_proofs_are_not_kept(tmp_path: Path) -> None:
    solver = EmbeddedSolver(file=tmp_path / "answers")
    assert isinstance(solver.decide(MODUS_PONENS), Entailed)
    assert AnswerFile(tmp_path / "answers").get(MODUS_PONENS) is None


@given(query=queries())
def test_a_kept_countermodel_is_found_again(tmp_path_factory: pytest.TempPathFactory, query: Query) -> None:
    """So the check of what is read refuses nothing that was written."""
    answer = FiniteSolver().decide(query)
    assume(isinstance(answer, Refuted))
    file = AnswerFile(tmp_path_factory.mktemp("answers") / "answers")
    file.put(query, answer)
    assert file.get(query) == answer


@given(query=queries())
def test_answers_from_the_file_are_those_without_one(tmp_path_factory: pytest.TempPathFactory, query: Query) -> None:
    path = tmp_path_factory.mktemp("answers") / "answers"
    plain = EmbeddedSolver().decide(query)
    for _ in range(2):
        answer = EmbeddedSolver(file=path).decide(query)
        assert answer == plain
        assert (answer.steps, getattr(answer, "engine", None)) == (plain.steps, getattr(plain, "engine", None))


MODEL: dict[str, Any] = {
    "domains": {"Entity": 2},
    "predicates": {"red": [[1]]},
    "functions": {"f": [[[0], 0], [[1], 0]]},
}
ENTRY: dict[str, Any] = {"countermodel": MODEL, "steps": 7, "engine": "z3"}
FORGED: dict[str, object] = {
    "no JSON": b"no JSON",
    "nothing": b"",
    "no UTF-8": b'{"countermodel": "\xff"}',
    "a lone surrogate": b'{"countermodel": "\\ud800"}',
    "deep lists": b"[" * 100_000,
    "deep objects": b'{"countermodel": ' * 20_000,
    "a deep table": b'{"countermodel": {"domains": ' + b"[" * 100_000,
    "no evidence": b"{}",
    "a text": msgspec.json.encode(ENTRY).decode(),
    "a number": 7,
    "null": None,
    "a longer entry than any": msgspec.json.encode(ENTRY) + b" " * MAX_BYTES,
    "a proof": b'{"proof": [{"line": "Repeat", "premise": 0}]}',
    "a padded proof": b'{"proof": [{"line": "Repeat", "premise": 0}, {"line": "Repeat", "premise": 0}]}',
    "more than a countermodel": msgspec.json.encode(ENTRY | {"more": 1}),
    "no price": msgspec.json.encode({"countermodel": MODEL, "engine": "z3"}),
    "no engine": msgspec.json.encode({"countermodel": MODEL, "steps": 7}),
    "a number for an engine": msgspec.json.encode(ENTRY | {"engine": 7}),
    "a negative price": msgspec.json.encode(ENTRY | {"steps": -1}),
    "half a step": msgspec.json.encode(ENTRY | {"steps": 0.5}),
    "a price higher than any": msgspec.json.encode(ENTRY | {"steps": MAX_STEPS + 1}),
    **{
        name: msgspec.json.encode(ENTRY | {"countermodel": MODEL | changed})
        for name, changed in dict[str, dict[str, Any]](
            {
                "no structure": {"domains": []},
                "an empty domain": {"domains": {"Entity": 0}},
                "another domain": {"domains": {"Person": 2}},
                "one more domain": {"domains": {"Entity": 2, "Person": 2}},
                "a domain of 2^60": {"domains": {"Entity": 2**60}},
                "a domain beyond 2^64": {"domains": {"Entity": 2**70}},
                "a negative domain": {"domains": {"Entity": -1}},
                "half a domain": {"domains": {"Entity": 1.5}},
                "another predicate": {"predicates": {"p9": [[1]]}},
                "one more predicate": {"predicates": {"red": [[1]], "p9": [[1]]}},
                "tuples that are too long": {"predicates": {"red": [[1, 1]]}},
                "elements that are not there": {"predicates": {"red": [[1], [7]]}},
                "one more function": {"functions": MODEL["functions"] | {"f9": [[[], 0]]}},
                "no function": {"functions": {}},
                "a partial function": {"functions": {"f": [[[0], 0]]}},
                "a value that is not there": {"functions": {"f": [[[0], 0], [[1], 7]]}},
                "half a value": {"functions": {"f": [[[0], 0], [[1], 0.5]]}},
                "true for a value": {"functions": {"f": [[[0], False], [[1], False]]}},
                "a structure that refutes nothing": {"predicates": {"red": [[0], [1]]}},
            }
        ).items()
    },
}


@pytest.mark.parametrize("forged", FORGED)
def test_what_somebody_else_wrote_into_the_file_is_a_miss(tmp_path: Path, forged: str) -> None:
    path = tmp_path / "answers"
    plain = EmbeddedSolver().decide(FUNCTION)
    with_entry(path, FUNCTION, FORGED[forged])
    assert AnswerFile(path).get(FUNCTION) is None
    assert EmbeddedSolver(file=path).decide(FUNCTION) == plain


def test_the_entry_that_the_forged_ones_change_counts(tmp_path: Path) -> None:
    with_entry(tmp_path / "answers", FUNCTION, msgspec.json.encode(ENTRY))
    answer = AnswerFile(tmp_path / "answers").get(FUNCTION)
    assert answer is not None
    assert confirm(FUNCTION, answer).checked


def test_an_engine_that_does_not_exist_is_a_miss(tmp_path: Path) -> None:
    path = tmp_path / "answers"
    with_entry(path, FUNCTION, msgspec.json.encode(ENTRY | {"engine": "an oracle"}))
    answer, plain = EmbeddedSolver(file=path).decide(FUNCTION), EmbeddedSolver().decide(FUNCTION)
    assert isinstance(answer, Refuted)
    assert isinstance(plain, Refuted)
    assert answer.engine == plain.engine


def test_the_file_holds_the_price_of_an_answer(tmp_path: Path) -> None:
    price = EmbeddedSolver().decide(FUNCTION).steps
    assert price > 0
    solvers = [EmbeddedSolver(file=tmp_path / "answers") for _ in range(2)]
    assert [solver.decide(FUNCTION).steps for solver in solvers] == [price, price]
    assert AnswerFile(tmp_path / "answers").get(FUNCTION) is not None


def test_a_padded_proof_in_the_file_does_not_change_the_report(tmp_path: Path) -> None:
    """A proof with a detour through a premise holds, and would make that premise a used one."""
    premises = ("p", "q", "p → r")
    problem = Problem("1", tuple(Premise(f"h{n}", parse_formula(text)) for n, text in enumerate(premises, 1)),
                      three_way_options(parse_formula("r")))  # fmt: skip
    action = {"id": "s1", "dependencies": ["h1", "h2", "h3"], "conclusion": "r", "rule": "IMPLICATION_ELIMINATION"}
    completion = f"<summary>{json.dumps([action])}</summary>"
    query = Query(tuple(premise.formula for premise in problem.premises), parse_formula("r"))
    both = And(query.dependencies[0], query.dependencies[1])
    proof = (Introduce(both, (0, 1)), Eliminate(3, "left"), Eliminate(2, "right", 4))
    assert check(proof, query.dependencies, query.conclusion) == {0, 1, 2}
    with_entry(tmp_path / "answers", query, msgspec.json.encode({"proof": proof_to_data(proof)}))
    plain = Verifier(EmbeddedSolver()).verify(problem, completion)
    assert Verifier(EmbeddedSolver(file=tmp_path / "answers")).verify(problem, completion) == plain
    assert plain.actions[0].used == ("h1", "h3")


ENDLESS = "WITH RECURSIVE n(query) AS (SELECT 1 UNION ALL SELECT 1 FROM n)"


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE TRIGGER t BEFORE INSERT ON answers BEGIN SELECT RAISE(ABORT, 'no'); END"],
        ["CREATE TABLE more (x)"],
        ["DROP TABLE answers", f"CREATE VIEW answers AS {ENDLESS} SELECT query, 1 AS answer FROM n"],
        ["DROP TABLE answers", "CREATE TABLE answers (query TEXT, answer BLOB)"],
    ],
    ids=["trigger", "table", "endless view", "columns"],
)  # fmt: skip
def test_another_schema_is_an_error_before_any_question(tmp_path: Path, statements: list[str]) -> None:
    path = tmp_path / "answers"
    EmbeddedSolver(file=path).decide(REFUTED)
    with sqlite3.connect(path) as database:
        for statement in statements:
            database.execute(statement)
    database.close()
    with pytest.raises(DataError, match="something else than the one table"):
        EmbeddedSolver(file=path).decide(REFUTED)


def test_answers_without_evidence_are_not_kept(tmp_path: Path) -> None:
    file = AnswerFile(tmp_path / "answers")
    said: list[Answer] = [Entailed(), Refuted(), Unknown(Reason.BUDGET)]
    for answer in said:
        file.put(REFUTED, answer)
        assert file.get(REFUTED) is None


def test_a_file_that_is_none_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not a database, but long enough to be read as the header of one" * 20)
    for path in (tmp_path / "text", tmp_path / "no" / "folder"):
        with pytest.raises(DataError, match="file of answers"):
            EmbeddedSolver(file=path).decide(REFUTED)
