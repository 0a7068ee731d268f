"""``sample --constrain`` against endpoints: what they offer is found and used, and one that lies costs itself only."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from proof_r1_formal import Completion, Problem, Verifier, read_completions, read_problems
from proof_r1_formal.cli import app
from proof_r1_formal.data.failures import read_failures
from proof_r1_formal.decoding.grammar import completion_grammar
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.generate import completion
from proof_r1_formal.models.constrain import OFFERS, Offer, Offered
from proof_r1_formal.models.prompts import question
from proof_r1_formal.rules.catalogue import TRAIN
from tests.models.scripted import Act, Body, Script, saying

PROBLEMS = Path(__file__).resolve().parents[2] / "examples" / "problems.jsonl"
KNOWN = read_problems(PROBLEMS)
PROVED = [problem for problem in KNOWN.values() if problem.proofs]
Follow = Callable[[Script], str]


def sample(url: str, out: Path, *arguments: str, problems: Path = PROBLEMS) -> Result:
    command = ["sample", "--problems", str(problems), "--model", url, "--out", str(out), "--k", "1", *arguments]
    return CliRunner().invoke(app, command)


def read(path: Path) -> dict[str, str]:
    return {one.problem_id: one.completion for one in read_completions(path) if isinstance(one, Completion)}


def problem_of(body: Body) -> Problem | None:
    """Whose question a request is; None for a probe."""
    said = body["messages"][-1]["content"]
    return next((problem for problem in KNOWN.values() if question(problem) in said), None)


def answer(problem: Problem) -> str:
    return completion(problem, problem.proofs[0]) if problem.proofs else "I do not know."


def in_json(problem: Problem) -> str:
    """The answer as an object of the schema; no array where there is no proof."""
    text = answer(problem)
    if not problem.proofs:
        return "I do not know."
    thoughts, _, rest = text.removeprefix("<think>\n").partition("\n</think>\n\n<summary>")
    return json.dumps({"thoughts": thoughts, "summary": json.loads(rest.removesuffix("</summary>"))})


def keeping(offer: Offer, say: Callable[[Problem], str]) -> Callable[[Body], Act]:
    """A server that knows one field, and ignores what it does not know."""

    def act(body: Body) -> Act:
        problem = problem_of(body)
        if problem is not None:
            return saying(say(problem))
        word = '{"word": "proof-r1"}' if offer.kind == "json" else "proof-r1"
        return saying(word if offer.name in body else "Hello! How can I help?")

    return act


@pytest.mark.parametrize("offer", OFFERS, ids=lambda offer: str(offer.name))
def test_what_is_offered_is_used(offer: Offer, follow: Follow, tmp_path: Path) -> None:
    script = Script(keeping(offer, in_json if offer.kind == "json" else answer))
    result = sample(follow(script), tmp_path / "c.jsonl", "--constrain", "auto")
    assert result.exit_code == 0, result.output
    assert f"constrained by the field {offer.name} of the endpoint ({offer.kind})" in result.output
    found = read(tmp_path / "c.jsonl")
    for body in script.asked:
        if (problem := problem_of(body)) is not None:
            grammar = completion_grammar(problem, TRAIN)
            schema = {
                "type": "object",
                "properties": {"thoughts": {"type": "string"}, "summary": grammar.actions},
                "required": ["thoughts", "summary"],
                "additionalProperties": False,
            }
            assert body[offer.name] == offer.value(schema if offer.kind == "json" else grammar.to_gbnf(thoughts=True))
    for problem in PROVED:
        assert Verifier().verify(problem, found[problem.id]).verified
        assert found[problem.id].startswith("<think>\n")


def test_an_endpoint_without_constraints_is_asked_freely(follow: Follow, tmp_path: Path) -> None:
    """One refuses what it does not know, as hosted ones do; where a grammar is asked for, that is an error."""
    script = Script(
        lambda body: (
            saying(answer(problem))
            if (problem := problem_of(body)) is not None
            else lambda handler: handler.send(400, '{"error": {"message": "Unrecognized request argument"}}')
        )
    )
    url = follow(script)
    result = sample(url, tmp_path / "c.jsonl", "--constrain", "auto", "--stop-after", "2")
    assert result.exit_code == 0, result.output
    assert "keeps to no constraint that is known here" in result.output
    assert "a call failed" not in result.output
    assert all(not {offer.name for offer in OFFERS} & set(body) for body in script.asked if problem_of(body))
    with pytest.raises(ProofR1Error, match="does not keep to a grammar"):
        raise sample(url, tmp_path / "d.jsonl", "--constrain", "grammar").exception or AssertionError
    assert not (tmp_path / "d.jsonl").exists()
    stored = len(script.asked)
    assert sample(url, tmp_path / "c.jsonl").exit_code == 0  # what is not constrained asks the same
    assert len(script.asked) == stored


def test_a_server_that_lies_costs_itself_only(follow: Follow, tmp_path: Path) -> None:
    script = Script(keeping(OFFERS[0], lambda _: "}{ \x00 <summary> I keep to every grammar."))
    result = sample(follow(script), tmp_path / "c.jsonl", "--constrain", "grammar")
    assert result.exit_code == 0, result.output
    for name, text in read(tmp_path / "c.jsonl").items():
        assert text == "}{ \x00 <summary> I keep to every grammar."
        assert not Verifier().verify(KNOWN[name], text).verified


def test_a_problem_without_a_grammar_fails_alone(follow: Follow, tmp_path: Path) -> None:
    lines = PROBLEMS.read_text(encoding="utf-8").splitlines()
    record = json.loads(lines[0])
    record["premises"] = []
    problems = tmp_path / "p.jsonl"
    problems.write_text("\n".join([json.dumps({**record, "id": "bare", "proofs": []}), *lines]), encoding="utf-8")
    script = Script(keeping(OFFERS[0], answer))
    result = sample(follow(script), tmp_path / "c.jsonl", "--constrain", "auto", problems=problems)
    assert result.exit_code == 1, result.output
    (failed,) = read_failures(tmp_path / "c.failures.jsonl")
    assert failed.problem_id == "bare"
    assert "it has no premises" in failed.problem
    assert set(read(tmp_path / "c.jsonl")) == set(KNOWN)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--constrain", "json", "--method", "guided"),
        ("--constrain", "auto", "--repair"),
        ("--constrain", "auto", "--method", "logic-agent"),
        ("--method", "guided", "--prompts", "paper"),
        ("--method", "guided", "--beam", "2"),
        ("--beam", "2"),
    ],
)
def test_options_that_do_not_go_together_cost_nothing(
    arguments: tuple[str, ...], follow: Follow, tmp_path: Path
) -> None:
    script = Script(lambda _: saying("anything"))
    result = sample(follow(script), tmp_path / "c.jsonl", *arguments)
    assert isinstance(result.exception, ProofR1Error)
    assert script.asked == []


# -- answers in JSON --------------------------------------------------------------------------------------------------

IN_JSON = Offered(OFFERS[-1], TRAIN, thoughts=True)


@given(st.text())
def test_what_is_no_such_object_is_the_completion_itself(text: str) -> None:
    assert IN_JSON.completion(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"summary": "a text"}',
        '{"summary": [], "summary": []}',
        '{"thoughts": "", "summary": [{"id": "s1", "id": "s2"}]}',
        "[]",
        "NaN",
    ],
)
def test_hostile_json_is_the_completion_itself(text: str) -> None:
    assert IN_JSON.completion(text) == text


def test_thoughts_come_first_and_no_formula_ends_the_summary() -> None:
    text = IN_JSON.completion('{"thoughts": "hm", "summary": [{"conclusion": "</summary>"}]}')
    assert text == '<think>\nhm\n</think>\n\n<summary>[{"conclusion": "\\u003c/summary>"}]</summary>'
    assert IN_JSON.completion("<think>\nhm\n</think>\n\n" + '{"summary": []}') == (
        "<think>\nhm\n</think>\n\n<summary>[]</summary>"
    )
