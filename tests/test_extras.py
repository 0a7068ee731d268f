"""Help of every command after every install: an extra that is absent stops only what needs it.

In the short form an environment is made of links (``tests.environments``). The long form installs the package with pip
into an empty environment for each extra, and runs what the pages that name this extra say.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from proof_r1_formal.cli import COMMANDS
from tests.environments import EXTRAS, linked
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


@pytest.mark.parametrize("extra", EXTRAS)
def test_every_command_shows_its_help_after_any_install(extra: str, tmp_path: Path) -> None:
    try:
        environment = linked(tmp_path, extra)
    except PackageNotFoundError as error:
        pytest.skip(f"{error.name} is not installed here")
    command = [sys.executable, "-S", "-c", HELP]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.stderr == ""
    for name in COMMANDS:
        assert f" {name} [OPTIONS]" in done.stdout


def test_an_environment_holds_what_its_extras_need_and_no_more(tmp_path: Path) -> None:
    found = {}
    for extra in ("", "models"):
        code = "import importlib.util as u; print(*[m for m in ('lark', 'openai', 'numpy') if u.find_spec(m)])"
        folder = tmp_path / (extra or "alone")
        folder.mkdir()
        command = [sys.executable, "-S", "-c", code]
        found[extra] = subprocess.check_output(command, env=linked(folder, extra), text=True).split()
    assert found == {"": ["lark"], "models": ["lark", "openai"]}
