"""A server that speaks Isabelle's protocol on the loopback, in place of Isabelle, mostly a hostile one.

It knows what became of a theory by the propositions in it: those named ``proved`` are theorems, those named
``refuted`` have countermodels, and no others are decided.
"""

from __future__ import annotations

import json
import os
import socketserver
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar, TypeAlias

from proof_r1_formal.engine.isabelle import IsabelleSolver
from proof_r1_formal.engine.solver import Limits
from proof_r1_formal.kernel.answer import Query, Reason, Unknown
from proof_r1_formal.kernel.syntax import atom

PROVED, REFUTED, OPEN = (Query((), atom(name)) for name in ("proved", "refuted", "open"))
BROKEN = Unknown(Reason.BROKEN, "Isabelle did not process the theory as it should")
TIMEOUT = Unknown(Reason.TIMEOUT, "Isabelle used its time")
UNDECIDED = Unknown(Reason.INCOMPLETE, "blast finds no proof, and Nitpick no countermodel of up to 10 elements")

Json: TypeAlias = "dict[str, Json] | list[Json] | str | float | bool | None"


# -- a server that speaks Isabelle's protocol -------------------------------------------------------------------------


def message(kind: str, text: str) -> dict[str, Json]:
    return {"kind": kind, "message": text, "pos": {"line": 5, "offset": 59, "end_offset": 61, "file": "Q.thy"}}


def node(
    name: str, messages: list[Json], *, ok: bool = True, status: Mapping[str, Json] = MappingProxyType({})
) -> dict[str, Json]:
    """What the reply to ``use_theories`` says of a theory: that it ended, but for what ``status`` says."""
    whole: dict[str, Json] = {
        "ok": ok,
        "total": 9,
        "unprocessed": 0,
        "running": 0,
        "warned": 0,
        "failed": 0 if ok else 1,
        "finished": 9,
        "canceled": False,
        "consolidated": True,
        "percentage": 100,
    }
    return {
        "node_name": f"/tmp/{name}.thy",
        "theory_name": f"Draft.{name}",
        "status": {**whole, **status},
        "messages": messages,
        "exports": [],
    }


def proof_of(name: str, text: str) -> dict[str, Json]:
    """The node of a theory with a lemma."""
    if "p_proved" in text:
        return node(name, [message("writeln", "theorem q: p_proved"), message("writeln", f"PROVED {name}.q")])
    return node(name, [message("error", "Failed to apply initial proof method\\<^here>:\ngoal (1 subgoal)")], ok=False)


def search_of(name: str, text: str) -> dict[str, Json]:
    """The node of a theory with a search for a countermodel."""
    if "p_refuted" in text:
        return node(
            name, [message("writeln", "Nitpick found a\n  counterexample:\n\n  Free variable: p_refuted = False")]
        )
    return node(name, [message("error", 'Unexpected outcome: "none"')], ok=False)


class Double(socketserver.ThreadingTCPServer):
    """An Isabelle server, and the program ``isabelle`` that says where it is.

    A test changes what the server does by assigning to ``proof``, ``search`` and ``reactions``.

    Attributes:
        heard: commands with their arguments, in order of arrival.
        started: how often the program was run as a server.
        cancelled: set when a client goes away before its command is finished.
        reactions: command -> what happens instead of it, once per occurrence in the list.
        proof: name and text of a theory with a lemma -> its node.
        search: name and text of a theory with a search -> its node.
    """

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    password: ClassVar[str] = "3d8a2b1c-open-sesame"

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.heard: list[tuple[str, dict[str, Json]]] = []
        self.texts: list[str] = []
        self.cancelled = threading.Event()
        self.reactions: dict[str, list[Reaction]] = {}
        self.proof: Callable[[str, str], dict[str, Json] | None] = proof_of
        self.search: Callable[[str, str], dict[str, Json] | None] = search_of
        self.starts = folder / "starts"
        self.running = folder / "running"
        self.program = folder / "a folder" / "isabelle"
        self.program.parent.mkdir()
        os.mkfifo(self.running)
        self.info = f'server "isabelle" = 127.0.0.1:{self.server_address[1]} (password "{self.password}")'
        self.install(f"echo '{self.info}'; echo noise >&2; read -r _ <'{self.running}'")

    def install(self, server: str) -> None:
        """Make the shell commands the program that starts a server."""
        self.program.write_text(
            f'#!/bin/sh\nif [ "$1" = version ]; then echo Isabelle2042; exit; fi\n'
            f"echo \"$@\" >>'{self.starts}'\n{server}\n"
        )
        self.program.chmod(0o755)

    @property
    def started(self) -> int:
        return len(self.starts.read_text().splitlines()) if self.starts.exists() else 0

    def commands(self, name: str | None = None) -> list[str]:
        return [command for command, _ in self.heard if name in (None, command)]

    def let_the_program_end(self) -> None:
        """Wake the program, unless the client, which has its answer, has ended it already."""
        with suppress(OSError), os.fdopen(os.open(self.running, os.O_WRONLY | os.O_NONBLOCK), "w") as pipe:
            pipe.write("\n")


class Handler(socketserver.StreamRequestHandler):
    """One connection: the password, a greeting, commands."""

    server: Double

    def handle(self) -> None:
        if self.rfile.readline().decode() != f"{self.server.password}\n":
            return
        if reaction := self.reaction_to("connect"):
            reaction(self, "")
            return
        self.send('OK {"isabelle_id":"mock","isabelle_name":"Isabelle2042"}')
        while line := self.rfile.readline():
            command, _, arguments = line.decode().strip().partition(" ")
            self.server.heard.append((command, json.loads(arguments or "{}")))
            (self.reaction_to(command) or getattr(Handler, command))(self, arguments)

    def reaction_to(self, command: str) -> Reaction | None:
        reactions = self.server.reactions.get(command)
        return reactions.pop(0) if reactions else None

    def send(self, text: str) -> None:
        """A message: a long one comes after a line with its length and one more for the end of the line."""
        data = f"{text}\n".encode()
        self.wfile.write(b"%d\n" % len(data) + data if len(data) > 101 else data)

    def begin_task(self) -> None:
        self.send('OK {"task":"7d1"}')
        self.send('NOTE {"kind":"writeln","message":"","task":"7d1"}')
        text = "Session HOL/HOL (main), in a message longer than a line can be, with ∀ in it, also as \\u2200"
        self.send(f'NOTE {{"kind":"writeln","message":"{text}","verbose":"true","task":"7d1"}}')
        self.send('NOTE {"kind":"nodes_status","nodes_status":[]}')

    def finish_task(self, body: Json) -> None:
        assert isinstance(body, dict)
        self.send(f"FINISHED {json.dumps(body | {'task': '7d1'}, separators=(',', ':'))}")

    def session_start(self, arguments: str) -> None:
        self.begin_task()
        self.finish_task({"session_id": "167dd6d8", "tmp_dir": "/tmp/isabelle"})

    def use_theories(self, arguments: str) -> None:
        request = json.loads(arguments)
        assert request["session_id"] == "167dd6d8"
        nodes: list[Json] = []
        for name in reversed(request["theories"]):
            text = (Path(request["master_dir"]) / f"{name}.thy").read_text()
            assert text.startswith(f"theory {name}\n")
            self.server.texts.append(text)
            found = (self.server.search if "nitpick" in text else self.server.proof)(name, text)
            nodes += [found] if found else []
        self.begin_task()
        self.finish_task({"ok": True, "errors": [], "nodes": nodes})  # the word of the server, which means nothing

    def purge_theories(self, arguments: str) -> None:
        assert json.loads(arguments)["theories"]
        self.send('OK {"purged":[],"retained":[]}')

    def shutdown(self, arguments: str) -> None:
        self.send("OK")
        self.server.let_the_program_end()


Reaction: TypeAlias = Callable[[Handler, str], None]


def drop(handler: Handler, arguments: str) -> None:
    """Close the connection, as a server that dies."""
    handler.connection.shutdown(2)


def drop_in_a_message(handler: Handler, arguments: str) -> None:
    handler.send('OK {"task":"7d1"}')
    handler.wfile.write(b'4000\nFINISHED {"ok":true,')
    drop(handler, arguments)


def stall(handler: Handler, arguments: str) -> None:
    """Say nothing until the client goes away."""
    handler.rfile.read()
    handler.server.cancelled.set()


def stall_in_the_task(handler: Handler, arguments: str) -> None:
    handler.begin_task()
    stall(handler, arguments)


def saying(text: str) -> Reaction:
    return lambda handler, arguments: handler.send(text)


def failing(text: str) -> Reaction:
    def fail(handler: Handler, arguments: str) -> None:
        handler.begin_task()
        handler.send(f"FAILED {json.dumps({'kind': 'error', 'message': text, 'task': '7d1'})}")

    return fail


def finishing(body: Json) -> Reaction:
    def finish(handler: Handler, arguments: str) -> None:
        handler.begin_task()
        handler.finish_task(body)

    return finish


def solver_of(
    double: Double, *, seconds: float = 20.0, grace_period: float = 20.0, startup: float = 20.0
) -> IsabelleSolver:
    limits = Limits(seconds=seconds)
    return IsabelleSolver(limits, program=str(double.program), grace_period=grace_period, startup=startup)
