"""``prove --continue``: completions of a model, each up to its first wrong step, with an expert's steps after it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from statistics import fmean

import msgspec
import typer

from proof_r1_formal.commands import common
from proof_r1_formal.commands.tables import print_tables
from proof_r1_formal.data.completions import Completion, encode
from proof_r1_formal.data.problem import ProblemSet
from proof_r1_formal.evaluation.tables import Cell, Column, Style, Table
from proof_r1_formal.generate.correction import Correction, correct
from proof_r1_formal.generate.synthesize import GaveUp, Prover, Uncertain
from proof_r1_formal.outputs import output

_SHOWN = 20


def continue_completions(
    known: ProblemSet,
    completions: Path,
    prover: Prover,
    left_out: common.LeftOut,
    *,
    out: Path | None,
    json: Path | None = None,
) -> None:
    """Correct the completions of a file, print a table, and write the corrected ones to a file.

    ``json`` gets the table.

    Completions in which nothing is wrong are written as they are. Those without a continuation are left out and named;
    so are, without a name, those of problems that no proof answers.
    """
    tally = _Tally()
    read = common.usable_completions(completions, known, left_out)
    total = common.count_lines(completions)
    with nullcontext() if out is None else output(out) as lines:
        for completion, found in common.with_progress(_corrections(known, read, prover), "correcting", total):
            tally.count(completion, found)
            if lines is None or isinstance(found, GaveUp | Uncertain):
                continue
            text = completion.completion if found is None else found.text
            lines.write(encode(msgspec.structs.replace(completion, completion=text)) + b"\n")
    print_tables([tally.table()], json=json)
    tally.name_failures()
    common.finish(left_out)
    if tally.failures:
        raise typer.Exit(1)


def _corrections(
    known: ProblemSet, completions: Iterator[Completion], prover: Prover
) -> Iterator[tuple[Completion, Correction | GaveUp | Uncertain | None]]:
    for completion in completions:
        yield completion, correct(known[completion.problem_id], completion.completion, prover)


class _Tally:
    """Counts corrections for the table."""

    def __init__(self) -> None:
        self._rows: Counter[str] = Counter()
        self._made: list[Correction] = []
        self.failures: list[str] = []

    def count(self, completion: Completion, found: Correction | GaveUp | Uncertain | None) -> None:
        """Take one completion into account."""
        match found:
            case None:
                self._rows["nothing is wrong"] += 1
            case Correction():
                self._rows["corrected"] += 1
                self._made.append(found)
            case GaveUp(reason, detail):
                self._fail(completion, f"{reason.value}{f' ({detail})' if detail else ''}")
            case Uncertain():
                self._rows["left out: no option follows"] += 1

    def _fail(self, completion: Completion, reason: str) -> None:
        self._rows["left out: no continuation"] += 1
        self.failures.append(f"{completion.problem_id}, sample {completion.sample}: {reason}")

    def table(self) -> Table:
        """The number of completions by result, and how much of them was kept."""
        rows: list[tuple[Cell, ...]] = [(f"completions: {row}", count) for row, count in self._rows.items()]
        if made := self._made:
            rows += [
                ("accepted steps per correction", fmean([one.accepted for one in made])),
                ("of these used by the answer", fmean([len(one.proof.used) for one in made])),
                ("steps added, the terminal one included", fmean([len(one.proof.steps) for one in made])),
                ("corrections that use no accepted step", sum([one.proof.is_detour for one in made])),
            ]
        return Table("Continuations", (Column("what", Style.TEXT), Column("number", Style.RATIO)), tuple(rows))

    def name_failures(self) -> None:
        """Report the completions without a continuation."""
        for failure in self.failures[:_SHOWN]:
            common.log(f"no continuation of {failure}")
        if len(self.failures) > _SHOWN:
            common.log(f"… and {len(self.failures) - _SHOWN} more")
