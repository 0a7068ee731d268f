"""Diagnostics of credit: centring worked out by hand, shares of signals, and terms that add up to the advantages."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import pytest

from proof_r1_formal import INVALID_RULE, TRAIN, Problem, ProofR1Error, Verifier
from proof_r1_formal.credit.assigner import CreditAssigner
from proof_r1_formal.credit.diagnostics import (
    Centring,
    batch_metrics,
    centring,
    signal_shares,
    signals_by_problem,
    token_terms,
)
from tests.build import action, byte_ids, completion, problem
from tests.models.agent_replies import BAD, GOOD, PROBLEM

Answers = list[tuple[Problem, str]]
A, B, C = "CONJUNCTION_ELIMINATION", "MODUS_TOLLENS", "GOAL_BINDING"


def test_the_errors_of_two_centring_values_by_hand() -> None:
    """Each of two problems is predicted by the other."""
    found = centring([[(A, 1.0), (A, 0.0), (B, 0.3)], [(A, 0.5), (B, 0.5), (C, 0.5)]], folds=2)
    # first fold: values from the second problem, 0.5 for all; the means are A 0.5, B 0.3
    # second fold: values from the first problem, 1.3 / 3 for all, A 0.5, B 0.3; C is unknown there
    one = 1.3 / 3
    assert found[A] == Centring(3, pytest.approx(sqrt((0.5 - one) ** 2 / 3)), 0.0)  # type: ignore[arg-type]
    assert found[B].one == pytest.approx(sqrt((0.2**2 + (0.5 - one) ** 2) / 2))
    assert found[B].per_rule == pytest.approx(sqrt((0.2**2 + 0.2**2) / 2))
    assert found[C].one == found[C].per_rule == pytest.approx(0.5 - one)
    whole = (0.5 - one) ** 2 + 0.2**2 + (0.5 - one) ** 2 + (0.5 - one) ** 2
    assert found["all"] == Centring(6, pytest.approx(sqrt(whole / 6)), found["all"].per_rule)  # type: ignore[arg-type]


def test_a_value_per_rule_predicts_rules_that_differ() -> None:
    found = centring([[(A, 1.0), (B, 0.0)]] * 10)
    assert (found["all"].one, found["all"].per_rule) == (0.5, 0.0)


@pytest.mark.parametrize(("problems", "folds"), [(3, 1), (3, 4), (0, 2)])
def test_folds_without_problems_are_refused(problems: int, folds: int) -> None:
    with pytest.raises(ValueError, match="folds of"):
        centring([[(A, 1.0)]] * problems, folds=folds)


def test_signals_are_those_of_the_reports() -> None:
    pets = problem("cat(tom)", "cat(tom) → shy(tom)", goal="shy(tom)", answer="h_goal_true")
    steps = (
        action("s1", "shy tom", "h1", "h2"),
        action("s2", "cat tom ∧ shy tom", "h1", "s1", rule="MODUS_TOLLENS"),
        action("s3", "dog tom", "h1", rule="NONSENSE"),
    )
    reports = [Verifier().verify(pets, completion(*steps))] * 2
    [found] = signals_by_problem(reports, TRAIN)
    assert found == [("IMPLICATION_ELIMINATION", 1.0), ("MODUS_TOLLENS", 0.3), (INVALID_RULE, 0.1)] * 2
    shares = {"signal_0": 0.0, "signal_0.1": 1 / 3, "signal_0.3": 1 / 3, "signal_1": 1 / 3}
    assert signal_shares(reports) == pytest.approx(shares)
    assert set(signal_shares([]).values()) == {0.0}


@pytest.mark.parametrize("method", ["proof_r1", "no_verification", "no_closure"])
def test_the_terms_add_up_to_the_advantages(answers: Answers, byte_tokenizer: str, method: str) -> None:
    given = [*answers, (PROBLEM, GOOD), (PROBLEM, BAD)]  # an eligible answer is right, and one is wrong
    problems, ids = [one for one, _ in given], [byte_ids(text) for _, text in given]
    with CreditAssigner(byte_tokenizer, method=method, workers=0) as assigner:
        rollouts = assigner.verify(problems, ids)
        for _ in range(2):  # the second time with averages that have moved
            terms = token_terms(rollouts, 2, assigner.state_dict(), method=method)
            credit = assigner.assign(rollouts, 2)
            assert terms.divisor == credit.divisor
            for verification, outcome, whole in zip(terms.verification, terms.outcome, credit.advantages, strict=True):
                assert [v + o for v, o in zip(verification, outcome, strict=True)] == pytest.approx(whole)
    silent = not any(map(any, terms.verification))
    assert silent == (method == "no_verification")
    assert any(map(any, terms.outcome))


def test_a_rollout_that_is_not_verified_has_terms_of_nothing(answers: Answers, byte_tokenizer: str) -> None:
    problems, ids = [one for one, _ in answers[:2]], [[*text.encode(), 256] for _, text in answers[:2]]
    with CreditAssigner(byte_tokenizer, workers=0) as assigner:
        first, second = assigner.verify(problems, ids)
        rollouts = [first, replace(second, verified=False)]
        terms = token_terms(rollouts, 2, assigner.state_dict())
        credit = assigner.assign(rollouts, 2)
    assert set(terms.verification[1]) == set(terms.outcome[1]) == set(credit.advantages[1]) == {0.0}
    assert len(terms.verification[1]) == len(credit.advantages[1])
    assert any(terms.verification[0])


def test_a_method_without_credit_of_actions_has_no_terms(answers: Answers, byte_tokenizer: str) -> None:
    problems, ids = [one for one, _ in answers], [byte_ids(text) for _, text in answers]
    with CreditAssigner(byte_tokenizer, method="grpo", workers=0) as assigner:
        rollouts = assigner.verify(problems, ids)
        with pytest.raises(ProofR1Error, match="'grpo' does not credit actions"):
            token_terms(rollouts, 2, assigner.state_dict(), method="grpo")


def test_the_means_of_a_batch_by_hand() -> None:
    pets = problem("cat(tom)", "cat(tom) → shy(tom)", goal="shy(tom)", answer="h_goal_true")
    shy, bound = action("s1", "shy(tom)", "h1", "h2"), action("h_goal_true", "shy(tom)", "s1", rule="GOAL_BINDING")
    useless = action("s2", "cat(tom) ∧ shy(tom)", "h1", "s1", rule="CONJUNCTION_INTRODUCTION")
    texts = [
        completion(shy, useless, bound),  # three signals of 1, one of them of no use
        completion({**shy, "rule": "MODUS_TOLLENS"}, bound),  # 0.3 twice: verified, not by the rules
        completion(action("h_goal_true", "shy(tom)", "h1", rule="GOAL_BINDING")),  # 0.1: a guess
        completion(action("h_goal_false", "¬shy(tom)", "h1", rule="GOAL_BINDING")),  # 0.1
        "no summary",  # 0
    ]
    assert batch_metrics([Verifier(evaluation=False).verify(pets, text) for text in texts]) == pytest.approx(
        {
            "signal": (3 * 1.0 + 2 * 0.3 + 2 * 0.1) / 8,
            "signal_0": 1 / 8,
            "signal_0.1": 2 / 8,
            "signal_0.3": 2 / 8,
            "signal_1": 3 / 8,
            "FVR": 5 / 7,
            "RVR": 3 / 6,  # the second binding rests on a step that is not an instance
            "right": 3 / 5,
            "verified": 2 / 5,
            "rule_verified": 1 / 5,
            "parsed": 4 / 5,
            "eligible": 4 / 5,
            "actions": 8 / 5,
            "useless": 1 / 5,
        }
    )
