"""``soundness``: search for wrongly accepted steps, answers and proofs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.text import Text

from proof_r1_formal.commands.common import (
    OUT,
    LeanOption,
    RulesOption,
    SolverOption,
    WorkersOption,
    check_outputs,
    log,
    new_table,
    with_progress,
    write,
)
from proof_r1_formal.outputs import write_output
from proof_r1_formal.rules.catalogue import catalogue
from proof_r1_formal.testing.answers import AnswerFindings, AnswerHarness
from proof_r1_formal.testing.attack import Attack, ProofFindings
from proof_r1_formal.testing.search import F, Failure, Search, reproducer_paths, total, write_reproducers
from proof_r1_formal.testing.soundness import Harness, StepFindings

SHOWN = 10
"""How many failures are shown; the file contains all of them."""


def soundness(
    examples: Annotated[int, typer.Option("--examples", min=1, help="Number of steps to try.")] = 10_000,
    answers: Annotated[int, typer.Option("--answers", min=0, help="Number of traces to try.")] = 500,
    proofs: Annotated[int, typer.Option("--proofs", min=0, help="Number of forged proofs to try.")] = 500,
    seed: Annotated[int, typer.Option("--seed", help="Random seed.")] = 0,
    rules: RulesOption = "train",
    solver: SolverOption = "embedded",
    kernel_sample: Annotated[
        float, typer.Option("--kernel-sample", min=0, max=1, help="Share of evidence that Lean's kernel checks.")
    ] = 0.0,
    lean: LeanOption = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Also write the results as JSON, and each failure as a trace.")
    ] = None,
    workers: WorkersOption = 1,
) -> None:
    """Search for invalid steps that the verifier accepts.

    It also searches for wrong answers that are verified, and for invalid proofs that are accepted.
    """
    if out is not None:
        check_outputs(out, *reproducer_paths(out), inputs=())
    harness = Harness(catalogue(rules), solver=solver, seed=seed, kernel_sample=kernel_sample, lean=lean)

    def tried(start: F, search: Search[F], number: int, what: str) -> F:
        return total(start, with_progress(search.run(number, workers=workers), what, -(-number // search.size)))

    found = tried(StepFindings(), harness, examples, "trying steps")
    answers_harness = AnswerHarness(catalogue(rules), solver=solver, seed=seed)
    answered = tried(AnswerFindings(), answers_harness, answers, "trying answers")
    forged = tried(ProofFindings(), Attack(seed=seed), proofs, "trying proofs")
    _show_steps(found, f"Soundness of {rules} on {solver}")
    _show_answers(answered)
    _show_proofs(forged)
    failures: list[Failure] = [*found.failures, *answered.failures]
    if out is not None:
        counts = {"examples": examples, "answers": answers, "proofs": proofs}
        settings = {**counts, "seed": seed, "rules": rules, "solver": solver}
        report = {"settings": settings, "findings": found, "answers": answered, "proofs": forged}
        write_output(out, msgspec.json.format(msgspec.json.encode(report, order="deterministic"), indent=1) + b"\n")
        if failures:
            problems, completions = write_reproducers(out, failures)
            log(f"to see a failure: proof-r1 show --problems {problems} --completions {completions} --id …")
    totals = [each.examples.total() for each in (found, answered, forged)]
    failed = len(failures) + len(forged.failures)
    log("{} failures in {} steps, {} traces and {} proofs".format(failed, *totals))
    if failed:
        raise typer.Exit(1)


def _show_kinds(heads: tuple[str, str, str, str], examples: Counter[str], accepted: Counter[str]) -> None:
    """A table of the examples of each kind, and of those that were accepted; its title and columns have the heads."""
    table = new_table(*heads)
    for kind, count in sorted(examples.items()):
        table.add_row(Text(kind), str(count), str(accepted[kind]))
    OUT.print(table)


def _show_steps(found: StepFindings, title: str) -> None:
    _show_kinds((title, "kind", "examples", "accepted"), found.examples, found.accepted)
    write(", ".join(f"{count} {outcome}" for outcome, count in sorted(found.outcomes.items())))
    write(f"{sum(found.non_instances.values())} entailed non-instances of {len(found.non_instances)} rules rejected")
    if found.certified:
        write(f"{found.certified} pieces of evidence accepted by Lean's kernel")
    _show_failures(found.failures)


def _show_answers(answered: AnswerFindings) -> None:
    _show_kinds(("Answers", "kind", "traces", "verified"), answered.examples, answered.verified)
    results = ", ".join(f"{count} {result}" for result, count in sorted(answered.rechecked.items()))
    write(f"Z3 on the verified answers: {results}")
    _show_failures(answered.failures)


def _show_failures(failures: list[Failure]) -> None:
    for failure in failures[:SHOWN]:
        write(f"{failure.fault} ({failure.kind})")
        write(f"  {failure.problem}\n  {failure.completion}")


def _show_proofs(forged: ProofFindings) -> None:
    _show_kinds(("Forged proofs", "last line", "proofs", "accepted"), forged.examples, forged.accepted)
    write("accepted proofs: " + ", ".join(f"{outcome}: {count}" for outcome, count in sorted(forged.outcomes.items())))
    for failure in forged.failures[:SHOWN]:
        write(failure.fault)
        write(f"  {failure.proof}, {failure.premises}, {failure.conclusion}")
