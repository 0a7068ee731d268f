"""``certify`` and ``theories``: answers and rule schemata as theorems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.text import Text

from proof_r1_formal.assistants import dojo, isabelle
from proof_r1_formal.assistants.certificate import AnyCertificate, Style
from proof_r1_formal.assistants.certify import certify_many
from proof_r1_formal.assistants.isabelle import IsabelleKernel, write_session
from proof_r1_formal.assistants.isar import isar_theory
from proof_r1_formal.assistants.lean import Judgement, LeanKernel
from proof_r1_formal.assistants.lean_file import PACKAGE, TOO_LARGE, file_stem, lean_file, write_package
from proof_r1_formal.assistants.lean_program import HINT
from proof_r1_formal.assistants.theories import (
    check_checker,
    check_schemata,
    check_schemata_in_isabelle,
    manifest_bytes,
    manifest_of,
    with_isabelle,
)
from proof_r1_formal.commands import common
from proof_r1_formal.commands.tables import JsonOption, print_tables
from proof_r1_formal.data.completions import Completion
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.evaluation.tables import Column, Table
from proof_r1_formal.evaluation.tables import Style as CellStyle
from proof_r1_formal.outputs import check_folder, write_output
from proof_r1_formal.proof.batch import Settings
from proof_r1_formal.proof.report import TraceReport
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


def certify(
    problems: common.ProblemsOption,
    completions: common.CompletionsOption,
    id: Annotated[str | None, typer.Option("--id", help="Only this problem.", show_default=False)] = None,  # noqa: A002
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Folder for the files of the theorems.", show_default=False)
    ] = None,
    kernel: Annotated[
        Literal["lean", "isabelle", "none"], typer.Option("--kernel", help="Kernel that checks them.")
    ] = "lean",
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
    isabelle_session: Annotated[
        bool, typer.Option("--isabelle", help="Also write them to --out as a session for `isabelle build -D`.")
    ] = False,
    format: common.FormatOption = "auto",  # noqa: A002
    notation: common.NotationOption = "auto",
    rules: common.RulesOption = "train",
    atomic: common.AtomicOption = False,
    solver: common.SolverOption = "embedded",
    strict: common.StrictOption = False,
    lean_program: common.LeanOption = None,
) -> None:
    """Turn verified answers into theorems that a kernel checks.

    The kernel is that of a proof assistant. --out keeps the theorems, and --bundle the evidence.
    """
    if out is not None:
        check_folder(out)
    elif isabelle_session or standalone:
        common.fail(
            f"{'--isabelle' if isabelle_session else '--standalone'} writes files; name their folder with --out"
        )
    root = out / "ROOT" if out is not None and isabelle_session else None
    common.check_outputs(bundle, root, inputs=(problems, completions))
    left_out = common.LeftOut(strict)
    known = common.read_problem_file(problems, format, left_out if id is None else None, notation=notation)
    if id is not None:
        common.problem_of(problems, known, id)
    checked_by = None if kernel == "none" else _lean(lean_program) if kernel == "lean" else _isabelle()
    chosen = (c for c in common.usable_completions(completions, known, left_out) if id in (None, c.problem_id))
    verifier = Settings(solver=solver, rules=rules, atomic=atomic).verifier()
    answers: Counter[str] = Counter()
    rejected = 0
    traces: list[tuple[Completion, TraceReport]] = []
    accepted: dict[tuple[str, int], list[str]] = {}
    files = None if out is None else _Files(out, style, standalone=standalone, isabelle=isabelle_session)
    judged = certify_many(verifier, known, chosen, checked_by, style=style)
    for completion, found in common.with_progress(judged, "certifying", common.count_lines(completions)):
        name = f"{completion.problem_id}, sample {completion.sample}"
        if bundle is not None:
            traces.append((completion, found.certification.report))
        if found.is_theorem and checked_by is not None:
            accepted[completion.problem_id, completion.sample] = [checked_by.version]
        certificate = found.certification.certificate
        if certificate is None:
            answers["no certificate"] += 1
            common.OUT.print(Text(f"{name}: no certificate: {found.certification.reason}"), soft_wrap=True)
            continue
        if files is not None:
            files.add(completion, certificate, known[completion.problem_id])
        faults = list(found.faults())
        rejected += bool(faults)
        unchecked = "certificate, not checked" if checked_by is None else TOO_LARGE
        word = "theorem" if found.is_theorem else "not accepted" if faults else unchecked
        answers[word] += 1
        without = [f"{each}: {TOO_LARGE}" for each in certificate.refuted() if each not in found.judgements]
        common.write("; ".join([f"{name}: {word}", *faults, *(without if found.is_theorem else ())]))
    if not answers:
        common.log_skipped(left_out)
        common.fail(f"{completions} has no usable completion{'' if id is None else f' of problem {id!r}'}")
    if files is not None:
        files.finish()
    if bundle is not None:
        selected = {key: problem for key, problem in known.items() if id in (None, key)}
        write_bundle(bundle, verifier, selected, traces, kernels=accepted)
    by = [] if checked_by is None else [checked_by.version]
    by.append(f"schemata of {verifier.rules.name} accepted: {accepted_schemata(verifier.rules)}")
    common.log(f"{', '.join(f'{word}: {count}' for word, count in sorted(answers.items()))} ({'; '.join(by)})")
    common.finish(left_out)
    if rejected:
        raise typer.Exit(1)


class _Files:
    """The files of certificates: for Lean, each complete or all in a package; if wanted, a session of Isabelle."""

    def __init__(self, folder: Path, style: Style, *, standalone: bool, isabelle: bool) -> None:
        self._folder, self._style, self._standalone = folder, style, standalone
        self._index: dict[str, str] = {}
        self._theories: dict[str, str] | None = {} if isabelle else None
        if not standalone:
            check_folder(folder / PACKAGE)

    def add(self, completion: Completion, certificate: AnyCertificate, problem: Problem) -> None:
        """Write a certificate for Lean, and keep its theory until the session is written."""
        stem = file_stem(problem.id, completion.sample)
        text = lean_file(certificate, problem, completion.sample, style=self._style, standalone=self._standalone)
        write_output(self._folder / ("" if self._standalone else PACKAGE) / f"{stem}.lean", text.encode())
        self._index[stem] = f"{problem.id}, sample {completion.sample}. {problem.question}"
        if self._theories is not None:
            self._theories[stem] = isar_theory(certificate, stem)

    def finish(self) -> None:
        """Write the package and the session, if there is something in them."""
        if self._index and not self._standalone:
            write_package(self._folder, self._index)
        if self._theories:
            write_session(self._folder, "Proof_R1_Certificates", self._theories)


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
    checked = catalogue(rules)
    path = checked.manifest or manifest_path()
    if checked.manifest is not None and kernel != "lean":
        common.fail("the theorems of your own rules are for Lean alone; leave out --kernel")
    common.check_outputs(path if rewrite else None, json, inputs=())
    known = read_manifest(manifest_path())
    manifest = old = read_manifest(path) if path.exists() else Manifest("", "", {})
    judged: dict[str, dict[str, Judgement]] = {}
    by_lean: dict[str, Judgement] = {}
    about_checker: dict[str, Judgement] = {}
    if kernel != "isabelle":
        checked_by = _lean(lean_program)
        judged[checked_by.version] = by_lean = check_schemata(checked_by, checked)
        manifest = manifest_of(checked, checked_by.version, by_lean, known=old)
        about_checker = check_checker(checked_by)
    if kernel != "lean":
        other = _isabelle()
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


def _lean(program: str | None) -> LeanKernel:
    kernel = LeanKernel.find(program)
    if kernel is None:
        common.fail(f"Lean was not found, so no theorem can be checked; {HINT}")
    for fault in kernel.passed_over:
        common.log(f"not used: {fault}")
    return kernel


def _isabelle() -> IsabelleKernel:
    kernel = IsabelleKernel.find()
    if kernel is None:
        common.fail(f"isabelle was not found on PATH, so no theorem can be checked; {isabelle.HINT}")
    return kernel
