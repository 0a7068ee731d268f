"""``verify`` and ``show``: verify completions, and write or print the reports."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Annotated

import typer

from proof_r1_formal.commands import common, problem_files
from proof_r1_formal.evaluation.summary import Doubts, Summary
from proof_r1_formal.outputs import LineFile, is_stream, write_output
from proof_r1_formal.proof.batch import Settings, verify_many, verify_to_lines
from proof_r1_formal.proof.report import TraceReport, decode, encode


def verify(
    problems: common.ProblemsOption,
    completions: common.CompletionsOption,
    out: Annotated[
        Path, typer.Option("-o", "--out", help="File of reports to write, one per line.", show_default=False)
    ],
    field: common.FieldOption = None,
    format: common.FormatOption = "auto",  # noqa: A002 (the name of the option)
    notation: common.NotationOption = "auto",
    rules: common.RulesOption = "train",
    atomic: common.AtomicOption = False,
    solver: common.SolverOption = "embedded",
    evidence: common.EvidenceOption = "checked",
    lean: common.LeanOption = None,
    strict: common.StrictOption = False,
    workers: common.WorkersOption = 1,
    ray: common.RayOption = None,
) -> None:
    """Verify completions; write one report per completion, in order.

    Repeat an interrupted command to resume it. A summary ends the messages on standard error.
    """
    find_kernel = common.kernel_finder(evidence, lean)
    settings = Settings(solver=solver, rules=rules, atomic=atomic, evidence=evidence, find_kernel=find_kernel)
    fields = common.fields_of(field)
    common.check_outputs(out, inputs=(problems, completions))
    left_out = common.LeftOut(strict)
    known = problem_files.read_problem_file(problems, format, left_out, notation=notation)
    summary = Summary(known)

    with (
        LineFile.open(
            out,
            inputs=(problems, completions),
            settings=settings if fields is None else (settings, fields),
            read=lambda line: summary.add(decode(line)),
        ) as file,
        common.resumable(file, "report"),
    ):
        usable = common.usable_completions(completions, known, left_out, fields)
        done = sum(1 for _ in zip(range(file.done), usable, strict=False))
        began = monotonic()
        reports: Iterator[tuple[TraceReport, bytes]]
        if workers == 1 and ray is None:
            reports = ((report, encode(report)) for report in verify_many(known, usable, settings=settings))
        else:
            lines = verify_to_lines(known, usable, settings=settings, workers=workers, executor=common.executor(ray))
            reports = ((decode(line), line) for line in lines)
        for report, line in common.with_progress(reports, "verifying", common.count_lines(completions) - done):
            file.append_line(line)
            summary.add(report)
    speed = f"{(file.done - done) / max(monotonic() - began, 1e-3):.0f} ({common.count_of(workers, 'worker')})"
    rows = [*summary.rows(), ("traces per second", speed), ("reports", f"{out}")]
    common.log("\n".join([f"{name:<18}  {value}" for name, value in rows]))
    if not any(map(is_stream, (out, problems, completions))):
        given = ["-p", str(problems), "-c", str(completions)]
        given += [word for one in field or () for word in ("--field", one)]
        given += [] if format == "auto" else ["--format", format]
        given += [] if rules == "train" else ["--rules", rules]
        given += ["--atomic"] if atomic else []
        given += [] if solver == "embedded" else ["--solver", solver]
        given += [] if evidence == "checked" else ["--evidence", evidence]
        given += [] if lean is None else ["--lean", lean]
        command = ["proof-r1", "report", *given, "-o", "report.html"]
        common.log(f"next: {shlex.join(command)}")
    common.finish(left_out, summary.doubts)


def show(
    problems: common.ProblemsOption,
    completions: common.CompletionsOption,
    id: Annotated[str, typer.Option("--id", help="Id of the problem.", show_default=False)],  # noqa: A002
    sample: Annotated[int | None, typer.Option("--sample", help="Only this sample.", show_default=False)] = None,
    field: common.FieldOption = None,
    format: common.FormatOption = "auto",  # noqa: A002
    notation: common.NotationOption = "auto",
    rules: common.RulesOption = "train",
    atomic: common.AtomicOption = False,
    solver: common.SolverOption = "embedded",
    json: Annotated[
        Path | None,
        typer.Option("--json", help="Also write the reports, one per line, as verify does.", show_default=False),
    ] = None,
) -> None:
    """Show the verdicts on one problem's completions, with reasons.

    The closure of the answer is drawn as a tree.
    """
    common.check_outputs(json, inputs=(problems, completions))
    fields = common.fields_of(field)
    known = problem_files.read_problem_file(problems, format, notation=notation)
    problem = problem_files.problem_of(problems, known, id)
    left_out = common.LeftOut(False)
    chosen = (
        c
        for c in common.usable_completions(completions, known, left_out, fields)
        if c.problem_id == id and sample in (None, c.sample)
    )
    reports: list[TraceReport] = []
    doubts = Doubts()
    for report in verify_many(known, chosen, settings=Settings(solver=solver, rules=rules, atomic=atomic)):
        common.OUT.print(report.renderable(problem))
        reports.append(report)
        doubts.add(report)
    if not reports:
        common.log_skipped(left_out)
        common.fail(
            f"{completions} has no completion of problem {id!r}{'' if sample is None else f', sample {sample}'}"
        )
    if json is not None:
        write_output(json, b"".join([encode(report) + b"\n" for report in reports]))
    common.finish(left_out, doubts)
