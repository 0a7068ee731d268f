"""Problems as Rich renderables, for a terminal or a notebook."""

from __future__ import annotations

from io import StringIO

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from proof_r1_formal.data.problem import Problem
from proof_r1_formal.text.show import show


def html(renderable: RenderableType) -> str:
    """A renderable as HTML with its colors, for a notebook."""
    console = Console(file=StringIO(), record=True, width=120, force_jupyter=False)
    console.print(renderable)
    return console.export_html(inline_styles=True, code_format='<pre style="white-space: pre">{code}</pre>')


def problem(shown: Problem) -> RenderableType:
    """A problem: premises with their English, and options."""
    table = Table(title=escape(shown.id), title_justify="left", show_header=False, box=None)
    for premise in shown.premises:
        table.add_row(Text(premise.id), Text(show(premise.formula)), Text(premise.text, "dim"))
    for option in shown.options:
        mark = " (right)" if option.id == shown.answer else ""
        table.add_row(Text(option.id, "bold"), Text(show(option.formula)), Text(f"{option.label}{mark}"))
    return Group(table, Text(shown.question, "bold")) if shown.question else table
