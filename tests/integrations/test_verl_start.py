"""Commands of docs/integrations.md and of ``studies.gpu`` start verl: its own classes accept their configuration."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from studies.card.settings import verl
from studies.card.verl_run import OURS
from tests.build import ROOT

pytest.importorskip("transfer_queue", reason="verl is not installed: make test-integrations")
pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.filterwarnings("default")]

SECTION = (ROOT / "docs" / "integrations.md").read_text(encoding="utf-8").partition("\n## verl\n")[2]
REWARD, COMMAND, ADAPTERS = [
    shlex.split(block.replace("\\\n", " "))
    for block in re.findall(r"(?:^    \S.*\n)(?:^    .*\n)*", SECTION, re.MULTILINE)
][:3]
"""The words of the first indented blocks of the section."""
CLASSES = ["ProofTrainer", "FSDPActorConfig", "RolloutConfig", "HFModelConfig"]


def started(overrides: list[str], folder: Path, variables: dict[str, str]) -> list[str]:
    """What ``verl_start.py`` reaches with these overrides."""
    program = Path(__file__).with_name("verl_start.py")
    done = subprocess.run(
        [sys.executable, str(program), *overrides],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=os.environ | variables | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    [line] = [line for line in done.stdout.splitlines() if line.startswith("reached ")]
    return line.split()[1:]


def test_the_whole_command_starts(taught: Path, tmp_path: Path) -> None:
    variable, *words = COMMAND
    name, _, value = variable.partition("=")
    assert words[:3] == ["python", "-m", "verl.trainer.main_ppo"]
    overrides = [word.replace("=MODEL", f"={taught}") for word in words[3:]]
    assert f"actor_rollout_ref.model.path={taught}" in overrides
    reached = started(overrides, tmp_path, {name: value})
    assert reached == [*CLASSES, "compute_score", "0", "ActorRolloutRef"]


@pytest.mark.parametrize(("rank", "worker"), [(0, "ActorRolloutRef"), (8, "ActorRollout")])
def test_the_run_on_a_card_starts(rank: int, worker: str, taught: Path, tmp_path: Path) -> None:
    """With adapters, the policy without them is the reference: verl then has no worker of its own for it."""
    overrides = verl(taught, tmp_path / "rows.parquet", tmp_path / "run", lora=rank, flash=False)
    assert (set(ADAPTERS) <= set(overrides)) == bool(rank)
    assert started(overrides, tmp_path, OURS) == [*CLASSES, "none", str(rank), worker]


def test_the_settings_of_the_reward_name_our_function() -> None:
    from hydra import compose, initialize_config_module
    from verl.trainer.ppo.reward import get_custom_reward_fn

    with initialize_config_module("verl.trainer.config", version_base=None):
        config = compose("ppo_trainer", overrides=REWARD)
    function, given = get_custom_reward_fn(config).args  # verl wraps them
    assert (function.__name__, given) == ("compute_score", {"reward": "sound"})
