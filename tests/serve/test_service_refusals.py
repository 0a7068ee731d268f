"""What the service refuses: wrong requests, unknown tokens and other hosts."""

from __future__ import annotations

import contextlib
import http.client
import socket
import sys
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof_r1_formal.cli import main
from proof_r1_formal.errors import ProofR1Error, ServiceError
from proof_r1_formal.serve.client import Client
from proof_r1_formal.serve.limits import check_address
from tests.patience import PATIENCE
from tests.serve.asking import JSON, RECORD, RIGHT, asked
from tests.serve.conftest import running


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status", "code"),
    [
        ("POST", "/v1/verify", b"", JSON, 400, "bad_request"),
        ("POST", "/v1/verify", b'{"problem":', JSON, 400, "bad_request"),
        ("POST", "/v1/verify", b'{"problem":"\xff","completions":["a"]}', JSON, 400, "bad_request"),
        ("POST", "/v1/verify", b'{"problem":"\\ud800\\u0041","completions":["a"]}', JSON, 422, "unusable"),
        ("POST", "/v1/verify", b'{"problem":"","completions":["\\ud800"],"rules":"\\ud800"}', JSON, 400, "bad_request"),
        ("POST", "/v1/verify", b'{"problem":{"id":"\\ud800"},"completions":["a"]}', JSON, 422, "unusable"),
        ("POST", "/v1/verify", b'{"problem":"a","problem":"\\ud800","completions":["a"]}', JSON, 400, "bad_request"),
        ("POST", "/v1/verify", b'{"problem":"a","completions":["\\ud800",NaN]}', JSON, 400, "bad_request"),
        ("POST", "/v1/verify", b'{"problem":' + b"[" * 100_000 + b'"\\ud800"', JSON, 400, "bad_request"),
        ("POST", "/v1/verify", b'{"problem":' + b"[" * 100_000, JSON, 400, "bad_request"),
        ("POST", "/v1/verify", b'{"problem":"nobody","completions":["a"]}', JSON, 422, "unusable"),
        ("POST", "/v1/verify", b'{"problem":{},"completions":["a"]}', JSON, 422, "unusable"),
        ("POST", "/v1/verify", b'{"problem":{},"completions":[]}', JSON, 422, "bad_request"),
        ("POST", "/v1/verify", b'{"problem":{},"completions":["a"],"rules":"all"}', JSON, 422, "bad_request"),
        ("POST", "/v1/verify", b"{}", {"Content-Type": "text/plain"}, 415, "wrong_type"),
        ("POST", "/v1/verify", b'{"problem":"' + b"a" * 10_000_000 + b'"}', JSON, 413, "too_large"),
        ("POST", "/get_reward?reward=most", b"{}", JSON, 422, "bad_request"),
        ("GET", "/v1/verify", None, {}, 405, "not_allowed"),
        ("GET", "/v2", None, {}, 404, "not_found"),
        ("POST", "/v1/verify/", b"{}", JSON, 404, "not_found"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_cannot_be_answered_is_refused_with_the_reason(
    service: Any, method: str, path: str, body: bytes | None, headers: dict[str, str], status: int, code: str
) -> None:
    got, reply = asked(service.port, method, path, body, headers)
    assert (got, reply["error"]["code"]) == (status, code)
    assert service.client.health().status == "ok"


ONE = '{"problem":"garden/1","completions":["a"]'
CERTIFIED = '{"problem":"garden/1","completion":"a","kernel":"coq"}'
LABELLED = '{"query":["a"],"prompts":[""],"labels":["garden/1"]}'


@pytest.mark.parametrize(
    ("path", "body", "status", "message"),
    [
        ("/v1/verify", f'{ONE},"rules":"zzz"}}', 422, "Invalid enum value 'zzz' - at `$.rules`; expected 'train' or"),
        ("/v1/certify", CERTIFIED, 422, "Invalid enum value 'coq' - at `$.kernel`; expected 'lean' or 'none'"),
        ("/v1/verify", f'{ONE},"problem":"b"}}', 400, "the body is not JSON: the key 'problem' occurs twice"),
        ("/v1/verify_many", f'{{"items":[{ONE},"\\u0070roblem":"b"}}]}}', 400, "the key 'problem' occurs twice"),
        ("/get_reward?foo=1", LABELLED, 422, "Object contains unknown field `foo`; known: reward, rules"),
        ("/get_reward?rules=train&rules=folio", LABELLED, 400, "a query parameter occurs twice"),
        ("/v1/verify?rules=folio", f"{ONE}}}", 422, "Object contains unknown field `rules`; known: none"),
        ("/v1/verify", '{"problem":"garden/1"}', 422, "Object missing required field `completions`"),
    ],
)
def test_what_a_request_says_wrongly_is_named(service: Any, path: str, body: str, status: int, message: str) -> None:
    found, reply = asked(service.port, "POST", path, body.encode())
    assert found == status
    assert message in reply["error"]["message"]


@settings(max_examples=50)
@given(st.binary(max_size=200))
def test_no_bytes_in_place_of_http_end_it(service: Any, content: bytes) -> None:
    with socket.create_connection(("127.0.0.1", service.port), timeout=PATIENCE) as connection:
        connection.sendall(content)
    assert service.client.health().status == "ok"


def test_only_who_knows_the_token_may_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    token = tmp_path / "token"
    token.write_text("0123456789abcdef\n")
    with running("--workers", "1", "--host", "0.0.0.0", "--token-file", str(token)) as service:
        assert service.client.health().status == "ok"
        for wrong in (None, "0123456789abcdeg"):
            with pytest.raises(ServiceError, match="bearer token"):
                Client(service.url, wrong).verify(RECORD, [""])
        for headers in (
            {},
            {"Authorization": "Digest 0123456789abcdef"},
            {"Authorization": f"Basic {b64encode(b'0123456789abcdef:').decode()}"},
            {"Authorization": "Basic ?"},
        ):
            for method, path in (("GET", "/openapi.json"), ("POST", "/v1/certify"), ("POST", "/get_reward")):
                assert asked(service.port, method, path, b"{}", headers | JSON)[0] == 401
        password = {"Authorization": f"Basic {b64encode(b'token:0123456789abcdef').decode()}"}
        assert asked(service.port, "GET", "/openapi.json", None, password)[0] == 200
        in_url = Client(service.url.replace("//", "//token:0123456789abcde%66@"))
        assert "0123456789abcdef" not in repr(in_url)
        monkeypatch.setenv("PROOF_R1_TOKEN", "0123456789abcdeg")
        for client in (Client(service.url, "0123456789abcdef"), in_url):
            assert len(client.verify(RECORD, [RIGHT.completion])) == 1
        monkeypatch.setenv("PROOF_R1_TOKEN", "0123456789abcdef")
        assert len(Client(service.url).verify(RECORD, [RIGHT.completion])) == 1
        assert hosted(service.port, "checker.example", path="/openapi.json", token="0123456789abcdef") == 200


def hosted(port: int, *hosts: str, path: str = "/healthz", token: str = "") -> int:
    """The status of a request with these ``Host`` headers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    with contextlib.closing(connection):
        connection.putrequest("GET", path, skip_host=True)
        for host in hosts:
            connection.putheader("Host", host)
        connection.putheader("Authorization", f"Bearer {token}")
        connection.endheaders()
        return connection.getresponse().status


@pytest.mark.parametrize("path", ["/healthz", "/openapi.json"])
def test_a_request_without_token_names_this_machine_as_its_host(service: Any, path: str) -> None:
    at = service.port
    for host in (f"127.0.0.1:{at}", "127.0.0.1", "localhost", f"LocalHost:{at}", "[::1]:80", "127.0.0.2"):
        assert hosted(at, host, path=path) == 200
    rebound = ("evil.example", f"evil.example:{at}", "127.0.0.1.evil.example", "localhost.evil.example", "", ":80")
    for host in (*rebound, "[::1.evil", "0.0.0.0", "2130706433", "127.1", "localhost@evil.example", "192.168.0.1"):
        assert hosted(at, host, path=path) in (400, 421)
    for hosts in (("localhost", "evil.example"), ("evil.example", "localhost"), ()):
        assert hosted(at, *hosts, path=path) in (400, 421)


def test_without_a_token_only_this_machine_can_ask(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for host in ("127.0.0.1", "localhost", "::1"):
        check_address(host, None)
    for host in ("::", "example.org", "192.168.0.1", ""):
        check_address(host, "a token")
        with pytest.raises(ProofR1Error, match="--token-file"):
            check_address(host, None)
    monkeypatch.setattr(sys, "argv", ["proof-r1", "serve", "--host", "0.0.0.0"])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert "--token-file" in capfd.readouterr().err
