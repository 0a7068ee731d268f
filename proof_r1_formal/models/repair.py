"""Repair: the message about its proof that a model gets before it answers again.

In: the report on a completion. Out: a message with the findings on each action and, for a step that is not entailed, a
structure that satisfies its dependencies but not its conclusion. It does not say whether the answer is right.
"""

from __future__ import annotations

from collections.abc import Iterator

from proof_r1_formal.proof.report import NOTES, Code, TraceReport
from proof_r1_formal.proof.step import VERIFIED


def needs_repair(report: TraceReport) -> bool:
    """Whether a step failed a check, or no terminal action names an option."""
    return _chooses_nothing(report) or any(step.signal < VERIFIED for step in report.actions)


def _chooses_nothing(report: TraceReport) -> bool:
    return any(finding.code is Code.NO_BINDING for finding in report.findings)


def complaint(report: TraceReport) -> str:
    """The message to the model: the findings on its proof, and the request to answer again."""
    return "\n".join(_lines(report))


def _lines(report: TraceReport) -> Iterator[str]:
    yield "The checks found this in your proof:"
    for number, step in enumerate(report.actions, 1):
        if step.signal < VERIFIED:
            reasons = [finding.message for finding in step.findings if finding.code not in NOTES]
            yield f"- {step.id or f'element {number}'}: {'; '.join(reasons)}"
            if step.countermodel is not None:
                model = step.countermodel.in_words()
                yield f"  It does not follow: its dependencies are true and its conclusion is false where {model}."
    if _chooses_nothing(report):
        yield "- No option is chosen at the end."
    yield ""
    yield "Answer the whole question once more, in the same form, with a proof in which every step passes."
