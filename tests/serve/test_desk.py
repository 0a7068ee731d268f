"""Jobs: their outcomes are what the library says, and nothing that a client writes makes one fail otherwise."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof_r1_formal import Completion, Verifier, read_completions, read_problems, verify
from proof_r1_formal.data.native import to_json
from proof_r1_formal.proof.report import decode
from proof_r1_formal.proof.rewards import Scored, score
from proof_r1_formal.serve.desk import Desk
from proof_r1_formal.serve.messages import (
    Certify,
    CertifyReply,
    Done,
    Job,
    Outcome,
    Parse,
    ParseReply,
    Refused,
    Score,
    Verify,
)

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PROBLEMS = read_problems(EXAMPLES / "problems.jsonl")
COMPLETIONS = [c for c in read_completions(EXAMPLES / "completions.jsonl") if isinstance(c, Completion)]
RECORD = to_json(PROBLEMS["garden/1"]).encode()
DESK = Desk(max_actions=3)
verify_in_training = Verifier(evaluation=False).verify


def content(outcome: Outcome) -> bytes:
    assert isinstance(outcome, Done), outcome
    return outcome.content


def actions(count: int) -> str:
    return f"<summary>{json.dumps([{'id': f's{number}'} for number in range(count)])}</summary>"


@pytest.mark.parametrize("completion", COMPLETIONS, ids=lambda c: f"{c.problem_id}-{c.sample}")
def test_outcomes_are_what_the_library_says(completion: Completion) -> None:
    problem = PROBLEMS[completion.problem_id]
    record, text = to_json(problem).encode(), completion.completion
    expected = verify(problem, text, sample=completion.sample)
    desk = Desk(max_actions=100)
    assert decode(content(desk.do(Verify(record, text, completion.sample, "train", True)))) == expected
    scored = msgspec.json.decode(content(desk.do(Score(record, text, "train", "sound"))), type=Scored)
    assert scored == score(verify_in_training(problem, text), "sound")
    certified = msgspec.json.decode(content(desk.do(Certify(record, text, "train", False))), type=CertifyReply)
    assert (certified.lean is None) == bool(certified.reason)
    assert certified.judgement is None


def test_the_number_of_actions_is_bounded() -> None:
    assert isinstance(DESK.do(Verify(RECORD, actions(3), 0, "train", True)), Done)
    for job in (Verify(RECORD, actions(4), 0, "train", True), Score(RECORD, actions(4), "train", "sound")):
        refused = DESK.do(job)
        assert isinstance(refused, Refused)
        assert refused.trouble.code == "too_many_actions"
    assert isinstance(DESK.do(Verify(RECORD, "a, b, c, d, e, f" + actions(1), 0, "train", True)), Done)


@pytest.mark.parametrize(
    ("job", "message"),
    [
        (Verify(b"{}", "", 0, "train", True), "Object missing required field"),
        (Verify(b"nothing", "", 0, "train", True), "not JSON"),
        (Parse("cat(", False), "ends too early at line 1, column 5"),
        (Parse("cat(tom) & cat(tom, ann)", False), "'cat' is used as"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_reason(job: Job, message: str) -> None:
    refused = DESK.do(job)
    assert isinstance(refused, Refused)
    assert refused.status == 422
    assert message in refused.trouble.message


def test_a_formula_in_other_notations() -> None:
    reply = msgspec.json.decode(content(DESK.do(Parse("all x. (cat x -> likes x tom", True))), type=ParseReply)
    assert reply.formula == "∀x (cat(x) → likes(x, tom))"
    assert reply.prefix == "(forall x (-> (cat x) (likes x tom)))"
    assert (reply.predicates, reply.functions) == ({"cat": 1, "likes": 2}, {"tom": 0})
    assert reply.repairs == ("added 1 missing ')'",)


@given(st.text(), st.text())
def test_any_text_has_an_outcome(problem: str, completion: str) -> None:
    for record in (problem.encode(errors="replace"), RECORD):
        outcome = DESK.do(Verify(record, f"<summary>{completion}</summary>", 0, "folio", False))
        assert isinstance(outcome, Done | Refused)
    assert isinstance(DESK.do(Parse(completion, True)), Done | Refused)
