"""What the searches share: a seed settles what is tried, and a failure is a trace that every command takes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from proof_r1_formal.data import read_problems
from proof_r1_formal.data.completions import Completion, read_completions, write_completions
from proof_r1_formal.errors import DataError
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.catalogue import TRAIN
from proof_r1_formal.rules.check import Match
from proof_r1_formal.testing.answers import AnswerHarness
from proof_r1_formal.testing.attack import Attack
from proof_r1_formal.testing.search import Search, write_reproducers
from proof_r1_formal.testing.soundness import Harness

SEARCHES: dict[str, Callable[..., Search[Any]]] = {
    "steps": partial(Harness, TRAIN),
    "answers": partial(AnswerHarness, TRAIN),
    "proofs": Attack,
}


@pytest.mark.parametrize("name", SEARCHES)
def test_what_is_tried_depends_on_the_seed_only(name: str) -> None:
    search = SEARCHES[name]
    one, same, other = (
        list(search(seed=seed).run(search().size + 20, workers=workers)) for seed, workers in ((3, 1), (3, 2), (4, 1))
    )
    assert one == same
    assert one != other


def test_a_failure_can_be_seen_again(tmp_path: Path) -> None:
    anything = Harness(TRAIN, check=lambda rule, *_: Match(rule.schemata[0], {}, (), ()))
    failures = next(anything.run(200)).failures
    problems, completions = write_reproducers(tmp_path / "report.json", failures)
    known, verifier = read_problems(problems), Verifier()
    for failure, completion in zip(failures, read_completions(completions), strict=True):
        assert isinstance(completion, Completion)
        assert completion.completion == failure.completion
        [step] = verifier.verify(known[completion.problem_id], completion.completion).actions
        assert step.semantic == (failure.fault != "accepted, and does not follow")
    assert {failure.fault for failure in failures} > {"accepted, and does not follow"}
    with pytest.raises(DataError, match="cannot be written"):
        write_completions(tmp_path / "none" / "c.jsonl", [])
