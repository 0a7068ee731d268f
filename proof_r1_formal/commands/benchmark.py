"""A set of problems as a benchmark of ``prove``: what is solved, in what time, and by which evidence.

In: problems with what the search found, and the verifier that has the engine's answers. Out: a row of a table for each.
Solved means that there is evidence, which the package rechecked. An answer without evidence is shown as unsupported.
"""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import NamedTuple, assert_never

from proof_r1_formal.commands import common
from proof_r1_formal.data.problem import UNCERTAIN, Problem
from proof_r1_formal.evaluation.tables import Column, Style, Table
from proof_r1_formal.generate.synthesize import GaveUp, Proved, Reason, Result, Uncertain
from proof_r1_formal.kernel.answer import Entailed, Refuted
from proof_r1_formal.proof.verify import Verifier

RULES, ENGINE, MODELS = "proof by rules", "proof by the engine", "countermodels"
CONTRADICTORY, NONE = "premises contradict each other", "none"
"""The kinds of evidence."""


class Row(NamedTuple):
    """What was found of a problem: the answer's label, the evidence, and a detail; ``seconds`` is wall-clock time."""

    answer: str
    evidence: str
    detail: str
    seconds: float

    @property
    def solved(self) -> bool:
        """Whether there is evidence."""
        return self.evidence != NONE


def row(verifier: Verifier, problem: Problem, result: Result, seconds: float) -> Row:
    """The row of a problem."""

    def label(option_id: str) -> str:
        option = problem.option(option_id)
        return option_id if option is None else option.label

    match result:
        case Proved(answer, steps, _):
            return Row(label(answer), RULES, common.count_of(len(steps) - 1, "step"), seconds)
        case Uncertain(models):
            sizes = [max(model.domains.values(), default=1) for model in models.values()]
            return Row(UNCERTAIN, MODELS, f"{common.count_of(max(sizes), 'element')} at most", seconds)
        case GaveUp(Reason.INCONSISTENT):
            return Row("–", CONTRADICTORY, "", seconds)
        case GaveUp(Reason.NO_PROOF | Reason.BUDGET, answer) if answer:
            return Row(label(answer), ENGINE, "", seconds)
        case GaveUp(reason):
            return Row("–", NONE, _word(verifier, problem) or reason.value, seconds)
    assert_never(result)


def _word(verifier: Verifier, problem: Problem) -> str:
    """What the solver says of the claims without evidence; the answers are cached."""
    known = verifier.context(problem).problem
    premises = tuple([premise.formula for premise in known.premises])
    said = []
    for option in known.options:
        confirmation = verifier.oracle.decide(premises, option.formula)
        if option.label != UNCERTAIN and not confirmation.checked:
            match confirmation.answer:
                case Entailed():
                    said.append(f"{option.label} follows")
                case Refuted():
                    said.append(f"{option.label} does not follow")
    name = verifier.oracle.solver.name
    return f"unsupported: {name} says that {' and '.join(said)}" if said else ""


def table(rows: dict[str, Row]) -> Table:
    """The table of all problems."""
    texts = [Column(name, Style.TEXT, whole=True) for name in ("problem", "answer", "evidence", "detail")]
    shown = [(name, each.answer, each.evidence, each.detail, each.seconds) for name, each in rows.items()]
    return Table("Problems", (*texts, Column("seconds", Style.RATIO)), tuple(shown))


def totals(rows: dict[str, Row]) -> str:
    """How many are solved, by which evidence, and in what time."""
    kinds = Counter(each.evidence for each in rows.values() if each.solved)
    parts = ", ".join([f"{kind}: {count}" for kind, count in sorted(kinds.items())])
    seconds = [each.seconds for each in rows.values()]
    times = f"{sum(seconds):.1f} s, median {median(seconds):.2f} s, slowest {max(seconds):.2f} s" if seconds else "0 s"
    return f"{sum(kinds.values())} of {len(rows)} solved ({parts or 'none'}); {times}"
