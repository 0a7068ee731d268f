"""A search for answers that are wrongly verified: traces from a seed, rechecked by Z3.

In: a rule catalogue, a solver, a number of traces, a seed. Out: counts, and the traces on which the library is wrong. A
trace is *honest* (a proof whose last action states the option that follows), *corrupted* (the same with one fault) or
*adversarial* (it tries to have an answer verified that its actions do not show). It is a failure if

* an answer is verified, and Z3 finds that the problem's own premises do not entail the option's own formula, that they
  contradict each other, or that the last conclusion is another formula; for Uncertain, that they decide the goal;
* an honest answer from consistent premises is not verified;
* a reward or a metric takes an answer for verified that is not.

``testing.traces`` draws the traces.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import ClassVar

import msgspec

from proof_r1_formal.data.native import to_json
from proof_r1_formal.data.problem import UNCERTAIN, Option, Problem
from proof_r1_formal.engine import get_solver
from proof_r1_formal.engine.solver import Limits
from proof_r1_formal.engine.z3 import Z3Solver
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.evaluation.measures import Measure
from proof_r1_formal.evaluation.outcomes import output_row
from proof_r1_formal.kernel.answer import Entailed, EvidenceLevel, Query, Refuted, Unknown
from proof_r1_formal.kernel.syntax import BOTTOM, Iff, Not
from proof_r1_formal.proof.report import Code, TraceReport, sound_answer_reward
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.schema import Catalogue
from proof_r1_formal.testing.search import Failure, Findings, Search
from proof_r1_formal.testing.traces import DrawnTrace, Kind, TraceGenerator
from proof_r1_formal.text.parse import parse_formula

_LIMITS = Limits(steps=200_000)


class AnswerFindings(Findings):
    """The results of some traces; accepted are those whose answer is verified. Outcomes: confirmed or unknown, by Z3.

    Attributes:
        reasons: why the others are not verified, by code; an answer may have several.
    """

    reasons: Counter[str] = msgspec.field(default_factory=Counter)


@dataclass(frozen=True)
class AnswerHarness(Search[AnswerFindings]):
    """Settings of the search: the catalogue, the name of the verifier's solver, the seed of all random choices."""

    size: ClassVar[int] = 100
    rules: Catalogue
    solver: str = "embedded"
    seed: int = 0

    def chunk(self, examples: range) -> AnswerFindings:
        """The results of one chunk of traces."""
        generator = TraceGenerator(Random(f"answers/{self.seed}/{examples.start // self.size}"), self.rules)
        evidence: EvidenceLevel = "checked" if self.solver == "embedded" else "none"  # others give no proofs
        verifier = Verifier(get_solver(self.solver), rules=self.rules, evidence=evidence)
        findings = AnswerFindings()
        for _ in examples:
            drawn = generator.draw()
            try:
                report = verifier.verify(drawn.problem, drawn.completion)
            except ProofR1Error:  # a symbol of the drawn formulas has two uses: they make no problem
                continue
            _judge(drawn, report, findings)
        return findings


def _judge(drawn: DrawnTrace, report: TraceReport, findings: AnswerFindings) -> None:
    findings.examples[drawn.kind] += 1
    faults = list(_contradictions(report))
    if report.verified:
        findings.accepted[drawn.kind] += 1
        refuted, unknown = _questions(drawn.problem, report)
        faults += refuted
        findings.outcomes["unknown" if unknown else "confirmed" if not refuted else "refuted"] += 1
    else:
        codes = {finding.code for finding in report.findings}
        findings.reasons.update(codes)
        codes |= {finding.code for step in report.actions for finding in step.findings}
        if drawn.kind is Kind.HONEST and not codes & {Code.INCONSISTENT_PREMISES, Code.UNDECIDED}:
            faults.append("an honest answer is not verified")
    findings.failures += [Failure(fault, drawn.kind, to_json(drawn.problem), drawn.completion) for fault in faults]


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
    """The claims of a verified answer that Z3 refutes, and whether one stayed unknown."""
    option, last = problem.option(report.answer), report.actions[-1] if report.actions else None
    if option is None or last is None or last.id != option.id or last.conclusion is None:
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
