"""The Isabelle solver against a server of the test's own, mostly a hostile one; and against Isabelle where it is.

The server here speaks Isabelle's protocol on the loopback and knows what became of a theory by the propositions in it:
those named ``proved`` are theorems, those named ``refuted`` have countermodels, and no others are decided.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socketserver
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof_r1_formal.errors import SolverError
from proof_r1_formal.logic.parse import parse_formula
from proof_r1_formal.logic.query import Query
from proof_r1_formal.logic.syntax import TOP, Formula, Not, Var, atom, const
from proof_r1_formal.render.isabelle import query_theory
from proof_r1_formal.solvers import available_solvers, get_solver
from proof_r1_formal.solvers.base import Answer, Entailed, Limits, Reason, Refuted, Unknown
from proof_r1_formal.solvers.isabelle import IsabelleSolver
from proof_r1_formal.solvers.isabelle_server import IsabelleServer
from proof_r1_formal.solvers.z3 import Z3Solver
from proof_r1_formal.testing import strategies
from tests.patience import PATIENCE

pytest.importorskip("isabelle_client", reason="isabelle-client is not installed (the extra [isabelle])")

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


@pytest.fixture
def double(tmp_path: Path) -> Iterator[Double]:
    with Double(tmp_path) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def solver_of(
    double: Double, *, seconds: float = 20.0, grace_period: float = 20.0, startup: float = 20.0
) -> IsabelleSolver:
    limits = Limits(seconds=seconds)
    return IsabelleSolver(limits, program=str(double.program), grace_period=grace_period, startup=startup)


# -- verdicts ---------------------------------------------------------------------------------------------------------


def test_a_theorem_a_countermodel_and_neither(double: Double) -> None:
    with solver_of(double) as solver:
        assert solver.decide(PROVED) == Entailed()
        assert solver.decide(REFUTED) == Refuted(None)
        assert solver.decide(OPEN) == UNDECIDED
    assert double.started == 1
    used = [arguments["theories"] for command, arguments in double.heard if command == "use_theories"]
    assert used == [[f"Query{n}"] for n in range(1, 6)]


@given(st.lists(st.sampled_from([PROVED, REFUTED, OPEN]), max_size=7))
@settings(max_examples=10)
def test_earlier_queries_do_not_matter(tmp_path_factory: pytest.TempPathFactory, queries: list[Query]) -> None:
    expected = {PROVED: Entailed(), REFUTED: Refuted(), OPEN: UNDECIDED}
    with Double(tmp_path_factory.mktemp("double")) as double:
        thread = threading.Thread(target=double.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        with solver_of(double) as solver:
            assert [solver.decide(query) for query in queries] == [expected[query] for query in queries]
        double.shutdown()
        thread.join()


def test_what_is_asked(double: Double) -> None:
    with solver_of(double, seconds=9.0) as solver:
        solver.decide(Query((TOP,), atom("open")))
    proof, search = double.texts
    assert proof == query_theory(
        Query((TOP,), atom("open")), "Query1", proof="using [[blast_depth_limit = 20]] by blast"
    )
    assert "nitpick [expect = genuine, card = 1-10, timeout = 4]" in search
    session, use, purge, *_ = [arguments for _, arguments in double.heard]
    assert session == {"session": "HOL"}
    assert use["watchdog_timeout"] == 9.0
    assert purge == {key: use[key] for key in ("session_id", "theories", "master_dir")}
    assert not Path(str(use["master_dir"])).exists()
    assert double.commands() == ["session_start", *["use_theories", "purge_theories"] * 2, "shutdown"]


def test_steps_bound_the_depth_of_blast(double: Double) -> None:
    with IsabelleSolver(Limits(steps=1000), program=str(double.program)) as solver:
        assert solver.decide(PROVED) == Entailed()
    assert "blast_depth_limit = 10]]" in double.texts[0]


def test_queries_that_no_solver_takes_are_not_asked(double: Double) -> None:
    free, clash = Query((), atom("p", Var("x", "Entity"))), Query((atom("p"),), atom("p", const("a")))
    deep: Formula = atom("p")
    for _ in range(400):
        deep = Not(deep)
    with solver_of(double) as solver:
        answers = [solver.decide(query) for query in (free, PROVED, clash, Query((), deep))]
    assert [type(answer) for answer in answers] == [Unknown, Entailed, Unknown, Unknown]
    assert [answer.reason for answer in answers if isinstance(answer, Unknown)] == [Reason.UNSUPPORTED] * 3
    assert len(double.texts) == 1


# -- 1: the server's ok says nothing ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [message("writeln", "theorem q: p_proved")],
        [message("warning", "Goal was skipped: sorry")],
        [message("writeln", "PROVED Query0.q")],
        [message("writeln", "PROVED Query1.q"), message("error", "ORACLES: Pure.skip_proof")],
        [message("error", "PROVED Query1.q")],
    ],
    ids=["silence", "theorem", "sorry", "another theory", "oracle, but ok", "an error that says so"],
)
def test_ok_is_no_theorem(double: Double, messages: list[Json]) -> None:
    double.proof = lambda name, text: node(name, messages)
    with solver_of(double) as solver:
        assert solver.decide(PROVED) == BROKEN


@pytest.mark.parametrize(
    "complaint",
    ["ORACLES: Pure.skip_proof", "ORACLES: HOL.eval", "AXIOMS: 1", "Inner syntax error\\<^here>", "ML error"],
)
def test_what_the_gate_rejects_is_no_theorem_and_not_searched(double: Double, complaint: str) -> None:
    double.proof = lambda name, text: node(name, [message("error", complaint)], ok=False)
    with solver_of(double) as solver:
        assert solver.decide(REFUTED) == BROKEN
    assert not any("nitpick" in text for text in double.texts)


@pytest.mark.parametrize(
    ("messages", "ok", "expected"),
    [
        ([message("writeln", "Nitpick found a counterexample for card 's_Entity = 2:")], True, Refuted()),
        ([message("writeln", "Nitpick found a potentially spurious counterexample:")], True, BROKEN),
        ([message("writeln", "Nitpick found a quasi genuine counterexample:")], True, BROKEN),
        ([message("writeln", "Nitpick found no counterexample")], True, BROKEN),
        ([message("writeln", "Nitpick found a counterexample:"), message("error", "?")], True, BROKEN),
        ([], True, BROKEN),
        ([message("error", "Undefined fact")], False, BROKEN),
        ([message("error", 'Unexpected outcome: "potential"')], False, UNDECIDED),
        ([message("error", 'Unexpected outcome: "quasi_genuine"')], False, UNDECIDED),
        ([message("error", 'Unexpected outcome: "none"')], False, UNDECIDED),
        ([message("error", 'Unexpected outcome: "unknown"')], False, UNDECIDED),
    ],
)
def test_only_a_genuine_countermodel_refutes(double: Double, messages: list[Json], ok: bool, expected: Answer) -> None:
    double.search = lambda name, text: node(name, messages, ok=ok)
    with solver_of(double) as solver:
        assert solver.decide(REFUTED) == expected


# -- 2: what is incomplete is no answer -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "status",
    [{"consolidated": False}, {"canceled": True}, {"unprocessed": 1}, {"running": 1}, {"percentage": 99}],
    ids=str,
)
def test_a_theory_that_did_not_end_decides_nothing(double: Double, status: dict[str, Json]) -> None:
    def proof(name: str, text: str) -> dict[str, Json]:
        return node(name, [message("writeln", f"PROVED {name}.q")], status=status)

    def search(name: str, text: str) -> dict[str, Json]:
        return node(name, [message("writeln", "Nitpick found a counterexample:")], status=status)

    double.proof, double.search = proof, search
    with solver_of(double) as solver:
        assert solver.decide(PROVED) == TIMEOUT
    assert double.started == 2  # what did not end is ended with its server


@pytest.mark.parametrize("status", [{"failed": 1}, {"ok": False}], ids=str)
def test_a_theory_that_failed_decides_nothing(double: Double, status: dict[str, Json]) -> None:
    double.proof = lambda name, text: node(name, [message("writeln", f"PROVED {name}.q")], status=status)
    with solver_of(double) as solver:
        assert solver.decide(PROVED) == BROKEN


def test_a_theory_that_is_missing_or_there_twice_decides_nothing(double: Double) -> None:
    with solver_of(double) as solver:
        double.proof = lambda name, text: None
        assert solver.decide(PROVED) == BROKEN
        double.proof = lambda name, text: proof_of("Query99", text)
        assert solver.decide(PROVED) == BROKEN
        twice = [proof_of("Query3", "p_proved")] * 2
        double.reactions = {"use_theories": [finishing({"ok": True, "errors": [], "nodes": [*twice]})]}
        assert solver.decide(PROVED) == BROKEN


def test_blast_that_runs_out_of_time_leaves_the_rest_to_nitpick(double: Double) -> None:
    double.proof = lambda name, text: node(name, [], status={"running": 1})
    with solver_of(double) as solver:
        assert [solver.decide(query) for query in (REFUTED, OPEN)] == [Refuted(), TIMEOUT]


# -- 3, 4: time limits ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stalling", [stall, stall_in_the_task])
def test_a_server_that_stalls_is_given_up_and_its_task_ends_with_the_connection(
    double: Double, stalling: Reaction
) -> None:
    with solver_of(double) as solver:
        assert solver.decide(PROVED) == Entailed()
    double.reactions = {"use_theories": [stalling] * 2}
    with solver_of(double, seconds=0.5, grace_period=0.5) as solver:
        assert solver.decide(PROVED) == TIMEOUT
    assert double.cancelled.wait(PATIENCE)
    assert "cancel" not in double.commands()
    assert double.started == 3  # one more for each method, as what it waits for may still be running


def test_a_server_that_does_not_greet(double: Double) -> None:
    double.reactions = {"connect": [stall, stall]}
    problem = "HOL did not start within 1 s; try `isabelle build -b HOL`"
    with solver_of(double, startup=1, grace_period=0.1) as solver, pytest.raises(SolverError, match=problem):
        solver.decide(PROVED)


def test_hol_that_does_not_start_in_time(double: Double) -> None:
    double.reactions = {"session_start": [stall_in_the_task]}
    with solver_of(double, startup=1) as solver, pytest.raises(SolverError, match="HOL did not start within"):
        solver.decide(PROVED)
    assert double.commands("shutdown")


def test_a_session_that_does_not_forget_is_given_up(double: Double) -> None:
    double.reactions = {"purge_theories": [stall, saying('ERROR "no"')]}
    with solver_of(double, grace_period=0.3) as solver:
        assert [solver.decide(PROVED) for _ in range(3)] == [Entailed()] * 3
    assert double.started == 3


# -- 5: the process ---------------------------------------------------------------------------------------------------


def test_the_server_is_shut_down(double: Double, capfd: pytest.CaptureFixture[str]) -> None:
    solver = solver_of(double)
    assert double.started == 0
    solver.decide(PROVED)
    solver.close()
    solver.close()
    assert double.commands("shutdown") == ["shutdown"]
    assert solver.decide(PROVED) == Entailed()
    del solver
    assert double.commands("shutdown") == ["shutdown"] * 2
    assert double.started == 2
    assert capfd.readouterr() == ("", "")
    first, second = double.starts.read_text().splitlines()
    assert first.startswith("server -n proof_r1_")
    assert first != second


def test_a_fork_leaves_the_server_to_its_owner(double: Double) -> None:
    pytest.importorskip("fcntl", reason="needs forks of Unix")
    program = f"""
import os
from proof_r1_formal.logic.syntax import atom
from proof_r1_formal.logic.query import Query
from proof_r1_formal.solvers.isabelle import IsabelleSolver
solver = IsabelleSolver(program={str(double.program)!r})
query = Query((), atom("proved"))
solver.decide(query)
if os.fork() == 0:
    raise SystemExit(0)
os.wait()
print(solver.decide(query))
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert run.stdout.startswith("Entailed(")
    assert double.commands() == ["session_start", *["use_theories", "purge_theories"] * 2, "shutdown"]


def test_a_client_that_crashes_takes_the_server_along(double: Double) -> None:
    program = f"""
from proof_r1_formal.logic.syntax import atom
from proof_r1_formal.logic.query import Query
from proof_r1_formal.solvers.isabelle import IsabelleSolver
solver = IsabelleSolver(program={str(double.program)!r})
print(solver.decide(Query((), atom("proved"))), flush=True)
raise RuntimeError("crash")
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert run.stdout.startswith("Entailed(")
    assert run.stderr.splitlines()[-1] == "RuntimeError: crash"
    assert double.commands("shutdown") == ["shutdown"]


def test_a_client_that_is_killed_takes_the_server_along(double: Double, tmp_path: Path) -> None:
    """The program and a child of it hold locks; we get them when both are dead."""
    fcntl = pytest.importorskip("fcntl", reason="needs locks of Unix")
    lock = tmp_path / "lock"
    hold = "import fcntl, sys, threading; fcntl.flock(open(sys.argv[1], 'w'), fcntl.LOCK_SH); "
    hold += "print(sys.argv[2], flush=True); threading.Event().wait()"
    held = f"'{sys.executable}' -c \"{hold}\" '{lock}' '{double.info}'"
    double.install(f"{held} >/dev/null & exec {held}")
    program = f"""
import os, signal
from proof_r1_formal.logic.syntax import atom
from proof_r1_formal.logic.query import Query
from proof_r1_formal.solvers.isabelle import IsabelleSolver
solver = IsabelleSolver(program={str(double.program)!r})
print(solver.decide(Query((), atom("proved"))), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert run.returncode == -9
    assert run.stdout.startswith("Entailed(")
    with lock.open() as mine:
        fcntl.flock(mine, fcntl.LOCK_EX)


def test_a_server_that_does_not_go_is_killed(double: Double, tmp_path: Path) -> None:
    """The program holds a lock; we get it when the program is dead."""
    fcntl = pytest.importorskip("fcntl", reason="needs locks of Unix")
    lock = tmp_path / "lock"
    hold = "import fcntl, sys, threading; fcntl.flock(open(sys.argv[1], 'w'), fcntl.LOCK_EX); "
    hold += "print(sys.argv[2], flush=True); threading.Event().wait()"
    double.install(f"exec '{sys.executable}' -c \"{hold}\" '{lock}' '{double.info}'")
    with solver_of(double, grace_period=0.3) as solver:
        assert solver.decide(PROVED) == Entailed()
    with lock.open() as mine:
        fcntl.flock(mine, fcntl.LOCK_EX)


@pytest.mark.parametrize(
    ("server", "startup", "problem"),
    [
        ("echo hello", 20, "does not say where it is, but 'hello'"),
        ("exit 2", 20, "does not say where it is, but ''"),
        ("printf no; exec cat /dev/zero", 20, "does not say where it is, but"),
        ("read -r _ <running", 0.3, "nor anything else"),
    ],
    ids=["chatter", "death", "flood", "silence"],
)
def test_a_program_that_is_no_server(double: Double, server: str, startup: float, problem: str) -> None:
    double.install(server.replace("running", f"'{double.running}'"))
    with pytest.raises(SolverError, match=problem):
        solver_of(double, startup=startup).decide(PROVED)


def test_a_program_that_cannot_be_started(double: Double) -> None:
    double.program.write_bytes(b"\x7fELF, or so it says")
    with pytest.raises(SolverError, match="does not say where it is"):
        solver_of(double).decide(PROVED)
    with pytest.raises(SolverError, match="does not tell its version"):
        _ = solver_of(double).name


# -- 6, 7: replies that are none --------------------------------------------------------------------------------------

STRAYS: dict[str, Reaction] = {
    "drop": drop,
    "drop in a message": drop_in_a_message,
    "error": saying('ERROR {"kind":"error","message":"No session"}'),
    "no keyword": saying("# !!!"),
    "another keyword": saying("DONE {}"),
    "no JSON": saying("FINISHED {ok}"),
    "another shape": finishing({"ok": True}),
    "a long line": lambda handler, arguments: drop(handler, str(handler.wfile.write(b"x" * 100_000))),
}


def test_a_command_that_fails_leaves_the_server_running(double: Double) -> None:
    double.reactions = {"use_theories": [failing("Cannot load theory")]}
    with solver_of(double) as solver:
        assert solver.decide(PROVED) == BROKEN
        assert solver.decide(PROVED) == Entailed()
    assert double.started == 1


def test_without_limits_those_of_the_paper_hold(double: Double) -> None:
    with IsabelleSolver(program=str(double.program)) as solver:
        assert solver.decide(OPEN) == UNDECIDED
    assert [use["watchdog_timeout"] for command, use in double.heard if command == "use_theories"] == [1.0, 10.0]
    assert "timeout = 5]" in double.texts[-1]


@pytest.mark.parametrize("stray", STRAYS.values(), ids=STRAYS)
def test_a_reply_that_is_none_decides_nothing(double: Double, stray: Reaction) -> None:
    double.reactions = {"use_theories": [stray] * 2}
    with solver_of(double) as solver:
        assert solver.decide(PROVED) == BROKEN
        assert solver.decide(PROVED) == Entailed()
    assert double.started == 3


@pytest.mark.parametrize("stray", STRAYS.values(), ids=STRAYS)
def test_a_server_that_breaks_once_is_started_again(double: Double, stray: Reaction) -> None:
    double.reactions = {"use_theories": [stray]}
    with solver_of(double) as solver:
        assert [solver.decide(query) for query in (REFUTED, PROVED)] == [Refuted(), Entailed()]
    assert double.started == 2


def test_a_server_that_is_gone_is_started_again(double: Double) -> None:
    with solver_of(double) as solver:
        assert solver.decide(PROVED) == Entailed()
        double.reactions = {"connect": [drop]}
        assert solver.decide(PROVED) == Entailed()
    assert double.started == 2


def test_a_server_that_refuses_the_password(double: Double) -> None:
    double.install(f"echo '{double.info.replace(double.password, 'guess')}'")
    with solver_of(double) as solver, pytest.raises(SolverError, match="broke off session_start"):
        solver.decide(PROVED)


def test_a_server_that_greets_with_something_else(double: Double) -> None:
    double.reactions = {"connect": [saying('ERROR "busy"')]}
    with solver_of(double) as solver, pytest.raises(SolverError, match="greets with ERROR"):
        solver.decide(PROVED)


def test_a_session_that_does_not_start_is_an_error(double: Double) -> None:
    double.reactions = {"session_start": [failing("Session build failed: 1"), finishing({"ok": True})]}
    with solver_of(double) as solver:
        with pytest.raises(SolverError, match="session_start failed: Session build failed: 1"):
            solver.decide(PROVED)
        with pytest.raises(SolverError, match="does not name the session"):
            solver.decide(PROVED)
        assert solver.decide(PROVED) == Entailed()
    assert double.commands("shutdown") == ["shutdown"] * 3


# -- 8: where it is called from ---------------------------------------------------------------------------------------


def test_inside_a_running_event_loop(double: Double) -> None:
    async def main() -> Answer:
        with solver_of(double) as solver:
            return solver.decide(PROVED)

    assert asyncio.run(main()) == Entailed()
    assert double.commands("shutdown") == ["shutdown"]


def test_from_several_threads(double: Double) -> None:
    answers: list[Answer] = []
    with solver_of(double) as solver:
        threads = [threading.Thread(target=lambda: answers.append(solver.decide(PROVED))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert answers == [Entailed()] * 4
    assert double.started == 1


# -- by name ----------------------------------------------------------------------------------------------------------


def test_by_name(double: Double, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{double.program.parent}{os.pathsep}{os.environ['PATH']}")
    solver = get_solver("isabelle", Limits(seconds=20))
    assert isinstance(solver, IsabelleSolver)
    with solver:
        assert solver.name == "isabelle 2042"
        assert solver.decide(PROVED) == Entailed()
    assert next(found for found in available_solvers() if found.name == "isabelle").version == "2042"


def test_what_is_missing_is_named(double: Double, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SolverError, match=r"no program 'isabelle' on PATH; get Isabelle at https"):
        get_solver("isabelle")
    monkeypatch.setenv("PATH", str(double.program.parent))
    monkeypatch.setitem(sys.modules, "isabelle_client", None)
    with pytest.raises(SolverError, match=r"pip install 'proof-r1-formal\[isabelle\]'"):
        get_solver("isabelle")
    found = next(found for found in available_solvers() if found.name == "isabelle")
    assert found.version is None
    assert found.hint


# -- Isabelle itself --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def isabelle() -> Iterator[IsabelleSolver]:
    if shutil.which("isabelle") is None:
        pytest.skip("Isabelle is not on PATH; get it at https://isabelle.in.tum.de")
    with IsabelleSolver() as solver:
        yield solver


@pytest.mark.isabelle
def test_isabelle_decides(isabelle: IsabelleSolver) -> None:
    rule, fact, goal = map(parse_formula, ("∀x (cat(x) → tame(x))", "cat(tom)", "tame(tom)"))
    infinite = tuple(
        map(parse_formula, ("∀x ¬less(x, x)", "∀x ∀y ∀z (less(x, y) ∧ less(y, z) → less(x, z))", "∀x ∃y less(x, y)"))
    )
    name = 'end "\\<close> ∧'
    assert isabelle.decide(Query((rule, fact), goal)) == Entailed()
    assert isabelle.decide(Query((rule,), goal)) == Refuted()
    assert isabelle.decide(Query((), parse_formula("∃x:Dog ⊤"))) == Entailed()
    assert isabelle.decide(Query((), parse_formula("(p ⊕ q) ↔ ¬(p ↔ q)"))) == Entailed()
    assert isabelle.decide(Query((atom(name, const(name)),), atom(name, const(name)))) == Entailed()
    assert isabelle.decide(Query((parse_formula("∃x p(x)"),), parse_formula("∀x p(x)"))) == Refuted()
    assert isabelle.decide(Query((), parse_formula("∀x ∀y (f(x) = y → y = f(x))"))) == Entailed()
    assert isinstance(isabelle.decide(Query(infinite, atom("p"))), Unknown)


@pytest.mark.isabelle
@settings(max_examples=25)
@given(query=strategies.signatures(symbols=strategies.names()).flatmap(strategies.queries))
def test_isabelle_agrees_with_z3(isabelle: IsabelleSolver, query: Query) -> None:
    answer = isabelle.decide(query)
    assert len({type(answer), type(Z3Solver(Limits(steps=100_000)).decide(query))} - {Unknown}) <= 1
    assert not (isinstance(answer, Unknown) and answer.reason is Reason.BROKEN)


@pytest.mark.isabelle
def test_isabelle_rejects_what_an_oracle_or_an_axiom_made(isabelle: IsabelleSolver, tmp_path: Path) -> None:
    theories = {
        "Sorry": query_theory(PROVED, "Sorry", proof="sorry"),
        "Eval": query_theory(Query((), TOP), "Eval", proof="by eval"),
        "Axiom": query_theory(Query((), TOP), "Axiom").replace("lemma", "axiomatization where a: False\n\nlemma", 1),
    }
    for name, text in theories.items():
        (tmp_path / f"{name}.thy").write_text(text)
    server = IsabelleServer("isabelle", startup=900, grace_period=60)
    try:
        session = server.ask("session_start", {"session": "HOL"}, seconds=900)
        assert isinstance(session, dict)
        arguments = {"session_id": session["session_id"], "theories": list(theories), "master_dir": str(tmp_path)}
        reply = server.ask("use_theories", arguments, seconds=600)
    finally:
        server.close()
    assert isinstance(reply, dict)
    said = {each["theory_name"]: [text["message"] for text in each["messages"]] for each in reply["nodes"]}
    for name, complaint in {"Sorry": "ORACLES", "Eval": "ORACLES", "Axiom": "AXIOMS"}.items():
        assert any(text.startswith(complaint) for text in said[f"Draft.{name}"])
        assert not any(text.startswith("PROVED") for text in said[f"Draft.{name}"])
