"""The assessment of a set of completions: each is examined by itself, and everything is counted in one pass.

In: problems and completions. Out: an :class:`Examined` for each completion, in their order, the same whatever the
number of workers; and of those an :class:`Assessment`, plain data, for tables and pictures. Everything about one
completion is found in one process, so that it shares what the verifier remembers.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from itertools import chain, islice
from statistics import stdev

from proof_r1_formal.assistants.certify import certify_verified
from proof_r1_formal.data.completions import Completion, Cost
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.evaluation.diagnosis import Diagnosis, Misnamed, misnamed_steps
from proof_r1_formal.evaluation.estimates import estimates, quotient
from proof_r1_formal.evaluation.measures import (
    RATES,
    Contract,
    Eligibility,
    Estimate,
    Exclusion,
    Measure,
    Metrics,
    Row,
    Sample,
)
from proof_r1_formal.evaluation.metrics import Evaluation
from proof_r1_formal.evaluation.outcomes import rule_name, step_parts, under_contract
from proof_r1_formal.evaluation.selection import Candidate, Choice, choice_shares
from proof_r1_formal.proof.batch import Settings
from proof_r1_formal.proof.report import StepReport, TraceReport
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.catalogue import TRAIN
from proof_r1_formal.rules.schema import INVALID_RULE, Catalogue
from proof_r1_formal.workers import PROCESSES, ordered_map

CHUNK = 16
"""How many completions a worker is given at a time."""


# -- one completion ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Examined:
    """The results for a completion.

    Attributes:
        report: the verdicts.
        misnamed: entailed steps whose rule check failed.
        certified: whether there is a certificate of the answer; its proofs are checked, but not by a kernel.
        length: of the text, in characters.
        cost: as the completion states it.
    """

    report: TraceReport
    misnamed: tuple[Misnamed, ...]
    certified: bool
    length: int
    cost: Cost | None = None

    def candidate(self) -> Candidate:
        """The candidate for the selection among the samples of a problem."""
        steps = sum(step.in_closure for step in self.report.actions)
        return Candidate(self.report.sample, self.report.answer, self.certified, steps)


def examine(verifier: Verifier, problem: Problem, completion: Completion) -> Examined:
    """Verify a completion, look for other rules of its steps, and try to certify its answer.

    Raises:
        SignatureError, SolverError: see :meth:`Verifier.verify`.
    """
    text = completion.completion
    report = verifier.verify(problem, text, sample=completion.sample)
    certified = certify_verified(verifier, problem, text, report).certificate is not None
    return Examined(report, misnamed_steps(verifier, problem, text, report), certified, len(text), completion.cost)


def examine_many(
    problems: Mapping[str, Problem],
    completions: Iterable[Completion],
    *,
    settings: Settings | None = None,
    workers: int = 1,
    executor: str = PROCESSES,
) -> Iterator[Examined]:
    """Examine completions, and yield one result for each, in the order of the input.

    Args:
        problems: by id; every completion is of one of them.
        completions: any iterable; it is read a bounded number of completions ahead of the results.
        settings: how to verify.
        workers, executor: who does it, see :func:`proof_r1_formal.workers.ordered_map`.

    Raises:
        ProofR1Error: a worker died, or see :meth:`Settings.verifier`.
    """
    settings = settings or Settings()
    settings.verifier()  # report a wrong setting here, not from a dying worker
    initializer, source = partial(_start_worker, settings, dict(problems)), iter(completions)
    chunks = iter(lambda: list(islice(source, CHUNK)), [])
    return chain.from_iterable(ordered_map(_examine_chunk, chunks, workers, initializer=initializer, executor=executor))


_worker: tuple[Verifier, Mapping[str, Problem]]
"""The verifier and the problems of a worker process; set once, when it starts."""


def _start_worker(settings: Settings, problems: Mapping[str, Problem]) -> None:
    global _worker
    _worker = (settings.verifier(), problems)


def _examine_chunk(completions: list[Completion]) -> list[Examined]:
    verifier, problems = _worker
    return [examine(verifier, problems[completion.problem_id], completion) for completion in completions]


# -- many completions -------------------------------------------------------------------------------------------------


class RuleGroup(StrEnum):
    """Rules by whether training had them; a step is in the group of the rule that it declares itself."""

    SEEN = "seen"
    UNSEEN = "unseen"
    INVALID = "no known rule"


@dataclass(frozen=True, slots=True)
class Assessment:
    """The result of :func:`assess`.

    Attributes:
        metrics: of all completions.
        rows: what each output that takes part in the scores adds to them.
        rule_groups: the scores of steps by their own rule; the verdicts of steps are those of the whole trace.
        diagnosis: of the outputs that take part in the scores.
        choices: accuracy of the selection by evidence, over problems with outputs that take part in the scores.
        costs: means by the name of a cost, over the responses that state it, with the spread over responses.
        answered: the problems and samples with a completion.
        unreadable: number of lines of the files that hold no completion.
    """

    metrics: Metrics
    rows: dict[Sample, Row]
    rule_groups: dict[RuleGroup, dict[Measure, Estimate]]
    diagnosis: Diagnosis
    choices: dict[Choice, Estimate]
    costs: dict[str, Estimate]
    answered: Set[Sample]
    unreadable: int = 0

    def with_left_out(self, *, unknown: int, unreadable: int) -> Assessment:
        """The same, with what the reader of the files left out: completions of unknown problems, and other lines."""
        excluded = dict(self.metrics.excluded)
        excluded[Exclusion.UNKNOWN_PROBLEM] += unknown
        return replace(self, metrics=replace(self.metrics, excluded=excluded), unreadable=self.unreadable + unreadable)


def assess(
    problems: Mapping[str, Problem],
    examined: Iterable[Examined],
    *,
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
        rules: of the verification.
        seen: the rules used in training.
        eligibility, contract, resamples, seed: see :func:`~proof_r1_formal.evaluation.metrics.evaluate_metrics`.
    """
    whole = Evaluation(problems, eligibility=eligibility, contract=contract)
    groups: dict[RuleGroup, dict[Sample, Row]] = {group: {} for group in RuleGroup}
    diagnosis = Diagnosis()
    candidates: defaultdict[str, list[Candidate]] = defaultdict(list)
    answered: set[Sample] = set()
    costs: list[Cost] = []
    for one in examined:
        report = one.report
        sample = (report.problem_id, report.sample)
        costs += [one.cost] if one.cost is not None and sample not in answered else []
        answered.add(sample)
        if not whole.add(report, length=one.length):
            continue
        scored = under_contract(report, contract)
        steps: dict[RuleGroup, list[StepReport]] = {group: [] for group in RuleGroup}
        for step in scored.actions if scored.parsed else ():
            steps[_group_of(step, rules, seen)].append(step)
        for group, of in steps.items():
            groups[group][sample] = step_parts(of, eligibility=eligibility)
        diagnosis.add(report, one.misnamed, rules)
        # A discarded output has no answer, so there is nothing that its certificate could certify.
        counted = replace(one, report=scored, certified=one.certified and scored.verified)
        candidates[report.problem_id].append(counted.candidate())
    return Assessment(
        metrics=whole.metrics(resamples=resamples, seed=seed),
        rows=whole.rows(),
        rule_groups={
            group: estimates(rows, measures=RATES, resamples=resamples, rng=random.Random(seed))
            for group, rows in groups.items()
        },
        diagnosis=diagnosis,
        choices=choice_shares([(problems[name].answer, of) for name, of in candidates.items()]),
        costs={name: _mean([getattr(cost, name) for cost in costs]) for name in ("tokens", "seconds", "calls")},
        answered=answered,
    )


def _group_of(step: StepReport, rules: Catalogue, seen: Catalogue) -> RuleGroup:
    name = rule_name(step, rules)
    if name == INVALID_RULE:
        return RuleGroup.INVALID
    return RuleGroup.UNSEEN if seen.find(name) is None else RuleGroup.SEEN


def _mean(values: Iterable[float | None]) -> Estimate:
    given = [value for value in values if value is not None]
    spread = stdev(given) if len(given) > 1 else None
    return Estimate(quotient((sum(given), len(given))), sum(given), len(given), spread)
