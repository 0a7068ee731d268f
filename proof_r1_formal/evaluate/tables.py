"""Tables as text: for a terminal, in Markdown, LaTeX, CSV and JSON.

In: a :class:`Table`, a header and rows of plain values. Out: renderings of it. All of them read the same cells, so
formats cannot drift apart. Text cells may hold anything (names of difficulties and rules come from files and from
models): each format escapes them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto
from typing import TypeAlias, assert_never

import msgspec
import rich.box
import rich.table
from rich.text import Text

from proof_r1_formal.evaluate.measures import Estimate

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
