"""No completion earns what it has not proved, whatever its ids are and whatever they do to its worker."""

from __future__ import annotations

import logging
import sys
from functools import cache
from math import fsum
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof_r1_formal import Verifier
from proof_r1_formal.credit.align import NOBODY, Alignment
from proof_r1_formal.credit.assigner import BatchCredit, CreditAssigner
from proof_r1_formal.credit.methods import Rollout
from proof_r1_formal.credit.terms import PresetName
from proof_r1_formal.workers import pool as scheduler
from studies.reward_edits import PROBLEM
from studies.reward_search import GROUP, HONEST, TOLERANCE, Kind, improves, place_of
from tests.build import byte_ids, byte_tokenizer

END, SUMMARY, SUMMARY_END, THINK, THINK_END, STOP, UNKNOWN = 256, 257, 258, 259, 260, 261, 999
SPECIAL = {
    "<end>": END,
    "<summary>": SUMMARY,
    "</summary>": SUMMARY_END,
    "<think>": THINK,
    "</think>": THINK_END,
    "<|turn|>": STOP,
}
PRESETS = get_args(PresetName)
HARD: tuple[PresetName, ...] = ("hardened", "strict")


TOKENIZER = byte_tokenizer(*SPECIAL)
"""A token for each byte, and the tags as special tokens."""


@cache
def assigner(preset: PresetName) -> CreditAssigner:
    return CreditAssigner(TOKENIZER, preset=preset, rules="folio", workers=0)


def ids_of(kind: Kind) -> list[int]:
    return byte_ids(HONEST[kind].completion)


def with_tags(ids: list[int]) -> list[int]:
    """The same completion with its tags as special tokens."""
    text = bytes(ids[:-1]).decode()
    for tag, number in SPECIAL.items():
        text = text.replace(tag, chr(0xE000 + number))
    parts = [[ord(sign) - 0xE000] if ord(sign) >= 0xE000 else [*sign.encode()] for sign in text]
    return [*[number for part in parts for number in part], END]


@cache
def honest(preset: PresetName, kind: Kind) -> Rollout:
    (found,) = assigner(preset).verify([PROBLEM], [ids_of(kind)])
    return found


def credited(preset: PresetName, kind: Kind, rollout: Rollout) -> BatchCredit:
    """The credit of the honest group with a rollout in place of one of the kind, in a first batch."""
    rollouts = [honest(preset, one) for one in GROUP]
    rollouts[place_of(kind)] = rollout
    return CreditAssigner(TOKENIZER, preset=preset, rules="folio", workers=0).assign(rollouts, len(GROUP))


def earned(preset: PresetName, kind: Kind, rollout: Rollout) -> float:
    return fsum(credited(preset, kind, rollout).advantages[place_of(kind)])


def spoiled(ids: list[int], place: int) -> list[int]:
    return [*ids[:place], UNKNOWN, *ids[place:]]


# -- ids without bytes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", ["shared", *HARD])
def test_an_id_without_bytes_is_no_way_out(preset: PresetName) -> None:
    wrong = ids_of(Kind.WRONG)
    for ids in (spoiled(wrong, 0), spoiled(wrong, len(wrong) // 2), [*wrong, UNKNOWN], [UNKNOWN]):
        (rollout,) = assigner(preset).verify([PROBLEM], [ids])
        found = credited(preset, Kind.WRONG, rollout)
        assert found.broken == 1
        assert found.metrics["unverified"] == 0.0
        sums = [fsum(one) for one in found.advantages]
        assert len(found.advantages[place_of(Kind.WRONG)]) == len(ids)
        assert sums[place_of(Kind.WRONG)] == pytest.approx(sums[GROUP.index(Kind.CUT)], abs=1e-9)
        assert sums[place_of(Kind.WRONG)] < -1.0


@pytest.mark.parametrize("preset", HARD)
def test_ids_earn_more_only_for_what_they_prove(preset: PresetName) -> None:
    numbers = st.one_of(st.integers(0, 263), st.sampled_from([*SPECIAL.values(), UNKNOWN]))

    @given(st.sampled_from(Kind), st.data())
    @settings(deadline=None, max_examples=150)
    def holds(kind: Kind, data: st.DataObject) -> None:
        ids = with_tags(ids_of(kind)) if data.draw(st.booleans()) else ids_of(kind)
        for _ in range(data.draw(st.integers(1, 3))):
            start = data.draw(st.integers(0, len(ids)))
            stop = data.draw(st.sampled_from([start, min(start + 1, len(ids)), len(ids)]))
            ids = [*ids[:start], *data.draw(st.lists(numbers, max_size=3)), *ids[stop:]]
        (rollout,) = assigner(preset).verify([PROBLEM], [ids])
        before = honest(preset, kind)
        if not improves(rollout.report, before.report):
            assert earned(preset, kind, rollout) <= earned(preset, kind, before) + TOLERANCE

    holds()


@pytest.mark.parametrize("preset", ["shared", *HARD])
@pytest.mark.parametrize("ids", [[], [END]])
def test_the_end_of_an_empty_completion_bears_its_credit(preset: PresetName, ids: list[int]) -> None:
    (rollout,) = assigner(preset).verify([PROBLEM], [ids])
    found = credited(preset, Kind.WRONG, rollout).advantages
    ((only,), cut) = found[place_of(Kind.WRONG)], found[GROUP.index(Kind.CUT)]
    assert only == pytest.approx(fsum(cut), abs=1e-9)
    assert only < -1.0


@pytest.mark.parametrize("preset", ["shared", *HARD])
def test_replies_of_tools_are_no_way_out(preset: PresetName) -> None:
    """The loss leaves their tokens out, so a rollout without a step bears its total on its own tokens alone."""
    (empty,) = assigner(preset).verify([PROBLEM], [[]])
    own = (1,) * 4

    def borne(*mask: int) -> float:
        rollout = assigner(preset).turns(empty.report, Alignment((NOBODY,) * len(mask), ()), mask)
        earned = credited(preset, Kind.WRONG, rollout).advantages[place_of(Kind.WRONG)]
        return fsum([advantage for advantage, model in zip(earned, mask, strict=True) if model])

    assert borne(*own, *[0] * 96, *own) == pytest.approx(borne(*own, *own))
    assert borne(*own, *own) < -1.0


# -- completions that break their worker ------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", HARD)
def test_a_completion_that_outlasts_its_worker_is_wrong(preset: PresetName, closed: None) -> None:
    actions = ",".join([f'{{"id":"s{n}","dependencies":["h1"],"conclusion":"⊤","rule":"X"}}' for n in range(20_000)])
    ids = byte_ids(f"<summary>[{actions}]</summary>")
    with CreditAssigner(TOKENIZER, preset=preset, rules="folio", timeout=1e-3) as impatient:
        (rollout,) = impatient.verify([PROBLEM], [ids])
    found = credited(preset, Kind.WRONG, rollout)
    sums = [fsum(one) for one in found.advantages]
    assert (found.broken, found.metrics["unverified"]) == (1, 0.0)
    assert sums[place_of(Kind.WRONG)] == pytest.approx(sums[GROUP.index(Kind.CUT)], abs=1e-9)
    assert sums[place_of(Kind.WRONG)] < -1.0


def test_an_error_of_the_verifier_is_no_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RecursionError("too deep")

    before = earned("hardened", Kind.WRONG, honest("hardened", Kind.WRONG))
    failing = CreditAssigner(TOKENIZER, preset="hardened", rules="folio", workers=0)
    monkeypatch.setattr(Verifier, "verify", fail)
    (rollout,) = failing.verify([PROBLEM], [ids_of(Kind.WRONG)])
    assert (rollout.failure, rollout.verified) == ("RecursionError: too deep", True)
    assert earned("hardened", Kind.WRONG, rollout) < before < -1.0


def test_where_no_worker_starts_a_completion_leaves_its_group(monkeypatch: pytest.MonkeyPatch, closed: None) -> None:
    monkeypatch.setattr(scheduler, "PAUSE", 0.01)
    with CreditAssigner(TOKENIZER, preset="hardened", rules="folio", timeout=0.5) as lost:
        lost.verify([PROBLEM], [[END]])
        monkeypatch.setattr(sys, "executable", "/no/such/python")
        assert lost._workers is not None
        for worker in list(lost._workers._pool.workers):  # type: ignore[attr-defined]
            worker.kill()
        (rollout,) = lost.verify([PROBLEM], [ids_of(Kind.WRONG)])
    assert not rollout.verified
    found = credited("hardened", Kind.WRONG, rollout)
    assert (found.broken, found.metrics["unverified"]) == (0, 1.0)
    assert not any(found.advantages[place_of(Kind.WRONG)])


# -- tags that are special tokens -------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("kind", [Kind.RIGHT, Kind.WRONG])
@pytest.mark.parametrize("end", [[END], [STOP], [STOP, END], []])
def test_tags_that_are_special_tokens_are_read(preset: PresetName, kind: Kind, end: list[int]) -> None:
    ids = [*with_tags(ids_of(kind))[:-1], *end]
    assert {SUMMARY, SUMMARY_END, THINK, THINK_END} <= {*ids}
    (rollout,) = assigner(preset).verify([PROBLEM], [ids])
    assert rollout.report == honest(preset, kind).report
    assert len(rollout.alignment.owners) == len(ids)
    assert earned(preset, kind, rollout) == pytest.approx(earned(preset, kind, honest(preset, kind)), abs=1e-9)


def test_a_batch_in_which_nothing_parses_is_reported_once(caplog: pytest.LogCaptureFixture) -> None:
    silent, ids = CreditAssigner(TOKENIZER, workers=0), ids_of(Kind.RIGHT)
    with caplog.at_level(logging.WARNING):
        silent.credit([PROBLEM] * 2, [ids, ids_of(Kind.CUT)], 2)
        assert not caplog.messages
        for _ in range(2):
            silent.credit([PROBLEM] * 2, [[*b"So it is.", END], spoiled(ids, 3)], 2)
    (message,) = caplog.messages
    assert "no completion of a batch of 2 has a summary that parses" in message
    assert "has no token of id 999" in message
