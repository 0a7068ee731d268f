"""``report.schema.json``: the JSON schema of the reports that ``verify`` writes.

``python docs/site/schema.py`` writes ``docs/report.schema.json`` from ``TraceReport``.
"""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from proof_r1_formal.proof.report import TraceReport

PAGE = Path(__file__).resolve().parent.parent / "report.schema.json"


def text() -> str:
    """The file."""
    return json.dumps(msgspec.json.schema(TraceReport), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
