"""Whole proofs: the table of the page is that of its record, and rows of the record are computed again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proof_r1_formal import Verifier
from proof_r1_formal.assistants.certificate import Certificate
from proof_r1_formal.assistants.engine_certificate import certify_problem
from proof_r1_formal.assistants.lean import LeanKernel
from proof_r1_formal.data import read_problems
from proof_r1_formal.data.problem import Problem
from studies.whole_proofs import (
    FILES,
    HEAD,
    LATER,
    PAGE,
    PELLETIER,
    RECORD,
    Row,
    own_sets,
    pelletier,
    rows,
    table,
    written,
)

RECORDED: dict[str, dict[str, Row]] = json.loads(RECORD.read_text(encoding="utf-8"))
QUICK = {
    "textbook problems": 20,
    "knights and knaves, 3 to 6 persons": 20,
    "zebras, 3 houses": 3,
    "zebras, 4 houses": 1,
}
"""How many problems of each set are proved again here; ``make test-long`` proves all."""


def test_the_table_of_the_page_is_that_of_the_record() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert table(RECORDED) in text
    assert text.count(HEAD) == 1
    assert written(RECORDED) == RECORD.read_text(encoding="utf-8")


def test_the_record_reaches_the_aims() -> None:
    proved = {name: sum(row[0] != "open" for row in found.values()) for name, found in RECORDED.items()}
    assert (len(RECORDED["FOLIO v0 validation"]), proved["FOLIO v0 validation"] >= 118) == (125, True)
    second = "FOLIO v2 train, first 400"
    assert proved[second] >= 0.93 * len(RECORDED[second])
    assert proved["textbook problems"] >= 18
    for name in ("knights and knaves, 3 to 6 persons", "zebras, 3 houses", "zebras, 4 houses"):
        assert proved[name] == len(RECORDED[name]) > 0


def test_own_problems_are_proved_as_recorded() -> None:
    sets = own_sets()
    assert sets.keys() == QUICK.keys()
    for name, problems in sets.items():
        assert RECORDED[name].keys() == {problem.id for problem in problems}
        assert all(RECORDED[name][key] == row for key, row in rows(problems[: QUICK[name]])), name


@pytest.mark.long
def test_all_own_problems_are_proved_as_recorded() -> None:
    for name, problems in (own_sets() | {PELLETIER: pelletier(), LATER: pelletier(later=True)}).items():
        assert dict(rows(problems)) == RECORDED[name], name


def test_the_first_problems_of_pelletier() -> None:
    first: list[Problem] = pelletier()[:18]
    assert all(RECORDED[PELLETIER][key] == row for key, row in rows(first))


@pytest.mark.parametrize(("number", "row"), [(29, (13, 2)), (38, (14, 0)), (56, (9, 0))])
def test_problems_with_long_hypotheses_or_equality(number: int, row: tuple[int, int]) -> None:
    """Logical truths among the premises of steps (29, 38), and f(x) = f(x) for a term (56)."""
    (problem,) = (each for each in (*pelletier(), *pelletier(later=True)) if each.id == f"pelletier/{number}")
    assert dict(rows([problem])) == {problem.id: ["translation", *row]}


@pytest.mark.parametrize("name", FILES)
def test_problems_of_folio_are_proved_as_recorded(shared_data: Path, name: str) -> None:
    known = RECORDED[name]
    translated = [key for key, row in known.items() if row[0] == "translation"][:6]
    problems = read_problems(shared_data / FILES[name])
    assert dict(rows([problems[key] for key in translated])) == {key: known[key] for key in translated}


@pytest.mark.slow
def test_what_has_no_proof_by_steps_is_a_theorem_by_the_engines_proof(lean: LeanKernel) -> None:
    for name, problems in ((PELLETIER, pelletier()), (LATER, pelletier(later=True))):
        left = [problem for problem in problems if RECORDED[name].get(problem.id) == ["open"]]
        assert all(problem.id.partition("/")[2] in PAGE.read_text(encoding="utf-8") for problem in left)
        certificates = [certify_problem(Verifier(), problem) for problem in left]
        theorems = [one.answer() for one in certificates if isinstance(one, Certificate)]
        assert len(theorems) == len(left) > 0
        assert all(judgement.accepted for judgement in lean.check(theorems))
