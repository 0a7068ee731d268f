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
from collections.abc import Iterable, Mapping, Set

from proof_r1_formal.data.problem import Problem
from proof_r1_formal.errors import require_type
from proof_r1_formal.evaluation.estimates import estimates
from proof_r1_formal.evaluation.measures import (
    INVALID_RULE,
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

_DIFFICULTIES = ("easy", "medium", "hard")
_REQUIRED = {Measure.AVG: Exclusion.NO_REFERENCE_ANSWER, Measure.LENGTH_RATIO: Exclusion.NO_REFERENCE_PROOF}


def evaluate_metrics(
    problems: Mapping[str, Problem],
    reports: Iterable[TraceReport],
    *,
    lengths: Mapping[Sample, int] | None = None,
    length_unit: str = "characters",
    eligibility: Eligibility = "own-fault",
    contract: Contract = "per-action",
    resamples: int = 0,
    seed: int = 0,
) -> Metrics:
    """Compute all metrics in one pass over the reports.

    Args:
        problems, lengths, length_unit, eligibility, contract: see :class:`Evaluation`.
        reports: in any order.
        resamples, seed: see :meth:`Evaluation.metrics`.
    """
    evaluation = Evaluation(
        problems, lengths=lengths, length_unit=length_unit, eligibility=eligibility, contract=contract
    )
    for report in reports:
        evaluation.add(report)
    return evaluation.metrics(resamples=resamples, seed=seed)


class Evaluation:
    """Metrics of reports that come one at a time.

    Args:
        problems: by id; reports on other problems are counted as excluded.
        lengths: length of each completion in ``length_unit``; looked up as its report passes.
        length_unit: ``characters``, or ``tokens`` if the caller has a tokenizer.
        eligibility: which failed steps FVR and RVR leave out.
        contract: what an action that is not well formed costs.
    """

    def __init__(
        self,
        problems: Mapping[str, Problem],
        *,
        lengths: Mapping[Sample, int] | None = None,
        length_unit: str = "characters",
        eligibility: Eligibility = "own-fault",
        contract: Contract = "per-action",
    ) -> None:
        require_type(problems, Mapping, "problems", "read_problems() returns a mapping from id to problem")
        self._problems = problems
        self._lengths = lengths
        self._length_unit = length_unit
        self._eligibility: Eligibility = eligibility
        self._contract: Contract = contract
        self._discarded = 0
        self._required = _REQUIRED if lengths is None else _REQUIRED | {Measure.RESPONSE_LENGTH: Exclusion.NO_LENGTH}
        named = dict.fromkeys(problem.difficulty for problem in problems.values())
        self._tallies = {name: _Tally() for name in sorted(named, key=_rank)}
        self._excluded = Counter(dict.fromkeys(Exclusion, 0))
        self._seen: set[Sample] = set()

    def add(self, report: TraceReport) -> bool:
        """Count a report. Returns whether it takes part in the scores."""
        sample = (report.problem_id, report.sample)
        problem = self._problems.get(report.problem_id)
        if problem is None:
            self._excluded[Exclusion.UNKNOWN_PROBLEM] += 1
            return False
        if sample in self._seen:
            self._excluded[Exclusion.DUPLICATE_SAMPLE] += 1
            return False
        self._seen.add(sample)
        tally = self._tallies[problem.difficulty]
        if report.consistency == "inconsistent":
            self._excluded[Exclusion.INCONSISTENT_PREMISES] += 1
            return False
        if problem.is_uncertain:
            self._excluded[Exclusion.UNCERTAIN] += 1
            tally.add_uncertain(report)
            return False
        length = None if self._lengths is None else self._lengths.get(sample)
        kept = under_contract(report, self._contract)
        self._discarded += kept is not report
        row = output_row(
            kept, reference_length(problem), length, eligibility=self._eligibility, contract=self._contract
        )
        tally.add(kept, row)
        self._excluded.update(reason for measure, reason in self._required.items() if measure not in row)
        self._excluded[Exclusion.NOT_PARSED] += Measure.LENGTH_RATIO in row and Measure.RGD not in row
        return True

    def rows(self) -> dict[Sample, Row]:
        """What each output that takes part in the scores adds to them."""
        return {sample: row for tally in self._tallies.values() for sample, row in tally.rows.items()}

    def metrics(self, *, resamples: int = 0, seed: int = 0) -> Metrics:
        """The metrics of the reports so far.

        Args:
            resamples: number of bootstrap resamples of the problems; 0 for no intervals.
            seed: of the bootstrap.
        """
        overall = _Tally()
        for tally in self._tallies.values():
            overall.merge(tally)
        samples = max(Counter(problem_id for problem_id, _ in overall.rows).values(), default=0)
        # A rule is looked up for schema-valid steps only: the names that others declare can be anything.
        known = {name for name, verdicts in overall.rules.items() if verdicts["schema"]}
        answered = {problem_id for problem_id, _ in self._seen}
        absent = Counter(
            problem.difficulty
            for problem_id, problem in self._problems.items()
            if problem_id not in answered and not problem.is_uncertain
        )

        def group(tally: _Tally, absent: int, stream: str) -> Group:
            # Each group draws from its own stream, so that its intervals do not depend on the other groups.
            return tally.group(
                samples, known, absent, resamples, random.Random(stream.encode("utf-8", "surrogatepass"))
            )

        return Metrics(
            samples=samples,
            eligibility=self._eligibility,
            contract=self._contract,
            discarded=self._discarded,
            length_unit=self._length_unit,
            overall=group(overall, absent.total(), f"{seed}"),
            difficulties={name: group(tally, absent[name], f"{seed}/{name}") for name, tally in self._tallies.items()},
            excluded=dict(self._excluded),
        )


def _rank(difficulty: str) -> int:
    """The place of a difficulty in tables: the usual names by difficulty, then all others as the problems have them."""
    return _DIFFICULTIES.index(difficulty) if difficulty in _DIFFICULTIES else len(_DIFFICULTIES)


class _Tally:
    """What the outputs of one group add up to."""

    def __init__(self) -> None:
        self.rows: dict[Sample, Row] = {}
        self.steps: Counter[StepOutcome] = Counter()
        self.rules: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.uncertain: Counter[str] = Counter()

    def add(self, report: TraceReport, row: Row) -> None:
        """Count an output."""
        self.rows[report.problem_id, report.sample] = row
        if not report.parsed:
            self.steps[StepOutcome.MALFORMED_SUMMARY] += 1
            return
        self.steps.update(map(step_outcome, report.actions))
        for step in report.actions:
            verdicts = {name: int(getattr(step, name)) for name in ("schema", "semantic", "rule", "progress")}
            self.rules[_declared_rule(step)].update(verdicts, steps=1)

    def add_uncertain(self, report: TraceReport) -> None:
        """Count an output on a problem whose label is Uncertain."""
        self.uncertain.update(outputs=1, right=int(report.answer_correct is True))
        if report.uncertain is not None:
            self.uncertain[report.uncertain] += report.verified or report.uncertain != "verified"

    def merge(self, other: _Tally) -> None:
        """Count what ``other`` has counted; the two share no problem."""
        self.rows |= other.rows
        self.steps.update(other.steps)
        for name, verdicts in other.rules.items():
            self.rules[name].update(verdicts)
        self.uncertain.update(other.uncertain)

    def group(self, samples: int, known: Set[str], absent: int, resamples: int, rng: random.Random) -> Group:
        """The result; ``known`` are the rules that have a row of their own."""
        outputs = Counter(problem_id for problem_id, _ in self.rows)
        return Group(
            problems=len(outputs),
            outputs=len(self.rows),
            incomplete=sum(count < samples for count in outputs.values()),
            absent=absent,
            scores=estimates(self.rows, resamples=resamples, rng=rng),
            steps={outcome: self.steps[outcome] for outcome in StepOutcome},
            rules=_rule_counts(self.rules, known),
            uncertain=UncertainCounts(
                **{name: self.uncertain[name] for name in ("outputs", "right", "verified", "refuted", "undecided")}
            ),
        )


def _declared_rule(step: StepReport) -> str:
    """The rule that a step declares; ``INVALID_RULE`` where it was looked up and there is none, or none is declared."""
    known = all(finding.code is not Code.UNKNOWN_RULE for finding in step.findings)
    return step.declared_rule if step.declared_rule is not None and known else INVALID_RULE


def _rule_counts(rules: Mapping[str, Counter[str]], known: Set[str]) -> dict[str, RuleCounts]:
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for name, verdicts in rules.items():
        counts[name if name in known else INVALID_RULE].update(verdicts)
    return {name: RuleCounts(**counts[name]) for name in sorted(counts)}
