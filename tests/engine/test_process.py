"""Programs as solvers, most of them hostile: only a clean verdict is a verdict."""

from __future__ import annotations

import fcntl
import os
import shutil
import sys
import sysconfig
from pathlib import Path

import pytest

from proof_r1_formal.engine.process import MAX_OUTPUT, PRESETS, ProcessSolver
from proof_r1_formal.engine.solver import Limits
from proof_r1_formal.errors import SolverError
from proof_r1_formal.kernel.answer import Answer, Entailed, Query, Reason, Refuted, Unknown
from proof_r1_formal.kernel.syntax import Formula, atom
from proof_r1_formal.render.smtlib import script
from proof_r1_formal.text.parse import parse_formula
from tests.patience import PATIENCE
from tests.solvers import reason_of

pytestmark = pytest.mark.usefixtures("closed")

PROPOSITIONAL = Query((parse_formula("p → q"), parse_formula("p")), parse_formula("q"))
QUANTIFIED = Query((parse_formula("∀x (p(x) → q(x))"), parse_formula("p(a)")), parse_formula("q(a)"))


def python(program: str, *, seconds: float = PATIENCE) -> ProcessSolver:
    """A solver that is a Python program."""
    return ProcessSolver(sys.executable, ("-c", program), limits=Limits(seconds=seconds))


def answer_to(program: str, *, seconds: float = PATIENCE) -> Answer:
    """What the program makes of a query."""
    return python(program, seconds=seconds).decide(PROPOSITIONAL)


# -- verdicts ---------------------------------------------------------------------------------------------------------


def test_clean_verdicts() -> None:
    assert answer_to("print('unsat')") == Entailed()
    assert answer_to("print('sat')") == Refuted(None)
    assert answer_to("import sys; sys.stdout.write('unsat')") == Entailed()
    assert answer_to("import sys; print('unsat'); print('a warning', file=sys.stderr)") == Entailed()


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("unknown", Reason.INCOMPLETE),
        ("unknown (INCOMPLETE)", Reason.INCOMPLETE),
        ("unknown (RESOURCEOUT)", Reason.BUDGET),
        ("unknown (TIMEOUT)", Reason.TIMEOUT),
        ("timeout", Reason.TIMEOUT),
    ],
)
def test_programs_that_do_not_know(output: str, reason: Reason) -> None:
    assert reason_of(answer_to(f"print({output!r})")) is reason


def test_the_program_gets_the_script(tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    solver = python(f"import sys; open({str(heard)!r}, 'w').write(sys.stdin.read()); print('unsat')")
    assert solver.decide(QUANTIFIED) == Entailed()
    assert heard.read_text() == "(set-option :print-success false)\n" + script(QUANTIFIED.assertions)


def test_the_script_can_be_opened_as_a_file() -> None:
    assert answer_to("print('unsat' if '(check-sat)' in open('/dev/stdin').read() else 'sat')") == Entailed()


# -- hostile programs -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "output",
    [b"", b"SAT", b"; unsat", b'unsat\n(error "3")', b"unsat\nunsat", b"success\nunsat", b"unsat\0", bytes(range(256))],
    ids=repr,
)
def test_nonsense_is_no_verdict(output: bytes) -> None:
    answer = answer_to(f"import sys; sys.stdout.buffer.write({output!r})")
    assert isinstance(answer, Unknown)
    assert answer.reason is Reason.BROKEN
    assert "is not a verdict" in answer.detail


@pytest.mark.parametrize(
    "death",
    ["import sys; sys.exit(1)", "raise ValueError", "import os; os.abort()", "import os; os.kill(os.getpid(), 9)"],
)
@pytest.mark.parametrize("before", ["", "print('unsat', flush=True); "])
def test_a_program_that_dies_gives_no_verdict(death: str, before: str) -> None:
    assert reason_of(answer_to(before + death)) is Reason.BROKEN


FOREVER = "import threading; threading.Event().wait()"


@pytest.mark.parametrize(
    "program",
    [
        FOREVER,
        f"print('unsat', flush=True); {FOREVER}",
        f"import os; os.write(1, b'unsat'); os.close(1); {FOREVER}",
        f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {FOREVER}",
    ],
    ids=["silent", "after a verdict", "closed output", "deaf"],
)
def test_a_program_that_hangs_gives_no_verdict(program: str) -> None:
    assert reason_of(answer_to(program, seconds=0.3)) is Reason.TIMEOUT


@pytest.mark.parametrize("text", ["y", "unsat\\n"])
def test_a_program_that_floods_is_stopped_at_once(text: str) -> None:
    answer = answer_to(f"while True: print('{text}' * 1000)", seconds=PATIENCE)
    assert answer == Unknown(Reason.BROKEN, f"{sys.executable} wrote more than {MAX_OUTPUT} bytes")


def test_a_flood_of_errors_is_nobodys_business() -> None:
    assert answer_to("import sys; sys.stderr.write('y' * 10_000_000); print('unsat')") == Entailed()


def test_a_program_that_does_not_read_cannot_block() -> None:
    large: tuple[Formula, ...] = tuple([atom(f"p{number}") for number in range(20_000)])
    assert len(script(large)) > 1 << 19  # more than any pipe holds
    assert python("print('unsat')").decide(Query(large, atom("q"))) == Entailed()


def test_children_of_a_program_are_killed_with_it(tmp_path: Path) -> None:
    """The child holds a lock; when we get it, the child is dead, or has left the file ``survived``."""
    lock, survived = tmp_path / "lock", tmp_path / "survived"
    program = f"""
import fcntl, os, pathlib, sys, time
lock = open({str(lock)!r}, "w")
fcntl.flock(lock, fcntl.LOCK_EX)
if os.fork() == 0:
    time.sleep(20)
    pathlib.Path({str(survived)!r}).touch()
    os._exit(0)
lock.close()
print("unsat")
"""
    assert reason_of(answer_to(program, seconds=0.5)) is Reason.TIMEOUT  # the child keeps the output open
    with lock.open() as mine:
        fcntl.flock(mine, fcntl.LOCK_EX)
    assert not survived.exists()


# -- programs that cannot be run --------------------------------------------------------------------------------------


def test_a_missing_program() -> None:
    with pytest.raises(SolverError, match=r"there is no program 'no-such-solver' on PATH"):
        ProcessSolver("no-such-solver")


def test_a_program_that_cannot_be_started(tmp_path: Path) -> None:
    broken = tmp_path / "solver"
    broken.write_bytes(b"\x7fELF, or so it says")
    broken.chmod(0o755)
    with pytest.raises(SolverError, match="cannot be started"):
        ProcessSolver(str(broken)).decide(PROPOSITIONAL)


def test_no_shell_sees_the_arguments(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    solver = ProcessSolver(sys.executable, ("-c", "print('unsat')", f"; touch {trace}", f"$(touch {trace})"))
    assert solver.decide(PROPOSITIONAL) == Entailed()
    assert not trace.exists()


# -- known programs ---------------------------------------------------------------------------------------------------


def test_a_preset_that_is_not_installed_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for name, preset in PRESETS.items():
        with pytest.raises(SolverError) as caught:
            ProcessSolver.preset(name)
        assert preset.hint in str(caught.value)


def put_on_path(monkeypatch: pytest.MonkeyPatch, folder: Path, name: str, program: str) -> None:
    """A program of that name, in Python, as the only one on ``PATH``."""
    (folder / name).write_text(f"#!{sys.executable}\n{program}\n")
    (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


@pytest.mark.parametrize("name", PRESETS)
def test_presets_stay_within_their_logics(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    put_on_path(monkeypatch, tmp_path, name, "print('unsat')")
    solver = ProcessSolver.preset(name)
    assert solver.decide(PROPOSITIONAL) == Entailed()
    expected = Unknown(Reason.UNSUPPORTED, "yices-smt2 does not decide UF") if name == "yices-smt2" else Entailed()
    assert solver.decide(QUANTIFIED) == expected


def test_the_budget_of_a_preset_is_in_its_own_unit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, argument in {"z3": "rlimit=8000", "cvc5": "--rlimit=200", "cvc4": "--rlimit=200"}.items():
        put_on_path(monkeypatch, tmp_path, name, "")
        assert argument in ProcessSolver.preset(name, Limits(steps=8_000)).name.split()


@pytest.mark.parametrize("name", PRESETS)
def test_presets_run_the_real_program(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}")
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed; {PRESETS[name].hint}")
    solver = ProcessSolver.preset(name)
    assert solver.decide(PROPOSITIONAL) == Entailed()
    assert solver.decide(Query((atom("p"),), atom("q"))) == Refuted(None)
    if "UF" in PRESETS[name].logics:
        assert solver.decide(QUANTIFIED) == Entailed()
