"""``doctor``: versions of libraries that the tests ran, in step with what they install, and tables for programs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from proof_r1_formal.commands.machine import EXTRAS, TESTED, accelerators, libraries, version_advice
from tests.build import ROOT

PINS = (
    "constraints.txt",
    "tests/integrations/requirements.txt",
    "tests/integrations/requirements-without-dependencies.txt",
    "training/openrlhf/requirements-cpu.txt",
    "training/openrlhf/requirements-cpu-without-dependencies.txt",
)
"""The files that fix the versions that tests run."""
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def pinned() -> dict[str, set[str]]:
    """The versions of each distribution in the files of pins; builds for CPUs count as the library."""
    found: dict[str, set[str]] = {}
    for file in PINS:
        for name, version in re.findall(r"^([\w.-]+)==(\S+)", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE):
            found.setdefault(name.lower().replace("-", "_").removesuffix("_cpu"), set()).add(version)
    return found


def test_tested_versions_are_those_that_the_tests_install() -> None:
    pins = pinned()
    assert {name: set(versions) for name, versions in TESTED.items()} == {name: pins[name] for name in TESTED}
    assert EXTRAS.keys() <= TESTED.keys()


def test_an_extra_that_doctor_names_brings_the_library() -> None:
    for name, extra in EXTRAS.items():
        requirements = [Requirement(each) for each in PROJECT["optional-dependencies"][extra]]
        assert any(name in (each.name, *each.extras) for each in requirements), name


def test_the_extra_train_ends_before_versions_that_no_test_ran() -> None:
    pins = pinned()
    for each in map(Requirement, PROJECT["optional-dependencies"]["train"]):
        assert {"<", "=="} & {part.operator for part in each.specifier}, f"{each} has no upper bound"
        assert all(version in each.specifier for version in pins[each.name.lower()]), each
        assert "99999" not in each.specifier


def test_another_version_is_named_with_the_one_that_the_tests_ran() -> None:
    assert version_advice("trl", "1.16.0", ("1.16.0",)) == ""
    assert version_advice("torch", "2.13.0+cu130", ("2.13.0",)) == ""
    said = version_advice("trl", "1.17.0", ("1.16.0", "1.15.0"))
    assert said == "trl 1.17.0: the tests ran 1.16.0 and 1.15.0: pip install 'trl==1.16.0'"


def test_what_is_installed_is_found() -> None:
    found = {part.name: part for part in libraries()}
    assert EXTRAS.keys() <= found.keys()
    pytest.importorskip("torch")
    assert found["torch"].version is not None
    assert found["torch"].version.startswith("2.")


def test_a_card_that_torch_cannot_use_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    if torch.accelerator.is_available():
        pytest.skip("torch uses an accelerator here")
    smi = tmp_path / "nvidia-smi"
    smi.write_text("#!/bin/sh\necho 'NVIDIA H100 80GB HBM3, 81559 MiB'\n")
    smi.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    (part,) = accelerators()
    assert part.advice.startswith("nvidia-smi lists NVIDIA H100 80GB HBM3, but torch 2.")


def test_doctor_writes_its_table_as_json() -> None:
    command = (sys.executable, "-m", "proof_r1_formal", "doctor", "--json", "-")
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    (table,) = json.loads(done.stdout)
    kinds = {row["kind"] for row in table["rows"]}
    assert kinds >= {"solver", "kernel", "library"}
    assert "library" in done.stderr
