"""Assessments: costs of responses, repeated samples, and the rules that training had."""

from __future__ import annotations

import math

import pytest

from proof_r1_formal.data.completions import Completion, Cost
from proof_r1_formal.evaluation.assessment import Assessment, RuleGroup, assess, examine_many
from proof_r1_formal.evaluation.measures import Exclusion, Measure
from proof_r1_formal.evaluation.selection import Choice
from proof_r1_formal.proof.batch import Settings
from proof_r1_formal.rules.catalogue import FOLIO, TRAIN
from tests.build import action, completion, example_completions, example_problems, problem

PROBLEMS = example_problems()
COMPLETIONS = example_completions()


def answer(sample: int, cost: Cost | None = None, problem: str = "garden/1") -> Completion:
    text = completion(action("h_goal_true", "p(a)", "h1", rule="GOAL_BINDING"))
    return Completion(problem_id=problem, completion=text, sample=sample, cost=cost)


def assessed(completions: list[Completion], **options: int) -> Assessment:
    return assess(PROBLEMS, examine_many(PROBLEMS, completions, settings=Settings()), **options)  # type: ignore[arg-type]


def test_the_cost_of_a_repeated_sample_counts_once() -> None:
    first, second, third = Cost(tokens=10, seconds=1.0), Cost(tokens=30, seconds=5.0), Cost(tokens=1000, calls=7)
    found = assessed([answer(0, first), answer(1, second), answer(1, third), answer(0, third)])
    tokens, seconds = found.costs["tokens"], found.costs["seconds"]
    assert (tokens.numerator, tokens.denominator, tokens.value) == (40, 2, 20)
    assert tokens.spread == pytest.approx(20 / math.sqrt(2))
    assert (seconds.numerator, seconds.denominator) == (6, 2)
    assert found.costs["calls"].denominator == 0
    assert found.metrics.excluded[Exclusion.DUPLICATE_SAMPLE] == 2
    assert found.answered == {("garden/1", 0), ("garden/1", 1)}


def test_one_cost_has_no_spread() -> None:
    found = assessed([answer(0, Cost(tokens=10)), answer(1)])
    assert (found.costs["tokens"].denominator, found.costs["tokens"].spread) == (1, None)


def test_the_cost_counts_if_the_scores_leave_the_output_out() -> None:
    found = assessed([answer(0, Cost(tokens=10), problem="garden/4")])  # its answer is Uncertain
    assert found.metrics.overall.outputs == 0
    assert found.costs["tokens"].denominator == 1


def test_a_discarded_output_is_no_choice() -> None:
    """The strict contract discards an output with an answer and a certificate; the other sample is chosen then."""
    pets = problem("cat(tom)", "cat(tom) → shy(tom)", goal="shy(tom)", answer="h_goal_true")
    steps = action("s1", "shy(tom)", "h1", "h2"), action("h_goal_true", "shy(tom)", "s1", rule="GOAL_BINDING")
    texts = completion(steps[0], '"not an object"', steps[1]), completion(*steps)
    completions = [Completion(problem_id=pets.id, sample=n, completion=text) for n, text in enumerate(texts)]
    examined = list(examine_many({pets.id: pets}, completions, settings=Settings()))
    assert [one.certified for one in examined] == [True, True]
    found = assess({pets.id: pets}, examined, contract="strict")
    assert found.metrics.discarded == 1
    assert found.choices[Choice.EVIDENCE].value == found.choices[Choice.CERTIFIED_RIGHT].value == 1.0
    alone = assess({pets.id: pets}, examined[:1], contract="strict")
    assert {choice: share.numerator for choice, share in alone.choices.items()} == dict.fromkeys(Choice, 0)


def test_a_rule_is_unseen_if_training_lacked_it() -> None:
    """The same steps, for a model that was trained with the rules of FOLIO and for one that was not."""
    step = action("s1", "p(a)", "h1", rule="QUANTIFIER_NEGATION")
    answer = Completion(problem_id="garden/1", completion=completion(step))
    examined = list(examine_many(PROBLEMS, [answer], settings=Settings(rules="folio")))
    for seen, group in ((TRAIN, RuleGroup.UNSEEN), (FOLIO, RuleGroup.SEEN)):
        found = assess(PROBLEMS, examined, rules=FOLIO, seen=seen).rule_groups
        counts = {of: found[of][Measure.STRICT_FVR].denominator for of in RuleGroup}
        assert counts == {of: int(of is group) for of in RuleGroup}
    assert assess(PROBLEMS, examined, rules=FOLIO).rule_groups[RuleGroup.UNSEEN][Measure.FVR].denominator == 1


def test_the_seed_changes_intervals_and_nothing_else() -> None:
    first, same, other = (assessed(COMPLETIONS, resamples=60, seed=seed) for seed in (0, 0, 1))
    assert first == same

    def intervals(found: Assessment) -> list[object]:
        groups = found.rule_groups[RuleGroup.SEEN]
        return [found.metrics.overall.scores[Measure.RVR].interval, groups[Measure.RVR].interval]

    assert all(one != another for one, another in zip(intervals(first), intervals(other), strict=True))
    assert first.rows == other.rows
    assert intervals(assessed(COMPLETIONS)) == [None, None]
    assert intervals(assessed(COMPLETIONS, resamples=60)) == intervals(first)
