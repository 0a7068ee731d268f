"""The search for rewards that are not deserved: what it finds, what it leaves out, and a planted fault."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from math import fsum
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof_r1_formal import FOLIO, TraceReport, Verifier, get_solver, parse_formula
from proof_r1_formal.credit.align import NOBODY, Alignment
from proof_r1_formal.credit.methods import METHODS, Rollout, credit_batch, rollout_of
from proof_r1_formal.credit.presets import PRESETS, UNPROVED, standing
from proof_r1_formal.credit.terms import CreditSettings, PresetName, group_relative
from proof_r1_formal.kernel.answer import Entailed, Query
from proof_r1_formal.kernel.syntax import Iff
from studies.audit.local_check import local_checks
from studies.reward_edits import PROBLEM, Fault, edits
from studies.reward_search import (
    GROUP,
    HONEST,
    Found,
    Kind,
    earned,
    first_batch,
    gain,
    improves,
    search,
    table,
    tokens,
    verified,
)

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "training.md"


@cache
def found(kind: Kind) -> dict[PresetName, Found]:
    return {one.preset: one for one in search(kind, tuple(PRESETS), pairs=50)}


def test_the_table_of_the_document_is_true() -> None:
    assert table([tuple(found(kind).values()) for kind in Kind]) in DOCUMENT.read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", Kind)
def test_no_edit_of_an_honest_rollout_pays_under_hardened_or_strict(kind: Kind) -> None:
    presets: tuple[PresetName, ...] = ("hardened", "strict")
    for preset in presets:
        assert (found(kind)[preset].gain, found(kind)[preset].edits) == (0.0, ())
        assert found(kind)[preset].attacks > 200


def test_the_search_finds_a_planted_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def gullible(report: TraceReport, _flawed: float) -> float:
        return 1.0 if report.answer_correct else 0.1

    monkeypatch.setattr("proof_r1_formal.credit.presets.standing", gullible)
    (one,) = search(Kind.WRONG, ("hardened",))
    assert one.gain > 1.0


def test_the_search_finds_a_total_that_no_token_carries(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong rollout that stops at </think> has no token of an action; it then earned 0 and lost nothing."""

    def nobody(own: Sequence[int], actions: int) -> Alignment:
        return Alignment((NOBODY,) * len(own), (0,) * actions)

    monkeypatch.setattr("proof_r1_formal.credit.methods.whole", nobody)
    presets: tuple[Literal["hardened", "shared"], ...] = ("hardened", "shared")
    assert all(one.gain > 1.0 for one in search(Kind.WRONG, presets))
    thoughts, _, _ = HONEST[Kind.WRONG].completion.partition("\n")
    assert thoughts.endswith("</think>")
    for preset in presets:
        credit = CreditSettings(preset=preset)
        assert gain(thoughts, Kind.WRONG, credit, first_batch(credit)) > 1.0
        monkeypatch.undo()
        assert gain(thoughts, Kind.WRONG, credit, first_batch(credit)) <= 0.0
        monkeypatch.setattr("proof_r1_formal.credit.methods.whole", nobody)


def test_the_search_finds_a_completion_that_leaves_its_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """A completion that cannot be verified, for a reason of its own, was not compared and earned 0."""

    def leave(*given: Any, failure: Fault | None) -> Rollout:
        return rollout_of(*given, verified=failure is None, failure=failure)

    monkeypatch.setattr("studies.reward_search.rollout_of", leave)
    for one in search(Kind.WRONG, ("shared", "hardened", "strict")):
        assert (one.preset == "shared" or one.edits[-1] in [*Fault]) and one.gain > 1.0
    monkeypatch.undo()
    for fault in Fault:
        credit = CreditSettings(preset="hardened")
        completion = HONEST[Kind.WRONG].completion
        bears = earned(completion, Kind.WRONG, credit, first_batch(credit), fault=fault)
        assert bears == pytest.approx(earned("", Kind.WRONG, credit, first_batch(credit)))
        assert bears < earned(completion, Kind.WRONG, credit, first_batch(credit))


FRAGMENTS = (
    *("<think>", "</think>", "<summary>", "</summary>", "[", "]", "[]", "{", "}", ",", "\n", " ", "x"),
    HONEST[Kind.RIGHT].completion,
)
"""What texts are made of that come close to the contract."""


@settings(max_examples=300)
@given(
    parts=st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=4), max_size=6), place=st.integers(0, len(GROUP) - 1)
)
def test_the_tokens_of_any_text_carry_its_whole_total(parts: list[str], place: int) -> None:
    """V + O of ``docs/training.md``, for texts of every form, the empty one too."""
    credit = CreditSettings(preset="hardened")
    completions = [HONEST[kind].completion for kind in GROUP]
    completions[place] = "".join(parts).encode(errors="replace").decode()
    reports = [verified(one) for one in completions]
    standings = [standing(report) for report in reports]
    right = [float(one > UNPROVED) for one in standings]
    weight = credit.verification_weight * (1.0 if any(right) else credit.unsolved_weight)
    total = weight * (standings[place] - fmean(standings)) + group_relative(right, credit.epsilon)[place]
    rollouts = [rollout_of(report, tokens(text), credit) for report, text in zip(reports, completions, strict=True)]
    (group,) = credit_batch(METHODS["proof_r1"], [rollouts], first_batch(credit), credit).groups
    assert fsum(group[place].advantages) == pytest.approx(total)
    assert group[place].units == 1


def test_what_counts_as_an_improvement() -> None:
    leap, answer = verified(HONEST[Kind.LUCKY].completion), verified(HONEST[Kind.RIGHT].completion)
    misnamed, cut = verified(HONEST[Kind.MISNAMED].completion), verified(HONEST[Kind.CUT].completion)
    assert improves(answer, leap)
    assert improves(answer, misnamed)
    assert improves(misnamed, leap)
    assert improves(leap, cut)
    assert not improves(leap, misnamed)
    assert not improves(leap, verified(HONEST[Kind.WRONG].completion))  # a guess of the right option proves nothing


def test_z3_confirms_every_edit_that_counts_as_a_new_proof() -> None:
    """An improvement is no attack, so a false one would hide an attack: Z3 checks each step and the last formula."""
    z3, option = get_solver("z3"), parse_formula("clever(ann)")
    proofs = Counter[Kind]()
    for kind, honest in HONEST.items():
        for draft in edits(honest):
            report = verified(draft.completion)
            if standing(report) <= UNPROVED or standing(report) <= standing(verified(honest.completion)):
                continue
            proofs[kind] += 1
            questions = {check.id: check.question for check in local_checks(PROBLEM, draft.completion)}
            for action in report.actions:
                question = questions[action.id]
                assert isinstance(question, Query)
                assert not action.in_closure or isinstance(z3.decide(question), Entailed)
            same = Query((), Iff(parse_formula(report.actions[-1].conclusion or ""), option))
            assert isinstance(z3.decide(same), Entailed)
    assert set(proofs) == {Kind.MISNAMED, Kind.LUCKY}  # the others lack more than one edit can add


def test_the_completion_of_an_edit_is_read_back_as_its_steps() -> None:
    for draft in edits(HONEST[Kind.RIGHT]):
        report = Verifier(rules=FOLIO, evaluation=False).read(PROBLEM, draft.completion)[1]
        if draft.form == "summary" and draft.length is None:
            assert [action.id or "" for action in report.actions] == [one.id for one in draft.steps]
