"""Records of each format, and files of them, for the tests of the readers."""

from __future__ import annotations

import json
from pathlib import Path

from proof_r1_formal.data import read_problems
from proof_r1_formal.data.problem import Problem, ProblemSet

PROVERQA = {
    "id": 7,
    "nl2fol": {"Bo is kind.": "kind(Bo)", "Kind people smile.": "∀x (kind(x) → smiles(x))"},
    "conclusion_fol": "smiles(Bo)",
    "options": ["A) True", "B) False", "C) Uncertain"],
    "answer": "A",
    "question": "Does Bo smile?",
}
FOLIO = {
    "premises": ["Bo is kind.", "Kind people smile, often."],
    "premises-FOL": ["Kind(bo)", "∀x (Kind(x) → Smiles(x))"],
    "conclusion": "Bo smiles.",
    "conclusion-FOL": "Smiles(bo)",
    "label": "True",
}
NATIVE = {
    "id": "pets/1",
    "premises": [{"id": "h1", "formula": "cat(tom)"}],
    "options": [{"id": "h_goal_true", "label": "True", "formula": "cat(tom)"}],
    "answer": "h_goal_true",
}


def line(record: object, **change: object) -> str:
    return json.dumps({**record, **change} if isinstance(record, dict) else record, ensure_ascii=False)


def write(folder: Path, content: object, name: str = "set.jsonl") -> Path:
    """A file of bytes or of a text, or else of a value as JSON."""
    path = folder / name
    folder.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str | bytes) else json.dumps(content)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def read(folder: Path, *records: object, name: str = "set.jsonl") -> ProblemSet:
    """What is read of a file with a record on each line."""
    return read_problems(write(folder, "\n".join([r if isinstance(r, str) else line(r) for r in records]), name))


def only_problem(path: Path, *, repair: bool | None = None) -> Problem:
    found = read_problems(path, repair=repair)
    assert found.rejected == ()
    (problem,) = found.values()
    return problem
