"""What the service survives: slow and broken clients, killed workers, and crowds."""

from __future__ import annotations

import base64
import http.client
import json
import os
import random
import re
import signal
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import pytest

from proof_r1_formal.data.native import to_json
from proof_r1_formal.errors import ServiceError
from tests.patience import PATIENCE
from tests.serve.asking import PROBLEMS, RIGHT, asked, metrics


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
    says = f'[ "$1" = --version ] && exec echo "Lean (version 4.35.0)"\necho $$ > {started}\nexec sleep 1000\n'
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
