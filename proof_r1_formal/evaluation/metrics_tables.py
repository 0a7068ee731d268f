"""Metrics of one set of completions as tables, and what tables of several sets have in common with them.

In: :class:`~proof_r1_formal.evaluation.measures.Metrics`. Out: tables with a row for each difficulty and one for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple
from functools import partial
from operator import attrgetter
from typing import TypeAlias, TypeVar

from proof_r1_formal.evaluation.measures import Exclusion, Group, Measure, Metrics, StepOutcome, UncertainCounts
from proof_r1_formal.evaluation.tables import Cell, Column, Style, Table

SCORES = (Measure.AVG, Measure.PASS, Measure.FVR, Measure.STRICT_FVR, Measure.RVR, Measure.STRICT_RVR, Measure.RGD)
"""The measures of the main table."""
ANSWERS = (Measure.VERIFIED, Measure.RULE_VERIFIED, Measure.COMPOUND, Measure.LENGTH_RATIO)
"""Those that say what stands behind the answers."""

_T = TypeVar("_T")
Columns: TypeAlias = Mapping[Column, Callable[[_T], Cell]]
"""Columns, and how their cells are read off what a row is about."""


def metrics_tables(metrics: Metrics, *, unreadable: int = 0) -> tuple[Table, ...]:
    """The tables of a result: scores, answers, outputs, steps, rules, Uncertain problems, and what is left out.

    The tables of rules and of Uncertain problems are there only if there is something to count.

    Args:
        metrics: of the outputs.
        unreadable: number of lines of their files that hold no output.
    """
    groups = difficulties(metrics)
    lengths = (Measure.RESPONSE_LENGTH,) if metrics.overall.scores[Measure.RESPONSE_LENGTH].denominator else ()
    scores = partial(score_columns, samples=f"{metrics.samples}")

    def by_difficulty(title: str, columns: Columns[Group]) -> Table:
        return table_of(title, ("difficulty",), [((name,), group) for name, group in groups.items()], columns)

    tables = [
        by_difficulty(f"Scores{conventions(metrics)}", scores(SCORES)),
        by_difficulty("Answers and proofs", scores(ANSWERS)),
        by_difficulty("Outputs", {**COUNTS, **scores((Measure.PARSED, *lengths))}),
        steps_table(groups),
    ]
    if metrics.overall.rules:
        rules = {name: astuple(counts) for name, counts in metrics.overall.rules.items()}
        checks = ("steps", "schema", "semantic", "rule holds", "progress")
        tables.append(count_table("Steps by declared rule", "rule", checks, rules))
    if metrics.overall.uncertain.outputs:
        tables.append(by_difficulty("Problems whose label is Uncertain", UNCERTAIN))
    return (*tables, left_out_table({"count": metrics}, [unreadable]))


def conventions(metrics: Metrics) -> str:
    """The conventions of scores that are not the default, to stand after a title."""
    named = {"eligibility": (metrics.eligibility, "own-fault"), "contract": (metrics.contract, "per-action")}
    other = [f"{name} {value}" for name, (value, default) in named.items() if value != default]
    return f" ({', '.join(other)})" if other else ""


def table_of(
    title: str, keys: Sequence[str], rows: Iterable[tuple[tuple[str, ...], _T]], columns: Columns[_T]
) -> Table:
    """A table whose rows have a name in each of the columns ``keys``, and are each about one thing."""
    return Table(
        title,
        (*[Column(key, Style.TEXT) for key in keys], *columns),
        tuple([(*names, *[cell(one) for cell in columns.values()]) for names, one in rows]),
    )


def count_table(title: str, key: str, columns: Iterable[str], rows: Mapping[str, Iterable[int]]) -> Table:
    """A table of counts, by the names of rows and columns."""
    heads = (Column(key, Style.TEXT), *[Column(name, Style.COUNT) for name in columns])
    return Table(title, heads, tuple([(name, *counts) for name, counts in rows.items()]))


COUNTS: Columns[Group] = {Column(name, Style.COUNT): attrgetter(name) for name in ("problems", "outputs")}
UNCERTAIN: Columns[Group] = {
    Column(name, Style.COUNT): attrgetter(f"uncertain.{name}") for name in UncertainCounts.__slots__
}
"""Of outputs on problems whose label is Uncertain."""


def score_columns(measures: Iterable[Measure], *, samples: str) -> Columns[Group]:
    """The columns of scores; ``samples`` is K, as it is shown."""

    def cell(measure: Measure) -> Callable[[Group], Cell]:
        return lambda group: group.scores[measure]

    return {_score_column(measure, samples): cell(measure) for measure in measures}


def _score_column(measure: Measure, samples: str) -> Column:
    match measure:
        case Measure.AVG | Measure.PASS:
            return Column(f"{measure}@{samples} (%)", Style.PERCENT, "more")
        case Measure.RGD:
            return Column(measure, Style.RATIO, "less")
        case Measure.LENGTH_RATIO:
            return Column(measure, Style.RATIO)
        case Measure.RESPONSE_LENGTH:
            return Column(f"{measure} (characters)", Style.LENGTH)
    return Column(f"{measure} (%)", Style.PERCENT, "less" if measure is Measure.COMPOUND else "more")


def difficulties(metrics: Metrics) -> dict[str, Group]:
    """The difficulties, then all together, each under a name of its own: it is a key in JSON."""
    return {**{_group_name(name): group for name, group in metrics.difficulties.items()}, "overall": metrics.overall}


def _group_name(difficulty: str) -> str:
    """Difficulties are any text: one that reads like a name of the tables' own, or is in quotes, is put in quotes."""
    if not difficulty:
        return "(none)"
    taken = difficulty in {"(none)", "outcome", "overall"} or difficulty[0] in "'\""
    return repr(difficulty) if taken else difficulty


def steps_table(groups: Mapping[str, Group]) -> Table:
    """The outcomes of the steps: a row for each, because there are more of them than of groups."""
    rows = {outcome.value: [group.steps[outcome] for group in groups.values()] for outcome in StepOutcome}
    return count_table("Steps", "outcome", groups, rows)


def left_out_table(results: Mapping[str, Metrics], unreadable: Sequence[int]) -> Table:
    """The outputs that are in no score, by the reason, with a column for each result, under its name.

    ``unreadable`` counts, for each result, the lines of its files that hold no output. The table has a row for these
    lines if there are any.
    """
    found = results.values()
    counts = {f"outputs: {reason}": [metrics.excluded[reason] for metrics in found] for reason in Exclusion}
    if any(unreadable):
        counts["lines that hold no output"] = list(unreadable)
    if any(metrics.contract == "strict" for metrics in found):
        counts["outputs that the strict contract discards (wrong, no steps)"] = [each.discarded for each in found]
    counts["problems with fewer than K outputs"] = [metrics.overall.incomplete for metrics in found]
    counts["problems without any output"] = [metrics.overall.absent for metrics in found]
    return count_table("Left out", "what", results, counts)
