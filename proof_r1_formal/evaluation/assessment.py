"""The assessment of one set of completions, computed in one pass.

In: problems, and :class:`~proof_r1_formal.evaluation.verdicts.Examined` completions as they come. Out: an
:class:`Assessment`, plain data, for tables and pictures.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import stdev

from proof_r1_formal.data.completions import Cost
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.evaluation.diagnosis import Diagnosis
from proof_r1_formal.evaluation.estimates import estimates
from proof_r1_formal.evaluation.measures import (
    INVALID_RULE,
    Contract,
    Eligibility,
    Estimate,
    Measure,
    Metrics,
    Row,
    Sample,
)
from proof_r1_formal.evaluation.metrics import Evaluation
from proof_r1_formal.evaluation.outcomes import rule_name, step_parts, under_contract
from proof_r1_formal.evaluation.selection import Chosen, Selection
from proof_r1_formal.evaluation.verdicts import Examined
from proof_r1_formal.proof.report import StepReport
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
        fvr, strict_fvr, rvr, strict_rvr: as in ``Measure``, over these steps.
    """

    steps: int
    fvr: Estimate
    strict_fvr: Estimate
    rvr: Estimate
    strict_rvr: Estimate


@dataclass(frozen=True, slots=True)
class Costs:
    """Mean costs of responses, over those that state them; the spread is over responses.

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
        rows: what each output that takes part in the scores adds to them.
        rule_groups: the scores of steps by their own rule.
        diagnosis: of the outputs that take part in the scores.
        chosen: accuracy of the selection by evidence, over problems with outputs that take part in the scores.
        costs: of the responses.
        failures: samples for which the model gave no completion; they are in no score.
    """

    metrics: Metrics
    rows: dict[Sample, Row]
    rule_groups: dict[RuleGroup, StepScores]
    diagnosis: Diagnosis
    chosen: Chosen
    costs: Costs
    failures: int


def assess(
    problems: Mapping[str, Problem],
    examined: Iterable[Examined],
    *,
    lengths: Mapping[Sample, int] | None = None,
    costs: Mapping[Sample, Cost] | None = None,
    failures: Iterable[Sample] = (),
    rules: Catalogue = TRAIN,
    seen: Catalogue = TRAIN,
    eligibility: Eligibility = "own-fault",
    contract: Contract = "per-action",
    resamples: int = 0,
    seed: int = 0,
) -> Assessment:
    """Count everything in one pass.

    Args:
        problems: by id.
        examined: in any order.
        lengths: characters of each completion; looked up as it passes.
        costs: of the responses that state them.
        failures: samples without a completion.
        rules: of the verification.
        seen: the rules used in training.
        eligibility, contract, resamples, seed: see :func:`~proof_r1_formal.evaluation.metrics.evaluate_metrics`.
    """
    whole = Evaluation(problems, lengths=lengths, eligibility=eligibility, contract=contract)
    groups = {group: _RuleGroupTally(eligibility) for group in RuleGroup}
    diagnosis = Diagnosis()
    selection = Selection()
    answered: set[Sample] = set()
    for one in examined:
        report = one.report
        sample = (report.problem_id, report.sample)
        answered.add(sample)
        if not whole.add(report):
            continue
        kept = under_contract(report, contract)
        by_group: dict[RuleGroup, list[StepReport]] = {group: [] for group in RuleGroup}
        for step in kept.actions if kept.parsed else ():
            by_group[_group_of(step, rules, seen)].append(step)
        for group, steps in by_group.items():
            groups[group].add(sample, steps)
        diagnosis.add(report, one.misnamed, rules)
        selection.add(report.problem_id, problems[report.problem_id].answer, replace(one, report=kept).candidate())
    return Assessment(
        metrics=whole.metrics(resamples=resamples, seed=seed),
        rows=whole.rows(),
        rule_groups={group: tally.scores(resamples, random.Random(seed)) for group, tally in groups.items()},
        diagnosis=diagnosis,
        chosen=selection.chosen(),
        costs=_costs((costs or {}).values()),
        failures=sum(sample[0] in problems and sample not in answered for sample in failures),
    )


def _group_of(step: StepReport, rules: Catalogue, seen: Catalogue) -> RuleGroup:
    name = rule_name(step, rules)
    if name == INVALID_RULE:
        return RuleGroup.INVALID
    return RuleGroup.UNSEEN if seen.find(name) is None else RuleGroup.SEEN


class _RuleGroupTally:
    """What the steps of one rule group add up to."""

    def __init__(self, eligibility: Eligibility) -> None:
        self._eligibility: Eligibility = eligibility
        self._steps = 0
        self._rows: dict[Sample, Row] = {}

    def add(self, sample: Sample, steps: Sequence[StepReport]) -> None:
        """Count the steps of an output that are in the group; there may be none."""
        self._steps += len(steps)
        self._rows[sample] = step_parts(steps, eligibility=self._eligibility)

    def scores(self, resamples: int, rng: random.Random) -> StepScores:
        """The result."""
        measures = (Measure.FVR, Measure.STRICT_FVR, Measure.RVR, Measure.STRICT_RVR)
        scores = estimates(self._rows, measures=measures, resamples=resamples, rng=rng)
        return StepScores(self._steps, *[scores[measure] for measure in measures])


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
