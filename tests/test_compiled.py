"""The compiled core (``compile_core.py``) reports what the interpreted one reports, and passes its tests."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.build import ROOT

COMPILER = (sysconfig.get_config_var("CC") or "cc").split()[0]

pytestmark = pytest.mark.skipif(shutil.which(COMPILER) is None, reason=f"there is no C compiler {COMPILER} here")

REPORTS = """
import sys
from pathlib import Path
from random import Random
import msgspec
from studies.bench.traces import Sample, generated, reference_traces, rollouts
from proof_r1_formal.kernel.compiling import is_compiled
from proof_r1_formal.data import read_problems
from proof_r1_formal.data.completions import read_completions
from proof_r1_formal.errors import SignatureError
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.catalogue import catalogue
from proof_r1_formal.testing.traces import TraceGenerator

assert is_compiled() == (sys.argv[1] == "compiled")
if len(sys.argv) == 3:
    samples = reference_traces(Path(sys.argv[2]))
    samples += rollouts(samples, 7)
else:
    problems = read_problems("examples/problems.jsonl")
    samples = [Sample(problems[c.problem_id], c.completion) for c in read_completions("examples/completions.jsonl")]
    samples.append(generated(premises=20, actions=8, constants=3))
    for system in ("train", "folio"):
        drawn = TraceGenerator(Random(system), catalogue(system))
        samples += [Sample(trace.problem, trace.completion) for trace in [drawn.draw() for _ in range(500)]]
for system in ("train", "folio"):
    verifier = Verifier(rules=catalogue(system), evaluation=system == "folio")
    for sample in samples:
        try:
            report = verifier.verify(sample.problem, sample.completion)
            sys.stdout.buffer.write(msgspec.json.encode(report) + b"\\n")
        except SignatureError as error:
            print(error, flush=True)
"""


def environment(*folders: Path) -> dict[str, str]:
    """Of a process that takes the package from the first of the folders that has it."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))}


def compile_core(folder: Path, *level: str) -> None:
    """Copy the package and its files to a folder, and compile its core there."""
    program = [sys.executable, str(ROOT / "compile_core.py"), str(folder), *level]
    subprocess.run(program, check=True, capture_output=True, timeout=1200)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the core compiled without optimisation, which takes longest.

    The processes of a parallel run share it: the first one compiles it.
    """
    base = tmp_path_factory.getbasetemp()
    session = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, done = session / "compiled", session / "compiled.done"
    with (session / "compiled.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            folder.mkdir()
            compile_core(folder, "0")
            done.touch()
    return folder


def reports(core: str, *data: Path, folders: tuple[Path, ...] = (ROOT,)) -> bytes:
    """The reports on traces, as JSON lines."""
    program = [sys.executable, "-P", "-c", REPORTS, core, *map(str, data)]
    run = subprocess.run(program, check=True, capture_output=True, env=environment(*folders), cwd=ROOT, timeout=1200)
    return run.stdout


@pytest.mark.slow
def test_reports_are_the_same_bytes(compiled: Path) -> None:
    expected = reports("interpreted")
    assert expected.count(b"\n") > 2_000
    assert reports("compiled", folders=(compiled, ROOT)) == expected


@pytest.mark.slow
@pytest.mark.long
def test_reports_of_the_optimised_core_are_the_same_bytes(tmp_path: Path) -> None:
    compile_core(tmp_path)
    assert reports("compiled", folders=(tmp_path, ROOT)) == reports("interpreted")


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.shared
def test_reports_on_the_benchmark_data_are_the_same_bytes(compiled: Path, shared_data: Path) -> None:
    expected = reports("interpreted", shared_data)
    assert expected.count(b"\n") > 9_000
    assert reports("compiled", shared_data, folders=(compiled, ROOT)) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "tests",
    [
        (
            "tests/kernel/test_checker.py",
            "tests/kernel/test_checker_blocks.py",
            "tests/kernel/test_checker_theorems.py",
            "tests/kernel/test_model.py",
            "tests/kernel/test_syntax.py",
        ),
        ("tests/rules/test_check.py", "tests/rules/test_check_budget.py", "tests/rules/test_check_premises.py"),
        ("tests/proof/test_verify.py", "tests/proof/test_session.py", "tests/engine/test_embedded.py"),
        ("tests/text/test_parse.py", "tests/text/test_plain.py"),
    ],
)
def test_the_tests_of_the_core_pass(compiled: Path, tests: tuple[str, ...]) -> None:
    program = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow", *tests]
    run = subprocess.run(
        program, capture_output=True, text=True, env=environment(compiled, ROOT), cwd=ROOT, timeout=1200
    )
    assert run.returncode == 0, run.stdout
