"""Tables as text in Markdown, LaTeX, CSV and JSON; ``evaluation.terminal`` shows them in a terminal.

In: a :class:`Table`, a header and rows of plain values. Out: renderings of it. All of them read the same cells, so the
formats agree. Text cells may contain any text (names come from files and models), which each format escapes.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import Enum, auto
from typing import Literal, TypeAlias, TypeVar, assert_never

from rich.text import Text

from proof_r1_formal.evaluation.measures import Estimate

Cell: TypeAlias = str | int | float | Estimate | tuple[str, ...] | None
"""Text, a count, a probability, a score, examples, of which tables show the first, or nothing."""


class Style(Enum):
    """How the cells of a column are shown: text to the left, all others, numbers, to the right."""

    TEXT = auto()
    COUNT = auto()
    PERCENT = auto()  # one decimal
    RATIO = auto()  # three decimals
    LENGTH = auto()  # one decimal
    PROBABILITY = auto()  # three decimals


@dataclass(frozen=True, slots=True)
class Column:
    """A heading, unique in its table, and the style of the cells below.

    Attributes:
        better: of scores, which are better.
        detail: whether terminals show the column in wide tables only.
        whole: whether long texts are shown in full, over several lines of a terminal.
    """

    name: str
    style: Style
    better: Literal["more", "less"] | None = None
    detail: bool = False
    whole: bool = False


class Mark(Enum):
    """The rank of a cell: the best of those it is compared with is bold, the second best underlined."""

    BEST = auto()
    SECOND = auto()


@dataclass(frozen=True, slots=True)
class Table:
    """A table, independent of its format; every row has one cell per column.

    Attributes:
        marks: of cells, by the numbers of their row and column; see :func:`rank`.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    marks: Mapping[tuple[int, int], Mark] = field(default_factory=dict)


def rank(table: Table, groups: Sequence[Hashable], *, apart: Mapping[str, Sequence[Hashable]] | None = None) -> Table:
    """The table with the best and the second best scores marked.

    Scores with equal digits rank equally. A row without a row to compare has no marks. Undefined scores are ignored.

    Args:
        table: its columns say which scores are better.
        groups: for each row what it is compared with: the other rows of the same group.
        apart: by the name of a column, for each row what its cell has to have in common with others besides.
    """
    marks: dict[tuple[int, int], Mark] = {}
    for index, column in enumerate(table.columns):
        if column.better is None:
            continue
        compared = list(zip(groups, (apart or {}).get(column.name, [None] * len(groups)), strict=True))
        for group, size in Counter(compared).items():
            if size < 2:
                continue
            members = [row for row, of in enumerate(compared) if of == group]
            scores = [(row, cell) for row in members if isinstance(cell := table.rows[row][index], Estimate)]
            shown = {row: _round(cell.value, column.style) for row, cell in scores if cell.is_defined}
            best_first = sorted(set(shown.values()), reverse=column.better == "more")
            places = dict(zip(best_first, Mark, strict=False))
            marks |= {(row, index): places[value] for row, value in shown.items() if value in places}
    return replace(table, marks=marks)


# -- tables to text ---------------------------------------------------------------------------------------------------


def to_markdown(table: Table) -> str:
    """The table in GitHub's Markdown, its title above in bold."""
    header, *lines = _lines(table, _MARKDOWN, {None: "{}", Mark.BEST: "**{}**", Mark.SECOND: "<u>{}</u>"})
    rule = "".join("| :-- " if column.style is Style.TEXT else "| --: " for column in table.columns) + "|"
    rows = [f"| {' | '.join(cells)} |" for cells in lines]
    title = printable(table.title).translate(_MARKDOWN)
    return "\n".join([f"**{title}**", "", f"| {' | '.join(header)} |", rule, *rows, ""])


def to_latex(table: Table) -> str:
    """The table as a LaTeX ``table`` environment; needs the package ``booktabs``."""
    alignment = "".join("l" if column.style is Style.TEXT else "r" for column in table.columns)
    marks = {None: "{}", Mark.BEST: r"\textbf{{{}}}", Mark.SECOND: r"\underline{{{}}}"}
    first, *rest = [" & ".join(cells) + r" \\" for cells in _lines(table, _LATEX, marks)]
    caption = printable(table.title).translate(_LATEX)
    top = [r"\begin{table}", r"\centering", rf"\caption{{{caption}}}", rf"\begin{{tabular}}{{{alignment}}}"]
    rows = [r"\toprule", first, r"\midrule", *rest, r"\bottomrule"]
    return "\n".join([*top, *rows, r"\end{tabular}", r"\end{table}", ""])


def _lines(table: Table, escapes: Mapping[int, str], marks: Mapping[Mark | None, str]) -> list[list[str]]:
    """The header and the rows, escaped and with what each mark puts around a text."""
    header = [printable(column.name).translate(escapes) for column in table.columns]
    return [header, *render_rows(table, lambda text, mark: marks[mark].format(text.translate(escapes)))]


def to_csv(table: Table) -> str:
    """The table as comma-separated values; a score has its number, unrounded, and columns for what stands beside it.

    Percentages are of 100, as their headings say; spread and interval are empty where there is none.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    parts = ("", ", spread", ", low", ", high", ", numerator", ", denominator")
    cells = [[row[index] for row in table.rows] for index in range(len(table.columns))]
    widths = [len(parts) if any(isinstance(cell, Estimate) for cell in of) else 1 for of in cells]
    named = list(zip(table.columns, widths, strict=True))
    writer.writerow([printable(column.name) + part for column, width in named for part in parts[:width]])
    for row in table.rows:
        writer.writerow([x for cell, of in zip(row, named, strict=True) for x in _values(cell, of[0].style, of[1])])
    return out.getvalue()


def _values(cell: Cell, style: Style, width: int) -> Sequence[str | float | None]:
    """The values of a cell, as many as the column is wide."""
    match cell:
        case Estimate():
            value = cell.value if cell.is_defined else None
            numbers = (value, cell.spread, *(cell.interval or (None, None)))
            return [*[None if x is None else _scale(style) * x for x in numbers], cell.numerator, cell.denominator]
        case str() | tuple():
            return [printable(_first(cell), longest=None)]
        case int() | float():
            return [cell]
        case None:
            return [None] * width
    assert_never(cell)


def to_json(tables: Iterable[Table]) -> bytes:
    """The tables as one JSON array of ``{title, rows}``; a row is an object by column name, a score keeps its parts.

    The value of a score for which nothing was counted is null.
    """

    def data(cell: Cell) -> object:
        return asdict(cell) | ({} if cell.is_defined else {"value": None}) if isinstance(cell, Estimate) else cell

    found = [
        {
            "title": table.title,
            "rows": [dict(zip((c.name for c in table.columns), map(data, row), strict=True)) for row in table.rows],
        }
        for table in tables
    ]
    return json.dumps(found, separators=(",", ":")).encode("ascii")  # names may hold unpaired surrogates


_LEAST = 0.001  # smaller probabilities are shown as smaller
_LONGEST = 60  # characters of a text cell that are shown

_T = TypeVar("_T", str, Text)


def render_rows(table: Table, show: Callable[[str, Mark | None], _T], *, spreads: bool = True) -> list[list[_T]]:
    """The rows, each cell shown from its text, still to be escaped, and its mark."""
    return [
        [
            show(_text(cell, column, spreads), table.marks.get((number, index)))
            for index, (cell, column) in enumerate(zip(row, table.columns, strict=True))
        ]
        for number, row in enumerate(table.rows)
    ]


def _text(cell: Cell, column: Column, spreads: bool) -> str:
    style = column.style
    match cell:
        case str() | tuple():
            return printable(_first(cell), longest=None if column.whole else _LONGEST)
        case int():
            return str(cell)
        case float():
            return f"<{_LEAST}" if style is Style.PROBABILITY and cell < _LEAST else _number(cell, style)
        case Estimate() if cell.is_defined:
            spread = f" ± {_number(cell.spread, style)}" if spreads and cell.spread is not None else ""
            ends = [_number(end, style) for end in cell.interval or ()]
            return _number(cell.value, style) + spread + (f" [{', '.join(ends)}]" if ends else "")
        case _:
            return "–"


def _first(cell: str | tuple[str, ...]) -> str:
    return cell if isinstance(cell, str) else next(iter(cell), "")


def _number(value: float, style: Style) -> str:
    return f"{_round(value, style):.{_digits(style)}f}"


def _scale(style: Style) -> int:
    return 100 if style is Style.PERCENT else 1


def _digits(style: Style) -> int:
    return 3 if style in (Style.RATIO, Style.PROBABILITY) else 1


def _round(value: float, style: Style) -> float:
    """The number that is shown of a value."""
    return round(_scale(style) * value, _digits(style))


def printable(text: str, *, longest: int | None = _LONGEST) -> str:
    """On one line, nothing that steers a terminal, and not too long."""
    shown = text if longest is None or len(text) <= longest else f"{text[: longest - 1]}…"
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in shown)


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
