"""Metrics of one set of completions as tables.

In: :class:`~proof_r1_formal.evaluate.measures.Metrics`. Out: tables with a row for each difficulty and one for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import assert_never

from proof_r1_formal.evaluate.measures import Exclusion, Group, Measure, Metrics, StepOutcome
from proof_r1_formal.evaluate.tables import Cell, Column, Style, Table


def metrics_tables(metrics: Metrics) -> tuple[Table, ...]:
    """The tables of a result: scores, answers, outputs, steps, rules, Uncertain problems, and what is left out.

    The tables of rules and of Uncertain problems are there only if there is something to count.
    """
    scores = (Measure.AVG, Measure.PASS, Measure.FVR, Measure.RVR, Measure.RGD)
    answers = (Measure.VERIFIED, Measure.RULE_VERIFIED, Measure.LENGTH_RATIO)
    lengths = (Measure.RESPONSE_LENGTH,) if metrics.overall.scores[Measure.RESPONSE_LENGTH].denominator else ()

    def score_columns(measures: Iterable[Measure]) -> dict[Column, Callable[[Group], Cell]]:
        return {_score_column(measure, metrics): _score(measure) for measure in measures}

    tables = [
        _by_difficulty(metrics, "Scores", score_columns(scores)),
        _by_difficulty(metrics, "Answers and proofs", score_columns(answers)),
        _by_difficulty(
            metrics,
            "Outputs",
            {
                Column("problems", Style.COUNT): lambda group: group.problems,
                Column("outputs", Style.COUNT): lambda group: group.outputs,
                **score_columns((Measure.PARSED, *lengths)),
            },
        ),
        _steps(metrics),
    ]
    if metrics.overall.rules:
        tables.append(_rules(metrics.overall))
    if metrics.overall.uncertain.outputs:
        tables.append(
            _by_difficulty(
                metrics,
                "Problems whose label is Uncertain",
                {
                    Column("outputs", Style.COUNT): lambda group: group.uncertain.outputs,
                    Column("right", Style.COUNT): lambda group: group.uncertain.right,
                    Column("verified", Style.COUNT): lambda group: group.uncertain.verified,
                    Column("refuted", Style.COUNT): lambda group: group.uncertain.refuted,
                    Column("undecided", Style.COUNT): lambda group: group.uncertain.undecided,
                },
            )
        )
    return (*tables, _left_out(metrics))


def _groups(metrics: Metrics) -> list[tuple[str, Group]]:
    """The difficulties, then all together, each under a name of its own: it is a key in JSON."""
    return [*((_group_name(name), group) for name, group in metrics.difficulties.items()), ("overall", metrics.overall)]


def _group_name(difficulty: str) -> str:
    """Difficulties are any text: one that reads like a name of the tables' own, or is in quotes, is put in quotes."""
    if not difficulty:
        return "(none)"
    taken = difficulty in {"(none)", "outcome", "overall"} or difficulty[0] in "'\""
    return repr(difficulty) if taken else difficulty


def _by_difficulty(metrics: Metrics, title: str, columns: Mapping[Column, Callable[[Group], Cell]]) -> Table:
    return Table(
        title,
        (Column("difficulty", Style.TEXT), *columns),
        tuple((name, *(cell(group) for cell in columns.values())) for name, group in _groups(metrics)),
    )


def _steps(metrics: Metrics) -> Table:
    """What became of the steps: a row for each outcome, because there are more of them than of difficulties."""
    return Table(
        "Steps",
        (Column("outcome", Style.TEXT), *(Column(name, Style.COUNT) for name, _ in _groups(metrics))),
        tuple((outcome.value, *(group.steps[outcome] for _, group in _groups(metrics))) for outcome in StepOutcome),
    )


def _score(measure: Measure) -> Callable[[Group], Cell]:
    return lambda group: group.scores[measure]


def _score_column(measure: Measure, metrics: Metrics) -> Column:
    match measure:
        case Measure.AVG | Measure.PASS:
            return Column(f"{measure}@{metrics.samples} (%)", Style.PERCENT)
        case Measure.FVR | Measure.RVR | Measure.PARSED | Measure.VERIFIED | Measure.RULE_VERIFIED:
            return Column(f"{measure} (%)", Style.PERCENT)
        case Measure.RGD | Measure.LENGTH_RATIO:
            return Column(f"{measure}", Style.RATIO)
        case Measure.RESPONSE_LENGTH:
            return Column(f"{measure} ({metrics.length_unit})", Style.LENGTH)
    assert_never(measure)


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


def _left_out(metrics: Metrics) -> Table:
    return Table(
        "Left out",
        (Column("what", Style.TEXT), Column("count", Style.COUNT)),
        (
            *((f"outputs: {reason}", metrics.excluded[reason]) for reason in Exclusion),
            (f"problems with fewer than {metrics.samples} outputs", metrics.overall.incomplete),
            ("problems without any output", metrics.overall.absent),
        ),
    )
