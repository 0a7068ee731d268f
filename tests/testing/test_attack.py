"""The attack on the checkers of proofs finds what is planted in them; on what is there, it finds nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, get_args

import pytest

from proof_r1_formal.kernel import checker
from proof_r1_formal.kernel.pattern import Lambda
from proof_r1_formal.kernel.signed import TRUTH_TABLES
from proof_r1_formal.kernel.syntax import Implies, Or, Xor
from proof_r1_formal.kernel.term import Line
from proof_r1_formal.testing import attack
from proof_r1_formal.testing.attack import Attack, SecondChecker
from proof_r1_formal.testing.hostile import capturing_instance
from proof_r1_formal.testing.search import Findings, total

Plant: TypeAlias = Callable[[pytest.MonkeyPatch], None]


def letters_that_are_variables(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(checker, "require_letters", lambda _: None)
    patch.setattr(checker, "instance", capturing_instance)


def open_values(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(checker._Checker, "_note", lambda *_: None)
    patch.setattr(checker._Checker, "_sort", lambda _, __, wanted: wanted)
    patch.setattr(Lambda, "free", frozenset())
    patch.setattr(checker, "instance", capturing_instance)


def old_constants(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(checker._Checker, "_new", lambda _, constant, __: constant)


def lines_that_stay(patch: pytest.MonkeyPatch) -> None:
    def block(self: Any, assumptions: Any, lines: Any) -> Any:
        self._lines.extend(assumptions)
        return self.last(lines)

    patch.setattr(checker._Checker, "_block", block)


def anything_is_shown(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(checker._Checker, "_expect", staticmethod(lambda *_: None))


def equals_for_anything(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(checker, "_differ_by", lambda *_: True)


def an_implication_read_backwards(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(checker._WHERE, Implies, checker._where([(y, x, v) for x, y, v in TRUTH_TABLES[Implies]]))


def an_exclusive_or_read_as_or(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(checker._WHERE, Xor, checker._WHERE[Or])


def sorts_that_do_not_count(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(checker._Checker, "_sort", lambda _, __, wanted: wanted)


def premises_that_are_not_noted(patch: pytest.MonkeyPatch) -> None:
    def line(self: Any, number: int) -> Any:
        return self._lines[number] if 0 <= number < len(self._lines) else self._lines[0]

    patch.setattr(checker._Checker, "_line", line)


def signs_that_do_not_count(patch: pytest.MonkeyPatch) -> None:
    instance = checker._Checker._instance
    patch.setattr(checker._Checker, "_instance", staticmethod(lambda q, t, _: instance(q, t, True)))


PLANTS: tuple[Plant, ...] = (
    letters_that_are_variables,
    open_values,
    old_constants,
    lines_that_stay,
    anything_is_shown,
    equals_for_anything,
    an_implication_read_backwards,
    an_exclusive_or_read_as_or,
    sorts_that_do_not_count,
    premises_that_are_not_noted,
    signs_that_do_not_count,
)


@pytest.mark.parametrize("plant", PLANTS, ids=[plant.__name__ for plant in PLANTS])
def test_a_fault_in_the_checker_is_found(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    monkeypatch.setattr(checker, "_proved", type(checker._proved)())
    monkeypatch.setattr(attack, "second_checker", lambda: None)
    first = next((some.failures[0] for some in Attack(seed=3).run(40 * Attack.size) if some.failures), None)
    assert first is not None
    assert first.fault == "accepted, and does not follow"


def test_nothing_is_found_where_nothing_is_planted() -> None:
    found = total(Findings(), Attack(seed=3).run(3 * Attack.size))
    assert found.failures == []
    assert sum(found.examples.values()) == 3 * Attack.size
    assert {kind.__name__ for kind in get_args(Line)} <= found.accepted.keys()
    accepted = sum(found.accepted.values())
    assert accepted > 400
    outcomes = found.outcomes
    assert outcomes["entailed"] + outcomes.get("undecided", 0) == accepted
    assert outcomes.get("undecided", 0) < 5
    assert (
        outcomes["agreed with the second checker"] + outcomes["skipped by the second checker (applies a theorem)"]
        == accepted
    )
    assert outcomes["skipped by the second checker (applies a theorem)"] > 100


def test_a_second_checker_that_refuses_a_proof_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    second = attack.second_checker()
    assert second is not None

    def stricter(second: SecondChecker = second) -> SecondChecker:
        return lambda forgery: second(forgery) or ("too long" if len(forgery.proof) > 3 else "")

    monkeypatch.setattr(attack, "second_checker", stricter)
    found = total(Findings(), Attack(seed=3).run(Attack.size))
    assert {failure.fault for failure in found.failures} == {"accepted, but not by the second checker: too long"}
    assert found.outcomes["refused by the second checker"] == len(found.failures)
