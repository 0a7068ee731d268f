"""Evidence is what was checked: nothing but a proof or a countermodel that holds makes an answer checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pytest
from msgspec import structs

from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.kernel.answer import Answer, Entailed, Reason, Refuted, Unknown
from proof_r1_formal.kernel.confirm import Confirmation, confirm, confirm_by
from proof_r1_formal.kernel.model import Structure
from proof_r1_formal.kernel.query import Query
from proof_r1_formal.kernel.syntax import ENTITY
from tests.build import sequent

FOLLOWS, OTHER = sequent("P(a); P(a) → Q(a) ⊢ Q(a)"), sequent("P(a) → Q(a); P(a) ⊢ Q(a)")
FAILS = sequent("P(a) ∨ Q(a) ⊢ Q(a)")


@dataclass(frozen=True)
class Saying:
    """A kernel that gives one judgement for every answer, also for an answer without evidence."""

    accepted: bool
    reason: str = "it does not compile"

    def judge(self, query: Query, answer: Answer) -> Saying:
        assert (type(query), type(answer) in (Entailed, Refuted)) == (Query, True)
        return self


class Silent:
    """A kernel that cannot be given any evidence."""

    def judge(self, query: Query, answer: Answer) -> None:
        return None


def answer_to(query: Query) -> Answer:
    """The embedded engine's answer, with its evidence."""
    return EmbeddedSolver().decide(query)


def test_a_proof_that_holds_is_checked() -> None:
    found = confirm(FOLLOWS, answer_to(FOLLOWS))
    assert (type(found.answer), found.evidence, found.checked) == (Entailed, "checked", True)
    assert found.used == frozenset({0, 1})


def test_a_countermodel_that_holds_is_checked() -> None:
    found = confirm(FAILS, answer_to(FAILS))
    assert (type(found.answer), found.evidence, found.checked, found.used) == (Refuted, "checked", True, None)


@pytest.mark.parametrize(("asked", "about"), [(FAILS, FOLLOWS), (OTHER, FOLLOWS), (FOLLOWS, FAILS)])
def test_evidence_of_another_question_is_broken(asked: Query, about: Query) -> None:
    found = confirm(asked, answer_to(about))
    assert isinstance(found.answer, Unknown)
    assert (found.answer.reason, found.evidence, found.checked) == (Reason.BROKEN, "unsupported", False)
    assert found.answer.steps == answer_to(about).steps


def test_a_countermodel_that_is_too_large_to_check_stays_open() -> None:
    query = sequent("∀x ∀y ∀z R(x, y, z) ⊢ P(a)")
    large = Structure({ENTITY: 100}, {"R": frozenset(), "P": frozenset()}, {"a": {(): 0}})
    found = confirm(query, Refuted(large, steps=7))
    assert isinstance(found.answer, Unknown)
    assert (found.answer.reason, found.answer.steps, found.evidence) == (Reason.BUDGET, 7, "unsupported")
    assert "500000 steps" in found.answer.detail


def test_a_countermodel_that_leaves_a_symbol_open_is_broken() -> None:
    found = confirm(FAILS, Refuted(Structure({ENTITY: 1}, {"P": frozenset()}, {"a": {(): 0}}), steps=7))
    assert isinstance(found.answer, Unknown)
    assert (found.answer.reason, found.answer.steps, found.evidence) == (Reason.BROKEN, 7, "unsupported")
    assert found.answer.detail == (
        "the solver's countermodel does not hold: the structure does not interpret predicate 'Q'"
    )


@pytest.mark.parametrize("query", [FOLLOWS, FAILS])
def test_an_answer_without_evidence_is_unsupported(query: Query) -> None:
    bare = Entailed() if isinstance(answer_to(query), Entailed) else Refuted()
    found = confirm(query, bare)
    assert (found.answer, found.evidence, found.checked) == (bare, "unsupported", False)
    for kernel in (Saying(accepted=True), Saying(accepted=False)):
        assert confirm_by(kernel, query, found) == found  # no kernel has seen evidence, whatever it says


@pytest.mark.parametrize("query", [FOLLOWS, FAILS])
@pytest.mark.parametrize("evidence", ["checked", "kernel"])
def test_a_kernel_has_the_last_word(query: Query, evidence: Literal["checked", "kernel"]) -> None:
    found = structs.replace(confirm(query, answer_to(query)), evidence=evidence)
    assert confirm_by(Silent(), query, found) == found
    assert confirm_by(Saying(accepted=True), query, found) == Confirmation(found.answer, "kernel", found.used)
    refused = confirm_by(Saying(accepted=False), query, found)
    assert isinstance(refused.answer, Unknown)
    assert (refused.answer.reason, refused.evidence) == (Reason.BROKEN, "unsupported")
    assert "it does not compile" in refused.answer.detail
