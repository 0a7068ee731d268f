"""Metrics of one set of completions as tables, and what tables of several sets have in common with them.

In: :class:`~proof_r1_formal.evaluation.measures.Metrics`. Out: tables with a row for each difficulty and one for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from proof_r1_formal.evaluation.measures import Exclusion, Group, Measure, Metrics, StepOutcome
from proof_r1_formal.evaluation.tables import Cell, Column, Style, Table

SCORES = (Measure.AVG, Measure.PASS, Measure.FVR, Measure.STRICT_FVR, Measure.RVR, Measure.STRICT_RVR, Measure.RGD)
"""The measures of the main table."""
ANSWERS = (Measure.VERIFIED, Measure.RULE_VERIFIED, Measure.COMPOUND, Measure.LENGTH_RATIO)
"""Those that say what stands behind the answers."""

Columns: TypeAlias = Mapping[Column, Callable[[Group], Cell]]
"""Columns, and how their cells are read off a group."""
Rows: TypeAlias = Sequence[tuple[tuple[str, ...], Group]]
"""What names a row, and the group that it is about."""


def metrics_tables(metrics: Metrics, *, failures: int = 0) -> tuple[Table, ...]:
    """The tables of a result: scores, answers, outputs, steps, rules, Uncertain problems, and what is left out.

    The tables of rules and of Uncertain problems are there only if there is something to count.

    Args:
        metrics: the result.
        failures: samples for which the model gave no completion.
    """
    rows = [((name,), group) for name, group in difficulties(metrics)]
    lengths = (Measure.RESPONSE_LENGTH,) if metrics.overall.scores[Measure.RESPONSE_LENGTH].denominator else ()

    def by_difficulty(title: str, columns: Columns) -> Table:
        return group_table(title, ("difficulty",), rows, columns)

    def scores(measures: Iterable[Measure]) -> Columns:
        return score_columns(measures, samples=f"{metrics.samples}", length_unit=metrics.length_unit)

    outputs = {**COUNTS, **scores((Measure.PARSED, *lengths))}
    tables = [
        by_difficulty(f"Scores{conventions(metrics)}", scores(SCORES)),
        by_difficulty("Answers and proofs", scores(ANSWERS)),
        by_difficulty("Outputs", outputs),
        steps_table({name: group for (name,), group in rows}),
    ]
    if metrics.overall.rules:
        tables.append(_rules(metrics.overall))
    if metrics.overall.uncertain.outputs:
        tables.append(by_difficulty("Problems whose label is Uncertain", UNCERTAIN))
    return (*tables, left_out_table({"count": metrics}, failures=[failures]))


def conventions(metrics: Metrics) -> str:
    """The conventions of scores that are not the default, to stand after a title."""
    named = {"eligibility": (metrics.eligibility, "own-fault"), "contract": (metrics.contract, "per-action")}
    other = [f"{name} {value}" for name, (value, default) in named.items() if value != default]
    return f" ({', '.join(other)})" if other else ""


def group_table(title: str, keys: Sequence[str], rows: Rows, columns: Columns) -> Table:
    """A table with a row for each group.

    Args:
        title: of the table.
        keys: headings of the columns that name a row.
        rows, columns: the others.
    """
    return Table(
        title,
        (*[Column(key, Style.TEXT) for key in keys], *columns),
        tuple((*names, *[cell(group) for cell in columns.values()]) for names, group in rows),
    )


COUNTS: Columns = {
    Column("problems", Style.COUNT): lambda group: group.problems,
    Column("outputs", Style.COUNT): lambda group: group.outputs,
}
UNCERTAIN: Columns = {
    Column("outputs", Style.COUNT): lambda group: group.uncertain.outputs,
    Column("right", Style.COUNT): lambda group: group.uncertain.right,
    Column("verified", Style.COUNT): lambda group: group.uncertain.verified,
    Column("refuted", Style.COUNT): lambda group: group.uncertain.refuted,
    Column("undecided", Style.COUNT): lambda group: group.uncertain.undecided,
}
"""Of outputs on problems whose label is Uncertain."""


def score_columns(measures: Iterable[Measure], *, samples: str, length_unit: str) -> Columns:
    """The columns of scores.

    Args:
        measures: one for each column.
        samples: K, as it is shown.
        length_unit: of the length of responses.
    """

    def cell(measure: Measure) -> Callable[[Group], Cell]:
        return lambda group: group.scores[measure]

    return {_score_column(measure, samples, length_unit): cell(measure) for measure in measures}


def difficulties(metrics: Metrics) -> list[tuple[str, Group]]:
    """The difficulties, then all together, each under a name of its own: it is a key in JSON."""
    return [*((_group_name(name), group) for name, group in metrics.difficulties.items()), ("overall", metrics.overall)]


def _group_name(difficulty: str) -> str:
    """Difficulties are any text: one that reads like a name of the tables' own, or is in quotes, is put in quotes."""
    if not difficulty:
        return "(none)"
    taken = difficulty in {"(none)", "outcome", "overall"} or difficulty[0] in "'\""
    return repr(difficulty) if taken else difficulty


def steps_table(groups: Mapping[str, Group]) -> Table:
    """The outcomes of the steps: a row for each, because there are more of them than of groups."""
    return Table(
        "Steps",
        (Column("outcome", Style.TEXT), *[Column(name, Style.COUNT) for name in groups]),
        tuple((outcome.value, *[group.steps[outcome] for group in groups.values()]) for outcome in StepOutcome),
    )


def _score_column(measure: Measure, samples: str, length_unit: str) -> Column:
    match measure:
        case Measure.AVG | Measure.PASS:
            return Column(f"{measure}@{samples} (%)", Style.PERCENT, "more")
        case Measure.RGD:
            return Column(f"{measure}", Style.RATIO, "less")
        case Measure.COMPOUND:
            return Column(f"{measure} (%)", Style.PERCENT, "less")
        case Measure.LENGTH_RATIO:
            return Column(f"{measure}", Style.RATIO)
        case Measure.RESPONSE_LENGTH:
            return Column(f"{measure} ({length_unit})", Style.LENGTH)
        case _:
            return Column(f"{measure} (%)", Style.PERCENT, "more")


def _rules(group: Group) -> Table:
    return Table(
        "Steps by declared rule",
        (
            Column("rule", Style.TEXT),
            *(Column(name, Style.COUNT) for name in ("steps", "schema", "semantic", "rule holds", "progress")),
        ),
        tuple(
            (name, counts.steps, counts.schema, counts.semantic, counts.rule, counts.progress)
            for name, counts in group.rules.items()
        ),
    )


def left_out_table(results: Mapping[str, Metrics], *, failures: Sequence[int]) -> Table:
    """What is in no score, by the reason, with a column for each result.

    Args:
        results: by the heading of the column.
        failures: for each result, the samples for which the model gave no completion.
    """
    counts = {f"outputs: {reason}": [metrics.excluded[reason] for metrics in results.values()] for reason in Exclusion}
    if any(metrics.contract == "strict" for metrics in results.values()):
        counts["outputs that the strict contract discards (wrong, no steps)"] = [m.discarded for m in results.values()]
    counts["problems with fewer than K outputs"] = [metrics.overall.incomplete for metrics in results.values()]
    counts["problems without any output"] = [metrics.overall.absent for metrics in results.values()]
    if any(failures):
        counts["samples for which the model gave no completion"] = list(failures)
    return Table(
        "Left out",
        (Column("what", Style.TEXT), *[Column(name, Style.COUNT) for name in results]),
        tuple((what, *of) for what, of in counts.items()),
    )
