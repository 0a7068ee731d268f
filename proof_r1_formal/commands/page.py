"""``report``: verified traces as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from proof_r1_formal.assistants.lean import LeanKernel
from proof_r1_formal.assistants.lean_program import HINT
from proof_r1_formal.commands import common, problem_files
from proof_r1_formal.evaluation.summary import Doubts
from proof_r1_formal.outputs import write_output
from proof_r1_formal.proof.batch import Settings
from proof_r1_formal.report.page import CERTIFICATES, page


def report(
    problems: common.ProblemsOption,
    completions: common.CompletionsOption,
    out: Annotated[Path, typer.Option("-o", "--out", help="HTML file to write.", show_default=False)],
    title: Annotated[str, typer.Option("--title", help="Title of the page.")] = "Proof report",
    certificates: Annotated[
        int, typer.Option("--certificates", min=0, help="Number of verified answers that get a certificate.")
    ] = CERTIFICATES,
    kernel: Annotated[
        Literal["lean", "none"], typer.Option("--kernel", help="Kernel that checks certificates.")
    ] = "none",
    field: common.FieldOption = None,
    format: common.FormatOption = "auto",  # noqa: A002 (the name of the option)
    notation: common.NotationOption = "auto",
    rules: common.RulesOption = "train",
    atomic: common.AtomicOption = False,
    solver: common.SolverOption = "embedded",
    evidence: common.EvidenceOption = "checked",
    lean: common.LeanOption = None,
    strict: common.StrictOption = False,
) -> None:
    """Verify completions, and write them as one HTML file.

    The page has charts, search, and each proof as a graph with its evidence. It opens offline in any
    browser. Certificates are the largest part, so only the first answers have one.
    """
    fields = common.fields_of(field)
    common.check_outputs(out, inputs=(problems, completions))
    checked_by = None
    if kernel == "lean" and (checked_by := LeanKernel.find(lean)) is None:
        common.fail(f"Lean was not found, so certificates cannot be checked; {HINT}")
    left_out = common.LeftOut(strict)
    known = problem_files.read_problem_file(problems, format, left_out, notation=notation)
    usable = list(common.usable_completions(completions, known, left_out, fields))
    if not usable:
        common.log_skipped(left_out)
        common.fail("there is nothing to show: no completion can be used")
    find_kernel = common.kernel_finder(evidence, lean)
    settings = Settings(solver=solver, rules=rules, atomic=atomic, evidence=evidence, find_kernel=find_kernel)
    verifier = settings.verifier()
    shown = common.with_progress(usable, "verifying", len(usable))
    doubts = Doubts()
    html = page(verifier, known, shown, title=title, certificates=certificates, kernel=checked_by, seen=doubts.add)
    write_output(out, html)
    common.log(f"{common.count_of(len(usable), 'trace')} written to {out} ({len(html) / 1e6:.1f} MB)")
    common.finish(left_out, doubts)
