"""Problems as Rich renderables, for a terminal or a notebook.

In: the texts of a problem. Out: a table. ``Problem`` calls this module when it is shown; no other use needs Rich.
"""

from __future__ import annotations

from collections.abc import Iterable
from io import StringIO

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text


def html(renderable: RenderableType) -> str:
    """A renderable as HTML with its colors, for a notebook."""
    console = Console(file=StringIO(), record=True, width=120, force_jupyter=False)
    console.print(renderable)
    return console.export_html(inline_styles=True, code_format='<pre style="white-space: pre">{code}</pre>')


def problem(
    title: str, premises: Iterable[tuple[str, str, str]], options: Iterable[tuple[str, str, str]], question: str
) -> RenderableType:
    """A problem.

    Args:
        title: its id.
        premises: id, formula and English of each.
        options: id, formula and label of each.
        question: that it asks; may be empty.
    """
    table = Table(title=escape(title), title_justify="left", show_header=False, box=None)
    for name, formula, text in premises:
        table.add_row(Text(name), Text(formula), Text(text, "dim"))
    for name, formula, label in options:
        table.add_row(Text(name, "bold"), Text(formula), Text(label))
    return Group(table, Text(question, "bold")) if question else table
