"""The client against servers that misbehave as a service might: they say what is scripted, then nothing."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Sequence
from threading import Thread

import pytest

from proof_r1_formal.errors import ServiceError
from proof_r1_formal.serve.client import Client

pytestmark = pytest.mark.usefixtures("closed")

HEALTH = b'{"status":"ok","version":"1","workers":1}'
ServerOf = Callable[[Sequence[bytes]], str]


def reply(status: str, content: bytes) -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(content)}\r\n\r\n".encode() + content


@pytest.fixture
def server_of() -> Iterator[ServerOf]:
    """Starts servers that give these replies, one per connection, then none; gives their URL."""
    opened: list[tuple[socket.socket, Thread]] = []

    def start(replies: Sequence[bytes]) -> str:
        listener = socket.create_server(("127.0.0.1", 0))

        def serve() -> None:
            for each in (*replies, b""):
                connection, _ = listener.accept()
                with connection:
                    connection.recv(65536)
                    connection.sendall(each)
                    while connection.recv(65536):  # until the client hangs up
                        pass

        thread = Thread(target=serve)
        thread.start()
        opened.append((listener, thread))
        return f"http://127.0.0.1:{listener.getsockname()[1]}"

    yield start
    for listener, thread in opened:
        if thread.is_alive():
            socket.create_connection(listener.getsockname()).close()
        thread.join()
        listener.close()


def test_no_reply_in_time_is_an_error(server_of: ServerOf) -> None:
    with pytest.raises(ServiceError, match="does not answer: timed out"):
        Client(server_of([]), timeout=0.2).health()


def test_a_service_that_is_full_is_asked_again(server_of: ServerOf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proof_r1_formal.serve.client._PAUSE", 0.01)
    full = [reply("503 Service Unavailable", b"Service Unavailable"), reply("429 Too Many Requests", b"{}")]
    assert Client(server_of([*full, reply("200 OK", HEALTH)])).health().status == "ok"


def test_a_service_that_starts_late_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(ServiceError, match=r"does not answer: .*refused"):
            Client(url, patience=-1).health()

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(reply("200 OK", HEALTH))

        served = Thread(target=serve)

        def start(_: float) -> None:
            listener.listen()
            served.start()

        monkeypatch.setattr("proof_r1_formal.serve.client.time.sleep", start)
        assert Client(url).health().status == "ok"
        served.join()


def test_a_token_in_the_url_is_not_shown() -> None:
    with pytest.raises(ServiceError, match=r"^service http://127\.0\.0\.1:1: ") as refused:
        Client("http://me:secret@127.0.0.1:1", patience=-1).health()
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:many", "http://127.0.0.1:99999", "http://[::1", "127.0.0.1", "file:///a", "ftp://127.0.0.1"],
)
def test_what_is_no_address_is_said_to_be_none(url: str) -> None:
    with pytest.raises(ServiceError, match="no URL of a service"):
        Client(url).health()


@pytest.mark.parametrize("status", ["200 OK", "404 Not Found"])
def test_a_reply_of_something_else_is_shown(status: str, server_of: ServerOf) -> None:
    url = server_of([reply(status, b"<html>")])
    with pytest.raises(ServiceError, match="not from the service: b'<html>'"):
        Client(url).health()
