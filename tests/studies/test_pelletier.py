"""Pelletier's problems: the table of the page, and one verdict wherever an answer is asked for."""

from __future__ import annotations

import pytest

from proof_r1_formal.assistants.certify import certify, certify_many
from proof_r1_formal.assistants.lean import LeanKernel
from proof_r1_formal.data.completions import Completion
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.proof.action import MAX_DEPENDENCIES
from proof_r1_formal.proof.verify import Verifier
from studies.pelletier import HEAD, PAGE, Sequent, missing, sequents, table
from tests.report.bundles import made, problem_of, refusal, summary

ALL = {sequent.number: sequent for sequent in sequents()}
FEW = (1, 12, 19, 25, 34, 37, 43, 47, 51, 58, 59, 64, 65, 72)
NUMBERS = [number if number in FEW else pytest.param(number, marks=pytest.mark.long) for number in ALL]
NOT_PROVED = {53, 54, 63, 66, 67, 69}
CONTRADICTORY = {25, 72, 73, 74}
"""Problems whose premises have no model."""


def page() -> dict[int, str]:
    """The rows of the page by number."""
    _, _, text = PAGE.read_text(encoding="utf-8").partition(HEAD)
    return {int(line.split("|")[1]): line for line in text.splitlines()}


def test_each_of_the_75_numbers_has_one_row() -> None:
    assert sorted([*ALL, *missing()]) == list(range(1, 76))
    assert list(page()) == list(range(1, 76))


def test_the_page_says_what_is_not_proved() -> None:
    assert {number for number, line in page().items() if "| proved |" not in line} == NOT_PROVED | missing().keys()
    text = PAGE.read_text(encoding="utf-8")
    assert all(str(number) in text.partition(HEAD)[0] for number in NOT_PROVED)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_row_is_as_the_page_has_it(number: int) -> None:
    assert list(table([ALL[number]])) == [page()[number]]


def bound(sequent: Sequent) -> tuple[Problem, str]:
    """The problem, and a completion that binds its conclusion at once. More than four premises become one."""
    premises = list(sequent.premises)
    if len(premises) > MAX_DEPENDENCIES:
        premises = [" ∧ ".join([f"({premise})" for premise in premises])]
    problem = problem_of(f"pelletier/{sequent.number}", premises, sequent.conclusion)
    names = [premise.id for premise in problem.premises]
    return problem, summary(("h_goal_true", names, sequent.conclusion, "GOAL_BINDING"))


def is_verified(sequent: Sequent) -> bool:
    """Whether the answer is verified; its certificate and its bundle agree."""
    problem, text = bound(sequent)
    verifier = Verifier()
    certified = certify(verifier, problem, text)
    data = made(problem, text, verifier=verifier)
    assert refusal(data) is None
    verified = certified.report.verified
    assert (certified.certificate is not None, data["traces"][0]["verified"]) == (verified, verified)
    return verified


@pytest.mark.parametrize("number", NUMBERS)
def test_report_certificate_and_bundle_agree(number: int) -> None:
    assert is_verified(ALL[number]) == (number not in NOT_PROVED | CONTRADICTORY)


def test_a_conclusion_that_binds_by_instances_has_a_certificate() -> None:
    problem = problem_of("bound/1", ["P(a)"], f"P(a) ∧ ({ALL[59].conclusion})")
    certified = certify(Verifier(), problem, summary(("h_goal_true", ["h1"], "P(a)", "GOAL_BINDING")))
    assert certified.report.verified
    assert certified.certificate is not None


def test_lean_accepts_proofs_by_instances(lean: LeanKernel) -> None:
    cases = [bound(ALL[number]) for number in (34, 58, 59, 64)]
    problems = {problem.id: problem for problem, _ in cases}
    completions = [Completion(problem_id=problem.id, sample=0, completion=text) for problem, text in cases]
    judged = certify_many(Verifier(), problems, completions, lean)
    assert [checked.is_theorem for _, checked in judged] == [True] * 4
