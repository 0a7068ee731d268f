"""An engine has the policy's weights once they were sent, adapters included."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ENGINE = Path(__file__).with_name("engine.py")


@pytest.mark.slow
def test_an_engine_takes_merged_weights_and_refuses_those_of_adapters(warmed_up: Path) -> None:
    command = [sys.executable, str(ENGINE), str(warmed_up)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["refused"]  # what OpenRLHF alone would send
    assert found["after"] != found["before"]
    assert found["after"] == found["told"]
