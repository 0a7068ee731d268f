"""The command ``proof-r1``.

Exit status: 0 ok, 1 the answer is "no" or something could not be checked, 2 wrong use or unreadable input. Errors are
one clear paragraph on standard error; ``--debug`` shows where they come from.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Literal, NoReturn, TypeAlias, TypeVar

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from proof_r1_formal import __version__, display
from proof_r1_formal.data import Format, read_problems
from proof_r1_formal.data.completions import BadLine, Completion, read_completions
from proof_r1_formal.data.problem import ProblemSet
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.evaluate.metrics import evaluate_metrics
from proof_r1_formal.evaluate.tables import metrics_tables, to_json, to_latex, to_markdown, to_rich
from proof_r1_formal.evidence import dojo
from proof_r1_formal.evidence.certificate import lean_file
from proof_r1_formal.evidence.lean import HINT, LeanKernel
from proof_r1_formal.evidence.theories import check_schemata, manifest_bytes, manifest_of
from proof_r1_formal.logic.parse import parse_formula
from proof_r1_formal.logic.show import Notation
from proof_r1_formal.logic.show import show as show_formula
from proof_r1_formal.logic.signature import Signature, mangle
from proof_r1_formal.proof.batch import Settings, verify_many
from proof_r1_formal.proof.certify import certify_many
from proof_r1_formal.proof.output import ReportFile
from proof_r1_formal.proof.verify import EvidenceLevel
from proof_r1_formal.render import smtlib
from proof_r1_formal.rules.catalogue import FOLIO, catalogue
from proof_r1_formal.rules.manifest import manifest_path, read_manifest, unproved
from proof_r1_formal.solvers import Available, available_solvers, program_version

app = typer.Typer(
    name="proof-r1",
    help="Check the proofs that language models write, step by step, in first-order logic.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=True,
)
_out = Console(highlight=False)
_err = Console(stderr=True, highlight=False)

_T = TypeVar("_T")


RuleSystem: TypeAlias = Literal["train", "folio"]
"""The rule catalogues."""

_Problems = Annotated[Path, typer.Option("--problems", help="File of problems.", show_default=False)]
_Completions = Annotated[
    Path, typer.Option("--completions", help="File of completions, one JSON object per line.", show_default=False)
]
_Format = Annotated[Format, typer.Option("--format", help="Format of the problems.")]
_Rules = Annotated[RuleSystem, typer.Option("--rules", help="Rule catalogue.")]
_Solver = Annotated[str, typer.Option("--solver", help="Solver that decides entailment; see 'proof-r1 doctor'.")]
_Evidence = Annotated[
    EvidenceLevel, typer.Option("--evidence", help="Whether to check the evidence of entailment verdicts again.")
]
_Answers = Annotated[
    Path | None, typer.Option("--answers", help="File in which evidence is kept, for the next run.", show_default=False)
]
_Lean = Annotated[
    str | None, typer.Option("--lean", help="Lean program to use in place of what is found.", show_default=False)
]
_Workers = Annotated[int, typer.Option("--workers", min=1, help="Processes to use.")]


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")] = False,
) -> None:
    del debug  # read from the command line by main(), which also sees errors of the parser
    if version:
        _out.print(f"proof-r1-formal {__version__}")
        raise typer.Exit


# -- parse ------------------------------------------------------------------------------------------------------------


@app.command()
def parse(
    formula: Annotated[str, typer.Argument(help="A formula in any notation.", show_default=False)],
    to: Annotated[Literal[Notation, "smtlib", "json"], typer.Option("--to", help="Notation to write.")] = "unicode",
    repair: Annotated[bool, typer.Option("--repair", help="Repair what can be repaired, and say what.")] = False,
) -> None:
    """Read a formula and write it in another notation."""
    repaired = parse_formula(formula, repair=True) if repair else None
    parsed = parse_formula(formula) if repaired is None else repaired.formula
    signature = Signature.infer([parsed])
    for change in () if repaired is None else repaired.repairs:
        _say(f"repaired: {change}")
    match to:
        case "smtlib":
            _write(smtlib.term(parsed))
        case "json":
            record = {
                "formula": show_formula(parsed),
                "prefix": show_formula(parsed, "prefix"),
                "sorts": signature.sorts,
                "predicates": signature.predicates,
                "functions": signature.functions,
                "repairs": () if repaired is None else repaired.repairs,
            }
            _write(msgspec.json.encode(record).decode())
        case _:
            _write(show_formula(parsed, to))


# -- verify, show, evaluate -------------------------------------------------------------------------------------------


@app.command()
def verify(
    problems: _Problems,
    completions: _Completions,
    out: Annotated[Path, typer.Option("--out", help="File of reports to write, one per line.", show_default=False)],
    format: _Format = "auto",  # noqa: A002 (the name of the option)
    rules: _Rules = "train",
    solver: _Solver = "embedded",
    evidence: _Evidence = "checked",
    answers: _Answers = None,
    lean: _Lean = None,
    workers: _Workers = 1,
) -> None:
    """Check completions and write one report per completion, in their order. An interrupted run resumes."""
    settings = Settings(solver=solver, rules=rules, evidence=evidence, answers=answers, lean=lean)
    known = _read_problems(problems, format)
    skipped: list[str] = []
    with ReportFile.open(out, inputs=(problems, completions), settings=settings) as file:
        usable = _usable(completions, known, skipped)
        done = sum(1 for _ in zip(range(file.done), usable, strict=False))
        if done:
            _say(f"resuming: {done} reports are there already")
        reports = verify_many(known.problems, usable, settings=settings, workers=workers)
        for report in _progress(reports, "verifying", _count_lines(completions) - done):
            file.append(report)
    _say(f"{file.done} reports written to {out}")
    _finish(skipped)


@app.command()
def show(
    problems: _Problems,
    completions: _Completions,
    id: Annotated[str, typer.Option("--id", help="Id of the problem.", show_default=False)],  # noqa: A002
    sample: Annotated[int | None, typer.Option("--sample", help="Only this sample.", show_default=False)] = None,
    format: _Format = "auto",  # noqa: A002
    rules: _Rules = "train",
    solver: _Solver = "embedded",
) -> None:
    """Check the completions of one problem and show each: actions, verdicts, reasons, and the closure as a tree."""
    known = _read_problems(problems, format)
    if id not in known.problems:
        near = ", ".join(list(known.problems)[:5])
        _fail(f"{problems} has no usable problem {id!r}; its ids look like this: {near}")
    skipped: list[str] = []
    chosen = (c for c in _usable(completions, known, skipped) if c.problem_id == id and sample in (None, c.sample))
    count = 0
    for report in verify_many(known.problems, chosen, settings=Settings(solver=solver, rules=rules)):
        _out.print(display.trace(known.problems[id], report))
        count += 1
    if not count:
        _fail(f"{completions} has no completion of problem {id!r}{'' if sample is None else f', sample {sample}'}")
    _finish(skipped)


@app.command()
def evaluate(
    problems: _Problems,
    completions: _Completions,
    format: _Format = "auto",  # noqa: A002
    rules: _Rules = "train",
    solver: _Solver = "embedded",
    answers: _Answers = None,
    workers: _Workers = 1,
    bootstrap: Annotated[int, typer.Option("--bootstrap", min=0, help="Resamples for confidence intervals.")] = 0,
    json: Annotated[Path | None, typer.Option("--json", help="Also write the tables as JSON.")] = None,
    markdown: Annotated[Path | None, typer.Option("--markdown", help="Also write the tables as Markdown.")] = None,
    latex: Annotated[Path | None, typer.Option("--latex", help="Also write the tables as LaTeX.")] = None,
) -> None:
    """Check completions and show the metrics, per difficulty and overall."""
    known = _read_problems(problems, format)
    skipped: list[str] = []
    lengths: dict[tuple[str, int], int] = {}

    def measured() -> Iterator[Completion]:
        for completion in _usable(completions, known, skipped):
            lengths.setdefault((completion.problem_id, completion.sample), len(completion.completion))
            yield completion

    settings = Settings(solver=solver, rules=rules, answers=answers)
    reports = verify_many(known.problems, measured(), settings=settings, workers=workers)
    shown = _progress(reports, "verifying", _count_lines(completions))
    tables = metrics_tables(evaluate_metrics(known.problems, shown, lengths=lengths, resamples=bootstrap))
    for table in tables:
        _out.print(to_rich(table))
    if json is not None:
        _write_file(json, to_json(tables))
    if markdown is not None:
        _write_file(markdown, "\n".join(map(to_markdown, tables)).encode())
    if latex is not None:
        _write_file(latex, "\n".join(map(to_latex, tables)).encode())
    _finish(skipped)


# -- certify, theories ------------------------------------------------------------------------------------------------


@app.command()
def certify(
    problems: _Problems,
    completions: _Completions,
    id: Annotated[str | None, typer.Option("--id", help="Only this problem.", show_default=False)] = None,  # noqa: A002
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the theorems' files.", show_default=False)
    ] = None,
    kernel: Annotated[Literal["lean", "none"], typer.Option("--kernel", help="Who checks the theorems.")] = "lean",
    format: _Format = "auto",  # noqa: A002
    rules: _Rules = "train",
    solver: _Solver = "embedded",
    lean: _Lean = None,
) -> None:
    """Turn verified answers into theorems, and say which of them Lean's kernel accepts."""
    known = _read_problems(problems, format)
    checked_by = _kernel(lean) if kernel == "lean" else None
    if out is not None:
        _make_folder(out)
    skipped: list[str] = []
    chosen = (c for c in _usable(completions, known, skipped) if id in (None, c.problem_id))
    verifier = Settings(solver=solver, rules=rules).verifier()
    answers: Counter[str] = Counter()
    rejected = 0
    judged = certify_many(verifier, known.problems, chosen, checked_by)
    for completion, found in _progress(judged, "certifying", _count_lines(completions)):
        name = f"{completion.problem_id}, sample {completion.sample}"
        certificate = found.certification.certificate
        if certificate is None:
            answers["no certificate"] += 1
            _write(f"{name}: no certificate: {found.certification.reason}")
            continue
        if out is not None:
            file = out / f"{mangle(completion.problem_id, 'problem')}_{completion.sample}.lean"
            _write_file(file, lean_file(certificate.theorems(), name).encode())
        faults = list(found.faults())
        rejected += bool(faults)
        word = "theorem" if found.is_theorem else "certificate, not checked" if checked_by is None else "not accepted"
        answers[word] += 1
        _write("; ".join([f"{name}: {word}", *faults]))
    by = "" if checked_by is None else f" ({checked_by.version})"
    _say(f"{', '.join(f'{count} {word}' for word, count in sorted(answers.items()))}{by}")
    _finish(skipped)
    if rejected:
        raise typer.Exit(1)


theories = typer.Typer(help="The theories that the rule schemata are theorems of.", no_args_is_help=True)
app.add_typer(theories, name="theories")


@theories.command("check")
def check_theories(
    lean: _Lean = None,
    write: Annotated[bool, typer.Option("--write", help="Write the manifest anew from what is accepted.")] = False,
) -> None:
    """Have Lean's kernel check that every schema, as the package renders it, is the theorem of its name."""
    kernel = _kernel(lean)
    judgements = check_schemata(kernel, FOLIO)
    if write:
        _write_file(manifest_path(), manifest_bytes(manifest_of(kernel, FOLIO)))
    missing = unproved(FOLIO)
    table = Table("schema", "kernel", "manifest", title=f"Schemata, by {kernel.version}", title_justify="left")
    for name, judgement in judgements.items():
        said = "accepted" if judgement.accepted else judgement.reason
        table.add_row(Text(name), Text(said), Text("another statement" if name in missing else "the same"))
    _out.print(table)
    if missing or not all(judgement.accepted for judgement in judgements.values()):
        raise typer.Exit(1)


@theories.command("trace")
def trace_theories() -> None:
    """Have LeanDojo extract the theory's theorems and compare them with the manifest; needs Lean and LeanDojo."""
    traced = dojo.trace()
    flaws = dojo.compare(traced, read_manifest(manifest_path()))
    for flaw in flaws:
        _write(f"{flaw.theorem}: {flaw.problem}")
    _say(f"{len(traced)} theorems traced; {len(flaws)} differences from the manifest")
    if flaws:
        raise typer.Exit(1)


def _kernel(program: str | None) -> LeanKernel:
    kernel = LeanKernel.find(program)
    if kernel is None:
        _fail(f"there is no Lean here, so nothing is a theorem; {HINT}")
    return kernel


# -- rules, doctor ----------------------------------------------------------------------------------------------------


@app.command()
def rules(
    rule: Annotated[str | None, typer.Argument(help="Name of a rule.", show_default=False)] = None,
    system: Annotated[RuleSystem, typer.Option("--system", help="Rule catalogue.")] = "folio",
) -> None:
    """List the rules, or show one with its schemata and an example."""
    known = catalogue(system)
    if rule is None:
        _out.print(display.rules(known))
        return
    found = known.find(rule.upper().replace(" ", "_"), aliases=True)
    if found is None:
        _fail(f"there is no rule {rule!r} in the catalogue {known.name}; 'proof-r1 rules' lists them")
    _out.print(display.rule(found))


@app.command()
def doctor() -> None:
    """Say which solvers and proof assistants are here, with versions, and what to install for the others."""
    table = Table("kind", "name", "version", "if missing", title=f"proof-r1-formal {__version__}", title_justify="left")
    lean = LeanKernel.find()
    kernels = [
        Available("lean", None if lean is None else lean.version, HINT),
        Available("isabelle", program_version("isabelle"), "https://isabelle.in.tum.de"),
    ]
    for kind, programs in (("solver", available_solvers()), ("kernel", kernels)):
        for found in programs:
            missing = "" if found.version else found.hint
            table.add_row(*map(Text, (kind, found.name, found.version or "not found", missing)))
    _out.print(table)


# -- shared -----------------------------------------------------------------------------------------------------------


def _read_problems(path: Path, format_: Format) -> ProblemSet:
    known = read_problems(path, format=format_)
    for rejected in known.rejected[:10]:
        _say(f"{path}: problem {rejected.id} cannot be used: {'; '.join(rejected.reasons)}")
    if len(known.rejected) > 10:
        _say(f"{path}: … and {len(known.rejected) - 10} more that cannot be used")
    noted = [problem for problem in known.problems.values() if problem.notes]
    if noted:
        _say(f"{path}: {len(noted)} problems have notes; the first: {noted[0].id}: {noted[0].notes[0]}")
    if not known.problems:
        _fail(f"{path} holds no usable problem")
    return known


def _usable(path: Path, known: ProblemSet, skipped: list[str]) -> Iterator[Completion]:
    """The completions that can be verified; what is wrong with each other line goes to ``skipped``."""
    for item in read_completions(path):
        match item:
            case BadLine(line, problem):
                skipped.append(f"{path}, line {line}: {problem}")
            case Completion(problem_id=problem_id) if problem_id not in known.problems:
                skipped.append(f"{path}: problem {problem_id!r} of a completion is not among the usable problems")
            case completion:
                yield completion


def _finish(skipped: list[str]) -> None:
    for problem in skipped[:10]:
        _say(f"skipped: {problem}")
    if skipped:
        _say(f"{len(skipped)} lines were skipped; everything else was checked")
        raise typer.Exit(1)


def _count_lines(path: Path) -> int:
    """How many completions there are at most; a file that cannot be read is told of when it is read."""
    try:
        with path.open("rb") as file:
            return sum(1 for line in file if line.strip())
    except OSError:
        return 0


def _progress(items: Iterable[_T], what: str, total: int) -> Iterator[_T]:
    """The items, with a progress bar on standard error if that is a terminal."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    iterator = iter(items)
    first = next(iterator, None)  # workers start with the first item, before the bar's own thread
    if first is None:
        return
    with Progress(*columns, console=_err, transient=True, disable=not _err.is_terminal) as progress:
        task = progress.add_task(what, total=total)
        progress.advance(task)
        yield first
        for item in iterator:
            progress.advance(task)
            yield item


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        _fail(f"{path}: the folder cannot be made: {error.strerror}")


def _write(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def _write_file(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        _fail(f"{path}: the file cannot be written: {error.strerror}")


def _say(message: str) -> None:
    _err.print(Text(message), soft_wrap=True)


def _fail(message: str) -> NoReturn:
    raise ProofR1Error(message)


def main() -> None:
    """Run the command line."""
    try:
        app()
    except ProofR1Error as error:
        if "--debug" in sys.argv:
            raise
        _err.print(Text(f"error: {error}", style="red"), soft_wrap=True)
        sys.exit(2)
    except KeyboardInterrupt:
        _err.print(Text("interrupted"))
        sys.exit(130)
