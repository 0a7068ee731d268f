"""What a user meets in Python: text and colors of formulas and reports, shortcuts of reports, errors, threads."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from html import unescape
from typing import Any

import pytest
from hypothesis import given
from rich.console import Console

import proof_r1_formal
from proof_r1_formal import (
    Premise,
    Problem,
    Verifier,
    parse_formula,
    show,
    three_way_options,
    verify,
)
from proof_r1_formal.integrations.rewards import reward_function
from proof_r1_formal.kernel.syntax import ENTITY, App, Formula, Var
from proof_r1_formal.proof.report import REWARDS, decode, encode
from proof_r1_formal.testing import strategies
from proof_r1_formal.text.show import show_term
from tests.build import EXAMPLES, action, completion, example_completions, example_problems

PROBLEMS = example_problems()
COMPLETIONS = example_completions()
REPORTS = list(proof_r1_formal.verify_many(PROBLEMS, COMPLETIONS))


def printed(shown: object) -> str:
    console = Console(width=200)
    with console.capture() as captured:
        console.print(shown)
    return captured.get()


# -- text, terminals, notebooks ---------------------------------------------------------------------------------------


@given(strategies.formulas())
def test_the_text_of_a_formula_is_that_of_show(formula: Formula) -> None:
    assert str(formula) == f"{formula}" == show(formula)
    assert unescape(formula._repr_html_()) == f"<code>{show(formula)}</code>"


def test_the_text_of_a_term_and_the_markup_of_a_formula() -> None:
    term = App("mother", (Var("x", ENTITY),))
    assert str(term) == show_term(term) == "mother(x)"
    assert printed(parse_formula("cat(tom) → pet(tom)")).strip() == "cat(tom) → pet(tom)"
    assert parse_formula("p & q")._repr_html_() == "<code>p ∧ q</code>"


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: f"{report.problem_id}-{report.sample}")
def test_a_report_is_shown_without_its_problem(report: proof_r1_formal.TraceReport) -> None:
    text = printed(report)
    assert f"{report.problem_id}, sample {report.sample}" in text
    html = report._repr_html_()
    assert html.startswith("<pre")
    assert "<span style=" in html
    for step in report.actions:
        assert step.conclusion is None or step.conclusion in text
        assert step.id is None or step.id in printed(step)
        assert step.id is None or step.id in step._repr_html_()


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=lambda problem: problem.id)
def test_a_problem_is_shown_with_premises_and_options(problem: proof_r1_formal.Problem) -> None:
    text = printed(problem)
    assert all(show(formula) in text for formula in problem.formulas())
    assert text.count("(right)") == 1
    assert problem.question in text
    assert unescape(problem._repr_html_()).count("(right)") == 1


# -- shortcuts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: f"{report.problem_id}-{report.sample}")
def test_the_shortcuts_of_a_report(report: proof_r1_formal.TraceReport) -> None:
    assert [report.reward(name) for name in REWARDS] == [reward(report) for reward in REWARDS.values()]
    assert report.to_dict() == json.loads(encode(report))
    assert decode(json.dumps(report.to_dict())) == report
    explained = report.explain()
    for step in report.actions:
        assert step.to_dict() == json.loads(encode(report))["actions"][report.actions.index(step)]
        assert (step.explain() in explained) == bool(step.findings)
        assert all(finding.message in step.explain() for finding in step.findings)


def test_an_explanation_in_full() -> None:
    problem = PROBLEMS["garden/1"]
    step = action("s1", "rose(bob)", "h1", rule="MODUS_TOLLENS")
    assert verify(problem, completion(step)).explain().splitlines()[:3] == [
        "garden/1, sample 0: the completion selects no option.",
        "  NO_BINDING: no option is selected",
        "0 of 1 actions pass all checks.",
    ]


# -- errors -----------------------------------------------------------------------------------------------------------

WRONG: dict[str, tuple[Callable[[Any], object], object]] = {
    "formula must be a Node, but is a str; parse_formula() makes one from text": (show, "p"),
    "text must be a str, but is a int": (parse_formula, 3),
    "problem must be a Problem, but is a dict; read_problems() reads": (lambda it: verify(it, "x"), {}),
    "completion must be a str, but is a Completion; give the text": (
        lambda it: verify(PROBLEMS["garden/1"], it),
        COMPLETIONS[0],
    ),
    "problem must be a Problem, but is a str; read_problems() reads": (proof_r1_formal.VerifierSession, "garden/1"),
    "goal must be a Node, but is a str; parse_formula() makes one from text": (three_way_options, "p"),
    "rules must be a Catalogue, but is a str; catalogue() gives": (lambda it: Verifier(rules=it), "folio"),
    "solver must have a method decide; get_solver('z3') makes one": (Verifier, "z3"),
    "action must be a Action, but is a NoneType; read_action() reads": (
        lambda it: proof_r1_formal.VerifierSession(PROBLEMS["garden/1"]).push(it),
        None,
    ),
    "action must be a Action, but is a str; read_action() reads": (
        lambda it: proof_r1_formal.VerifierSession(PROBLEMS["garden/1"]).extend([it]),
        "[]",
    ),
    "each problem must be a Problem, but is a str; a mapping of problems": (
        lambda it: proof_r1_formal.write_problems(EXAMPLES / "no-such.jsonl", it),
        PROBLEMS,
    ),
    "problems must be a Mapping, but is a tuple; read_problems() returns": (
        lambda it: proof_r1_formal.evaluate_metrics(it, REPORTS),
        tuple(PROBLEMS.values()),
    ),
    "problems must be a Mapping, but is a list; read_problems() returns": (
        lambda it: proof_r1_formal.verify_many(it, []),
        [],
    ),
    "each completion must be a Completion, but is a str; got 'abc'": (
        lambda it: list(proof_r1_formal.verify_many(PROBLEMS, it)),
        ["abc"],
    ),
}


def test_evidence_is_never_weaker_than_a_misspelt_level() -> None:
    with pytest.raises(ValueError, match="unknown level of evidence 'Kernel'; available: none, checked, kernel"):
        Verifier(evidence="Kernel")  # type: ignore[arg-type]


def test_a_verifier_is_not_pickled() -> None:
    with pytest.raises(TypeError, match="a Verifier cannot be pickled; make one in each process"):
        pickle.dumps(Verifier())


WRONG_PARTS: dict[str, dict[str, object]] = {
    "the formula of premise 'h1' must be a Node, but is a str; parse_formula() makes": {
        "premises": [Premise("h1", "p")]  # type: ignore[arg-type]
    },
    "each option of problem 'p' must be a Option, but is a Premise": {"options": [Premise("o", parse_formula("p"))]},
    "the premises of problem 'p' must be a Sequence, but is a generator": {"premises": (one for one in (1, 2))},
    "the id of a problem must be a str, but is a int": {"id": 7},
    "problem 'p': more than one premise or option has the id 'h1'": {
        "premises": (Premise("h1", parse_formula("p")), Premise("h1", parse_formula("~p")))
    },
    "problem 'p': more than one premise or option has the id 'h_goal_true'": {
        "premises": (Premise("h_goal_true", parse_formula("p")),)
    },
    "problem 'p': the id '\\ud800' is not valid Unicode": {"premises": (Premise("\ud800", parse_formula("p")),)},
    "problem 'p': the answer 'True' is the id of no option; its options are: h_goal_true, h_goal": {"answer": "True"},
}


@pytest.mark.parametrize("message", WRONG_PARTS)
def test_a_problem_that_no_file_could_hold_is_a_clear_error(message: str) -> None:
    """Of two premises with one id, the consistency of the premises would see one only: p and ¬p would have a model."""
    right = Problem("p", (Premise("h1", parse_formula("p")),), three_way_options(parse_formula("q")), "h_goal_true")
    assert verify(right, "").problem_id == "p"
    with pytest.raises((TypeError, proof_r1_formal.ProofR1Error)) as caught:
        verify(replace(right, **WRONG_PARTS[message]), "")  # type: ignore[arg-type]
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("message", WRONG)
def test_an_argument_of_another_type_is_a_clear_error(message: str) -> None:
    call, argument = WRONG[message]
    with pytest.raises(TypeError) as caught:
        call(argument)
    assert str(caught.value).startswith(message)


def test_an_unknown_reward_or_catalogue_is_an_error_at_once() -> None:
    with pytest.raises(ValueError, match="unknown reward 'sond'; available: answer, sound, signals"):
        reward_function("sond")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unknown reward 'x'"):
        REPORTS[0].reward("x")  # type: ignore[arg-type]
    with pytest.raises(proof_r1_formal.ProofR1Error, match="trane"):
        reward_function(rules="trane")  # type: ignore[arg-type]


# -- threads ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shared", [True, False])
def test_threads_get_the_reports_of_one_thread(shared: bool) -> None:
    common = Verifier()

    def reports(_: int) -> list[bytes]:
        verifier = common if shared else Verifier()
        return [
            encode(verifier.verify(PROBLEMS[one.problem_id], one.completion, sample=one.sample)) for one in COMPLETIONS
        ]

    expected = [encode(report) for report in REPORTS]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(reports, range(8))) == [expected] * 8
