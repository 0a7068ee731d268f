"""The code of docs/integrations.md runs, with the libraries that it is about."""

from __future__ import annotations

import contextlib
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("datasets", reason="datasets is not installed: make test-integrations")
pytestmark = pytest.mark.integration

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "integrations.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n.*?```python\n(.*?)```", TEXT, re.DOTALL | re.MULTILINE))
NEEDS = {"verifiers": ("verifiers", "test-integrations"), "Inspect": ("inspect_ai", "test-openrlhf")}
"""Section -> the library that it needs, and the command that has it."""


@pytest.fixture
def printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, tokenizer: Any) -> str:
    """What the code of a section prints, run where the examples are."""
    module, command = NEEDS.get(request.param, ("datasets", "test-integrations"))
    pytest.importorskip(module, reason=f"{module} is not installed: make {command}")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "tokenizer.json").write_text(tokenizer.backend_tokenizer.to_str())
    monkeypatch.chdir(tmp_path)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(SECTIONS[request.param], f"docs/integrations.md, {request.param}", "exec"), {})
    return output.getvalue().strip()


def test_every_section_with_code_is_run() -> None:
    assert list(SECTIONS) == [
        "Data sets",
        "TRL",
        "TRL with one reward",
        "Your own trainer",
        "verl",
        "OpenRLHF",
        "verifiers",
        "Inspect",
    ]
    assert TEXT.count("```python") == len(SECTIONS)


@pytest.mark.parametrize("printed", ["Data sets"], indirect=True)
def test_data_sets(printed: str) -> None:
    assert printed == "['id', 'difficulty', 'answer', 'problem', 'prompt'] garden/1"


@pytest.mark.parametrize("printed", ["TRL"], indirect=True)
def test_trl(printed: str) -> None:
    assert printed == "dr_grpo 2.048 ['id', 'difficulty', 'answer', 'problem', 'prompt']"


@pytest.mark.parametrize("printed", ["TRL with one reward"], indirect=True)
def test_trl_with_one_reward(printed: str) -> None:
    assert printed == "[0.1]"


@pytest.mark.parametrize("printed", ["Your own trainer"], indirect=True)
def test_your_own_trainer(printed: str) -> None:
    assert printed == "[2, 1] 1 0.0"


@pytest.mark.parametrize("printed", ["verl"], indirect=True)
def test_verl(printed: str) -> None:
    assert not printed
    assert Path("train.parquet").stat().st_size > 0


@pytest.mark.parametrize("printed", ["OpenRLHF"], indirect=True)
def test_openrlhf(printed: str) -> None:
    assert not printed
    assert set(json.loads(Path("train.jsonl").read_text().splitlines()[0])) == {"input", "label"}


@pytest.mark.parametrize("printed", ["verifiers"], indirect=True)
def test_verifiers(printed: str) -> None:
    assert not printed


@pytest.mark.parametrize("printed", ["Inspect"], indirect=True)
def test_inspect(printed: str) -> None:
    values = ("verifier", 0), ("right", 2), ("verified", 2), ("rule_verified", 2)
    reduced = [(name, reducer, metrics) for reducer in ("mean", "pass_at_2") for name, metrics in values]
    assert printed == str([*reduced, ("verifier", None, 6)])  # no RGD of outputs that are not parsed
