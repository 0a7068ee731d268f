"""The code of docs/integrations.md and docs/gyms.md runs, with the libraries that it is about."""

from __future__ import annotations

import contextlib
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.build import ROOT

pytest.importorskip("datasets", reason="datasets is not installed: make test-integrations")
pytestmark = pytest.mark.integration

TEXTS = {name[:-3]: (ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("integrations.md", "gyms.md")}
_SECTION = re.compile(r"^## ([^\n]+)\n(?:(?!^## ).)*?```python\n(.*?)```", re.DOTALL | re.MULTILINE)
SECTIONS = {
    heading if page == "integrations" else f"{page}: {heading}": code
    for page, text in TEXTS.items()
    for heading, code in _SECTION.findall(text)
}
NEEDS = {
    "verifiers": ("verifiers", "test-integrations"),
    "Inspect": ("inspect_ai", "test-openrlhf"),
    "gyms: reasoning-gym": ("reasoning_gym", "test-integrations"),
    "gyms: SkyRL-gym": ("skyrl_gym", "test-integrations"),
}
"""Section -> the library that it needs, and the command that has it."""


_VALUES = ("verifier", 0), ("right", 2), ("verified", 2), ("rule_verified", 2)
_REDUCED = [(name, reducer, metrics) for reducer in ("mean", "pass_at_2") for name, metrics in _VALUES]
PRINTED = {
    "Data sets": "['id', 'difficulty', 'answer', 'problem', 'prompt'] garden/1",
    "TRL": "dr_grpo 2.048 ['id', 'difficulty', 'answer', 'problem', 'prompt']",
    "TRL with one reward": "[0.1]",
    "Your own trainer": "[2, 1] 1 0.0",
    "verl": "",
    "OpenRLHF": "",
    "verifiers": "",
    "Inspect": str([*_REDUCED, ("verifier", None, 6)]),  # no RGD of outputs that are not parsed
    "gyms: reasoning-gym": "1.0 0.0\n1.0 0.0",
    "gyms: TRL": "s1: fails entailment, rule",
    "gyms: SkyRL-gym": "False [0.1]",
}
"""Section -> what its code prints."""


def test_every_section_with_code_is_run() -> None:
    assert list(SECTIONS) == list(PRINTED)
    assert sum([text.count("```python") for text in TEXTS.values()]) == len(SECTIONS)


@pytest.mark.parametrize("section", PRINTED)
def test_a_section_runs(section: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tokenizer: Any) -> None:
    """Run where the examples are."""
    module, command = NEEDS.get(section, ("datasets", "test-integrations"))
    pytest.importorskip(module, reason=f"{module} is not installed: make {command}")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "tokenizer.json").write_text(tokenizer.backend_tokenizer.to_str())
    monkeypatch.chdir(tmp_path)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(SECTIONS[section], f"docs, {section}", "exec"), {})
    assert output.getvalue().strip() == PRINTED[section]
    if section == "verl":
        assert Path("train.parquet").stat().st_size > 0
    if section == "OpenRLHF":
        assert set(json.loads(Path("train.jsonl").read_text().splitlines()[0])) == {"input", "label"}
