"""What the service refuses: wrong requests, unknown tokens and other hosts."""

from __future__ import annotations

import contextlib
import http.client
import re
import socket
import subprocess
import sys
import urllib.request
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof_r1_formal.errors import ProofR1Error, ServiceError
from proof_r1_formal.serve.client import Client
from proof_r1_formal.serve.limits import check_address
from tests.patience import PATIENCE
from tests.serve.asking import JSON, asked


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
        ("POST", "/v1/verify/", b"{}", JSON, 404, "not_found"),
        ("GET", "/healthz/", None, {}, 404, "not_found"),
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


def test_only_who_knows_the_token_may_ask(
    start: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = tmp_path / "token"
    token.write_text("0123456789abcdef\n")
    service = start("--host", "0.0.0.0", "--token-file", str(token))
    assert service.client.health().status == "ok"
    for wrong in (None, "0123456789abcdeg"):
        with Client(service.url, wrong) as client, pytest.raises(ServiceError, match="bearer token"):
            client.parse("cat(tom)")
    for headers in (
        {},
        {"Authorization": "Digest 0123456789abcdef"},
        {"Authorization": f"Basic {b64encode(b'0123456789abcdef:').decode()}"},
        {"Authorization": "Basic ?"},
    ):
        assert asked(service.port, "GET", "/metrics", None, headers)[0] == 401
    assert asked(service.port, "GET", "/openapi.json", None, {})[0] == 401
    with Client(service.url, "0123456789abcdef") as client:
        assert client.parse("cat(tom)").formula == "cat(tom)"
    password = {"Authorization": f"Basic {b64encode(b'token:0123456789abcdef').decode()}"}
    assert asked(service.port, "GET", "/openapi.json", None, password)[0] == 200
    with Client(service.url.replace("//", "//token:0123456789abcde%66@")) as client:
        assert client.parse("cat(tom)").formula == "cat(tom)"
        assert "0123456789abcdef" not in repr(client)
    monkeypatch.setenv("PROOF_R1_TOKEN", "0123456789abcdef")
    with Client(service.url) as client:
        assert client.parse("cat(tom)").formula == "cat(tom)"


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
