"""``soundness``: search for wrongly accepted steps, answers and proofs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from proof_r1_formal.commands import common
from proof_r1_formal.commands.tables import JsonOption, print_tables
from proof_r1_formal.evaluation.tables import Column, Style, Table, to_json
from proof_r1_formal.outputs import write_output
from proof_r1_formal.rules.catalogue import catalogue
from proof_r1_formal.testing.answers import AnswerFindings, AnswerHarness
from proof_r1_formal.testing.attack import Attack
from proof_r1_formal.testing.search import F, Findings, Search, reproducer_paths, total, write_reproducers
from proof_r1_formal.testing.soundness import Harness, StepFindings

SHOWN = 10
"""How many failures are shown; the file contains all of them."""


def soundness(
    examples: Annotated[int, typer.Option("--examples", min=1, help="Number of steps to try.")] = 10_000,
    answers: Annotated[int, typer.Option("--answers", min=0, help="Number of traces to try.")] = 500,
    proofs: Annotated[int, typer.Option("--proofs", min=0, help="Number of forged proofs to try.")] = 500,
    seed: Annotated[int, typer.Option("--seed", help="Random seed.")] = 0,
    rules: common.RulesOption = "train",
    solver: common.SolverOption = "embedded",
    kernel_sample: Annotated[
        float, typer.Option("--kernel-sample", min=0, max=1, help="Share of evidence that Lean's kernel checks.")
    ] = 0.0,
    lean: common.LeanOption = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Also write the results as JSON, and each failure as a trace.")
    ] = None,
    workers: common.WorkersOption = 1,
    json: JsonOption = None,
) -> None:
    """Search for invalid steps that the verifier accepts.

    It also searches for wrong answers that are verified, and for invalid proofs that are accepted.
    """
    common.check_outputs(json, *(() if out is None else (out, *reproducer_paths(out))), inputs=())
    harness = Harness(catalogue(rules), solver=solver, seed=seed, kernel_sample=kernel_sample, lean=lean)

    def tried(start: F, search: Search[F], number: int, what: str) -> F:
        return total(start, common.with_progress(search.run(number, workers=workers), what, -(-number // search.size)))

    found = tried(StepFindings(), harness, examples, "trying steps")
    answers_harness = AnswerHarness(catalogue(rules), solver=solver, seed=seed)
    answered = tried(AnswerFindings(), answers_harness, answers, "trying answers")
    forged = tried(Findings(), Attack(seed=seed), proofs, "trying proofs")
    shown = [_show(found, f"Soundness of {rules} on {solver}", "kind", "examples", "accepted")]
    common.write(
        f"{sum(found.non_instances.values())} entailed non-instances of {len(found.non_instances)} rules rejected"
    )
    if found.certified:
        common.write(f"{found.certified} pieces of evidence accepted by Lean's kernel")
    shown.append(_show(answered, "Answers, the verified ones rechecked by Z3", "kind", "traces", "verified"))
    shown.append(_show(forged, "Forged proofs", "last line", "proofs", "accepted"))
    if json is not None:
        write_output(json, to_json(shown))
    failures = [*found.failures, *answered.failures]
    if out is not None:
        counts = {"examples": examples, "answers": answers, "proofs": proofs}
        settings = {**counts, "seed": seed, "rules": rules, "solver": solver}
        report = {"settings": settings, "findings": found, "answers": answered, "proofs": forged}
        write_output(out, msgspec.json.format(msgspec.json.encode(report, order="deterministic"), indent=1) + b"\n")
        if failures:
            problems, completions = write_reproducers(out, failures)
            common.log(f"to see a failure: proof-r1 show --problems {problems} --completions {completions} --id …")
    totals = [each.examples.total() for each in (found, answered, forged)]
    failed = len(failures) + len(forged.failures)
    common.log("{} failures in {} steps, {} traces and {} proofs".format(failed, *totals))
    if failed:
        raise typer.Exit(1)


def _show(findings: Findings, title: str, kinds: str, *counts: str) -> Table:
    """Print a table of the examples of each kind and of those accepted, and the outcomes and first failures below."""
    rows = [(kind, count, findings.accepted[kind]) for kind, count in sorted(findings.examples.items())]
    columns = [Column(kinds, Style.TEXT), *[Column(name, Style.COUNT) for name in counts]]
    table = Table(title, tuple(columns), tuple(rows))
    print_tables([table])
    common.write(", ".join(f"{count} {outcome}" for outcome, count in sorted(findings.outcomes.items())))
    for failure in findings.failures[:SHOWN]:
        common.write(f"{failure.fault} ({failure.kind})")
        common.write(f"  {failure.problem}\n  {failure.completion}")
    return table
