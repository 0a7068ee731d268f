"""``certify`` and ``theories``: answers and rule schemata as theorems."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.table import Table
from rich.text import Text

from proof_r1_formal.commands.common import (
    OUT,
    CompletionsOption,
    FormatOption,
    LeanOption,
    ProblemsOption,
    RulesOption,
    SolverOption,
    count_lines,
    fail,
    finish,
    make_folder,
    read_problem_file,
    say,
    usable_completions,
    with_progress,
    write,
    write_file,
)
from proof_r1_formal.evidence import dojo
from proof_r1_formal.evidence.certificate import lean_file
from proof_r1_formal.evidence.lean import HINT, LeanKernel
from proof_r1_formal.evidence.theories import check_schemata, manifest_bytes, manifest_of
from proof_r1_formal.logic.signature import mangle
from proof_r1_formal.proof.batch import Settings
from proof_r1_formal.proof.certify import certify_many
from proof_r1_formal.rules.catalogue import FOLIO
from proof_r1_formal.rules.manifest import manifest_path, read_manifest, unproved


def certify(
    problems: ProblemsOption,
    completions: CompletionsOption,
    id: Annotated[str | None, typer.Option("--id", help="Only this problem.", show_default=False)] = None,  # noqa: A002
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the theorems' files.", show_default=False)
    ] = None,
    kernel: Annotated[Literal["lean", "none"], typer.Option("--kernel", help="Who checks the theorems.")] = "lean",
    format: FormatOption = "auto",  # noqa: A002
    rules: RulesOption = "train",
    solver: SolverOption = "embedded",
    lean: LeanOption = None,
) -> None:
    """Turn verified answers into theorems, and say which of them Lean's kernel accepts."""
    known = read_problem_file(problems, format)
    checked_by = _kernel(lean) if kernel == "lean" else None
    if out is not None:
        make_folder(out)
    skipped: list[str] = []
    chosen = (c for c in usable_completions(completions, known, skipped) if id in (None, c.problem_id))
    verifier = Settings(solver=solver, rules=rules).verifier()
    answers: Counter[str] = Counter()
    rejected = 0
    judged = certify_many(verifier, known.problems, chosen, checked_by)
    for completion, found in with_progress(judged, "certifying", count_lines(completions)):
        name = f"{completion.problem_id}, sample {completion.sample}"
        certificate = found.certification.certificate
        if certificate is None:
            answers["no certificate"] += 1
            write(f"{name}: no certificate: {found.certification.reason}")
            continue
        if out is not None:
            file = out / f"{mangle(completion.problem_id, 'problem')}_{completion.sample}.lean"
            write_file(file, lean_file(certificate.theorems(), name).encode())
        faults = list(found.faults())
        rejected += bool(faults)
        word = "theorem" if found.is_theorem else "certificate, not checked" if checked_by is None else "not accepted"
        answers[word] += 1
        write("; ".join([f"{name}: {word}", *faults]))
    by = "" if checked_by is None else f" ({checked_by.version})"
    say(f"{', '.join(f'{count} {word}' for word, count in sorted(answers.items()))}{by}")
    finish(skipped)
    if rejected:
        raise typer.Exit(1)


theories = typer.Typer(help="The theories that the rule schemata are theorems of.", no_args_is_help=True)


@theories.command("check")
def check_theories(
    lean: LeanOption = None,
    write: Annotated[bool, typer.Option("--write", help="Write the manifest anew from what is accepted.")] = False,
) -> None:
    """Have Lean's kernel check that every schema, as the package renders it, is the theorem of its name."""
    kernel = _kernel(lean)
    judgements = check_schemata(kernel, FOLIO)
    if write:
        write_file(manifest_path(), manifest_bytes(manifest_of(kernel, FOLIO)))
    missing = unproved(FOLIO)
    table = Table("schema", "kernel", "manifest", title=f"Schemata, by {kernel.version}", title_justify="left")
    for name, judgement in judgements.items():
        said = "accepted" if judgement.accepted else judgement.reason
        table.add_row(Text(name), Text(said), Text("another statement" if name in missing else "the same"))
    OUT.print(table)
    if missing or not all(judgement.accepted for judgement in judgements.values()):
        raise typer.Exit(1)


@theories.command("trace")
def trace_theories() -> None:
    """Have LeanDojo extract the theory's theorems and compare them with the manifest; needs Lean and LeanDojo."""
    traced = dojo.trace()
    flaws = dojo.compare(traced, read_manifest(manifest_path()))
    for flaw in flaws:
        write(f"{flaw.theorem}: {flaw.problem}")
    say(f"{len(traced)} theorems traced; {len(flaws)} differences from the manifest")
    if flaws:
        raise typer.Exit(1)


def _kernel(program: str | None) -> LeanKernel:
    kernel = LeanKernel.find(program)
    if kernel is None:
        fail(f"there is no Lean here, so nothing is a theorem; {HINT}")
    return kernel
