"""What the documents claim is so: the README's code prints what it says, the schema is that of the reports."""

from __future__ import annotations

import contextlib
import io
import json
import re
from pathlib import Path

import msgspec

from proof_r1_formal import display
from proof_r1_formal.proof.report import TraceReport
from proof_r1_formal.rules.catalogue import FOLIO

ROOT = Path(__file__).resolve().parent.parent


def test_the_code_of_the_readme_prints_what_it_says() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    match = re.search(r"```python\n(.*?)```\n\nprints\n\n(.*?)\n\n\(", text, re.DOTALL)
    assert match is not None
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(match[1], "README.md", "exec"), {})
    shown = "\n".join(line.removeprefix("    ") for line in match[2].splitlines())
    assert output.getvalue().strip() == shown


def test_the_published_schema_is_that_of_the_reports() -> None:
    published = json.loads((ROOT / "docs" / "report.schema.json").read_text(encoding="utf-8"))
    assert published == json.loads(json.dumps(msgspec.json.schema(TraceReport)))


def test_every_link_in_the_documents_leads_somewhere() -> None:
    for document in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", document.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_every_rule_can_be_shown() -> None:
    for rule in FOLIO.rules:
        assert display.rule(rule)
