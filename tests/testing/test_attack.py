"""The attack on the checkers of proofs finds what is planted in them; on what is there, it finds nothing."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from proof_r1_formal.errors import ProofError
from proof_r1_formal.kernel import checker
from proof_r1_formal.kernel.pattern import Lambda
from proof_r1_formal.kernel.signed import TRUTH_TABLES
from proof_r1_formal.kernel.syntax import Implies, Or, Xor
from proof_r1_formal.kernel.term import Line
from proof_r1_formal.testing import attack
from proof_r1_formal.testing.attack import Attack, SecondChecker
from proof_r1_formal.testing.hostile import capturing_instance
from proof_r1_formal.testing.search import Findings, total

Checker = checker._Checker


def block_that_stays(self: Any, assumptions: Any, lines: Any) -> Any:
    self._lines.extend(assumptions)
    return self.last(lines)


def line_that_is_not_noted(self: Any, number: int) -> Any:
    if not self._lines:
        raise ProofError("there is no line")
    return self._lines[number] if 0 <= number < len(self._lines) else self._lines[0]


INSTANCE = Checker._instance
BACKWARDS = checker._where([(y, x, v) for x, y, v in TRUTH_TABLES[Implies]])
FAULTS: dict[str, tuple[tuple[object, str, object], ...]] = {
    "letters may be variables": (
        (checker, "require_letters", lambda _: None),
        (checker, "instance", capturing_instance),
    ),
    "values may be open": (
        (Checker, "_note", lambda *_: None),
        (Checker, "_sort", lambda _, __, wanted: wanted),
        (Lambda, "free", frozenset()),
        (checker, "instance", capturing_instance),
    ),
    "a new constant may be old": ((Checker, "_new", lambda _, constant, __: constant),),
    "the lines of a block stay": ((Checker, "_block", block_that_stays),),
    "anything is shown": ((Checker, "_expect", staticmethod(lambda *_: None)),),
    "equals for anything": ((checker, "_differ_by", lambda *_: True),),
    "→ is read backwards": ((checker, "_WHERE", {**checker._WHERE, Implies: BACKWARDS}),),
    "⊕ is read as ∨": ((checker, "_WHERE", {**checker._WHERE, Xor: checker._WHERE[Or]}),),
    "sorts do not count": ((Checker, "_sort", lambda _, __, wanted: wanted),),
    "premises are not noted": ((Checker, "_line", line_that_is_not_noted),),
    "signs do not count": ((Checker, "_instance", staticmethod(lambda q, t, _: INSTANCE(q, t, True))),),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_the_checker_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for place, name, value in FAULTS[fault]:
        monkeypatch.setattr(place, name, value)
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
