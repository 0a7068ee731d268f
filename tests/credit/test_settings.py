"""Settings of credit: the values of the paper, the answer Uncertain, and alignments of few tokens."""

from __future__ import annotations

import msgspec
import pytest

from proof_r1_formal.credit.align import NOBODY, Alignment, whole
from proof_r1_formal.credit.terms import CreditSettings, with_uncertain
from proof_r1_formal.proof.report import TraceReport
from proof_r1_formal.proof.verify import Verifier
from tests.build import example_answers

VERIFIED = CreditSettings(uncertain="verified")


def test_the_defaults_are_the_values_of_the_paper() -> None:
    """docs/training.md has the formulas that these numbers stand in."""
    assert msgspec.to_builtins(CreditSettings()) == {
        "preset": "paper",
        "verification_weight": 3.0,
        "outcome_weight": 1.0,
        "binding_weight": 1.0,
        "epsilon": 1e-6,
        "unsolved_weight": 0.25,
        "no_positive_weight": 0.1,
        "baseline_start": 0.5,
        "baseline_decay": 0.9,
        "baseline_min": 0.3,
        "baseline_max": 0.7,
        "uncertain": "entailed",
    }


def test_equal_bounds_of_a_baseline_are_bounds() -> None:
    assert CreditSettings(baseline_min=0.5, baseline_max=0.5).baseline_min == 0.5
    with pytest.raises(ValueError, match=r"baseline_min 0\.6 is above baseline_max 0\.5"):
        CreditSettings(baseline_min=0.6, baseline_max=0.5)


def uncertain() -> TraceReport:
    """The report on a right answer Uncertain, which two countermodels verify."""
    problem, answer = next(pair for pair in example_answers() if pair[0].id == "garden/4")
    return Verifier().verify(problem, answer.completion)


def test_a_verified_uncertain_answer_passes_every_check() -> None:
    report = uncertain()
    assert (report.verified, report.actions[-1].semantic, report.actions[-1].signal) == (True, False, 0.1)
    found = with_uncertain(report, VERIFIED)
    assert found.actions[:-1] == report.actions[:-1]
    last = found.actions[-1]
    assert (last.schema, last.semantic, last.rule, last.progress, last.signal) == (True, True, True, True, 1.0)
    assert msgspec.structs.replace(found, actions=report.actions) == report


def test_other_answers_keep_their_verdicts() -> None:
    report = uncertain()
    assert with_uncertain(report, CreditSettings()) == report
    *steps, last = report.actions
    renamed = msgspec.structs.replace(last, declared_rule="IMPLICATION_ELIMINATION")
    for other in (
        msgspec.structs.replace(report, verified=False),
        msgspec.structs.replace(report, uncertain="undecided"),
        msgspec.structs.replace(report, uncertain=None),
        msgspec.structs.replace(report, actions=(*steps, renamed)),
    ):
        assert with_uncertain(other, VERIFIED) == other


def test_an_action_of_one_token_is_mapped_and_gets_its_whole_advantage() -> None:
    alignment = Alignment((NOBODY, 0, 1, 1, NOBODY), (1, 2, 0))
    assert alignment.mapped == (True, True, False)
    assert alignment.project((0.5, -1.0, 8.0)) == (0.0, 0.5, -0.5, -0.5, 0.0)
    assert alignment.without_first() == Alignment((0, 1, 1, NOBODY), (1, 2, 0))
    assert alignment.without_first().without_first() == Alignment((1, 1, NOBODY), (0, 2, 0))
    with pytest.raises(ValueError, match=r"shorter|longer"):
        alignment.project((0.5, -1.0))


def test_all_tokens_may_belong_to_the_first_action() -> None:
    assert whole([1, 1, 1], 2) == Alignment((0, 0, 0), (3, 0))
    assert whole([1], 1) == Alignment((0,), (1,))
    assert whole([1, 1, 1], 2).project((3.0, 9.0)) == (1.0, 1.0, 1.0)
    assert whole([1, 0, 0, 1], 1) == Alignment((0, NOBODY, NOBODY, 0), (2,))
