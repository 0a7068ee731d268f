"""Metrics as tables, and tables as text: for a terminal, in Markdown, LaTeX and JSON.

In: :class:`~proof_r1_formal.evaluate.metrics.Metrics`. Out: :class:`Table`, a header and rows of plain values, and
four renderings of it. All four read the same cells, so formats cannot drift apart. Text cells may hold anything (names
of difficulties and rules come from files and from models): each format escapes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import TypeAlias, assert_never

import msgspec
import rich.box
import rich.table
from rich.text import Text

from proof_r1_formal.evaluate.metrics import Estimate, Exclusion, Group, Measure, Metrics, StepOutcome

Cell: TypeAlias = str | int | Estimate
"""Text, a count, or a score."""


class Style(Enum):
    """How the cells of a column are shown: text to the left, all others, numbers, to the right."""

    TEXT = auto()
    COUNT = auto()
    PERCENT = auto()  # one decimal
    RATIO = auto()  # three decimals
    LENGTH = auto()  # one decimal


@dataclass(frozen=True, slots=True)
class Column:
    """A heading, unique in its table, and the style of the cells below."""

    name: str
    style: Style


@dataclass(frozen=True, slots=True)
class Table:
    """A table, whatever it is shown in; every row has one cell per column."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]


# -- metrics to tables ------------------------------------------------------------------------------------------------


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


# -- tables to text ---------------------------------------------------------------------------------------------------


def to_rich(table: Table) -> rich.table.Table:
    """The table for a terminal."""
    header, *rows = _texts(table)
    shown = rich.table.Table(title=Text(_printable(table.title)), title_justify="left", box=rich.box.SIMPLE_HEAD)
    for name, column in zip(header, table.columns, strict=True):
        shown.add_column(Text(name), justify="left" if column.style is Style.TEXT else "right")
    for row in rows:
        shown.add_row(*map(Text, row))
    return shown


def to_markdown(table: Table) -> str:
    """The table in GitHub's Markdown, its title above in bold."""
    header, *rows = (f"| {' | '.join(map(_markdown, cells))} |" for cells in _texts(table))
    rule = "".join("| :-- " if column.style is Style.TEXT else "| --: " for column in table.columns) + "|"
    return "\n".join([f"**{_markdown(_printable(table.title))}**", "", header, rule, *rows, ""])


def to_latex(table: Table) -> str:
    """The table as a LaTeX ``table`` environment; needs the package ``booktabs``."""
    alignment = "".join("l" if column.style is Style.TEXT else "r" for column in table.columns)
    header, *rows = (" & ".join(map(_latex, cells)) + r" \\" for cells in _texts(table))
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_latex(_printable(table.title))}}}",
            rf"\begin{{tabular}}{{{alignment}}}",
            r"\toprule",
            header,
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def to_json(tables: Iterable[Table]) -> bytes:
    """The tables as one JSON array of ``{title, rows}``; a row is an object by column name, a score keeps its parts."""
    return msgspec.json.encode(
        [
            {
                "title": table.title,
                "rows": [dict(zip((column.name for column in table.columns), row, strict=True)) for row in table.rows],
            }
            for table in tables
        ]
    )


_LONGEST = 60  # characters of a text cell that are shown


def _texts(table: Table) -> list[list[str]]:
    """The header and the rows as text, still to be escaped."""
    return [
        [_printable(column.name) for column in table.columns],
        *([_text(cell, column.style) for cell, column in zip(row, table.columns, strict=True)] for row in table.rows),
    ]


def _text(cell: Cell, style: Style) -> str:
    match cell:
        case str():
            return _printable(cell)
        case int():
            return str(cell)
        case Estimate():
            return _estimate(cell, style)
    assert_never(cell)


def _estimate(estimate: Estimate, style: Style) -> str:
    scale = 100 if style is Style.PERCENT else 1
    digits = 3 if style is Style.RATIO else 1

    def number(value: float) -> str:
        return f"{scale * value:.{digits}f}"

    text = number(estimate.value)
    if estimate.spread is not None:
        text += f" ± {number(estimate.spread)}"
    if estimate.interval is not None:
        low, high = estimate.interval
        text += f" [{number(low)}, {number(high)}]"
    return text


def _printable(text: str) -> str:
    """On one line, nothing that steers a terminal, and not too long."""
    shown = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in shown)


def _markdown(text: str) -> str:
    return text.translate(_MARKDOWN)


def _latex(text: str) -> str:
    return text.translate(_LATEX)


_MARKDOWN = str.maketrans({char: f"\\{char}" for char in r"\`*_[]<>|~&$"})
_LATEX = str.maketrans(
    {
        **{char: f"\\{char}" for char in "{}$&#_%"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "[": "{[}",  # an opening bracket after the end of a row would be its optional argument
        "±": r"$\pm$",
        "…": r"\ldots{}",
        "\N{REPLACEMENT CHARACTER}": "?",  # pdflatex knows no such character
    }
)
