"""What the service survives: slow and broken clients, killed workers, and crowds."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from proof_r1_formal.errors import ServiceError
from tests.build import action, completion
from tests.patience import PATIENCE
from tests.serve.asking import RECORD, RIGHT, asked, works
from tests.serve.conftest import HANGING, running

HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
ASKS = b"POST /v1/verify HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
CHUNKS = ASKS + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
BODY = json.dumps({"problem": RECORD, "completions": [""]}).encode()


def connected(service: Any) -> socket.socket:
    return socket.create_connection(("127.0.0.1", service.port), timeout=PATIENCE)


def test_clients_that_are_slow_keep_nobody_else_waiting(hasty: Any) -> None:
    slow = [connected(hasty) for _ in range(50)]
    for connection in slow:
        connection.sendall(ASKS + b"Content-Length: 100\r\n\r\n{")
    assert works(hasty)
    for connection in slow:
        with connection, connection.makefile("rb") as reply:
            assert reply.readline().startswith(b"HTTP/1.1 408")
            assert b"slow_client" in reply.read()  # to the end: the service hangs up


def test_clients_that_say_nothing_are_hung_up_on(hasty: Any) -> None:
    silent, slow, asks_again = connected(hasty), connected(hasty), connected(hasty)
    slow.sendall(HEAD)
    asks_again.sendall(HEAD + b"\r\n" + HEAD)
    asks_later = http.client.HTTPConnection("127.0.0.1", hasty.port, timeout=PATIENCE)
    asks_later.request("GET", "/healthz")
    assert asks_later.getresponse().read()
    asks_later.sock.sendall(b"GET /healthz HTTP/1.1\r\n")
    for connection, replies in ((silent, 0), (slow, 0), (asks_again, 1), (asks_later.sock, 0)):
        said = b""
        with connection, suppress(ConnectionResetError):
            while piece := connection.recv(65536):  # to the end: the service hangs up
                said += piece
        assert said.count(b"HTTP/1.1 200") == replies


def test_a_client_that_does_not_read_its_replies_is_hung_up_on(hasty: Any) -> None:
    files = Path(f"/proc/{hasty.process.pid}/fd")
    idle = len(list(files.iterdir()))
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", hasty.port))
        connection.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1000)  # 10 MB of replies
        late = time.monotonic() + PATIENCE
        while len(list(files.iterdir())) <= idle:
            assert time.monotonic() < late
        while len(list(files.iterdir())) > idle:
            assert time.monotonic() < late
    assert works(hasty)


def test_a_completion_that_takes_too_long_costs_itself(hasty: Any) -> None:
    restarts = hasty.client.health().restarts
    os.kill(hasty.workers()[0], signal.SIGSTOP)
    with pytest.raises(ServiceError, match="not done within 2 s") as late:
        hasty.client.verify(RECORD, [RIGHT.completion])
    assert late.value.status == 504
    assert works(hasty)
    os.kill(hasty.workers()[0], signal.SIGSTOP)
    [scored] = hasty.client.score([RECORD], [RIGHT.completion])
    assert (scored.reward, scored.verified) == (0.0, False)
    assert hasty.client.health().restarts == restarts + 2


def test_a_lean_that_hangs_ends_with_its_worker(hasty: Any) -> None:
    with pytest.raises(ServiceError, match="not done within 2 s"):
        hasty.client.certify(RECORD, RIGHT.completion)
    assert works(hasty)  # when the worker has been replaced
    stat = Path(f"/proc/{int((hasty.folder / HANGING).read_text())}/stat")
    assert not stat.exists() or stat.read_text().rsplit(")")[-1].split()[0] == "Z"


@pytest.mark.parametrize(
    ("start", "piece"),
    [(HEAD + b"a: ", b"a" * 1000), (HEAD, b"a: b\r\n" * 100), (CHUNKS, b"a: b\r\n" * 100)],
    ids=["one header without end", "headers without end", "headers after the body"],
)
def test_heads_are_bounded(service: Any, start: bytes, piece: bytes) -> None:
    sent = 0
    with connected(service) as connection:
        connection.sendall(start)
        with pytest.raises(ConnectionError):
            while sent < 64 * 1024 * 1024:
                connection.sendall(piece)
                sent += len(piece)
    assert service.client.health().status == "ok"


def test_a_request_that_can_never_wait_is_not_told_to_try_again(small: Any) -> None:
    with pytest.raises(ServiceError, match="no more than 2 wait") as error:
        small.client.verify(RECORD, ["a"] * 3)
    assert error.value.status == 413


def test_bodies_are_bounded_together(small: Any) -> None:
    """Eight bodies of the largest size are held; the ninth is refused before anybody looks at it."""
    parts = [ASKS + b"Content-Length: 2000\r\n\r\n" + BODY[:1], b" " * 1999]
    slow = [connected(small) for _ in range(8)]
    for connection in slow:
        connection.sendall(parts[0] + parts[1][1:])  # all but the last byte
    for _ in range(2):  # the service reads what came before it answers this
        assert asked(small.port, "GET", "/healthz")[0] == 200
    statuses = [asked(small.port, "POST", "/v1/verify", b" " * 2000)[0]]
    for connection in slow:
        with connection, connection.makefile("rb") as reply:
            connection.sendall(b" ")
            statuses.append(int(reply.readline().split()[1]))
    assert statuses == [429] + [400] * 8
    assert works(small)


def test_a_crowd_is_told_that_it_is_one(small: Any) -> None:
    [worker] = small.workers()
    os.kill(worker, signal.SIGSTOP)
    with ThreadPoolExecutor(8) as threads:
        replies = [threads.submit(asked, small.port, "POST", "/v1/verify", BODY) for _ in range(8)]
        for _ in zip(range(5), as_completed(replies), strict=False):  # two wait, and one is with the worker
            pass
        os.kill(worker, signal.SIGCONT)
        statuses = sorted(reply.result()[0] for reply in replies)
    assert statuses == [200] * 3 + [429] * 5
    assert works(small)


def test_neither_a_killed_worker_nor_the_end_costs_a_reply() -> None:
    with running("--workers", "1") as service:
        with connected(service) as connection:  # a client that goes away is no error of the service
            connection.sendall(ASKS + b"Content-Length: 9\r\n\r\n{")
        texts = ["", RIGHT.completion, "<summary>[]</summary>"]
        expected = [report.parsed for report in service.client.verify(RECORD, texts)]
        [worker] = service.workers()
        os.kill(worker, signal.SIGSTOP)
        with ThreadPoolExecutor(8) as threads:
            replies = [threads.submit(service.client.verify, RECORD, texts) for _ in range(8)]
            while service.client.health().waiting < 23:
                pass
            os.kill(worker, signal.SIGKILL)
            while not service.workers() or service.workers() == [worker]:
                pass
            service.process.send_signal(signal.SIGTERM)
            assert [[report.parsed for report in reply.result()] for reply in replies] == [expected] * 8
        [replaced, stopped] = service.last_words().splitlines()[1:]
        assert (replaced, stopped) == (f"worker {worker} died; the worker is replaced", "stopped")
        assert not Path(f"/proc/{worker}").exists()


def test_actions_and_the_memory_of_workers_are_bounded() -> None:
    """Each worker is larger than a mebibyte after its first completion; the pool counts it before it asks the next."""
    with running("--workers", "1", "--max-actions", "2", "--worker-memory", "1") as service:
        for _ in range(3):
            assert works(service)
        assert service.client.health().renewals in (2, 3)
        step = action("s", "a", rule="GOAL_BINDING")
        for count, status in ((2, 200), (3, 422)):
            body = {"problem": RECORD, "completions": [completion(*[step] * count)]}
            assert asked(service.port, "POST", "/v1/verify", json.dumps(body).encode())[0] == status
