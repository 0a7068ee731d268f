"""One output: what became of its steps, and what it adds to the scores.

In: a problem and a report on an output for it. Out: a :class:`StepOutcome` per step, and the output's row of parts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import structs

from proof_r1_formal.data.problem import Problem, ReferenceStep
from proof_r1_formal.evaluation.measures import Contract, Eligibility, Measure, Row, StepOutcome
from proof_r1_formal.proof.action import Trace, summary_span
from proof_r1_formal.proof.report import Code, StepReport, TraceReport
from proof_r1_formal.rules.schema import GOAL_BINDING, INVALID_RULE, Catalogue

_CASCADE = frozenset({Code.UNTRUSTED_DEPENDENCY})
_RULE_CASCADE = _CASCADE | {Code.RULE_UNTRUSTED_DEPENDENCY}


_FENCE = "```"
_DISCARDING = frozenset({Code.NOT_AN_OBJECT, Code.MISSING_FIELD, Code.NOT_A_LIST, Code.TOO_MANY_DEPENDENCIES})


def under_contract(report: TraceReport, contract: Contract) -> TraceReport:
    """The report as scores read it: one that the contract discards counts as not parsed, and has no answer."""
    codes = {finding.code for step in report.actions for finding in step.findings}
    if contract == "per-action" or not (report.parsed and codes & _DISCARDING):
        return report
    correct = None if report.answer_correct is None else False
    report = structs.replace(report, parsed=False, verified=False, rule_verified=False)
    return structs.replace(report, answer=None, answer_correct=correct, uncertain=None)


def isolate_array(text: str) -> str:
    """The completion as the strict contract reads it: with blanks in the summary around its array.

    The array reaches from the first ``[`` to the last ``]`` in the first Markdown fence of the summary, or in the whole
    summary if it has no fence. Spans in the result are spans in the text. Without an array the text stays as it is.
    """
    span = summary_span(text)
    if isinstance(span, Trace):
        return text
    start, end = span
    opening = text.find(_FENCE, start, end)
    closing = text.find(_FENCE, opening + len(_FENCE), end) if opening >= 0 else -1
    inside = (opening + len(_FENCE), closing) if closing >= 0 else span
    first, last = text.find("[", *inside), text.rfind("]", *inside) + 1
    if first < 0 or last <= first:
        return text
    return f"{text[:start]}{' ' * (first - start)}{text[first:last]}{' ' * (end - last)}{text[end:]}"


def _codes(step: StepReport) -> set[Code]:
    return {finding.code for finding in step.findings}


def step_outcome(step: StepReport) -> StepOutcome:
    """The outcome of a step of a parsed output; of several reasons, the most specific one."""
    if step.schema and step.semantic:
        return StepOutcome.VERIFIED
    codes = _codes(step)
    if not step.schema:
        if codes & {Code.UNPARSABLE_CONCLUSION, Code.SYMBOL_CLASH}:
            return StepOutcome.UNPARSABLE_FORMULA
        return StepOutcome.DUPLICATE_ID if Code.DUPLICATE_ID in codes else StepOutcome.MALFORMED_STEP
    if Code.MISSING_DEPENDENCY in codes:
        return StepOutcome.MISSING_DEPENDENCY
    if Code.UNTRUSTED_DEPENDENCY in codes:
        return StepOutcome.UNTRUSTED_DEPENDENCY
    return StepOutcome.UNDECIDED if Code.UNDECIDED in codes else StepOutcome.NOT_ENTAILED


def _is_eligible(step: StepReport, cascade: frozenset[Code], eligibility: Eligibility) -> bool:
    """Whether a denominator counts the step: it has none of the findings of a cascade, or a fault of its own."""
    codes = _codes(step)
    return eligibility == "own-fault" if Code.MISSING_DEPENDENCY in codes else not codes & cascade


def output_row(
    report: TraceReport,
    reference: int | None,
    length: int | None,
    *,
    eligibility: Eligibility = "own-fault",
    contract: Contract = "per-action",
) -> Row:
    """The parts of an output; a score that it does not take part in is absent.

    Args:
        report: on the output.
        reference: length of the reference proof, see :func:`reference_length`; None without one.
        length: of the response, if it is known.
        eligibility: which failed steps FVR and RVR leave out.
        contract: under the strict one, RGD counts an output that is not parsed, with length 0.
    """
    row: Row = {Measure.PARSED: (report.parsed, 1)}
    if report.parsed:
        row |= step_parts(report.actions, eligibility=eligibility)
    if report.answer_correct is not None:
        right = report.answer_correct
        row[Measure.AVG] = (right, 1)
        row[Measure.VERIFIED] = (right and report.verified, 1)
        row[Measure.RULE_VERIFIED] = (right and report.rule_verified, 1)
    if reference is not None:
        generated = sum(step.in_closure and not step.terminal for step in report.actions) if report.parsed else 0
        row[Measure.LENGTH_RATIO] = (generated, reference)
        # Length 0 counts as 1: an output without a proof would look the better, the shorter the reference proof is.
        if report.parsed or contract == "strict":
            row[Measure.RGD] = (abs(math.log(max(1, generated) / max(1, reference))), 1)
    if length is not None:
        row[Measure.RESPONSE_LENGTH] = (length, 1)
    return row


def step_parts(steps: Sequence[StepReport], *, eligibility: Eligibility = "own-fault") -> Row:
    """The contribution of steps of a parsed output to the scores of steps."""
    entailed = sum(step.schema and step.semantic for step in steps)
    instances = [step for step in steps if step.schema and step.semantic and step.rule]
    compound = sum(Code.COMPOUND_STEP in _codes(step) for step in instances)
    return {
        Measure.FVR: (entailed, sum(_is_eligible(step, _CASCADE, eligibility) for step in steps)),
        Measure.STRICT_FVR: (entailed, len(steps)),
        Measure.RVR: (len(instances), sum(_is_eligible(step, _RULE_CASCADE, eligibility) for step in steps)),
        Measure.STRICT_RVR: (len(instances), len(steps)),
        Measure.COMPOUND: (compound, len(instances)),
    }


def reference_length(problem: Problem) -> int | None:
    """The length of the shortest reference proof, terminal step not counted: that of an output is not either."""

    def length(proof: Sequence[ReferenceStep]) -> int:
        return len(proof) - any(last.rule == GOAL_BINDING or problem.option(last.id) for last in proof[-1:])

    return min(map(length, problem.proofs), default=None)


def rule_name(step: StepReport, rules: Catalogue) -> str:
    """The rule that the step declares, or ``INVALID_RULE`` if there is none of that name."""
    rule = None if step.declared_rule is None else rules.find(step.declared_rule)
    return INVALID_RULE if rule is None else rule.name
