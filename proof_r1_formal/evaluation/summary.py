"""The summary of a run: its main scores, from a stream of reports, in constant memory.

In: problems by id, and each :class:`~proof_r1_formal.proof.report.TraceReport`. Out: lines of text. FVR and RVR
have the definitions of :mod:`proof_r1_formal.evaluation.metrics`, which drops repeated samples and computes the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from proof_r1_formal.data.problem import Problem
from proof_r1_formal.evaluation.measures import RATES, Measure, Part
from proof_r1_formal.evaluation.outcomes import step_parts
from proof_r1_formal.proof.report import TraceReport


@dataclass(slots=True)
class Doubts:
    """Reasons to doubt verdicts, counted over reports.

    Attributes:
        broken: number of questions that are undecided because the solver is broken.
        unsupported: number of steps whose verdict on entailment has no evidence.
        unchecked: number of reports for which no evidence was checked.
    """

    broken: int = 0
    unsupported: int = 0
    unchecked: int = 0

    def add(self, report: TraceReport) -> None:
        """Count a report."""
        self.broken += report.broken
        self.unsupported += report.unsupported
        self.unchecked += report.evidence == "none"


class Summary:
    """Counts traces, answers and steps, and in ``doubts`` what makes the verdicts doubtful."""

    def __init__(self, problems: Mapping[str, Problem]) -> None:
        self._problems = problems
        self.doubts = Doubts()
        self._parts: dict[str, Part] = dict.fromkeys(("answers right", "verified", "rule-verified"), (0, 0))

    def add(self, report: TraceReport) -> None:
        """Count a report."""
        self.doubts.add(report)
        parts: dict[str, Part] = {"verified": (report.verified, 1), "rule-verified": (report.rule_verified, 1)}
        if report.answer_correct is not None:
            parts["answers right"] = (report.answer_correct, 1)
        if report.consistency != "inconsistent" and not self._problems[report.problem_id].is_uncertain:
            parts.update(step_parts(report.actions if report.parsed else ()).items())
        for name, (over, under) in parts.items():
            sums = self._parts.get(name, (0, 0))
            self._parts[name] = (sums[0] + over, sums[1] + under)

    def rows(self) -> list[tuple[str, str]]:
        """Names and values, in the order in which they are shown."""
        word = " (no evidence checked)" if self.doubts.unchecked else ""
        return [
            ("traces", f"{self._parts['verified'][1]}"),
            ("answers right", self._share("answers right")),
            (f"verified{word}", self._share("verified")),
            (f"rule-verified{word}", self._share("rule-verified")),
            *[(f"{measure} of steps", self._share(measure)) for measure in (Measure.FVR, Measure.RVR)],
            *([("steps without evidence", f"{self.doubts.unsupported}")] if self.doubts.unsupported else []),
        ]

    def _share(self, name: str) -> str:
        """A share; that of no steps is 0, and a dash if no output is in the scores."""
        over, under = self._parts.get(name, (0, 0))
        if not under and (name not in self._parts or name not in RATES):
            return "–"
        return f"{over} of {under} ({over / max(1, under):.1%})"
