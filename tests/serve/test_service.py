"""The service as its clients meet it: what it answers, over HTTP and in its document."""

from __future__ import annotations

import contextlib
import io
import json
import re
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from proof_r1_formal import Verifier, get_solver, verify
from proof_r1_formal.assistants.lean import LeanKernel
from proof_r1_formal.data.native import to_json
from proof_r1_formal.errors import ServiceError
from proof_r1_formal.proof.report import encode
from proof_r1_formal.serve.app import UNSUPPORTED
from proof_r1_formal.serve.messages import MAX_COMPLETIONS, RouteCount
from tests import build
from tests.build import ROOT, action, completion
from tests.patience import PATIENCE
from tests.serve.asking import COMPLETIONS, PROBLEMS, RIGHT, asked, works


def test_verdicts_over_http_are_those_of_the_library(service: Any) -> None:
    for problem_id, problem in PROBLEMS.items():
        texts = [c.completion for c in COMPLETIONS if c.problem_id == problem_id]
        expected = tuple(verify(problem, text, sample=sample) for sample, text in enumerate(texts))
        for given_as in (problem, to_json(problem), problem_id):
            assert service.client.verify(given_as, texts) == expected


HALF = '<summary>[{"id": "s1", "dependencies": ["h1"], "conclusion": "\\"\\\\ud800\\"(a)", "rule": "X"}]</summary>'


@settings(max_examples=30)
@given(st.lists(st.text(st.characters(exclude_categories=())), min_size=1, max_size=3))
@example([HALF, "\ud800", f"<think>\udfff</think>{HALF}", '<summary>[{"id": "\ud800"}]</summary>'])
def test_no_completion_text_makes_a_request_fail(service: Any, texts: list[str]) -> None:
    problem = PROBLEMS[RIGHT.problem_id]
    expected = tuple(verify(problem, text, sample=sample) for sample, text in enumerate([*texts, RIGHT.completion]))
    for given_as in (problem, RIGHT.problem_id):
        assert service.client.verify(given_as, [*texts, RIGHT.completion]) == expected
    assert service.client.score([problem] * len(texts), texts)
    assert service.client.certify(problem, texts[0], kernel="none").report == expected[0]


def test_a_certificate_is_checked_by_lean(service: Any, lean: LeanKernel) -> None:
    reply = service.client.certify(RIGHT.problem_id, RIGHT.completion)
    assert reply.judgement is not None
    assert reply.judgement.is_theorem
    assert "theorem answer" in (reply.lean or "")
    unanswered = service.client.certify(RIGHT.problem_id, "no proof")
    assert (unanswered.judgement, unanswered.reason) == (None, "no option is selected")


def test_rewards_in_the_shape_of_openrlhf(service: Any) -> None:
    labels = [RIGHT.problem_id, to_json(PROBLEMS[RIGHT.problem_id]), RIGHT.problem_id]
    answers = [RIGHT.completion + "<|end|>", RIGHT.completion, completion(*[0] * 600)]
    body = {"query": [f"<s>Why?{a}" for a in answers], "prompts": ["Why?"] * 3, "labels": labels, "more": 1}
    status, reply = asked(service.port, "POST", "/get_reward", json.dumps(body).encode())
    assert status == 200
    assert reply["rewards"] == reply["scores"] == [1.0, 1.0, 0.0]
    logs = {
        "parsed": [1.0, 1.0, 0.0],
        "right": [1.0, 1.0, 0.0],
        "verified": [1.0, 1.0, 0.0],
        "refused": [0.0, 0.0, 1.0],
    }
    assert reply["extra_logs"] == logs
    wrongs: list[dict[str, object]] = [{"query": ["Why?"]}, {**body, "labels": ["{\ud800}"] * 3}]
    wrongs += [{**body, "labels": labels[:2]}, {**body, "labels": ["{}"] * 3}, {**body, "prompts": ["What?"] * 3}]
    for wrong in wrongs:
        assert asked(service.port, "POST", "/get_reward", json.dumps(wrong).encode())[0] == 422


def test_more_completions_than_one_request_holds_are_scored(service: Any) -> None:
    answers = [*["no proof"] * MAX_COMPLETIONS, RIGHT.completion]
    scored = service.client.score([RIGHT.problem_id] * len(answers), answers)
    assert [one.reward for one in scored] == [*[0.0] * MAX_COMPLETIONS, 1.0]


def test_it_says_how_it_is(service: Any) -> None:
    before = service.client.health()
    assert works(service)
    after = service.client.health()
    assert (after.status, after.workers, after.waiting) == ("ok", 2, 0)
    assert (after.restarts, after.renewals) == (before.restarts, before.renewals)
    assert after.jobs == before.jobs + 1
    assert asked(service.port, "GET", "/healthz?time=1")[0] == 200


def test_it_counts_the_requests_of_each_route(service: Any) -> None:
    def counts() -> tuple[int, int, float]:
        found = service.client.health().routes.get("/v1/verify", RouteCount())
        return found.requests, found.refused, found.seconds

    before = counts()
    assert works(service)
    assert asked(service.port, "POST", "/v1/verify", b"{}")[0] == 422
    after = counts()
    assert after[:2] == (before[0] + 2, before[1] + 1)
    assert after[2] > before[2]


def test_what_its_document_says_is_so(service: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = (ROOT / "docs" / "service.md").read_text(encoding="utf-8").replace("http://127.0.0.1:8765", service.url)
    [commands] = re.findall(r"```bash\n(.*?)```", text, re.DOTALL)
    run = subprocess.run(["sh", "-e", "-c", commands], capture_output=True, text=True, timeout=PATIENCE)
    replies = re.split(r"(?<=\})(?=\{)", run.stdout)
    assert [next(iter(json.loads(reply))) for reply in replies] == ["status", "reports"]
    [(code, shown)] = re.findall(r"```python\n(.*?)```\n\nprints\n\n(.*?)\n\n#", text, re.DOTALL)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(code, "docs/service.md", "exec"), {})
    assert output.getvalue().splitlines() == [line.removeprefix("    ") for line in shown.splitlines()]


def test_one_request_may_hold_several_problems(service: Any) -> None:
    texts = {"garden/1": "<summary>[]</summary>", "garden/2": "nothing", "animals/1": "\ud83d <summary>[]</summary>"}
    reports = service.client.verify_many([PROBLEMS[name] for name in texts], list(texts.values()))
    assert [report.problem_id for report in reports] == list(texts)
    assert reports == tuple([Verifier().verify(PROBLEMS[name], text) for name, text in texts.items()])
    assert service.client.verify_many(list(texts), list(texts.values())) == reports
    with pytest.raises(ValueError, match="but problems has 1, completions has 2"):
        service.client.verify_many(["garden/1"], ["", ""])
    with pytest.raises(ServiceError, match="no problem 'garden/9'"):
        service.client.verify_many(["garden/1", "garden/9"], ["", ""])


def test_steps_may_have_to_be_atomic(service: Any) -> None:
    asked, text = build.problem("p ∨ q", "¬q", "p → r", goal="r"), completion(action("s1", "r", "h1", "h2", "h3"))
    for atomic in (False, True):
        [report] = service.client.verify(asked, [text], atomic=atomic)
        assert report == Verifier(atomic=atomic).verify(asked, text)
        assert report.actions[0].rule is not atomic


@pytest.mark.slow
def test_it_does_what_its_description_says(service: Any) -> None:
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{service.url}/openapi.json"]
    # what the description allows can still be no formula, which no schema can say
    options = ["--exclude-checks", "positive_data_acceptance", "--max-examples", "20", "--seed", "1", "--no-color"]
    run = subprocess.run([*command, *options], capture_output=True, text=True, timeout=PATIENCE)
    assert run.returncode == 0, run.stdout
    assert service.client.health().status == "ok"


def test_steps_without_evidence_are_counted_as_written(service: Any) -> None:
    """The service passes reports on as bytes, so it counts in them; no text of a completion counts."""
    [said, believed] = [Verifier(solver) for solver in (None, get_solver("z3"))]
    text = RIGHT.completion.replace("s1", '\\"evidence\\":\\"unsupported\\"')
    for verifier in (said, believed):
        report = verifier.verify(PROBLEMS[RIGHT.problem_id], text)
        assert encode(report).count(UNSUPPORTED) == report.unsupported
    assert report.unsupported > 0
