"""Reports as sentences: what the verdicts are, and why."""

from __future__ import annotations

from collections.abc import Iterator

from proof_r1_formal.proof.report import StepReport, TraceReport


def explain_trace(report: TraceReport) -> str:
    """The answer, why it is not verified, and each action that has findings."""
    return "\n".join(_lines(report))


def explain_step(step: StepReport) -> str:
    """The verdicts on an action and the reasons for them."""
    name = step.id or "action without an id"
    checks = {"schema": step.schema, "semantic": step.semantic, "rule": step.rule, "progress": step.progress}
    verdicts = ", ".join([f"{check} {'yes' if passed else 'no'}" for check, passed in checks.items()])
    place = "in the closure" if step.in_closure else "outside the closure"
    reasons = [f"\n  {finding.code.value}: {finding.message}" for finding in step.findings]
    return f"{name} ({place}): {verdicts}; signal {step.signal}{''.join(reasons)}"


def _lines(report: TraceReport) -> Iterator[str]:
    right = {True: "right", False: "wrong", None: "without a reference answer"}[report.answer_correct]
    answer = "selects no option" if report.answer is None else f"selects {report.answer}: {right}, {report.level}"
    yield f"{report.problem_id}, sample {report.sample}: the completion {answer}."
    yield from (f"  {finding.code.value}: {finding.message}" for finding in report.findings)
    passed = sum(step.signal == 1.0 for step in report.actions)
    yield f"{passed} of {len(report.actions)} actions pass all checks."
    yield from (explain_step(step) for step in report.actions if step.findings)
