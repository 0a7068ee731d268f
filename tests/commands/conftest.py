"""Commands that run in this process, which takes less time than to start one."""

from __future__ import annotations

import sys

import pytest

from proof_r1_formal.cli import main
from proof_r1_formal.commands import common
from tests.commands.running import Done, Run


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Commands, with messages of any length in one line."""
    monkeypatch.setattr(common.ERR, "width", 10_000)

    def call(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["proof-r1", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        code = ended.value.code
        return Done(code if isinstance(code, int) else 0, *capfd.readouterr())

    return call
