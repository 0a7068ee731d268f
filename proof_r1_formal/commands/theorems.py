"""``certify`` and ``theories``: answers and rule schemata as theorems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.text import Text

from proof_r1_formal.assistants import dojo
from proof_r1_formal.assistants.certificate import Style
from proof_r1_formal.assistants.certify import certify_many
from proof_r1_formal.assistants.isabelle import IsabelleKernel
from proof_r1_formal.assistants.lean import Judgement, LeanKernel
from proof_r1_formal.assistants.lean_file import PACKAGE, TOO_LARGE, expected
from proof_r1_formal.assistants.theories import (
    check_checker,
    check_schemata,
    check_schemata_in_isabelle,
    manifest_bytes,
    manifest_of,
    with_isabelle,
)
from proof_r1_formal.commands import certificates, common, problem_files
from proof_r1_formal.commands.tables import JsonOption, print_tables
from proof_r1_formal.data.completions import Completion
from proof_r1_formal.data.problem import Problem, ProblemSet
from proof_r1_formal.evaluation.tables import Column, Table
from proof_r1_formal.evaluation.tables import Style as CellStyle
from proof_r1_formal.generate.synthesize import Prover
from proof_r1_formal.outputs import check_folder, write_output
from proof_r1_formal.proof.batch import Settings
from proof_r1_formal.proof.report import TraceReport
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.report.bundle import write_bundle
from proof_r1_formal.rules.catalogue import catalogue
from proof_r1_formal.rules.manifest import (
    ISABELLE,
    LEAN,
    Manifest,
    accepted_by,
    accepted_schemata,
    manifest_path,
    read_manifest,
)
from proof_r1_formal.rules.restating import restating_schemata


def certify(
    problems: common.ProblemFilesOption,
    completions: Annotated[
        Path | None,
        typer.Option(
            "-c", "--completions", help="Certify these answers, one per line; else find proofs.", show_default=False
        ),
    ] = None,
    id: Annotated[str | None, typer.Option("--id", help="Only this problem.", show_default=False)] = None,  # noqa: A002
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Folder for the files of the theorems.", show_default=False)
    ] = None,
    kernel: certificates.KernelOption = "lean",
    style: Annotated[
        Style,
        typer.Option(
            "--style", help="Lemmas applied line by line (shallow), or data for Lean's own checker (reflect)."
        ),
    ] = "shallow",
    bundle: Annotated[
        Path | None, typer.Option("--bundle", help="Also write a bundle of verdicts with their evidence.")
    ] = None,
    standalone: Annotated[
        bool, typer.Option("--standalone", help="Make each file of --out complete, to be pasted into a web editor.")
    ] = False,
    name: certificates.NameOption = PACKAGE,
    require: certificates.RequireOption = None,
    isabelle_session: certificates.IsabelleOption = False,
    short_names: certificates.ShortNamesOption = False,
    format: common.FormatOption = "auto",  # noqa: A002
    notation: common.NotationOption = "auto",
    rules: common.RulesOption = "train",
    atomic: common.AtomicOption = False,
    solver: common.SolverOption = "embedded",
    strict: common.StrictOption = False,
    lean_program: common.LeanOption = None,
) -> None:
    """Turn answers into theorems that a kernel checks.

    The kernel is that of a proof assistant. The answers are the verified ones of --completions. Without these, each
    problem that the engine decides becomes a theorem: by rules if a proof is found, else by the engine's own evidence.
    --out keeps the theorems, and --bundle the evidence.
    """
    named = {"--name": name != PACKAGE, "--require": require is not None}
    if out is None:
        writes = {"--isabelle": isabelle_session, "--standalone": standalone, "--short-names": short_names}
        certificates.refuse_without("--out", writes | named)
        certificates.refuse_without("--out or --kernel lean", {"--style": style != "shallow" and kernel != "lean"})
    elif standalone:
        for option, given in named.items():
            if given and not (option == "--name" and isabelle_session):
                common.fail(f"--standalone writes no package, so {option} has no effect; leave out one of them")
    certificates.refuse_without("--kernel lean", {"--lean": lean_program is not None and kernel != "lean"})
    if completions is None and bundle is not None:
        common.fail("--bundle has verdicts on completions; name them with --completions")
    package = certificates.package_of(name, require, Path() if out is None else out)
    if out is not None:
        check_folder(out)
    root = out / "ROOT" if out is not None and isabelle_session else None
    common.check_outputs(bundle, root, inputs=(*problems, completions))
    left_out = common.LeftOut(strict)
    known = problem_files.read_problem_files(problems, format, left_out if id is None else None, notation=notation)
    selected = known if id is None else {id: problem_files.problem_of(problem_files.shown_paths(problems), known, id)}
    checked_by = certificates.find_kernel(kernel, lean_program)
    verifier = Settings(solver=solver, rules=rules, atomic=atomic).verifier()
    files = None
    if out is not None:
        files = certificates.Files(
            out, package, style, standalone=standalone, isabelle=isabelle_session, short=short_names
        )
    if completions is None:
        theorems = certificates.Theorems(verifier, checked_by, files, style)
        prover = Prover(verifier)
        for problem in common.with_progress(selected.values(), "certifying", len(selected)):
            theorems.add(problem, prover.prove(problem))
        theorems.finish()
        counts, failed = theorems.counts, bool(theorems.without)
    else:
        counts, failed = _certify_answers(
            verifier, known, selected, completions, checked_by, files, left_out, style=style, bundle=bundle
        )
    by = [] if checked_by is None else [checked_by.version]
    by.append(f"schemata of {verifier.rules.name} accepted: {accepted_schemata(verifier.rules)}")
    common.log(f"{', '.join(f'{word}: {count}' for word, count in sorted(counts.items()))} ({'; '.join(by)})")
    common.finish(left_out)
    if failed:
        raise typer.Exit(1)


def _certify_answers(
    verifier: Verifier,
    known: ProblemSet,
    selected: Mapping[str, Problem],
    completions: Path,
    kernel: LeanKernel | IsabelleKernel | None,
    files: certificates.Files | None,
    left_out: common.LeftOut,
    *,
    style: Style,
    bundle: Path | None,
) -> tuple[Counter[str], bool]:
    """Certify the verified answers of a file of completions: how many have what, and whether a theorem was rejected."""
    chosen = (c for c in common.usable_completions(completions, known, left_out) if c.problem_id in selected)
    answers: Counter[str] = Counter()
    rejected = False
    traces: list[tuple[Completion, TraceReport]] = []
    accepted: dict[tuple[str, int], list[str]] = {}
    judged = certify_many(verifier, known, chosen, kernel, style=style)
    for completion, found in common.with_progress(judged, "certifying", common.count_lines(completions)):
        name = f"{completion.problem_id}, sample {completion.sample}"
        if bundle is not None:
            traces.append((completion, found.certification.report))
        if found.is_theorem and kernel is not None:
            accepted[completion.problem_id, completion.sample] = [kernel.version]
        certificate = found.certification.certificate
        if certificate is None:
            answers["no certificate"] += 1
            common.OUT.print(Text(f"{name}: no certificate: {found.certification.reason}"), soft_wrap=True)
            continue
        if files is not None:
            files.add(certificate, known[completion.problem_id], completion.sample)
        faults = list(found.faults())
        rejected = rejected or bool(faults)
        word = certificates.verdict_word(kernel, theorem=found.is_theorem, faults=faults)
        answers[word] += 1
        named = expected(certificate, found.judgements)
        without = [f"{each}: {TOO_LARGE}" for each in named if each not in found.judgements]
        common.write("; ".join([f"{name}: {word}", *faults, *(without if found.is_theorem else ())]))
    if not answers:
        common.log_skipped(left_out)
        of = "" if len(selected) == len(known) else f" of problem {next(iter(selected))!r}"
        common.fail(f"{completions} has no usable completion{of}")
    if files is not None:
        files.finish()
    if bundle is not None:
        write_bundle(bundle, verifier, selected, traces, kernels=accepted)
    return answers, rejected


theories = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    help="Check the rule schemata as theorems of Lean and Isabelle.",
    no_args_is_help=True,
)


@theories.command("check")
def check_theories(
    kernel: Annotated[
        Literal["lean", "isabelle", "all"], typer.Option("--kernel", help="Kernel that checks them.")
    ] = "lean",
    rules: common.RulesOption = "complete",
    lean_program: common.LeanOption = None,
    rewrite: Annotated[bool, typer.Option("--write", help="Replace the manifest with the accepted schemata.")] = False,
    json: JsonOption = None,
) -> None:
    """Check with a kernel that every schema, as the package renders it, is a theorem.

    Lean also says what the theorems about its own checker rest on. The manifest of a file of rules is beside it.
    """
    certificates.refuse_without("--kernel lean", {"--lean": lean_program is not None and kernel == "isabelle"})
    checked = catalogue(rules)
    path = checked.manifest or manifest_path()
    common.check_outputs(path if rewrite else None, json, inputs=())
    known = read_manifest(manifest_path())
    manifest = old = read_manifest(path) if path.exists() else Manifest("", "", {})
    judged: dict[str, dict[str, Judgement]] = {}
    by_lean: dict[str, Judgement] = {}
    about_checker: dict[str, Judgement] = {}
    if kernel != "isabelle":
        checked_by = certificates.find_lean(lean_program)
        judged[checked_by.version] = by_lean = check_schemata(checked_by, checked)
        manifest = manifest_of(checked, checked_by.version, by_lean, known=old)
        about_checker = check_checker(checked_by)
    if kernel != "lean":
        other = certificates.find_isabelle()
        judged[other.version] = by_isabelle = check_schemata_in_isabelle(other, checked)
        manifest = with_isabelle(manifest, checked, by_isabelle)
    if rewrite:
        write_output(path, manifest_bytes(manifest))
    title = f"Schemata as theorems of {', '.join(judged)}, with their axioms"
    schemata = [schema for rule in checked.rules for schema in rule.schemata]
    rows = []
    for schema in schemata:
        said = [_sentence(of[schema.name], axioms=of is by_lean) for of in judged.values()]
        said.append(", ".join(accepted_by(schema, manifest) or accepted_by(schema, known)) or "another statement")
        rows.append((schema.name, *said))
    tables = [_table(title, rows, "schema", *map(_name, judged), "manifest")]
    if about_checker:
        rows = [(name, of.reason or "accepted", ", ".join(of.axioms)) for name, of in about_checker.items()]
        tables.append(_table("Theorems about the checker in Lean", rows, "theorem", "Lean", "axioms"))
    print_tables(tables, json=json)
    for warning in restating_schemata(checked):
        common.log(warning)
    said_no = [j for of in (*judged.values(), about_checker) for j in of.values() if not j.accepted]
    missing = [s.name for s in schemata if not any(LEAN in accepted_by(s, each) for each in (known, old))]
    if missing and not rewrite:
        common.log(
            f"{path} lacks {common.count_of(len(missing), 'schema', 'schemata')}, the first {missing[0]!r}: add --write"
        )
    if (missing and not rewrite) or said_no:
        raise typer.Exit(1)


def _table(title: str, rows: Sequence[tuple[str, ...]], *names: str) -> Table:
    return Table(title, tuple([Column(name, CellStyle.TEXT, whole=True) for name in names]), tuple(rows))


def _name(version: str) -> str:
    """The name of a proof assistant, from its version."""
    return LEAN if version.startswith(LEAN) else ISABELLE


def _sentence(judgement: Judgement, *, axioms: bool) -> str:
    if not judgement.accepted:
        return judgement.reason
    return common.count_of(len(judgement.axioms), "axiom") if axioms else "accepted"


@theories.command("trace")
def trace_theories() -> None:
    """Extract the theorems with LeanDojo and compare them with the manifest; requires Lean and LeanDojo."""
    traced = dojo.trace()
    flaws = dojo.compare(traced, read_manifest(manifest_path()))
    for flaw in flaws:
        common.write(f"{flaw.theorem}: {flaw.problem}")
    found, wrong = common.count_of(len(traced), "theorem"), common.count_of(len(flaws), "difference")
    common.log(f"{found} traced; {wrong} from the manifest")
    if flaws:
        raise typer.Exit(1)
