"""Every command after every install: an extra that is absent stops only what needs it, and is then named."""

from __future__ import annotations

import subprocess
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from proof_r1_formal.cli import COMMANDS
from tests.environments import EXTRAS, installed, linked
from tests.patience import PATIENCE

HELP = """
import sys
from traceback import print_exc
from proof_r1_formal import cli
for name in cli.COMMANDS:
    try:
        cli.app([name, "--help"], standalone_mode=False)
    except BaseException:
        print(name, "does not show its help", file=sys.stderr)
        print_exc()
"""


def run(environment: dict[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False, encoding="utf-8"
    )


def check_help(environment: dict[str, str]) -> None:
    done = run(environment, "python", "-c", HELP)
    assert done.stderr == ""
    for name in COMMANDS:
        assert f" {name} [OPTIONS]" in done.stdout


@pytest.mark.parametrize("extra", EXTRAS)
def test_every_command_shows_its_help_after_any_install(extra: str, tmp_path: Path) -> None:
    try:
        environment = linked(tmp_path, extra)
    except PackageNotFoundError as error:
        pytest.skip(f"{error.name} is not installed here")
    check_help(environment)


@pytest.mark.long
@pytest.mark.parametrize("extra", [extra for extra in EXTRAS if extra not in ("openrlhf", "test")])
def test_every_command_shows_its_help_after_pip(extra: str, tmp_path: Path) -> None:
    """OpenRLHF requires GPUs, and the tests' requirements are for developers only."""
    check_help(installed(tmp_path, *filter(None, [extra])))


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        (("serve",), "serve"),
        (("mcp",), "mcp"),
        (("gym",), "gym"),
        (("train", "--config", "training/configs/paper.yaml"), "train"),
    ],
)
def test_a_command_names_the_extra_that_it_needs(command: tuple[str, ...], extra: str, tmp_path: Path) -> None:
    refused = run(linked(tmp_path), "proof-r1", *command)
    assert refused.returncode == 2
    assert refused.stderr.startswith("error: ")
    assert f"pip install 'proof-r1-formal[{extra}]'" in refused.stderr
