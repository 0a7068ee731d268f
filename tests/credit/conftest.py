"""The examples, and a tokenizer whose tokens are bytes: what is credited needs no model."""

from __future__ import annotations

import pytest

from proof_r1_formal import Problem
from tests import build
from tests.build import example_answers, example_problems


@pytest.fixture(scope="session")
def problems() -> list[Problem]:
    """The examples, all of which have an answer and a proof but one."""
    return list(example_problems().values())


@pytest.fixture(scope="session")
def answers() -> list[tuple[Problem, str]]:
    """Two completions of each problem of the examples: the first one, and half of the last."""
    found: dict[str, list[tuple[Problem, str]]] = {}
    for problem, one in example_answers():
        found.setdefault(problem.id, []).append((problem, one.completion))
    ends = [(group[0], group[-1][1]) for group in found.values()]
    return [(problem, text) for (problem, first), last in ends for text in (first, last[: len(last) // 2])]


@pytest.fixture(scope="session")
def byte_tokenizer() -> str:
    """The JSON of a tokenizer with a token for each byte (its id) and an end of text (256)."""
    return build.byte_tokenizer("<end>")
