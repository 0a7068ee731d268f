"""What the verdicts on many completions say about a model: accuracy, validity of steps, length, and what was left out.

In: problems by id, and a stream of :class:`~proof_r1_formal.proof.report.TraceReport`. Out: :class:`Metrics`, plain
data, overall and per difficulty; ``evaluate.tables`` shows them. A report is reduced to a few numbers as it passes, and
the order of the reports does not matter (of two reports on the same sample the first counts).

Conventions:

* Every score is a quotient of two sums over outputs (over problems for Pass), so groups merge by adding; 0/0 is 0.
* K is the largest number of samples that any problem has. Missing samples count neither as right nor as wrong; how many
  problems lack some is part of the result.
* The spread of a score is the standard deviation (n - 1) of its values per sample number, None for a single sample;
  that of Pass the binomial standard error over problems.
* Problems whose label is Uncertain, and those with inconsistent premises, are in no score; the former are counted in
  :class:`UncertainCounts`. A problem without reference answer or proof is only left out of the scores that need it.
"""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from statistics import stdev
from typing import TypeAlias

from proof_r1_formal.data.problem import UNCERTAIN, Problem, ReferenceStep
from proof_r1_formal.proof.report import Code, StepReport, TraceReport
from proof_r1_formal.rules.schema import GOAL_BINDING

INVALID_RULE = "INVALID_RULE"
"""The bucket of steps that name no known rule."""
CONFIDENCE = 0.95
"""The level of the bootstrap intervals."""


class Measure(StrEnum):
    """A score; see the members' comments for its two sums."""

    AVG = "Avg"  # right answers / outputs with a reference answer
    PASS = "Pass"  # problems with a right answer among the samples / problems with a reference answer
    FVR = "FVR"  # entailed steps / steps of parsed outputs that do not fail by a dependency
    RVR = "RVR"  # entailed steps that are instances of their rule / likewise, at the level of rules
    RGD = "RGD"  # |log(generated steps / reference steps)|, each at least 1 / outputs with a reference proof
    VERIFIED = "Right and verified"  # right answers whose closure is entailed / outputs with a reference answer
    RULE_VERIFIED = "Right and rule-verified"  # and whose closure's steps are instances of their rules
    PARSED = "Parsed"  # outputs that are parsed / outputs
    LENGTH_RATIO = "Length ratio"  # generated steps / reference steps, over outputs with a reference proof
    RESPONSE_LENGTH = "Response length"  # length of the outputs / outputs whose length is given


class StepOutcome(StrEnum):
    """What became of an action, of all actions exactly one: verified, a failed inference, a cascade, or other."""

    VERIFIED = "verified"
    NOT_ENTAILED = "not entailed"
    UNTRUSTED_DEPENDENCY = "untrusted dependency"
    MALFORMED_SUMMARY = "other: malformed summary"
    MALFORMED_STEP = "other: malformed step"
    UNPARSABLE_FORMULA = "other: unparsable formula"
    DUPLICATE_ID = "other: duplicate id"
    MISSING_DEPENDENCY = "other: missing dependency"
    UNDECIDED = "other: undecided"


class Exclusion(StrEnum):
    """Why an output is left out: of everything, or only of the scores in parentheses."""

    UNKNOWN_PROBLEM = "unknown problem id"
    DUPLICATE_SAMPLE = "second output for the same problem and sample"
    INCONSISTENT_PREMISES = "inconsistent premises"
    UNCERTAIN = "label is Uncertain (counted apart)"
    NO_REFERENCE_ANSWER = "no reference answer (Avg, Pass, right and verified)"
    NO_REFERENCE_PROOF = "no reference proof (RGD, length ratio)"
    NO_LENGTH = "no response length (response length)"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A score: its two sums, their quotient, and how far to trust it.

    Attributes:
        value: numerator / denominator; 0 if the denominator is.
        spread: see the module; None where it is not defined.
        interval: percentile bootstrap over problems at the level ``CONFIDENCE``, if it was asked for.
    """

    value: float
    numerator: float
    denominator: float
    spread: float | None = None
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class RuleCounts:
    """Of the steps that declare one rule, how many pass each of the four checks."""

    steps: int
    schema: int
    semantic: int
    rule: int
    progress: int


@dataclass(frozen=True, slots=True)
class UncertainCounts:
    """The outputs on problems whose label is Uncertain; the last three count outputs that select that option.

    Attributes:
        right: outputs that answer Uncertain.
        verified: both countermodels were found.
        refuted: the premises do entail the goal or its negation.
        undecided: neither is known.
    """

    outputs: int
    right: int
    verified: int
    refuted: int
    undecided: int


@dataclass(frozen=True, slots=True)
class Group:
    """The result on one difficulty, or on all.

    Attributes:
        problems: with at least one output that counts.
        outputs: outputs that count.
        incomplete: problems with some of the K samples but not all.
        absent: problems without any output (those labelled Uncertain apart).
        scores: one for every measure.
        steps: every action of the outputs that count, by what became of it.
        rules: by declared rule, names sorted; without the stand-in actions of outputs that are not parsed. Names
            that no schema-valid step shows to be known are together under ``INVALID_RULE``.
    """

    problems: int
    outputs: int
    incomplete: int
    absent: int
    scores: dict[Measure, Estimate]
    steps: dict[StepOutcome, int]
    rules: dict[str, RuleCounts]
    uncertain: UncertainCounts


@dataclass(frozen=True, slots=True)
class Metrics:
    """What :func:`evaluate_metrics` returns.

    Attributes:
        samples: K.
        length_unit: what RESPONSE_LENGTH counts.
        difficulties: in the order in which the problems first name them.
        excluded: a count for every reason, zeros included.
    """

    samples: int
    length_unit: str
    overall: Group
    difficulties: dict[str, Group]
    excluded: dict[Exclusion, int]


Sample: TypeAlias = tuple[str, int]
"""Id of a problem and number of a sample: names one output."""


def evaluate_metrics(
    problems: Mapping[str, Problem],
    reports: Iterable[TraceReport],
    *,
    lengths: Mapping[Sample, int] | None = None,
    length_unit: str = "characters",
    resamples: int = 0,
    seed: int = 0,
) -> Metrics:
    """Compute all metrics in one pass over the reports.

    Args:
        problems: by id; reports on other problems are counted as excluded.
        reports: in any order.
        lengths: length of each completion in ``length_unit``; looked up as its report passes.
        length_unit: ``characters``, or ``tokens`` if the caller has a tokenizer.
        resamples: number of bootstrap resamples of the problems; 0 for no intervals.
        seed: of the bootstrap.
    """
    required = _REQUIRED if lengths is None else _REQUIRED | {Measure.RESPONSE_LENGTH: Exclusion.NO_LENGTH}
    tallies = {problem.difficulty: _Tally() for problem in problems.values()}
    excluded = Counter(dict.fromkeys(Exclusion, 0))
    seen: set[Sample] = set()
    for report in reports:
        sample = (report.problem_id, report.sample)
        problem = problems.get(report.problem_id)
        if problem is None:
            excluded[Exclusion.UNKNOWN_PROBLEM] += 1
            continue
        if sample in seen:
            excluded[Exclusion.DUPLICATE_SAMPLE] += 1
            continue
        seen.add(sample)
        tally = tallies[problem.difficulty]
        if report.consistency == "inconsistent":
            excluded[Exclusion.INCONSISTENT_PREMISES] += 1
        elif _is_uncertain(problem):
            excluded[Exclusion.UNCERTAIN] += 1
            tally.add_uncertain(report)
        else:
            row = tally.add(problem, report, None if lengths is None else lengths.get(sample))
            excluded.update(reason for measure, reason in required.items() if measure not in row)

    answered = {problem_id for problem_id, _ in seen}
    for problem_id, problem in problems.items():
        tallies[problem.difficulty].absent += problem_id not in answered and not _is_uncertain(problem)
    overall = _Tally()
    for tally in tallies.values():
        overall.merge(tally)
    samples = max(Counter(problem_id for problem_id, _ in overall.rows).values(), default=0)
    # A rule is looked up for schema-valid steps only: the names that others declare can be anything a model makes up.
    known = {name for name, verdicts in overall.rules.items() if verdicts["schema"]}
    return Metrics(
        samples=samples,
        length_unit=length_unit,
        overall=_group(overall, samples, known, resamples, random.Random(f"{seed}")),
        difficulties={
            # Each group draws from its own stream, so that its intervals do not depend on the other groups.
            name: _group(tally, samples, known, resamples, random.Random(f"{seed}/{name}"))
            for name, tally in tallies.items()
        },
        excluded=dict(excluded),
    )


def _is_uncertain(problem: Problem) -> bool:
    answer = problem.option(problem.answer)
    return answer is not None and answer.label == UNCERTAIN


# -- one output -------------------------------------------------------------------------------------------------------

_Part: TypeAlias = tuple[float, float]
"""What something adds to the numerator and to the denominator of a score."""
_Row: TypeAlias = dict[Measure, _Part]
"""The parts of one output or problem; a score that it does not take part in is absent."""

_REQUIRED = {Measure.AVG: Exclusion.NO_REFERENCE_ANSWER, Measure.RGD: Exclusion.NO_REFERENCE_PROOF}

_CASCADE = frozenset({StepOutcome.UNTRUSTED_DEPENDENCY, StepOutcome.MISSING_DEPENDENCY})
_RULE_CASCADE = frozenset({Code.RULE_UNTRUSTED_DEPENDENCY, Code.UNTRUSTED_DEPENDENCY, Code.MISSING_DEPENDENCY})


def _outcome(step: StepReport) -> StepOutcome:
    """What became of a step of a parsed output; of several reasons, the most specific one."""
    if step.schema and step.semantic:
        return StepOutcome.VERIFIED
    codes = {finding.code for finding in step.findings}
    if not step.schema:
        if codes & {Code.UNPARSABLE_CONCLUSION, Code.SYMBOL_CLASH}:
            return StepOutcome.UNPARSABLE_FORMULA
        return StepOutcome.DUPLICATE_ID if Code.DUPLICATE_ID in codes else StepOutcome.MALFORMED_STEP
    if Code.MISSING_DEPENDENCY in codes:
        return StepOutcome.MISSING_DEPENDENCY
    if Code.UNTRUSTED_DEPENDENCY in codes:
        return StepOutcome.UNTRUSTED_DEPENDENCY
    return StepOutcome.UNDECIDED if Code.UNDECIDED in codes else StepOutcome.NOT_ENTAILED


def _is_rule_verified(step: StepReport) -> bool:
    return step.schema and step.semantic and step.rule


def _is_rule_cascade(step: StepReport) -> bool:
    """Whether the step fails at the level of rules because a dependency does not stand there."""
    if not step.schema or _is_rule_verified(step):
        return False
    return any(finding.code in _RULE_CASCADE for finding in step.findings)


def _step_parts(steps: Sequence[StepReport], outcomes: Sequence[StepOutcome]) -> _Row:
    inferred = sum(outcome not in _CASCADE for outcome in outcomes)
    instances = sum(not _is_rule_cascade(step) for step in steps)
    return {
        Measure.FVR: (outcomes.count(StepOutcome.VERIFIED), inferred),
        Measure.RVR: (sum(map(_is_rule_verified, steps)), instances),
    }


def _answer_parts(report: TraceReport) -> _Row:
    # The closure is empty without a terminal action: then nothing that was verified supports the answer.
    closure = [step for step in report.actions if step.in_closure]
    right = bool(report.answer_correct)
    verified = right and bool(closure) and all(step.schema and step.semantic for step in closure)
    return {
        Measure.AVG: (right, 1),
        Measure.VERIFIED: (verified, 1),
        Measure.RULE_VERIFIED: (verified and all(map(_is_rule_verified, closure)), 1),
    }


def _length_parts(report: TraceReport, reference: int) -> _Row:
    generated = sum(step.in_closure and not step.terminal for step in report.actions) if report.parsed else 0
    return {
        Measure.RGD: (abs(math.log(max(1, generated) / max(1, reference))), 1),
        Measure.LENGTH_RATIO: (generated, reference),
    }


def reference_length(problem: Problem) -> int | None:
    """The length of the shortest reference proof, terminal step not counted: that of an output is not either."""
    return min((_non_terminal_steps(problem, proof) for proof in problem.proofs), default=None)


def _non_terminal_steps(problem: Problem, proof: Sequence[ReferenceStep]) -> int:
    if not proof:
        return 0
    last = proof[-1]
    return len(proof) - (last.rule == GOAL_BINDING or problem.option(last.id) is not None)


def _rule_name(step: StepReport) -> str:
    known = all(finding.code is not Code.UNKNOWN_RULE for finding in step.findings)
    return step.declared_rule if step.declared_rule is not None and known else INVALID_RULE


class _Tally:
    """What the outputs of one group add up to."""

    def __init__(self) -> None:
        self.rows: dict[Sample, _Row] = {}
        self.steps: Counter[StepOutcome] = Counter()
        self.rules: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.uncertain: Counter[str] = Counter()
        self.absent = 0

    def add(self, problem: Problem, report: TraceReport, length: int | None) -> _Row:
        """Count an output; returns its parts."""
        row: _Row = {Measure.PARSED: (report.parsed, 1)}
        if report.parsed:
            outcomes = [_outcome(step) for step in report.actions]
            row |= _step_parts(report.actions, outcomes)
            self.steps.update(outcomes)
            for step in report.actions:
                verdicts = {name: int(getattr(step, name)) for name in ("schema", "semantic", "rule", "progress")}
                self.rules[_rule_name(step)].update(verdicts, steps=1)
        else:
            self.steps[StepOutcome.MALFORMED_SUMMARY] += 1
        if report.answer_correct is not None:
            row |= _answer_parts(report)
        reference = reference_length(problem)
        if reference is not None:
            row |= _length_parts(report, reference)
        if length is not None:
            row[Measure.RESPONSE_LENGTH] = (length, 1)
        self.rows[report.problem_id, report.sample] = row
        return row

    def add_uncertain(self, report: TraceReport) -> None:
        """Count an output on a problem whose label is Uncertain."""
        self.uncertain.update(outputs=1, right=int(report.answer_correct is True))
        if report.uncertain is not None:
            self.uncertain[report.uncertain] += 1

    def merge(self, other: _Tally) -> None:
        """Count what ``other`` has counted; the two share no problem."""
        self.rows |= other.rows
        self.steps.update(other.steps)
        for name, verdicts in other.rules.items():
            self.rules[name].update(verdicts)
        self.uncertain.update(other.uncertain)
        self.absent += other.absent


# -- one group --------------------------------------------------------------------------------------------------------


def _group(tally: _Tally, samples: int, known: Set[str], resamples: int, rng: random.Random) -> Group:
    by_problem: defaultdict[str, list[_Row]] = defaultdict(list)
    by_sample: defaultdict[int, list[_Row]] = defaultdict(list)
    for problem_id, sample in sorted(tally.rows):  # sorted: the order of the reports must not show in sums of floats
        row = tally.rows[problem_id, sample]
        by_problem[problem_id].append(row)
        by_sample[sample].append(row)
    problem_rows = [_problem_row(rows) for rows in by_problem.values()]
    sample_rows = [_total(rows) for rows in by_sample.values()]
    intervals = _intervals(problem_rows, resamples, rng) if resamples > 0 else {}
    return Group(
        problems=len(by_problem),
        outputs=len(tally.rows),
        incomplete=sum(len(rows) < samples for rows in by_problem.values()),
        absent=tally.absent,
        scores={
            measure: Estimate(
                value=_quotient(part),
                numerator=part[0],
                denominator=part[1],
                spread=_spread(measure, part, sample_rows),
                interval=intervals.get(measure),
            )
            for measure, part in _total(problem_rows).items()
        },
        steps={outcome: tally.steps[outcome] for outcome in StepOutcome},
        rules=_rule_counts(tally.rules, known),
        uncertain=UncertainCounts(
            **{name: tally.uncertain[name] for name in ("outputs", "right", "verified", "refuted", "undecided")}
        ),
    )


def _rule_counts(rules: Mapping[str, Counter[str]], known: Set[str]) -> dict[str, RuleCounts]:
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for name, verdicts in rules.items():
        counts[name if name in known else INVALID_RULE].update(verdicts)
    return {name: RuleCounts(**counts[name]) for name in sorted(counts)}


def _problem_row(rows: Sequence[_Row]) -> _Row:
    total = _total(rows)
    right, judged = total[Measure.AVG]
    return total | {Measure.PASS: (right > 0, judged > 0)}


def _total(rows: Sequence[_Row]) -> _Row:
    """The sums over all rows, for every score."""
    parts = {measure: [row[measure] for row in rows if measure in row] for measure in Measure}
    return {
        measure: (sum(numerator for numerator, _ in of), sum(denominator for _, denominator in of))
        for measure, of in parts.items()
    }


def _quotient(part: _Part) -> float:
    numerator, denominator = part
    return numerator / denominator if denominator else 0.0


def _spread(measure: Measure, part: _Part, sample_rows: Sequence[_Row]) -> float | None:
    if measure is Measure.PASS:
        share, (_, problems) = _quotient(part), part
        return math.sqrt(share * (1 - share) / problems) if problems else None
    values = [_quotient(row[measure]) for row in sample_rows if row[measure][1]]
    return stdev(values) if len(values) > 1 else None


def _intervals(problem_rows: Sequence[_Row], resamples: int, rng: random.Random) -> dict[Measure, tuple[float, float]]:
    """Percentile bootstrap: problems are drawn with replacement, all samples of a problem together."""
    count = len(problem_rows)
    if not count:
        return {}
    columns = {
        measure: ([row[measure][0] for row in problem_rows], [row[measure][1] for row in problem_rows])
        for measure in Measure
    }
    values: dict[Measure, list[float]] = {measure: [] for measure in Measure}
    for _ in range(resamples):
        drawn = rng.choices(range(count), k=count)
        for measure, (numerators, denominators) in columns.items():
            part = (sum(map(numerators.__getitem__, drawn)), sum(map(denominators.__getitem__, drawn)))
            values[measure].append(_quotient(part))
    tail = math.floor(resamples * (1 - CONFIDENCE) / 2)  # values cut off at each end
    return {measure: (ordered[tail], ordered[-1 - tail]) for measure, of in values.items() for ordered in [sorted(of)]}
