"""``data``: data sets made by rule from files that the user has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.table import Table
from rich.text import Text

from proof_r1_formal.commands.common import (
    OUT,
    SolverOption,
    check_outputs,
    counted,
    fail,
    log,
    new_table,
    with_progress,
)
from proof_r1_formal.data import read_problems
from proof_r1_formal.data.native import write_problems
from proof_r1_formal.data.problem import Problem, ProblemSet, Rejected
from proof_r1_formal.data.sources import open_to_read
from proof_r1_formal.engine import get_solver
from proof_r1_formal.evaluation.paper_splits import PUBLISHED, SEED, Choice, Rule, Selector, counts
from proof_r1_formal.generate.synthesize import BUDGET, Prover
from proof_r1_formal.outputs import check_folder, output
from proof_r1_formal.proof.verify import Verifier

data = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    help="Make the evaluation sets of the paper from files of its datasets.",
    no_args_is_help=True,
)


@data.callback()
def _group() -> None:
    """A group keeps its name in the command line, even with one command."""


@data.command("paper-splits")
def paper_splits(
    out: Annotated[
        Path, typer.Option("-o", "--out", help="Folder for the sets and their selection.", show_default=False)
    ],
    proverqa: Annotated[
        list[Path] | None, typer.Option("--proverqa", help="File of ProverQA, of any difficulty.", show_default=False)
    ] = None,
    folio: Annotated[
        list[Path] | None, typer.Option("--folio", help="File of FOLIO's validation split.", show_default=False)
    ] = None,
    proofwriter: Annotated[
        list[Path] | None, typer.Option("--proofwriter", help="File of ProofWriter, open world.", show_default=False)
    ] = None,
    exclude: Annotated[
        Path | None,
        typer.Option("--exclude", help="File of ids to leave out, one per line, such as those of the warm-up."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Random seed of the draw from ProofWriter.")] = SEED,
    budget: Annotated[
        int, typer.Option("--budget", min=1, help="Maximum number of search steps per reference proof.")
    ] = BUDGET,
    solver: SolverOption = "embedded",
) -> None:
    """Select the evaluation sets of the paper by rule, and say why each record is chosen or left out.

    OUT holds a file of problems per set, and selection.jsonl with every record and its rule.
    """
    given = {"proverqa": proverqa or [], "folio": folio or [], "proofwriter": proofwriter or []}
    inputs = [path for paths in given.values() for path in paths]
    if not inputs:
        fail("name a file to select from: --proverqa, --folio or --proofwriter")
    check_folder(out)
    names = ["selection", *[name for name, paths in given.items() if paths]]
    check_outputs(*[out / f"{name}.jsonl" for name in names], inputs=(*inputs, exclude))
    verifier = Verifier(solver=get_solver(solver))
    excluded = _ids(exclude)
    selector = Selector(
        get_solver(solver), Prover(verifier, budget=budget), verifier, excluded=frozenset(excluded), seed=seed
    )
    chosen: dict[str, list[Choice]] = {}
    for name, paths in given.items():
        if paths:
            chosen[name] = list(_chosen(selector, name, paths))
    with output(out / "selection.jsonl") as file:
        for name, choices in chosen.items():
            for choice in choices:
                record = {"set": name, "id": choice.id, "rule": choice.rule, "detail": choice.detail}
                file.write(msgspec.json.encode(record) + b"\n")
    for name, choices in chosen.items():
        _finish(out / f"{name}.jsonl", name, choices)
    seen = {choice.id for choices in chosen.values() for choice in choices}
    if unknown := [name for name in excluded if name not in seen]:
        log(f"{exclude}: {counted(len(unknown), 'id is', 'ids are')} in no file; the first: {unknown[0]}")


def _ids(path: Path | None) -> list[str]:
    """The ids of a file; blank lines and comments (#) are left out."""
    if path is None:
        return []
    with open_to_read(path) as file:
        try:
            lines = [line.decode().strip() for line in file]
        except UnicodeDecodeError:
            fail(f"{path}: expected UTF-8 text, one id per line")
    return [line for line in lines if line and not line.startswith("#")]


def _chosen(selector: Selector, name: str, paths: list[Path]) -> Iterator[Choice]:
    if name == "folio":
        strict, lenient = _read(paths, repair=False), _read(paths, repair=True)
        choices = selector.folio(strict, lenient)
    else:
        strict = _read(paths)
        choices = (selector.proverqa if name == "proverqa" else selector.proofwriter)(strict)
    return with_progress(choices, name, len(strict) + len(strict.rejected))


def _read(paths: Iterable[Path], *, repair: bool | None = None) -> ProblemSet:
    """The problems of several files as one set."""
    problems: dict[str, Problem] = {}
    rejected: list[Rejected] = []
    for path in paths:
        found = read_problems(path, repair=repair)
        if taken := next((name for name in found if name in problems), None):
            fail(f"{path}: another file already has a problem {taken!r}; give each file another name")
        problems.update(found)
        rejected.extend(found.rejected)
    return ProblemSet(problems, tuple(rejected))


def _finish(path: Path, name: str, choices: list[Choice]) -> None:
    """Write a set, and show its counts beside the published ones."""
    problems = [choice.problem for choice in choices if choice.rule is Rule.CHOSEN and choice.problem]
    if problems:
        write_problems(path, problems)
    found = counts(choices)
    OUT.print(_table(name, found))
    published = PUBLISHED[name][Rule.CHOSEN]
    compared = "as many as" if len(problems) == published else "not the number of"
    log(f"{path}: {counted(len(problems), 'problem')}, {compared} the paper ({published})")


def _table(name: str, found: dict[str, int]) -> Table:
    table = new_table(name, "", "here", "published")
    shown = ["records", *Rule, *[key for key in ("easy", "medium", "hard") if key in found]]
    for row in shown:
        if row in found or row in PUBLISHED[name]:
            published = PUBLISHED[name].get(row)
            label = f"  chosen, {row}" if row in ("easy", "medium", "hard") else row
            table.add_row(Text(label), f"{found.get(row, 0)}", "–" if published is None else f"{published}")
    return table
