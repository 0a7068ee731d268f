"""``verify`` and ``show``: verify completions, and write or print the reports."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Annotated

import typer

from proof_r1_formal.commands.common import (
    OUT,
    AtomicOption,
    CompletionsOption,
    EvidenceOption,
    FormatOption,
    LeanOption,
    LeftOut,
    NotationOption,
    ProblemsOption,
    RayOption,
    RulesOption,
    SolverOption,
    StrictOption,
    WorkersOption,
    check_outputs,
    count_lines,
    count_of,
    engine,
    fail,
    finish,
    log,
    log_skipped,
    problem_of,
    read_problem_file,
    resumable,
    usable_completions,
    with_progress,
)
from proof_r1_formal.evaluation.summary import Doubts, Summary
from proof_r1_formal.outputs import LineFile, is_stream
from proof_r1_formal.proof.batch import Settings, verify_many, verify_to_lines
from proof_r1_formal.proof.report import TraceReport, decode, encode


def verify(
    problems: ProblemsOption,
    completions: CompletionsOption,
    out: Annotated[
        Path, typer.Option("-o", "--out", help="File of reports to write, one per line.", show_default=False)
    ],
    format: FormatOption = "auto",  # noqa: A002 (the name of the option)
    notation: NotationOption = "auto",
    rules: RulesOption = "train",
    atomic: AtomicOption = False,
    solver: SolverOption = "embedded",
    evidence: EvidenceOption = "checked",
    lean: LeanOption = None,
    strict: StrictOption = False,
    workers: WorkersOption = 1,
    ray: RayOption = None,
) -> None:
    """Verify completions; write one report per completion, in order.

    Repeat an interrupted command to resume it. A summary ends the messages on standard error.
    """
    settings = Settings(solver=solver, rules=rules, atomic=atomic, evidence=evidence, lean=lean)
    check_outputs(out, inputs=(problems, completions))
    left_out = LeftOut(strict)
    known = read_problem_file(problems, format, left_out, notation=notation)
    summary = Summary(known)

    with (
        LineFile.open(
            out, inputs=(problems, completions), settings=settings, read=lambda line: summary.add(decode(line))
        ) as file,
        resumable(file),
    ):
        usable = usable_completions(completions, known, left_out)
        done = sum(1 for _ in zip(range(file.done), usable, strict=False))
        if done:
            log(f"resuming after {count_of(done, 'report')}")
        began = monotonic()
        reports: Iterator[tuple[TraceReport, bytes]]
        if workers == 1 and ray is None:
            reports = ((report, encode(report)) for report in verify_many(known, usable, settings=settings))
        else:
            lines = verify_to_lines(known, usable, settings=settings, workers=workers, engine=engine(ray))
            reports = ((decode(line), line) for line in lines)
        for report, line in with_progress(reports, "verifying", count_lines(completions) - done):
            file.append_line(line)
            summary.add(report)
    speed = f"{(file.done - done) / max(monotonic() - began, 1e-3):.0f} ({count_of(workers, 'worker')})"
    rows = [*summary.rows(), ("traces per second", speed), ("reports", f"{out}")]
    log("\n".join([f"{name:<18}  {value}" for name, value in rows]))
    if not any(map(is_stream, (out, problems, completions))):
        given = ["-p", str(problems), "-c", str(completions)]
        given += [] if format == "auto" else ["--format", format]
        given += [] if rules == "train" else ["--rules", rules]
        given += ["--atomic"] if atomic else []
        given += [] if solver == "embedded" else ["--solver", solver]
        given += [] if evidence == "checked" else ["--evidence", evidence]
        given += [] if lean is None else ["--lean", lean]
        command = ["proof-r1", "report", *given, "-o", "report.html"]
        log(f"next: {shlex.join(command)}")
    finish(left_out, summary.doubts)


def show(
    problems: ProblemsOption,
    completions: CompletionsOption,
    id: Annotated[str, typer.Option("--id", help="Id of the problem.", show_default=False)],  # noqa: A002
    sample: Annotated[int | None, typer.Option("--sample", help="Only this sample.", show_default=False)] = None,
    format: FormatOption = "auto",  # noqa: A002
    notation: NotationOption = "auto",
    rules: RulesOption = "train",
    atomic: AtomicOption = False,
    solver: SolverOption = "embedded",
) -> None:
    """Show the verdicts on one problem's completions, with reasons.

    The closure of the answer is drawn as a tree.
    """
    from proof_r1_formal.proof.display import trace

    known = read_problem_file(problems, format, notation=notation)
    problem = problem_of(problems, known, id)
    left_out = LeftOut(False)
    chosen = (
        c for c in usable_completions(completions, known, left_out) if c.problem_id == id and sample in (None, c.sample)
    )
    count, doubts = 0, Doubts()
    for report in verify_many(known, chosen, settings=Settings(solver=solver, rules=rules, atomic=atomic)):
        OUT.print(trace(problem, report))
        count += 1
        doubts.add(report)
    if not count:
        log_skipped(left_out)
        fail(f"{completions} has no completion of problem {id!r}{'' if sample is None else f', sample {sample}'}")
    finish(left_out, doubts)
