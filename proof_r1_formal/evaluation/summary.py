"""The summary of a run: its main scores, from a stream of reports, in constant memory.

In: problems by id, and each :class:`~proof_r1_formal.proof.report.TraceReport`. Out: lines of text. FVR and RVR
have the definitions of :mod:`proof_r1_formal.evaluation.metrics`, which drops repeated samples and computes the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from proof_r1_formal.data.problem import Problem
from proof_r1_formal.evaluation.measures import Measure, Part
from proof_r1_formal.evaluation.outcomes import step_parts
from proof_r1_formal.proof.report import TraceReport


@dataclass(slots=True)
class Doubts:
    """What makes verdicts doubtful, counted over reports.

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
    """Counts traces, answers and steps.

    Args:
        problems: the problems of the reports, by id.

    Attributes:
        doubts: what makes the verdicts doubtful.
    """

    def __init__(self, problems: Mapping[str, Problem]) -> None:
        self._problems = problems
        self.doubts = Doubts()
        self._traces = 0
        self._verified = self._rule_verified = 0
        self._right: Part = (0, 0)
        self._steps: dict[Measure, Part] = {}

    def add(self, report: TraceReport) -> None:
        """Count a report."""
        self.doubts.add(report)
        self._traces += 1
        self._verified += report.verified
        self._rule_verified += report.rule_verified
        if report.answer_correct is not None:
            self._right = _sum(self._right, (report.answer_correct, 1))
        scored = report.consistency != "inconsistent" and not self._problems[report.problem_id].is_uncertain
        if scored:
            parts = step_parts(report.actions if report.parsed else ())
            for measure in (Measure.FVR, Measure.RVR):
                self._steps[measure] = _sum(self._steps.get(measure, (0, 0)), parts[measure])

    def rows(self) -> list[tuple[str, str]]:
        """Names and values, in the order in which they are shown."""
        word = " (no evidence checked)" if self.doubts.unchecked else ""
        return [
            ("traces", f"{self._traces}"),
            ("answers right", _share(self._right)),
            (f"verified{word}", _share((self._verified, self._traces))),
            (f"rule-verified{word}", _share((self._rule_verified, self._traces))),
            *[(f"{measure} of steps", _rate(self._steps.get(measure))) for measure in (Measure.FVR, Measure.RVR)],
            *([("steps without evidence", f"{self.doubts.unsupported}")] if self.doubts.unsupported else []),
        ]


def _sum(one: Part, other: Part) -> Part:
    return one[0] + other[0], one[1] + other[1]


def _share(part: Part) -> str:
    return f"{part[0]} of {part[1]} ({part[0] / part[1]:.1%})" if part[1] else "–"


def _rate(part: Part | None) -> str:
    """A share of steps, 0 of none; a dash if no output is in the scores."""
    return "–" if part is None else _share(part) if part[1] else "0 of 0 (0.0%)"
