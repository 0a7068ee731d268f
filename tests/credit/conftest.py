"""The examples, and a tokenizer whose tokens are bytes: what is credited needs no model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proof_r1_formal import Completion, Problem, read_completions, read_problems
from proof_r1_formal.credit.pieces import BYTE_LEVEL

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="session")
def problems() -> list[Problem]:
    """The examples, all of which have an answer and a proof but one."""
    return list(read_problems(EXAMPLES / "problems.jsonl").values())


@pytest.fixture(scope="session")
def answers(problems: list[Problem]) -> list[tuple[Problem, str]]:
    """Example completions with their problems; the same number, at least two, for each problem."""
    known = {problem.id: problem for problem in problems}
    found: dict[str, list[str]] = {}
    for line in read_completions(EXAMPLES / "completions.jsonl"):
        assert isinstance(line, Completion)
        found.setdefault(line.problem_id, []).append(line.completion)
    pairs = [(known[name], [texts[0], texts[-1][: len(texts[-1]) // 2]]) for name, texts in found.items()]
    return [(problem, text) for problem, texts in pairs for text in texts]


@pytest.fixture(scope="session")
def byte_tokenizer() -> str:
    """The JSON of a tokenizer with a token for each byte (its id) and an end of text (256)."""
    end = {"id": 256, "content": "<end>", "special": True}
    model = {"type": "BPE", "vocab": BYTE_LEVEL, "merges": []}
    return json.dumps({"model": model, "decoder": {"type": "ByteLevel"}, "added_tokens": [end]})
