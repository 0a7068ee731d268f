"""``dataset``: problems as a folder with a card, as Hugging Face's ``datasets`` loads it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from proof_r1_formal.commands import common, problem_files
from proof_r1_formal.commands.gym import BUDGET
from proof_r1_formal.data.problem import ProblemSet
from proof_r1_formal.generate.synthesize import Prover
from proof_r1_formal.integrations.dataset_cards import ROWS, About, card, encode_row, row_of
from proof_r1_formal.integrations.scoring import Row
from proof_r1_formal.outputs import output, write_output
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.catalogue import catalogue


def dataset(
    problems: common.ProblemsOption,
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder to write.", show_default=False)],
    name: Annotated[str, typer.Option("--name", help="Name of the data set.", show_default=False)],
    license: Annotated[  # noqa: A002
        str, typer.Option("--license", help="Its licence, as the Hub names it, such as cc-by-4.0.", show_default=False)
    ],
    source: Annotated[
        str,
        typer.Option("--source", help="Where the problems come from: a sentence for the card.", show_default=False),
    ],
    split: Annotated[str, typer.Option("--split", help="Name of the split.")] = "train",
    labels_only: Annotated[
        bool, typer.Option("--labels-only", help="Write labels and evidence without the problems.")
    ] = False,
    rules: common.RulesOption = "complete",
    budget: Annotated[
        int, typer.Option("--budget", min=1, help="Maximum number of search steps per problem and rule set.")
    ] = BUDGET,
    format: common.FormatOption = "auto",  # noqa: A002
    notation: common.NotationOption = "auto",
    strict: common.StrictOption = False,
) -> None:
    """Write problems as a data set with a card. Each label rests on rechecked evidence.

    A label of the file that the evidence contradicts is corrected; the row has both. Nothing is uploaded.
    """
    about = About(name, license, source, split, labels_only)
    rows_file, card_file = out / ROWS, out / "README.md"
    left_out = common.LeftOut(strict)
    found = problem_files.read_problem_file(problems, format, left_out, notation=notation)
    out.mkdir(parents=True, exist_ok=True)
    common.check_outputs(rows_file, card_file, inputs=(problems,))
    prover = Prover(Verifier(rules=catalogue(rules)), budget=budget)
    with output(rows_file) as file:

        def written() -> Iterator[Row]:
            for row in _rows(found, prover, labels_only):
                file.write(encode_row(row))
                yield row

        text = card(about, written())
    write_output(card_file, text.encode())
    common.log(f"{common.count_of(len(found), 'row')} and a card written to {out}")
    common.finish(left_out)


def _rows(found: ProblemSet, prover: Prover, labels_only: bool) -> Iterator[Row]:
    for problem in common.with_progress(found.values(), "deciding", len(found)):
        yield row_of(problem, prover, labels_only=labels_only)
