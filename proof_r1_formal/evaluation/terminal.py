"""Tables for a terminal: words stay whole in any width.

In: a :class:`~proof_r1_formal.evaluation.tables.Table`. Out: what Rich prints, laid out for the width at that time.

Rich draws each part; the layout is ours. Where a table is too wide, Rich breaks words and then empties columns, and
no library that we know continues a table below with the names of its rows repeated.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import rich.box
import rich.table
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from proof_r1_formal.evaluation.tables import Mark, Style, Table, printable, render_rows


@dataclass(frozen=True, slots=True)
class TerminalTable:
    """A table for a terminal: words stay whole, and columns that do not fit next to each other follow below.

    Every part repeats the columns that name a row. See :func:`to_rich`.
    """

    table: Table
    spreads: bool

    @property
    def row_count(self) -> int:
        """How many rows there are to show."""
        return len(self.table.rows)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        columns = self.table.columns
        headings = [_break_names(printable(column.name).replace(" (%)", " %")) for column in columns]
        styles = {None: "", Mark.BEST: "bold", Mark.SECOND: "underline"}
        keys = next((n for n, column in enumerate(columns) if column.style is not Style.TEXT), len(columns))
        for word in (_WHOLE, _WORD):  # names stay on one line if the table then still has one part

            def show(text: str, mark: Mark | None, longest: int = word) -> Text:
                return Text(_break_names(text, longest), styles[mark])

            rows = render_rows(self.table, show, spreads=self.spreads)
            texts = [[heading, *[row[index].plain for row in rows]] for index, heading in enumerate(headings)]
            least = [min(word, max(cell_len(each) for text in of for each in text.split() or [""])) for of in texts]
            parts = _parts(least, keys, options.max_width)
            if len(parts) == 1 and sum(least) + _GAP * len(least) < options.max_width:
                break
        whole = [max(cell_len(line) for text in of for line in text.split("\n")) for of in texts]
        for number, part in enumerate(parts):
            title = Text(printable(self.table.title, longest=None) + " (continued)" * (number > 0))
            shown = rich.table.Table(title=title, title_justify="left", box=rich.box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
            widths = _widths([least[n] for n in part], [whole[n] for n in part], options.max_width)
            for n, width in zip(part, widths, strict=True):
                justify: Literal["left", "right"] = "left" if columns[n].style is Style.TEXT else "right"
                shown.add_column(Text(headings[n]), justify=justify, overflow="fold", width=width)
            for row in rows:
                shown.add_row(*[row[n] for n in part])
            yield shown


def to_rich(table: Table, *, wide: bool = False) -> TerminalTable:
    """The table for a terminal.

    ``wide``: with spreads, details, rows of zeros, and in tables of many columns also columns of zeros.
    """
    return TerminalTable(table if wide else _narrow(table), wide)


_GAP = 2  # blanks between columns; and there is one at the left edge, and two at the right


def _parts(least: Sequence[int], keys: int, width: int) -> list[list[int]]:
    """The numbers of the columns that stand side by side, the first ``keys`` columns in every part."""
    parts = [list(range(keys))]
    for column in range(keys, len(least)):
        wanted = sum([_GAP + least[n] for n in (*parts[-1], column)]) + 1
        if wanted > width and len(parts[-1]) > keys:
            parts.append(list(range(keys)))
        parts[-1].append(column)
    return parts


def _widths(least: Sequence[int], whole: Sequence[int], width: int) -> list[int]:
    """The widths of columns: what their longest words need, and of the rest first what lacks the fewest characters."""
    widths = list(least)
    left = max(0, width - sum(widths) - _GAP * len(widths) - 1)
    for n in sorted(range(len(widths)), key=lambda n: whole[n] - least[n]):
        more = min(left, max(0, whole[n] - least[n]))
        widths[n] += more
        left -= more
    return widths


_WORD = 24  # characters of a name, such as that of a rule, that are shown on one line where there is little room
_WHOLE = 48  # the same where there is room


def _break_names(text: str, longest: int = _WORD) -> str:
    """The text with line breaks after underscores and hyphens in long names, such as those of rules and models."""
    return re.sub(rf"(?=\S{{{longest + 1}}})(\S{{1,{longest - 1}}}[_-])", r"\1\n", text)


_MANY = 8  # a table of more columns is shown without columns of zeros


def _narrow(table: Table) -> Table:
    """The table without details, and if its numbers are all counts without rows of zeros."""
    numbers = [index for index, column in enumerate(table.columns) if column.style is not Style.TEXT]
    sparse = bool(numbers) and all(table.columns[index].style is Style.COUNT for index in numbers)
    rows = [number for number, row in enumerate(table.rows) if not sparse or any(row[index] for index in numbers)]
    columns = [
        index
        for index, column in enumerate(table.columns)
        if not column.detail
        and (column.style is not Style.COUNT or len(table.columns) <= _MANY or any(row[index] for row in table.rows))
    ]
    return Table(
        table.title,
        tuple([table.columns[index] for index in columns]),
        tuple([tuple([table.rows[number][index] for index in columns]) for number in rows]),
        {
            (rows.index(row), columns.index(column)): mark
            for (row, column), mark in table.marks.items()
            if row in rows and column in columns
        },
    )
