"""``translate``: problems of any known format to the package's own."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from proof_r1_formal.commands.common import (
    OUT,
    SolverOption,
    fail,
    progress_bar,
    say,
    with_progress,
)
from proof_r1_formal.data import Format, read_problems
from proof_r1_formal.data.native import write_problems
from proof_r1_formal.data.problem import Problem, ProblemSet, Rejected
from proof_r1_formal.evaluate.labels import answer_by
from proof_r1_formal.solvers import get_solver

_SHOWN = 10


def translate(
    file: Annotated[Path, typer.Argument(help="File of problems.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", help="File of problems to write.", show_default=False)],
    from_: Annotated[Format, typer.Option("--from", help="Format of the problems.")] = "auto",
    check: Annotated[
        bool, typer.Option("--check", help="Also decide every problem, and compare with its label.")
    ] = False,
    solver: SolverOption = "embedded",
) -> None:
    """Write problems, in English or with formulas, in the package's own format, one per line."""
    with progress_bar() as advance:
        found = read_problems(file, format=from_, progress=partial(advance, "reading"))
    if not found.problems:
        _say_rejected(file, found.rejected)
        fail(f"{file} holds no usable problem; nothing is written")
    problems = list(found.problems.values())
    write_problems(out, with_progress(problems, "writing", len(problems)))
    OUT.print(_summary(found))
    if check:
        OUT.print(_agreement(problems, solver))
    _say_rejected(file, found.rejected)
    say(f"{len(problems)} problems written to {out}")
    if found.rejected:
        raise typer.Exit(1)


def _say_rejected(file: Path, rejected: tuple[Rejected, ...]) -> None:
    for record in rejected[:_SHOWN]:
        say(f"rejected: {file}, record {record.line} ({record.id}): {'; '.join(record.reasons)}")
    if len(rejected) > _SHOWN:
        say(f"… and {len(rejected) - _SHOWN} more that are rejected")


def _summary(found: ProblemSet) -> Table:
    table = Table("", "count", title="Translated", title_justify="left")
    problems = found.problems.values()
    labels = Counter(_label(problem, problem.answer) for problem in problems)
    rows = {
        "problems": len(problems),
        **{f"  labelled {label}": count for label, count in sorted(labels.items())},
        "premises": sum(len(problem.premises) for problem in problems),
        "with reference proofs": sum(bool(problem.proofs) for problem in problems),
        "with notes": sum(bool(problem.notes) for problem in problems),
        "rejected": len(found.rejected),
    }
    for name, count in rows.items():
        table.add_row(Text(name), Text(f"{count}", justify="right"))
    return table


def _agreement(problems: list[Problem], solver_name: str) -> Table:
    """How often the label is what follows from the premises; every miss is said."""
    solver = get_solver(solver_name)
    agree: Counter[str] = Counter()
    total: Counter[str] = Counter()
    labelled = [problem for problem in problems if problem.answer]
    for problem in with_progress(labelled, "checking", len(labelled)):
        label, answer = _label(problem, problem.answer), answer_by(solver, problem)
        total[label] += 1
        agree[label] += answer == problem.answer
        if answer != problem.answer:
            say(f"label missed: {problem.id} is labelled {label}; by {solver.name}: {_label(problem, answer)}")
    table = Table("label", "problems", "agree", "share", title=f"Labels and {solver.name}", title_justify="left")
    for label in (*sorted(total), "all"):
        count, right = (total.total(), agree.total()) if label == "all" else (total[label], agree[label])
        share = f"{100 * right / count:.1f} %" if count else "–"
        table.add_row(Text(label), *(Text(cell, justify="right") for cell in (f"{count}", f"{right}", share)))
    return table


def _label(problem: Problem, answer: str | None) -> str:
    """What choosing the option says; an answer that is no option as it is."""
    option = problem.option(answer)
    return option.label if option is not None else answer or "unknown"
