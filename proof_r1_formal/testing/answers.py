"""A search for answers that are wrongly verified: traces from a seed, rechecked by Z3.

In: a rule catalogue, a solver, a number of traces, a seed. Out: counts, and the traces on which the library is wrong. A
trace is *honest* (a proof whose last action states the option that follows), *corrupted* (the same with one fault) or
*adversarial* (it tries to have an answer verified that its actions do not show). It is a failure if

* an answer is verified, and Z3 finds that the problem's own premises do not entail the option's own formula, that they
  contradict each other, or that the last conclusion is another formula; for Uncertain, that they decide the goal;
* an honest answer from consistent premises is not verified;
* a reward or a metric takes an answer for verified that is not.

The traces depend only on the seed, not on the number of processes. ``testing.traces`` draws the traces.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random

import msgspec

from proof_r1_formal.data.completions import Completion
from proof_r1_formal.data.native import from_json, to_json
from proof_r1_formal.data.problem import UNCERTAIN, Option, Problem
from proof_r1_formal.engine import get_solver
from proof_r1_formal.engine.solver import Limits
from proof_r1_formal.engine.z3 import Z3Solver
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.evaluation.measures import Measure
from proof_r1_formal.evaluation.outcomes import output_row
from proof_r1_formal.kernel.answer import Entailed, Refuted, Unknown
from proof_r1_formal.kernel.confirm import EvidenceLevel
from proof_r1_formal.kernel.query import Query
from proof_r1_formal.kernel.syntax import BOTTOM, Iff, Not
from proof_r1_formal.proof.report import Code, TraceReport
from proof_r1_formal.proof.rewards import sound_answer_reward
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.schema import Catalogue
from proof_r1_formal.testing.traces import DrawnTrace, Kind, TraceGenerator
from proof_r1_formal.text.parse import parse_formula
from proof_r1_formal.workers import ordered_map

CHUNK = 100
"""Number of traces in a chunk, which has its own seed and is the unit of work of a process."""
_LIMITS = Limits(steps=200_000)


class AnswerFailure(msgspec.Struct, frozen=True):
    """A trace on which the library is wrong.

    Attributes:
        fault: what is wrong.
        kind: how the trace was made.
        problem: its record in JSON.
        completion: the text.
    """

    fault: str
    kind: str
    problem: str
    completion: str

    def trace(self, problem_id: str) -> tuple[Problem, Completion]:
        """The problem, under this id, and the completion, to be verified again."""
        problem = replace(from_json(self.problem), id=problem_id)
        return problem, Completion(problem_id=problem_id, completion=self.completion)


class AnswerFindings(msgspec.Struct):
    """The results of some traces.

    Attributes:
        examples: traces, by kind.
        verified: of those, traces whose answer is verified.
        rechecked: verified answers by the result of Z3: confirmed, or unknown.
        reasons: why the others are not verified, by code; an answer may have several.
        failures: traces on which the library is wrong.
    """

    examples: dict[str, int] = {}
    verified: dict[str, int] = {}
    rechecked: dict[str, int] = {}
    reasons: dict[str, int] = {}
    failures: list[AnswerFailure] = []

    def merge(self, other: AnswerFindings) -> None:
        """Add the results of other traces."""
        for mine, theirs in (
            (self.examples, other.examples),
            (self.verified, other.verified),
            (self.rechecked, other.rechecked),
            (self.reasons, other.reasons),
        ):
            for name, count in theirs.items():
                mine[name] = mine.get(name, 0) + count
        self.failures += other.failures


@dataclass(frozen=True)
class AnswerHarness:
    """Settings of the search.

    Attributes:
        rules: the catalogue.
        solver: name of the solver that the verifier uses.
        seed: of all random choices.
    """

    rules: Catalogue
    solver: str = "embedded"
    seed: int = 0

    def run(self, traces: int, *, workers: int = 1) -> Iterator[AnswerFindings]:
        """The results of each chunk of traces, in order.

        Args:
            traces: number of traces.
            workers: processes to use.

        Raises:
            SolverError: the solver is unknown or not installed.
            ProofR1Error: the number of workers is 0, or a worker died.
        """
        return ordered_map(
            self.chunk, [range(traces)[start : start + CHUNK] for start in range(0, traces, CHUNK)], workers
        )

    def chunk(self, traces: range) -> AnswerFindings:
        """The results of one chunk of traces."""
        generator = TraceGenerator(Random(f"answers/{self.seed}/{traces.start // CHUNK}"), self.rules)
        evidence: EvidenceLevel = "checked" if self.solver == "embedded" else "none"  # others give no proofs
        verifier = Verifier(get_solver(self.solver), rules=self.rules, evidence=evidence)
        findings = AnswerFindings()
        for _ in traces:
            drawn = generator.draw()
            if (report := _report(verifier, drawn)) is not None:
                _judge(drawn, report, findings)
        return findings


def _report(verifier: Verifier, drawn: DrawnTrace) -> TraceReport | None:
    """The report; None if the drawn formulas use a symbol in two ways, so that there is no problem."""
    try:
        return verifier.verify(drawn.problem, drawn.completion)
    except ProofR1Error:
        return None


def _judge(drawn: DrawnTrace, report: TraceReport, findings: AnswerFindings) -> None:
    _count(findings.examples, drawn.kind)
    faults = list(_contradictions(report))
    if report.verified:
        _count(findings.verified, drawn.kind)
        refuted, unknown = _questions(drawn.problem, report)
        faults += refuted
        _count(findings.rechecked, "unknown" if unknown else "confirmed" if not refuted else "refuted")
    else:
        codes = {finding.code for finding in report.findings}
        for code in codes:
            _count(findings.reasons, code)
        codes |= {finding.code for step in report.actions for finding in step.findings}
        if drawn.kind is Kind.HONEST and not codes & {Code.INCONSISTENT_PREMISES, Code.UNDECIDED}:
            faults.append("an honest answer is not verified")
    for fault in faults:
        record = to_json(drawn.problem)
        findings.failures.append(AnswerFailure(fault, drawn.kind, record, drawn.completion))


def _contradictions(report: TraceReport) -> Iterator[str]:
    """Where the report contradicts itself, or one who reads it."""
    if report.rule_verified and not report.verified:
        yield "the answer is rule-verified, and not verified"
    right = report.verified and bool(report.answer_correct)
    if sound_answer_reward(report) == 1.0 and not right:
        yield "the reward of an answer that is not verified is that of a verified one"
    row = output_row(report, None, None)
    if row.get(Measure.VERIFIED, (0, 1))[0] != right and report.answer_correct is not None:
        yield "the metrics and the report disagree on whether the answer is verified"


def _questions(problem: Problem, report: TraceReport) -> tuple[list[str], bool]:
    """What Z3 refutes about a verified answer, and whether something stayed unknown."""
    option, last = problem.option(report.answer), report.actions[-1]
    if option is None or last.id != option.id or last.conclusion is None:
        return ["the answer is verified, and the last action does not name it"], False
    refuted, unknown = [], False
    for query, entailed, fault in _asked(problem, option, last.conclusion):
        answer = Z3Solver(_LIMITS).decide(query)
        unknown |= isinstance(answer, Unknown)
        if isinstance(answer, Refuted if entailed else Entailed):
            refuted.append(fault)
    return refuted, unknown


def _asked(problem: Problem, option: Option, conclusion: str) -> Iterator[tuple[Query, bool, str]]:
    """Questions about a verified answer, whether they must be entailed, and what is wrong if Z3 says otherwise."""
    premises = tuple([premise.formula for premise in problem.premises])
    if (stated := parse_formula(conclusion)) is not option.formula:
        question = Query((), Iff(stated, option.formula))
        yield question, True, "the answer is verified, and the last conclusion is another formula"
    yield Query(premises, BOTTOM), False, "the answer is verified, and the premises contradict each other"
    if option.label == UNCERTAIN:
        for goal in (option.formula, Not(option.formula)):
            yield Query(premises, goal), False, "the answer Uncertain is verified, and the premises decide the goal"
    else:
        yield Query(premises, option.formula), True, "the answer is verified, and does not follow"


def _count(counts: dict[str, int], name: str) -> None:
    counts[name] = counts.get(name, 0) + 1
