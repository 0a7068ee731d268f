"""``report``: verified traces as one HTML file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import typer

from proof_r1_formal.assistants.lean import HINT, LeanKernel
from proof_r1_formal.commands.common import (
    AtomicOption,
    CompletionsOption,
    FormatOption,
    LeanOption,
    ProblemsOption,
    RulesOption,
    SolverOption,
    WorkersOption,
    check_outputs,
    counted,
    fail,
    finish,
    log,
    log_skipped,
    read_problem_file,
    usable_completions,
    with_progress,
)
from proof_r1_formal.data.completions import Completion
from proof_r1_formal.data.sources import open_to_read
from proof_r1_formal.outputs import write_output
from proof_r1_formal.proof.batch import Settings, verify_many
from proof_r1_formal.proof.report import decode
from proof_r1_formal.report.bundle import Verified
from proof_r1_formal.report.page import CERTIFICATES, page


def report(
    problems: ProblemsOption,
    completions: CompletionsOption,
    out: Annotated[Path, typer.Option("-o", "--out", help="HTML file to write.", show_default=False)],
    reports: Annotated[
        Path | None,
        typer.Option("--reports", help="Reports that 'verify' wrote; without them, verify now.", show_default=False),
    ] = None,
    title: Annotated[str, typer.Option("--title", help="Title of the page.")] = "Proof report",
    certificates: Annotated[
        int, typer.Option("--certificates", min=0, help="Number of verified answers that get a certificate.")
    ] = CERTIFICATES,
    kernel: Annotated[
        Literal["lean", "none"], typer.Option("--kernel", help="Kernel that checks certificates.")
    ] = "none",
    format: FormatOption = "auto",  # noqa: A002 (the name of the option)
    rules: RulesOption = "train",
    atomic: AtomicOption = False,
    solver: SolverOption = "embedded",
    workers: WorkersOption = 1,
    lean: LeanOption = None,
) -> None:
    """Write verified completions as one HTML file.

    The page has charts, search, and each proof as a graph with its evidence. It opens offline in any
    browser. Certificates are the largest part, so only the first answers have one.
    """
    check_outputs(out, inputs=(problems, completions, reports))
    checked_by = None
    if kernel == "lean" and (checked_by := LeanKernel.find(lean)) is None:
        fail(f"Lean was not found, so certificates cannot be checked; {HINT}")
    known = read_problem_file(problems, format)
    skipped: list[str] = []
    usable = usable_completions(completions, known, skipped)
    settings = Settings(solver=solver, rules=rules, atomic=atomic)
    if reports is None:
        given = list(usable)
        made = verify_many(known, given, settings=settings, workers=workers)
        traces = list(zip(given, with_progress(made, "verifying", len(given)), strict=True))
    else:
        traces = list(_reported(reports, usable))
    if not traces:
        log_skipped(skipped)
        fail("there is nothing to show: no completion can be used")
    html = page(settings.verifier(), known, traces, title=title, certificates=certificates, kernel=checked_by)
    write_output(out, html)
    log(f"{counted(len(traces), 'trace')} written to {out} ({len(html) / 1e6:.1f} MB)")
    finish(skipped)


def _reported(path: Path, completions: Iterator[Completion]) -> Iterator[Verified]:
    """Each report with its completion: they are in the same order, and there may be fewer reports."""
    try:
        with open_to_read(path) as file:
            lines = file.read().splitlines()
    except OSError as error:
        fail(f"{path}: the file cannot be read: {error.strerror}")
    for number, line in enumerate(lines, 1):
        try:
            found = decode(line)
        except msgspec.DecodeError as error:
            fail(f"{path}, line {number}: not a report: {error}")
        wanted = (found.problem_id, found.sample)
        match = next((c for c in completions if (c.problem_id, c.sample) == wanted), None)
        if match is None:
            fail(f"{path}, line {number}: no completion of problem {wanted[0]!r}, sample {wanted[1]}, in this order")
        yield match, found
