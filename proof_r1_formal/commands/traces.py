"""``verify`` and ``show``: verify completions, and write or print the reports."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from proof_r1_formal.commands.common import (
    OUT,
    AtomicOption,
    CacheOption,
    CompletionsOption,
    EvidenceOption,
    FormatOption,
    LeanOption,
    ProblemsOption,
    RayOption,
    RulesOption,
    SolverOption,
    WorkersOption,
    check_outputs,
    count_lines,
    engine,
    fail,
    finish,
    read_problem_file,
    say,
    usable_completions,
    with_progress,
)
from proof_r1_formal.outputs import LineFile
from proof_r1_formal.proof.batch import Settings, verify_many, verify_to_lines


def verify(
    problems: ProblemsOption,
    completions: CompletionsOption,
    out: Annotated[
        Path, typer.Option("-o", "--out", help="File of reports to write, one per line.", show_default=False)
    ],
    format: FormatOption = "auto",  # noqa: A002 (the name of the option)
    rules: RulesOption = "train",
    atomic: AtomicOption = False,
    solver: SolverOption = "embedded",
    evidence: EvidenceOption = "checked",
    cache: CacheOption = None,
    lean: LeanOption = None,
    workers: WorkersOption = 1,
    ray: RayOption = None,
) -> None:
    """Verify completions; write one report per completion, in order. An interrupted run resumes."""
    settings = Settings(solver=solver, rules=rules, atomic=atomic, evidence=evidence, answers=cache, lean=lean)
    check_outputs(out, cache, inputs=(problems, completions))
    known = read_problem_file(problems, format)
    skipped: list[str] = []
    with LineFile.open(out, inputs=(problems, completions), settings=settings) as file:
        usable = usable_completions(completions, known, skipped)
        done = sum(1 for _ in zip(range(file.done), usable, strict=False))
        if done:
            say(f"resuming after {done} reports")
        lines = verify_to_lines(known, usable, settings=settings, workers=workers, engine=engine(ray))
        for line in with_progress(lines, "verifying", count_lines(completions) - done):
            file.append_line(line)
    say(f"{file.done} reports written to {out}")
    finish(skipped)


def show(
    problems: ProblemsOption,
    completions: CompletionsOption,
    id: Annotated[str, typer.Option("--id", help="Id of the problem.", show_default=False)],  # noqa: A002
    sample: Annotated[int | None, typer.Option("--sample", help="Only this sample.", show_default=False)] = None,
    format: FormatOption = "auto",  # noqa: A002
    rules: RulesOption = "train",
    atomic: AtomicOption = False,
    solver: SolverOption = "embedded",
) -> None:
    """Show the verdicts on one problem's completions, with reasons.

    The closure of the answer is drawn as a tree.
    """
    from proof_r1_formal.proof.display import trace

    known = read_problem_file(problems, format)
    if id not in known:
        near = ", ".join(list(known)[:5])
        fail(f"{problems} has no usable problem {id!r}; its first ids are: {near}")
    skipped: list[str] = []
    chosen = (
        c for c in usable_completions(completions, known, skipped) if c.problem_id == id and sample in (None, c.sample)
    )
    count = 0
    for report in verify_many(known, chosen, settings=Settings(solver=solver, rules=rules, atomic=atomic)):
        OUT.print(trace(known[id], report))
        count += 1
    if not count:
        fail(f"{completions} has no completion of problem {id!r}{'' if sample is None else f', sample {sample}'}")
    finish(skipped)
