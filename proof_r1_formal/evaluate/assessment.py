"""All that evaluation says about one set of completions, counted in one pass.

In: problems, and :class:`~proof_r1_formal.evaluate.examine.Examined` completions as they come. Out: an
:class:`Assessment`, plain data, for tables and pictures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from enum import StrEnum
from statistics import stdev

from msgspec import structs

from proof_r1_formal.data.completions import Cost
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.evaluate.diagnosis import Diagnosis
from proof_r1_formal.evaluate.examine import Examined
from proof_r1_formal.evaluate.measures import INVALID_RULE, Estimate, Measure, Metrics, Sample
from proof_r1_formal.evaluate.metrics import Evaluation
from proof_r1_formal.evaluate.outputs import rule_name
from proof_r1_formal.evaluate.selection import Chosen, Selection
from proof_r1_formal.proof.report import StepReport, TraceReport
from proof_r1_formal.rules.catalogue import TRAIN
from proof_r1_formal.rules.schema import Catalogue


class RuleGroup(StrEnum):
    """Rules by whether training had them; a step is in the group of the rule that it declares itself."""

    SEEN = "seen"
    UNSEEN = "unseen"
    INVALID = "no rule"


@dataclass(frozen=True, slots=True)
class StepScores:
    """The scores of the steps of a rule group: their verdicts are those of the whole trace.

    Attributes:
        steps: in parsed outputs.
        fvr, rvr: as in ``Measure``, over these steps.
    """

    steps: int
    fvr: Estimate
    rvr: Estimate


@dataclass(frozen=True, slots=True)
class Costs:
    """What responses cost, on average over those that say so; the spread is that over responses.

    Attributes:
        tokens: that the model wrote.
        seconds: until the response was there.
        calls: of the model.
    """

    tokens: Estimate
    seconds: Estimate
    calls: Estimate


@dataclass(frozen=True, slots=True)
class Assessment:
    """What :func:`assess` returns.

    Attributes:
        metrics: of all completions.
        rule_groups: the scores of steps by their own rule.
        diagnosis: of the outputs that take part in the scores.
        chosen: how good the choice by evidence is, over problems with outputs that take part in the scores.
        costs: of the responses.
    """

    metrics: Metrics
    rule_groups: dict[RuleGroup, StepScores]
    diagnosis: Diagnosis
    chosen: Chosen
    costs: Costs


def assess(
    problems: Mapping[str, Problem],
    examined: Iterable[Examined],
    *,
    lengths: Mapping[Sample, int] | None = None,
    costs: Mapping[Sample, Cost] | None = None,
    seen: Catalogue = TRAIN,
    resamples: int = 0,
    seed: int = 0,
) -> Assessment:
    """Count everything in one pass.

    Args:
        problems: by id.
        examined: in any order.
        lengths: characters of each completion; looked up as it passes.
        costs: of the responses that say what they cost.
        seen: the rules that training had.
        resamples, seed: for bootstrap intervals; see :class:`~proof_r1_formal.evaluate.metrics.Evaluation`.
    """
    known = {rule.name for rule in seen.rules}
    whole = Evaluation(problems, lengths=lengths)
    by_group = {group: Evaluation(problems) for group in RuleGroup}
    diagnosis = Diagnosis()
    selection = Selection()
    for one in examined:
        report = one.report
        for group, evaluation in by_group.items():
            evaluation.add(_only(report, group, known))
        if not whole.add(report):
            continue
        diagnosis.add(report, one.misnamed)
        selection.add(report.problem_id, problems[report.problem_id].answer, one.candidate())
    measured = {group: evaluation.metrics(resamples=resamples, seed=seed) for group, evaluation in by_group.items()}
    return Assessment(
        metrics=whole.metrics(resamples=resamples, seed=seed),
        rule_groups={group: _step_scores(metrics) for group, metrics in measured.items()},
        diagnosis=diagnosis,
        chosen=selection.chosen(),
        costs=_costs((costs or {}).values()),
    )


def _group_of(step: StepReport, known: Set[str]) -> RuleGroup:
    name = rule_name(step)
    if name == INVALID_RULE:
        return RuleGroup.INVALID
    return RuleGroup.SEEN if name in known else RuleGroup.UNSEEN


def _only(report: TraceReport, group: RuleGroup, known: Set[str]) -> TraceReport:
    """The report as if there were no other steps; their verdicts stay."""
    return structs.replace(report, actions=tuple([s for s in report.actions if _group_of(s, known) is group]))


def _step_scores(metrics: Metrics) -> StepScores:
    scores = metrics.overall.scores
    steps = sum(counts.steps for counts in metrics.overall.rules.values())
    return StepScores(steps, scores[Measure.FVR], scores[Measure.RVR])


def _costs(costs: Iterable[Cost]) -> Costs:
    found = list(costs)
    return Costs(
        _mean([cost.tokens for cost in found]),
        _mean([cost.seconds for cost in found]),
        _mean([cost.calls for cost in found]),
    )


def _mean(values: Iterable[float | None]) -> Estimate:
    given = [value for value in values if value is not None]
    spread = stdev(given) if len(given) > 1 else None
    return Estimate(sum(given) / len(given) if given else 0.0, sum(given), len(given), spread)
