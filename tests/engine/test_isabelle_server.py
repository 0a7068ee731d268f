"""The server that the Isabelle solver starts: time limits, its process, and replies that break the protocol."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from proof_r1_formal.engine.isabelle import IsabelleSolver
from proof_r1_formal.errors import SolverError
from proof_r1_formal.kernel.answer import Answer, Entailed, Query, Refuted
from tests.engine.isabelle_double import (
    BROKEN,
    OPEN,
    PROVED,
    REFUTED,
    TIMEOUT,
    UNDECIDED,
    Double,
    Reaction,
    drop,
    drop_in_a_message,
    failing,
    finishing,
    saying,
    solver_of,
    stall,
    stall_in_the_task,
)
from tests.patience import PATIENCE

pytest.importorskip("isabelle_client", reason="isabelle-client is not installed (the extra [isabelle])")


# -- 3, 4: time limits ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stalling", [stall, stall_in_the_task])
def test_a_stalled_server_is_given_up_with_its_task(double: Double, stalling: Reaction) -> None:
    with solver_of(double) as solver:
        assert solver.decide(PROVED) == Entailed()
    double.reactions = {"use_theories": [stalling] * 2}
    with solver_of(double, seconds=0.5, grace_period=0.5) as solver:
        assert solver.decide(PROVED) == TIMEOUT
    assert double.cancelled.wait(PATIENCE)
    assert "cancel" not in double.commands()
    assert double.started == 3  # one more for each method, as what it waits for may still be running


@pytest.mark.parametrize("reactions", [{"connect": [stall, stall]}, {"session_start": [stall_in_the_task]}])
def test_a_server_that_does_not_start_in_time(double: Double, reactions: dict[str, list[Reaction]]) -> None:
    double.reactions = reactions
    problem = "HOL did not start within 1 s; try `isabelle build -b HOL`"
    with solver_of(double, startup=1, grace_period=0.1) as solver, pytest.raises(SolverError, match=problem):
        solver.decide(PROVED)
    assert bool(double.commands("shutdown")) == bool(double.commands("session_start"))


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


def client(double: Double, after: str) -> subprocess.CompletedProcess[str]:
    """A program of its own that asks once, tells the answer, and then does something."""
    program = f"""
import os, signal
from proof_r1_formal.kernel.syntax import atom
from proof_r1_formal.kernel.answer import Query
from proof_r1_formal.engine.isabelle import IsabelleSolver
solver = IsabelleSolver(program={str(double.program)!r})
query = Query((), atom("proved"))
print(solver.decide(query), flush=True)
{after}
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert run.stdout.startswith("Entailed(")
    return run


def test_a_fork_leaves_the_server_to_its_owner(double: Double) -> None:
    pytest.importorskip("fcntl", reason="needs forks of Unix")
    run = client(double, "if os.fork() == 0: raise SystemExit(0)\nos.wait()\nprint(solver.decide(query))")
    assert [line.partition("(")[0] for line in run.stdout.splitlines()] == ["Entailed"] * 2
    assert double.commands() == ["session_start", *["use_theories", "purge_theories"] * 2, "shutdown"]


def test_a_client_that_crashes_takes_the_server_along(double: Double) -> None:
    run = client(double, 'raise RuntimeError("crash")')
    assert run.stderr.splitlines()[-1] == "RuntimeError: crash"
    assert double.commands("shutdown") == ["shutdown"]


@contextmanager
def all_must_die(double: Double, lock: Path) -> Iterator[None]:
    """The program and a child of it hold a lock, and never end; at the end of the block we get it: both are dead."""
    fcntl = pytest.importorskip("fcntl", reason="needs locks of Unix")
    hold = "import fcntl, sys, threading; fcntl.flock(open(sys.argv[1], 'w'), fcntl.LOCK_SH); "
    hold += "print(sys.argv[2], flush=True); threading.Event().wait()"
    held = f"'{sys.executable}' -c \"{hold}\" '{lock}' '{double.info}'"
    double.install(f"{held} >/dev/null & exec {held}")
    yield
    with lock.open() as mine:
        fcntl.flock(mine, fcntl.LOCK_EX)


def test_a_client_that_is_killed_takes_the_server_along(double: Double, tmp_path: Path) -> None:
    with all_must_die(double, tmp_path / "lock"):
        assert client(double, "os.kill(os.getpid(), signal.SIGKILL)").returncode == -9


def test_a_server_that_does_not_go_is_killed(double: Double, tmp_path: Path) -> None:
    with all_must_die(double, tmp_path / "lock"), solver_of(double, grace_period=0.3) as solver:
        assert solver.decide(PROVED) == Entailed()


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
    given = [use["watchdog_timeout"] for command, use in double.heard if command == "use_theories"]
    assert given == [4.0, 13.0]  # 3 s more
    assert "timeout = 5]" in double.texts[-1]


@pytest.mark.parametrize("stray", STRAYS.values(), ids=STRAYS)
@pytest.mark.parametrize(
    ("times", "query", "answer"), [(1, REFUTED, Refuted()), (2, PROVED, BROKEN)], ids=["once", "twice"]
)
def test_after_a_reply_that_is_none_a_server_is_started(
    double: Double, stray: Reaction, times: int, query: Query, answer: Answer
) -> None:
    double.reactions = {"use_theories": [stray] * times}
    with solver_of(double) as solver:
        assert [solver.decide(asked) for asked in (query, PROVED)] == [answer, Entailed()]
    assert double.started == 1 + times


def test_a_server_that_is_gone_is_started_again(double: Double) -> None:
    with solver_of(double) as solver:
        assert solver.decide(PROVED) == Entailed()
        double.reactions = {"connect": [drop]}
        assert solver.decide(PROVED) == Entailed()
    assert double.started == 2


def test_a_server_that_refuses_the_password(double: Double) -> None:
    double.reactions = {"connect": [saying('ERROR "busy"')]}
    with solver_of(double) as solver, pytest.raises(SolverError, match="greets with ERROR"):
        solver.decide(PROVED)
    double.install(f"echo '{double.info.replace(double.password, 'guess')}'")
    with solver_of(double) as solver, pytest.raises(SolverError, match="broke off session_start"):
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
