"""Metrics of many completions: accuracy, validity of steps, length, and the outputs left out.

In: problems by id, and a stream of :class:`~proof_r1_formal.proof.report.TraceReport`. Out: :class:`Metrics`, plain
data, overall and per difficulty; ``evaluation.metrics_tables`` shows them. A report is reduced to a few numbers as it
passes, and the order of the reports does not matter (of two reports on the same sample the first counts).

Conventions:

* Every score is a quotient of two sums over outputs (over problems for Pass), so groups merge by adding. 0/0 is a
  score only for the rates of steps of a group with outputs: 0.
* K is the largest number of samples that any problem has. Missing samples count neither as right nor as wrong; how many
  problems lack some is part of the result.
* The spread of a score is the standard deviation (n - 1) of its values per sample number, None for a single sample;
  that of Pass the binomial standard error over problems.
* Problems whose label is Uncertain, and those with inconsistent premises, are in no score; the former are counted in
  :class:`UncertainCounts`.
* A problem without reference answer or proof is only left out of the scores that need it. An output
  that is not parsed is left out of RGD, unless the contract is strict.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from proof_r1_formal.data.problem import Problem
from proof_r1_formal.errors import require_type
from proof_r1_formal.evaluation.estimates import estimates
from proof_r1_formal.evaluation.measures import (
    Contract,
    Eligibility,
    Exclusion,
    Group,
    Measure,
    Metrics,
    Row,
    RuleCounts,
    Sample,
    StepOutcome,
    UncertainCounts,
)
from proof_r1_formal.evaluation.outcomes import output_row, reference_length, step_outcome, under_contract
from proof_r1_formal.proof.report import Code, StepReport, TraceReport
from proof_r1_formal.rules.schema import INVALID_RULE

_DIFFICULTIES = ("easy", "medium", "hard")
_CHECKS = ("schema", "semantic", "rule", "progress")


def evaluate_metrics(
    problems: Mapping[str, Problem],
    reports: Iterable[TraceReport],
    *,
    lengths: Mapping[Sample, int] | None = None,
    eligibility: Eligibility = "own-fault",
    contract: Contract = "per-action",
    resamples: int = 0,
    seed: int = 0,
) -> Metrics:
    """Compute all metrics in one pass over the reports.

    Args:
        problems, eligibility, contract: see :class:`Evaluation`.
        reports: in any order.
        lengths: characters of each completion; looked up as its report passes.
        resamples, seed: see :meth:`Evaluation.metrics`.
    """
    evaluation = Evaluation(problems, eligibility=eligibility, contract=contract)
    for report in reports:
        evaluation.add(report, length=(lengths or {}).get((report.problem_id, report.sample)))
    return evaluation.metrics(resamples=resamples, seed=seed)


@dataclass(slots=True)
class _Output:
    """The contribution of a scored output to the metrics: parts of scores, outcomes of steps, checks by rule."""

    row: Row
    steps: Counter[StepOutcome] = field(default_factory=Counter)
    rules: Counter[tuple[str, str]] = field(default_factory=Counter)


_Outputs: TypeAlias = Mapping[Sample, _Output]


class Evaluation:
    """Metrics of reports that come one at a time.

    Args:
        problems: by id; reports on other problems are counted as excluded.
        eligibility: which failed steps FVR and RVR leave out.
        contract: what an action that is not well formed costs.
    """

    def __init__(
        self,
        problems: Mapping[str, Problem],
        *,
        eligibility: Eligibility = "own-fault",
        contract: Contract = "per-action",
    ) -> None:
        require_type(problems, Mapping, "problems", "read_problems() returns a mapping from id to problem")
        self._problems = problems
        self._eligibility: Eligibility = eligibility
        self._contract: Contract = contract
        self._discarded = 0
        names = dict.fromkeys(problem.difficulty for problem in problems.values())
        self._outputs: dict[str, dict[Sample, _Output]] = {name: {} for name in sorted(names, key=_rank)}
        self._uncertain: dict[str, Counter[str]] = {name: Counter() for name in names}
        self._excluded = Counter(dict.fromkeys(Exclusion, 0))
        self._seen: set[Sample] = set()

    def add(self, report: TraceReport, *, length: int | None = None) -> bool:
        """Count a report on an output of that length. Returns whether it takes part in the scores."""
        sample = (report.problem_id, report.sample)
        problem = self._problems.get(report.problem_id)
        if problem is None or sample in self._seen:
            self._excluded[Exclusion.UNKNOWN_PROBLEM if problem is None else Exclusion.DUPLICATE_SAMPLE] += 1
            return False
        self._seen.add(sample)
        if report.consistency == "inconsistent":
            self._excluded[Exclusion.INCONSISTENT_PREMISES] += 1
            return False
        scored = under_contract(report, self._contract)
        self._discarded += scored is not report
        if problem.is_uncertain:
            self._excluded[Exclusion.UNCERTAIN] += 1
            counts = self._uncertain[problem.difficulty]
            counts.update(outputs=1, right=int(scored.answer_correct is True))
            if scored.uncertain is not None:
                counts[scored.uncertain] += scored.verified or scored.uncertain != "verified"
            return False
        reference = reference_length(problem)
        row = output_row(scored, reference, length, eligibility=self._eligibility, contract=self._contract)
        output = self._outputs[problem.difficulty][sample] = _Output(row)
        if not scored.parsed:
            output.steps[StepOutcome.MALFORMED_SUMMARY] += 1
            return True
        output.steps.update(map(step_outcome, scored.actions))
        for step in scored.actions:
            passed = [name for name in _CHECKS if getattr(step, name)]
            output.rules.update([(_declared_rule(step), name) for name in ("steps", *passed)])
        return True

    def rows(self) -> dict[Sample, Row]:
        """The contribution of each output that takes part in the scores."""
        return {sample: one.row for outputs in self._outputs.values() for sample, one in outputs.items()}

    def metrics(self, *, resamples: int = 0, seed: int = 0) -> Metrics:
        """The metrics of the reports so far, with bootstrap intervals if ``resamples``, of the problems, is not 0."""
        everything = {sample: one for outputs in self._outputs.values() for sample, one in outputs.items()}
        samples = max(Counter(problem_id for problem_id, _ in everything).values(), default=0)
        # A rule is looked up for schema-valid steps only: the names that others declare can be anything.
        known = {rule for one in everything.values() for rule, check in one.rules if check == "schema"}
        answered = {problem_id for problem_id, _ in self._seen}
        absent = Counter(
            problem.difficulty
            for problem_id, problem in self._problems.items()
            if problem_id not in answered and not problem.is_uncertain
        )

        def group(outputs: _Outputs, uncertain: Mapping[str, int], absent: int, stream: str) -> Group:
            problems = Counter(problem_id for problem_id, _ in outputs)
            steps = sum((one.steps for one in outputs.values()), Counter[StepOutcome]())
            rules: defaultdict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(("steps", *_CHECKS), 0))
            for one in outputs.values():
                for (rule, check), count in one.rules.items():
                    rules[rule if rule in known else INVALID_RULE][check] += count
            # Each group draws from its own stream, so that its intervals do not depend on the other groups.
            rng = random.Random(stream.encode("utf-8", "surrogatepass"))
            return Group(
                problems=len(problems),
                outputs=len(outputs),
                incomplete=sum(count < samples for count in problems.values()),
                absent=absent,
                scores=estimates({name: one.row for name, one in outputs.items()}, resamples=resamples, rng=rng),
                steps={outcome: steps[outcome] for outcome in StepOutcome},
                rules={name: RuleCounts(**rules[name]) for name in sorted(rules)},
                uncertain=UncertainCounts(**{name: uncertain.get(name, 0) for name in UncertainCounts.__slots__}),
            )

        return Metrics(
            samples=samples,
            eligibility=self._eligibility,
            contract=self._contract,
            discarded=self._discarded,
            length_unit="characters",
            overall=group(everything, sum(self._uncertain.values(), Counter[str]()), absent.total(), f"{seed}"),
            difficulties={
                name: group(outputs, self._uncertain[name], absent[name], f"{seed}/{name}")
                for name, outputs in self._outputs.items()
            },
            excluded={**self._excluded, **_missing(self.rows().values())},
        )


def _rank(difficulty: str) -> int:
    """The place of a difficulty in tables: the usual names by difficulty, then all others as the problems have them."""
    return _DIFFICULTIES.index(difficulty) if difficulty in _DIFFICULTIES else len(_DIFFICULTIES)


def _declared_rule(step: StepReport) -> str:
    """The rule that a step declares; ``INVALID_RULE`` where it was looked up and there is none, or none is declared."""
    known = all(finding.code is not Code.UNKNOWN_RULE for finding in step.findings)
    return step.declared_rule if step.declared_rule is not None and known else INVALID_RULE


def _missing(rows: Collection[Row]) -> dict[Exclusion, int]:
    """The number of outputs that single scores leave out, by reason; lengths count if an output has one."""
    lengths = [Measure.RESPONSE_LENGTH in row for row in rows]
    return {
        Exclusion.NO_REFERENCE_ANSWER: sum(Measure.AVG not in row for row in rows),
        Exclusion.NO_REFERENCE_PROOF: sum(Measure.LENGTH_RATIO not in row for row in rows),
        Exclusion.NOT_PARSED: sum(Measure.LENGTH_RATIO in row and Measure.RGD not in row for row in rows),
        Exclusion.NO_LENGTH: lengths.count(False) if any(lengths) else 0,
    }
