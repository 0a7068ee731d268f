"""Tables of commands: in a terminal or a pipe, and with ``--json`` as a file for programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from proof_r1_formal.commands.common import OUT
from proof_r1_formal.evaluation.tables import Table, to_json
from proof_r1_formal.evaluation.terminal import to_rich
from proof_r1_formal.outputs import write_output

JsonOption = Annotated[
    Path | None,
    typer.Option(
        "--json",
        help="Also write what the tables show as JSON; - is standard output, and the tables go to standard error.",
        show_default=False,
    ),
]


def print_tables(tables: Sequence[Table], *, json: Path | None = None) -> None:
    """Print tables with all their rows, and write them to the file of ``--json``, if it is given.

    Call ``common.check_outputs`` with the file before the work.
    """
    for table in tables:
        OUT.print(to_rich(table, wide=True))
    if json is not None:
        write_output(json, to_json(tables))
