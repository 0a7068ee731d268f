"""The service as its clients meet it: what it answers, what it refuses, and what it survives."""

from __future__ import annotations

import base64
import contextlib
import http.client
import io
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from proof_r1_formal import (
    Completion,
    Premise,
    Problem,
    Verifier,
    catalogue,
    parse_formula,
    read_completions,
    read_problems,
    three_way_options,
    verify,
)
from proof_r1_formal.assistants.lean import LeanKernel
from proof_r1_formal.data.native import from_json, to_json
from proof_r1_formal.errors import ProofR1Error, ServiceError
from proof_r1_formal.serve.client import Client
from proof_r1_formal.serve.limits import check_address
from proof_r1_formal.serve.messages import MAX_COMPLETIONS
from tests.patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
PROBLEMS = read_problems(EXAMPLES / "problems.jsonl")
COMPLETIONS = [c for c in read_completions(EXAMPLES / "completions.jsonl") if isinstance(c, Completion)]
RIGHT = COMPLETIONS[0]
JSON = {"Content-Type": "application/json"}


def asked(port: int, method: str, path: str, body: bytes | None = None, headers: dict[str, str] = JSON) -> Any:
    """The status and the content of a reply."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def metrics(service: Any) -> str:
    """The page of counts."""
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=PATIENCE)
    try:
        connection.request("GET", "/metrics")
        return connection.getresponse().read().decode()
    finally:
        connection.close()


# -- what it answers --------------------------------------------------------------------------------------------------


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
    assert "<html" in service.client.report(problem, texts)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"problem": "garden/1", "completions": ["\\ud800"]}', 200),
        (b'{"problem": "garden/1", "completions": ["\\ud800"], "rules": "\\ud800"}', 400),
        (b'{"problem": {"id": "\\ud800"}, "completions": ["a"]}', 422),
        (b'{"problem": "\\ud800", "completions": ["a"]}', 422),
        (b'{"problem": "a", "problem": "\\ud800", "completions": ["a"]}', 400),
        (b'{"problem": "garden/1", "completions": ["\\ud800", NaN]}', 400),
        (b'{"problem": "garden/1", "completions": ["\\ud800"', 400),
        (b'["\\ud800"]', 422),
        (b'{"problem": ' + b"[" * 100_000 + b'"\\ud800"', 400),
    ],
)
def test_halves_of_surrogate_pairs_are_refused_outside_of_completions(service: Any, body: bytes, status: int) -> None:
    found, reply = asked(service.port, "POST", "/v1/verify", body)
    assert found == status
    assert ("error" in reply) == (status != 200)


def test_a_label_with_half_of_a_surrogate_pair_is_refused(service: Any) -> None:
    body = b'{"query": ["a"], "prompts": [""], "labels": ["{\\ud800}"]}'
    assert asked(service.port, "POST", "/get_reward", body)[0] == 422


def test_a_certificate_is_checked_by_lean(service: Any, lean: LeanKernel) -> None:
    reply = service.client.certify(RIGHT.problem_id, RIGHT.completion)
    assert reply.judgement is not None
    assert reply.judgement.is_theorem
    assert "theorem answer" in (reply.lean or "")
    unanswered = service.client.certify(RIGHT.problem_id, "no proof")
    assert (unanswered.judgement, unanswered.reason) == (None, "no option is selected")


def test_formulas_are_read(service: Any) -> None:
    assert service.client.parse("all x. (cat(x) -> animal(x))").formula == "∀x (cat(x) → animal(x))"
    with pytest.raises(ServiceError, match="line 1, column 5"):
        service.client.parse("cat(")


def test_a_page_shows_the_proof(service: Any) -> None:
    page = service.client.report(RIGHT.problem_id, [RIGHT.completion, "no proof"])
    assert page.startswith("<!doctype html>")
    assert RIGHT.problem_id in page


def test_rewards_in_the_shape_of_openrlhf(service: Any) -> None:
    labels = [RIGHT.problem_id, to_json(PROBLEMS[RIGHT.problem_id]), RIGHT.problem_id]
    answers = [RIGHT.completion + "<|end|>", RIGHT.completion, "<summary>" + json.dumps([0] * 600) + "</summary>"]
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
    wrongs: list[dict[str, object]] = [{"query": ["Why?"]}]
    wrongs += [{**body, "labels": labels[:2]}, {**body, "labels": ["{}"] * 3}, {**body, "prompts": ["What?"] * 3}]
    for wrong in wrongs:
        assert asked(service.port, "POST", "/get_reward", json.dumps(wrong).encode())[0] == 422


def test_more_completions_than_one_request_holds_are_scored(service: Any) -> None:
    answers = [*["no proof"] * MAX_COMPLETIONS, RIGHT.completion]
    scored = service.client.score([RIGHT.problem_id] * len(answers), answers)
    assert [one.reward for one in scored] == [*[0.0] * MAX_COMPLETIONS, 1.0]


def test_it_says_how_it_is(service: Any) -> None:
    assert (service.client.health().status, service.client.health().workers) == ("ok", 2)
    service.client.parse("cat(tom)")
    page = metrics(service)
    assert 'proof_r1_requests_total{route="/v1/parse",status="200"}' in page
    assert "proof_r1_workers 2.0" in page


def test_what_its_document_says_is_so(service: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = (ROOT / "docs" / "service.md").read_text(encoding="utf-8").replace("http://127.0.0.1:8765", service.url)
    [commands] = re.findall(r"```bash\n(.*?)```", text, re.DOTALL)
    run = subprocess.run(["sh", "-e", "-c", commands], capture_output=True, text=True, timeout=PATIENCE)
    replies = re.split(r"(?<=\})(?=\{)", run.stdout)
    assert [next(iter(json.loads(reply))) for reply in replies] == ["status", "formula", "reports"]
    [(code, shown)] = re.findall(r"```python\n(.*?)```\n\nprints\n\n(.*?)\n\n#", text, re.DOTALL)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(code, "docs/service.md", "exec"), {})
    assert output.getvalue().splitlines() == [line.removeprefix("    ") for line in shown.splitlines()]


# -- what it refuses --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status", "code"),
    [
        ("POST", "/v1/verify", b"", JSON, 400, "bad_request"),
        ("POST", "/v1/verify", b'{"problem":', JSON, 400, "bad_request"),
        ("POST", "/v1/verify", b"\xff\xfe", JSON, 400, "bad_request"),
        ("POST", "/v1/verify", b'{"problem":"\xff","completions":["a"]}', JSON, 400, "bad_request"),
        ("POST", "/v1/verify", b'{"problem":{"id":"\xff"},"completions":["a"]}', JSON, 400, "bad_request"),
        ("POST", "/v1/verify", b'{"problem":"\\ud800\\u0041","completions":["a"]}', JSON, 422, "unusable"),
        ("POST", "/v1/verify", b"[" * 1_000_000, JSON, 422, "bad_request"),
        ("POST", "/v1/verify", b'{"problem":' + b"[" * 100_000, JSON, 400, "bad_request"),
        ("POST", "/v1/verify", b'{"problem":"nobody","completions":["a"]}', JSON, 422, "unusable"),
        ("POST", "/v1/verify", b'{"problem":{},"completions":["a"]}', JSON, 422, "unusable"),
        ("POST", "/v1/verify", b'{"problem":{},"completions":[]}', JSON, 422, "bad_request"),
        ("POST", "/v1/verify", b'{"problem":{},"completions":["a"],"rules":"all"}', JSON, 422, "bad_request"),
        ("POST", "/v1/parse", b"{}", {"Content-Type": "text/plain"}, 415, "wrong_type"),
        ("POST", "/v1/parse", b'{"formula":"' + b"a" * 10_000_000 + b'"}', JSON, 413, "too_large"),
        ("POST", "/get_reward?reward=most", b"{}", JSON, 422, "bad_request"),
        ("GET", "/v1/verify", None, {}, 405, "not_allowed"),
        ("GET", "/v2", None, {}, 404, "not_found"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_cannot_be_answered_is_refused_with_the_reason(
    service: Any, method: str, path: str, body: bytes | None, headers: dict[str, str], status: int, code: str
) -> None:
    got, reply = asked(service.port, method, path, body, headers)
    assert (got, reply["error"]["code"]) == (status, code)
    assert service.client.health().status == "ok"


@pytest.mark.parametrize(
    ("path", "body", "status", "message"),
    [
        (
            "/v1/verify",
            b'{"problem":"garden/1","completions":["a"],"rules":"zzz"}',
            422,
            "Invalid enum value 'zzz' - at `$.rules`; expected 'train' or 'folio'",
        ),
        (
            "/v1/certify",
            b'{"problem":"garden/1","completion":"a","kernel":"coq"}',
            422,
            "Invalid enum value 'coq' - at `$.kernel`; expected 'lean' or 'none'",
        ),
        (
            "/v1/verify",
            b'{"problem":"nope","completions":["a"],"problem":"garden/1"}',
            400,
            "the key 'problem' occurs twice in the body",
        ),
        (
            "/v1/verify_many",
            b'{"items":[{"problem":"a","completion":"a"},{"problem":"a","completion":"a","\\u0070roblem":"b"}]}',
            400,
            "the key 'problem' occurs twice in an item of the body",
        ),
        (
            "/v1/verify",
            b'{"problem":"a","completions":["\\ud800"],"problem":"garden/1"}',
            400,
            "the body is not JSON: the key 'problem' occurs twice in an object",
        ),
        (
            "/get_reward?foo=1&rules=train",
            b'{"query":["a"],"prompts":[""],"labels":["garden/1"]}',
            400,
            "unknown query parameter 'foo'; known: reward, rules",
        ),
        ("/v1/parse?formula=p", b'{"formula":"p"}', 400, "unknown query parameter 'formula'; known: none"),
        ("/v1/rules?system=folio", None, 400, "unknown query parameter 'system'; known: rules"),
    ],
)
def test_what_a_request_says_wrongly_is_named(
    service: Any, path: str, body: bytes | None, status: int, message: str
) -> None:
    found, reply = asked(service.port, "GET" if body is None else "POST", path, body)
    assert (found, reply["error"]["message"]) == (status, message)


def test_health_and_counts_ignore_parameters(service: Any) -> None:
    assert asked(service.port, "GET", "/healthz?time=1")[0] == 200


@settings(max_examples=50)
@given(st.binary(max_size=200))
def test_no_bytes_in_place_of_http_end_it(service: Any, content: bytes) -> None:
    with socket.create_connection(("127.0.0.1", service.port), timeout=PATIENCE) as connection:
        connection.sendall(content)
    assert service.client.health().status == "ok"


def test_only_who_knows_the_token_may_ask(start: Callable[..., Any], tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("0123456789abcdef\n")
    service = start("--host", "0.0.0.0", "--token-file", str(token))
    assert service.client.health().status == "ok"
    for wrong in (None, "0123456789abcdeg"):
        with Client(service.url, wrong) as client, pytest.raises(ServiceError, match="bearer token"):
            client.parse("cat(tom)")
    for headers in ({}, {"Authorization": "Basic 0123456789abcdef"}):
        assert asked(service.port, "GET", "/metrics", None, headers)[0] == 401
    assert asked(service.port, "GET", "/openapi.json", None, {})[0] == 401
    with Client(service.url, "0123456789abcdef") as client:
        assert client.parse("cat(tom)").formula == "cat(tom)"


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
    given = [("h1", "p ∨ q"), ("h2", "¬q"), ("h3", "p → r")]
    premises = tuple([Premise(name, parse_formula(text)) for name, text in given])
    problem = Problem("atomic/1", premises, three_way_options(parse_formula("r")), "h_goal_true")
    action = {"id": "s1", "dependencies": ["h1", "h2", "h3"], "conclusion": "r", "rule": "IMPLICATION_ELIMINATION"}
    completion = f"<summary>{json.dumps([action])}</summary>"
    for atomic in (False, True):
        [report] = service.client.verify(problem, [completion], atomic=atomic)
        assert report == Verifier(atomic=atomic).verify(problem, completion)
        assert report.actions[0].rule is not atomic


def test_rules_and_problems_are_listed(service: Any) -> None:
    for name in ("train", "folio"):
        listed = service.client.rules(name).rules
        assert [(rule.name, rule.meaning, len(rule.schemata)) for rule in listed] == [
            (rule.name, rule.meaning, len(rule.schemata)) for rule in catalogue(name).rules
        ]
    assert service.client.problems().problems == tuple(PROBLEMS)
    status, record = asked(service.port, "GET", "/v1/problem?id=garden%2F1")
    assert (status, from_json(json.dumps(record))) == (200, PROBLEMS["garden/1"])
    assert asked(service.port, "GET", "/v1/problem?id=none")[0] == 422


def test_the_pages_need_no_token_and_no_other_host(start: Callable[..., Any], tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("0123456789abcdef\n")
    service = start("--token-file", str(token))
    for path, content in (("/", "Verify a proof"), ("/docs", "POST /v1/verify_many")):
        with urllib.request.urlopen(f"{service.url}{path}", timeout=PATIENCE) as reply:
            page = reply.read().decode()
        assert content in page
        assert not re.findall(r"""(?:src|href)=["']?(?:https?:)?//""", page)
    assert asked(service.port, "GET", "/v1/problems", None, {})[0] == 401


def hosted(port: int, *hosts: str, path: str = "/healthz") -> int:
    """The status of a request with these ``Host`` headers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    with contextlib.closing(connection):
        connection.putrequest("GET", path, skip_host=True)
        for host in hosts:
            connection.putheader("Host", host)
        connection.endheaders()
        return connection.getresponse().status


@pytest.mark.parametrize("path", ["/healthz", "/metrics", "/docs", "/nothing"])
def test_a_request_names_the_service_as_its_host(service: Any, path: str) -> None:
    at = service.port
    plain = hosted(at, "127.0.0.1", path=path)
    assert plain in (200, 404)
    for host in (f"127.0.0.1:{at}", "localhost", f"LocalHost:{at}", "localhost.", "[::ffff:127.0.0.1]:80"):
        assert hosted(at, host, path=path) == plain
    rebound = ("evil.example", f"evil.example:{at}", "127.0.0.1.evil.example", "localhost.evil.example", "", ":80")
    for host in (*rebound, "127.0.0.2", "[::1]", "[::1", "0.0.0.0", "2130706433", "127.1", "localhost@evil.example"):
        assert hosted(at, host, path=path) == 421
    assert hosted(at, "localhost", "evil.example", path=path) == 421
    assert hosted(at, "evil.example", "localhost", path=path) == 421
    assert hosted(at, path=path) in (400, 421)


def test_a_service_has_the_names_that_it_is_given(start: Callable[..., Any]) -> None:
    one = start("--host", "localhost", "--host-name", "Checker.example", "--host-name", "other")
    for host in ("checker.example", f"checker.example:{one.port}", "CHECKER.example.", "other:80", "localhost"):
        assert hosted(one.port, host) == 200
    for host in ("example", "a.checker.example", "checker.example.evil", "another"):
        assert hosted(one.port, host) == 421


def test_without_a_token_only_this_machine_can_ask() -> None:
    for host in ("127.0.0.1", "localhost", "::1"):
        check_address(host, None)
    for host in ("::", "example.org", "192.168.0.1", ""):
        check_address(host, "a token")
        with pytest.raises(ProofR1Error, match="--token-file"):
            check_address(host, None)
    program = Path(sys.executable).with_name("proof-r1")
    run = subprocess.run([program, "serve", "--host", "0.0.0.0"], capture_output=True, text=True, timeout=PATIENCE)
    assert run.returncode == 2
    assert "--token-file" in run.stderr


# -- what it survives -------------------------------------------------------------------------------------------------


def test_clients_that_are_slow_keep_nobody_else_waiting(start: Callable[..., Any]) -> None:
    service = start("--read-timeout", "5")
    head = (
        b"POST /v1/parse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    )
    slow = [socket.create_connection(("127.0.0.1", service.port), timeout=PATIENCE) for _ in range(50)]
    for connection in slow:
        connection.sendall(head)
    assert service.client.parse("cat(tom)").formula == "cat(tom)"
    for connection in slow:
        with connection, connection.makefile("rb") as reply:
            assert reply.readline().startswith(b"HTTP/1.1 408")
            assert b"slow_client" in reply.read()  # to the end: the service hangs up


def test_clients_that_say_nothing_are_hung_up_on(start: Callable[..., Any]) -> None:
    service = start("--read-timeout", "5")
    silent = socket.create_connection(("127.0.0.1", service.port), timeout=PATIENCE)
    slow = socket.create_connection(("127.0.0.1", service.port), timeout=PATIENCE)
    slow.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n")
    asks_again = socket.create_connection(("127.0.0.1", service.port), timeout=PATIENCE)
    asks_again.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /healthz HTTP/1.1\r\n")
    asks_later = http.client.HTTPConnection("127.0.0.1", service.port, timeout=PATIENCE)
    asks_later.request("GET", "/healthz")
    assert asks_later.getresponse().read()
    asks_later.sock.sendall(b"GET /healthz HTTP/1.1\r\n")
    for connection, replies in ((silent, 0), (slow, 0), (asks_again, 1), (asks_later.sock, 0)):
        with connection, connection.makefile("rb") as reply:
            assert reply.read().count(b"HTTP/1.1 200") == replies  # to the end: the service hangs up


HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
ASKS = b"POST /v1/parse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
CHUNKS = ASKS + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"


@pytest.mark.parametrize(
    ("start", "piece"),
    [(HEAD + b"a: ", b"a" * 1000), (HEAD, b"a: b\r\n" * 100), (CHUNKS, b"a: b\r\n" * 100)],
    ids=["one header without end", "headers without end", "headers after the body"],
)
def test_heads_are_bounded(service: Any, start: bytes, piece: bytes) -> None:
    sent = 0
    with socket.create_connection(("127.0.0.1", service.port), timeout=PATIENCE) as connection:
        connection.sendall(start)
        with pytest.raises(ConnectionError):
            while sent < 64 * 1024 * 1024:
                connection.sendall(piece)
                sent += len(piece)
    assert service.client.health().status == "ok"


def test_a_client_that_goes_away_is_no_error_of_the_service(start: Callable[..., Any]) -> None:
    service = start()
    with socket.create_connection(("127.0.0.1", service.port), timeout=PATIENCE) as connection:
        connection.sendall(ASKS + b"Content-Length: 9\r\n\r\n{")
    late = time.monotonic() + PATIENCE
    while not (counted := re.findall(r'requests_total{route="/v1/parse",status="(\d+)"}', metrics(service))):
        assert time.monotonic() < late
    assert counted == ["400"]


def test_a_client_that_does_not_read_its_reply_is_hung_up_on(start: Callable[..., Any]) -> None:
    service = start("--read-timeout", "5")
    completion = base64.b64encode(random.Random(1).randbytes(5_500_000)).decode()  # so that the page is as large
    body = json.dumps({"problem": json.loads(to_json(PROBLEMS[RIGHT.problem_id])), "completions": [completion]})
    head = [
        "POST /v1/report HTTP/1.1",
        "Host: localhost",
        f"Content-Length: {len(body)}",
        "Content-Type: application/json",
    ]
    files = Path(f"/proc/{service.process.pid}/fd")
    idle = len(list(files.iterdir()))
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", service.port))
        connection.sendall("\r\n".join([*head, "", body]).encode())
        late = time.monotonic() + PATIENCE
        while len(list(files.iterdir())) > idle:
            assert time.monotonic() < late
    assert service.client.health().status == "ok"


def test_bodies_are_bounded_together(start: Callable[..., Any]) -> None:
    service = start("--max-body", "1000")
    [worker] = service.workers()
    os.kill(worker, signal.SIGSTOP)
    formula = "cat(" + "a" * 900 + ")"
    body = json.dumps({"formula": formula}).encode()
    with ThreadPoolExecutor(12) as threads:
        replies = [threads.submit(asked, service.port, "POST", "/v1/parse", body) for _ in range(12)]
        for _ in zip(range(4), as_completed(replies), strict=False):  # eight of the largest are held
            pass
        os.kill(worker, signal.SIGCONT)
        statuses = [reply.result()[0] for reply in replies]
    assert sorted(statuses) == [200] * 8 + [429] * 4
    assert asked(service.port, "POST", "/v1/parse", body)[0] == 200


def test_a_request_that_can_never_wait_is_not_told_to_try_again(start: Callable[..., Any]) -> None:
    service = start("--waiting", "2")
    with pytest.raises(ServiceError, match="no more than 2 wait") as error:
        service.client.verify(PROBLEMS[RIGHT.problem_id], ["a"] * 3)
    assert error.value.status == 413


def test_a_lean_that_hangs_ends_with_its_worker(
    start: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = tmp_path / "started"
    lean = tmp_path / "lean"
    says = f'[ "$1" = --version ] && exec echo "Lean (version 4.9.0)"\necho $$ > {started}\nexec sleep 1000\n'
    lean.write_text(f"#!/bin/sh\n{says}")
    lean.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    service = start("--timeout", "4")
    with pytest.raises(ServiceError, match="not done within 4 s"):
        service.client.certify(PROBLEMS[RIGHT.problem_id], RIGHT.completion)
    assert service.client.parse("cat(tom)").formula == "cat(tom)"  # when the worker has been replaced
    stat = Path(f"/proc/{int(started.read_text())}/stat")
    assert not stat.exists() or stat.read_text().rsplit(")")[-1].split()[0] == "Z"


def test_a_worker_that_is_killed_costs_no_reply(start: Callable[..., Any]) -> None:
    service = start()
    [worker] = service.workers()
    os.kill(worker, signal.SIGSTOP)
    with ThreadPoolExecutor(8) as threads:
        replies = [threads.submit(service.client.parse, f"cat(tom{number})") for number in range(8)]
        while not _jobs(service):
            pass
        os.kill(worker, signal.SIGKILL)
        assert [reply.result().formula for reply in replies] == [f"cat(tom{number})" for number in range(8)]
    assert service.workers() != [worker]


def _jobs(service: Any) -> bool:
    """Whether a job has been given to a worker."""
    return "proof_r1_jobs_total 0.0" not in metrics(service)


def test_a_completion_that_takes_too_long_costs_itself(start: Callable[..., Any]) -> None:
    service = start("--timeout", "2")
    os.kill(service.workers()[0], signal.SIGSTOP)
    with pytest.raises(ServiceError, match="not done within 2 s"):
        service.client.parse("cat(tom)")
    assert service.client.parse("cat(tom)").formula == "cat(tom)"


def test_a_crowd_is_told_that_it_is_one(start: Callable[..., Any]) -> None:
    service = start("--waiting", "2")
    [worker] = service.workers()
    os.kill(worker, signal.SIGSTOP)
    body = b'{"formula":"cat(tom)"}'
    with ThreadPoolExecutor(8) as threads:
        replies = [threads.submit(asked, service.port, "POST", "/v1/parse", body) for _ in range(8)]
        for _ in zip(range(4), as_completed(replies), strict=False):  # two wait, and at most two are with the worker
            pass
        os.kill(worker, signal.SIGCONT)
        statuses = sorted(reply.result()[0] for reply in replies)
    assert statuses[0] == 200
    assert statuses[-4:] == [429] * 4
    assert service.client.parse("cat(tom)").formula == "cat(tom)"


def test_who_waits_is_answered_before_it_ends(start: Callable[..., Any]) -> None:
    service = start()
    [worker] = service.workers()
    os.kill(worker, signal.SIGSTOP)
    with ThreadPoolExecutor(1) as threads:
        reply = threads.submit(service.client.parse, "cat(tom)")
        while not _jobs(service):
            pass
        service.process.send_signal(signal.SIGTERM)
        os.kill(worker, signal.SIGCONT)
        assert reply.result().formula == "cat(tom)"
    assert "stopped" in service.last_words()
    assert not Path(f"/proc/{worker}").exists()


@pytest.mark.slow
def test_it_does_what_its_description_says(service: Any) -> None:
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{service.url}/openapi.json"]
    # what the description allows can still be no formula, which no schema can say
    options = ["--exclude-checks", "positive_data_acceptance", "--max-examples", "20", "--seed", "1", "--no-color"]
    run = subprocess.run([*command, *options], capture_output=True, text=True, timeout=PATIENCE)
    assert run.returncode == 0, run.stdout
    assert service.client.health().status == "ok"
