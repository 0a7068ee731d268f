"""A server that follows a script: what endpoints say, and what goes wrong with them."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import BaseServer
from typing import Any, TypeAlias

Body: TypeAlias = dict[str, Any]
"""The JSON of a request."""


class Handler(BaseHTTPRequestHandler):
    """One request: its body is read, and an act of the script answers it."""

    protocol_version = "HTTP/1.1"

    def __init__(self, script: Script, *arguments: Any) -> None:
        self.script = script
        super().__init__(*arguments)

    def do_GET(self) -> None:
        self.send(200, json.dumps({"object": "list", "data": [{"id": name} for name in self.script.names]}))

    def do_POST(self) -> None:
        body: Body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with suppress(ConnectionError):  # whoever asked has gone
            self.script.answer(body, self)

    def send(self, status: int, text: str, body: bytes | None = None, **headers: str) -> None:
        """A whole answer: a text, or what is given in its place."""
        data = text.encode() if body is None else body
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self, *lines: str) -> None:
        """Lines of an event stream, and the end of the connection."""
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write("".join(f"data: {line}\n\n" for line in lines).encode())

    def say(self, text: str, *, finish: str = "stop", thoughts: str | None = None) -> None:
        """A reply in two pieces; tokens are words here."""
        first = {"role": "assistant", "content": text[: len(text) // 2]}
        if thoughts is not None:
            first["reasoning_content"] = thoughts
        chunks: list[object] = [
            {"choices": [{"index": 0, "delta": first, "finish_reason": None}]},
            {"choices": [{"index": 0, "delta": {"content": text[len(text) // 2 :]}, "finish_reason": finish}]},
            {"choices": [], "usage": {"completion_tokens": len(text.split()), "prompt_tokens": 7}},
        ]
        self.stream(*map(json.dumps, chunks), "[DONE]")

    def whole(self, message: dict[str, str], **choice: object) -> None:
        """A reply as one object, from a server that ignores ``stream``."""
        usage = {"completion_tokens": 3, "prompt_tokens": 7, "total_tokens": 10}
        kind = {"id": "1", "object": "chat.completion", "created": 0, "model": "scripted"}
        record = kind | {"choices": [{"message": message, **choice}], "usage": usage}
        self.send(200, json.dumps(record), Content_Type="application/json")

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 (the name of what this overrides)
        """Nothing is written."""


Act: TypeAlias = Callable[[Handler], object]
"""Answers a request."""


@dataclass
class Script:
    """Which act answers a request, and the requests that came."""

    act: Callable[[Body], Act]
    names: tuple[str, ...] = ("scripted",)
    asked: list[Body] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, body: Body, handler: Handler) -> None:
        with self.lock:  # scripts that count their calls are asked one at a time
            self.asked.append(body)
            act = self.act(body)
        act(handler)


def saying(text: str, *, finish: str = "stop", thoughts: str | None = None) -> Act:
    """The act of answering with a text."""
    return lambda handler: handler.say(text, finish=finish, thoughts=thoughts)


@contextmanager
def serving_in_thread(server: BaseServer) -> Iterator[None]:
    """The server answers while the block runs."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()


@contextmanager
def serving(script: Script) -> Iterator[str]:
    """The URL at which a script is followed."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, script)) as server, serving_in_thread(server):
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
