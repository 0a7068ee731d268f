"""Shared fixtures and the Hypothesis profile of the test suite."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from proof_r1_formal.assistants.lean import LeanKernel
from proof_r1_formal.assistants.lean_program import HINT
from proof_r1_formal.cli import main
from proof_r1_formal.commands import common
from tests.build import Done, Run
from tests.leaks import nothing_left_open

settings.register_profile(
    "deterministic", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("deterministic")
# Hypothesis mixes in the numbers and words of every module that is loaded: what a test is given would change with the
# order of the tests, and with any edit; tests/test_examples.py sees to it that this is the way to stop it.
providers._get_local_constants = lambda: providers._local_constants


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="run the exhaustive forms of tests, too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out exhaustive forms, unless they are asked for; the slow tests come last."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is not None)
    if not config.getoption("--long"):
        left_out = [item for item in items if item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of benchmark data beside the project; the test is skipped where it is absent."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"benchmark data not found at {folder}")
    return folder


@pytest.fixture(scope="session")
def lean(tmp_path_factory: pytest.TempPathFactory) -> LeanKernel:
    """Lean's kernel with the theory, compiled for this session; the test is skipped where there is no Lean.

    The processes of a parallel run share the compiled theory: the first one compiles it, which takes seconds.
    """
    base = tmp_path_factory.getbasetemp()
    session = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with (session / "lean.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        kernel = LeanKernel.find(cache=session / "lean")
    if kernel is None:
        pytest.skip(f"there is no Lean here; {HINT}")
    return kernel


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Commands that run in this process, which takes less time than to start one; their messages are in one line."""
    monkeypatch.setattr(common.ERR, "width", 10_000)

    def call(*arguments: str, folder: Path | None = None) -> Done:
        monkeypatch.setattr(sys, "argv", ["proof-r1", *arguments])
        with chdir(folder or "."), pytest.raises(SystemExit) as ended:
            main()
        code = ended.value.code
        return Done(code if isinstance(code, int) else 0, *capfd.readouterr())

    return call


@pytest.fixture
def closed() -> Iterator[None]:
    """The test fails if it leaves a stream, task, descriptor, thread or process behind."""
    with nothing_left_open():
        yield
