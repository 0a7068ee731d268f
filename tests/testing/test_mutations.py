"""Each way to give a proof a flaw changes the step that it says, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof_r1_formal.data.problem import ReferenceStep
from proof_r1_formal.proof.action import MAX_DEPENDENCIES
from proof_r1_formal.rules.catalogue import FOLIO
from proof_r1_formal.testing.attempts import Attempt, valid_attempts
from proof_r1_formal.testing.mutations import Flaw, Step, flawed
from proof_r1_formal.text.show import show


@pytest.mark.parametrize("flaw", Flaw)
@given(attempt=valid_attempts(FOLIO), data=st.data())
@settings(max_examples=10)
def test_a_flaw_changes_one_step(flaw: Flaw, attempt: Attempt, data: st.DataObject) -> None:
    steps = attempt.steps
    index = data.draw(st.integers(0, len(steps) - 1))
    for changed in flawed(attempt.problem, steps, index, flaw, FOLIO):
        if flaw is Flaw.REPEATED_STEP:
            assert (*changed[: index + 1], *changed[index + 2 :]) == steps
            assert replace(changed[index + 1], id=steps[index].id) == steps[index]
            continue
        assert [n for n, (new, old) in enumerate(zip(changed, steps, strict=True)) if new != old] == [index]
        new = changed[index]
        assert len(new.dependencies) == len(set(new.dependencies))
        assert (len(new.dependencies) > MAX_DEPENDENCIES) == (flaw is Flaw.TOO_MANY_DEPENDENCIES)


@given(valid_attempts(FOLIO))
@settings(max_examples=30)
def test_conclusions_as_text_get_the_same_flaws(attempt: Attempt) -> None:
    def written(steps: Sequence[Step]) -> list[ReferenceStep]:
        return [ReferenceStep(s.id, s.dependencies, show(s.conclusion), s.rule) for s in steps]

    for index, flaw in product(range(len(attempt.steps)), Flaw):
        ways = flawed(attempt.problem, attempt.steps, index, flaw, FOLIO)
        texts = flawed(attempt.problem, written(attempt.steps), index, flaw, FOLIO)
        assert [written(steps) for steps in ways] == list(map(list, texts))
