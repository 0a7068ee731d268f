"""The commands of docs/integrations.md for verl start: verl's own classes accept their configuration."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("transfer_queue", reason="verl is not installed: make test-integrations")
pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.filterwarnings("default")]

ROOT = Path(__file__).resolve().parents[2]
SECTION = (ROOT / "docs" / "integrations.md").read_text(encoding="utf-8").partition("\n## verl\n")[2]
REWARD, COMMAND = [
    shlex.split(block.replace("\\\n", " "))
    for block in re.findall(r"(?:^    \S.*\n)(?:^    .*\n)*", SECTION, re.MULTILINE)
][:2]
"""The words of the two indented blocks of the section."""


def test_the_whole_command_starts(taught: Path, tmp_path: Path) -> None:
    variable, *words = COMMAND
    name, _, value = variable.partition("=")
    assert words[:3] == ["python", "-m", "verl.trainer.main_ppo"]
    overrides = [word.replace("=MODEL", f"={taught}") for word in words[3:]]
    assert f"actor_rollout_ref.model.path={taught}" in overrides
    program = Path(__file__).with_name("verl_start.py")
    done = subprocess.run(
        [sys.executable, str(program), *overrides],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | {name: value, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    reached = "reached ProofTrainer FSDPActorConfig RolloutConfig HFModelConfig compute_score"
    assert reached in done.stdout.splitlines()


def test_the_settings_of_the_reward_name_our_function() -> None:
    from hydra import compose, initialize_config_module
    from verl.trainer.ppo.reward import get_custom_reward_fn

    with initialize_config_module("verl.trainer.config", version_base=None):
        config = compose("ppo_trainer", overrides=REWARD)
    function, given = get_custom_reward_fn(config).args  # verl wraps them
    assert (function.__name__, given) == ("compute_score", {"reward": "sound"})
