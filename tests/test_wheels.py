"""The wheel where people run commands from wheels, and the configuration that builds compiled ones."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.build import ROOT
from tests.patience import PATIENCE

CLASSIFIERS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["classifiers"]
VERSIONS = [f"cp3{line.rpartition('.')[2]}" for line in CLASSIFIERS if ":: 3." in line]


@pytest.mark.parametrize(("platform", "tag"), [("linux", "manylinux_x86_64"), ("macos", "macosx_arm64")])
def test_cibuildwheel_builds_a_wheel_for_each_version_of_python(platform: str, tag: str) -> None:
    """Its own program reads the configuration, and says what it would build."""
    pytest.importorskip("cibuildwheel", reason="cibuildwheel is not installed: pip install '.[test]'")
    program = [sys.executable, "-m", "cibuildwheel", "--platform", platform, "--print-build-identifiers"]
    done = subprocess.run(
        [*program, "--archs", tag.partition("_")[2]], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert {line for line in done.stdout.splitlines() if line} == {f"{version}-{tag}" for version in VERSIONS}


def test_cibuildwheel_compiles_the_core_and_tries_it() -> None:
    pytest.importorskip("cibuildwheel", reason="cibuildwheel is not installed: pip install '.[test]'")
    from cibuildwheel.options import CommandLineArguments, Options

    arguments = CommandLineArguments.defaults()
    arguments.package_dir = ROOT
    options = Options("linux", arguments, env={}).build_options("cp311-manylinux_x86_64")
    assert options.environment.as_dictionary({}) == {"PROOF_R1_COMPILE": "1"}
    assert "assert is_compiled()" in (options.test_command or "")
    assert "proof-r1 --version" in (options.test_command or "")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, without a compiled part."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", "wheel", "--no-deps", "-w", str(folder)]
    settings = {name: value for name, value in os.environ.items() if name != "PROOF_R1_COMPILE"}
    subprocess.run([*pip, str(ROOT)], check=True, timeout=PATIENCE, env=settings)
    [path] = folder.glob("*.whl")
    return path


@pytest.mark.slow
def test_uvx_runs_the_command_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    """As ``uvx --from WHEEL proof-r1`` does, whose long name is ``uv tool run``."""
    uv = pytest.importorskip("uv", reason="uv is not installed: pip install '.[test]'")
    settings = {"UV_CACHE_DIR": str(tmp_path / "cache"), "UV_PYTHON": sys.executable, "UV_SYSTEM_CERTS": "1"}
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PIP_CONSTRAINT")}
    program = [uv.find_uv_bin(), "tool", "run", "--from", str(wheel), "proof-r1"]
    examples = ROOT / "examples"
    given = ["-p", str(examples / "problems.jsonl"), "-c", str(examples / "completions.jsonl")]
    done = subprocess.run(
        [*program, "verify", *given, "-o", "out.jsonl"],
        cwd=tmp_path,
        env=environment | settings,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    asked = (examples / "completions.jsonl").read_text(encoding="utf-8").splitlines()
    assert len((tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()) == len(asked) > 0
