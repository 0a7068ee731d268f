"""``evaluate`` and ``best``: metrics, tables and pictures of completions, and the best completion of each problem."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from json import dumps as to_json_line
from pathlib import Path
from typing import Annotated

import typer
from msgspec import structs

from proof_r1_formal.commands import common, problem_files
from proof_r1_formal.commands.tables import JsonOption
from proof_r1_formal.data.completions import Completion, write_completions
from proof_r1_formal.data.layouts import Fields
from proof_r1_formal.data.problem import ProblemSet
from proof_r1_formal.data.sources import stem
from proof_r1_formal.evaluation.assessment import Assessment, Examined, assess, examine_many
from proof_r1_formal.evaluation.definition import Key, Study, read_study
from proof_r1_formal.evaluation.diagnosis import misnamed_record
from proof_r1_formal.evaluation.drawing import picture_files, require_drawing, write_pictures
from proof_r1_formal.evaluation.measures import LEAST_RESAMPLES, Contract, Eligibility, Sample
from proof_r1_formal.evaluation.metrics_tables import metrics_tables
from proof_r1_formal.evaluation.outcomes import isolate_array
from proof_r1_formal.evaluation.paired import RESAMPLES
from proof_r1_formal.evaluation.plots import study_pictures
from proof_r1_formal.evaluation.selection import Candidate
from proof_r1_formal.evaluation.selection import best as best_of
from proof_r1_formal.evaluation.study_tables import detail_tables, diagnosis_tables, study_tables
from proof_r1_formal.evaluation.summary import Doubts
from proof_r1_formal.evaluation.tables import Table, to_csv, to_json, to_latex, to_markdown
from proof_r1_formal.evaluation.terminal import to_rich
from proof_r1_formal.outputs import check_folder, write_output
from proof_r1_formal.proof.batch import Settings
from proof_r1_formal.rules.catalogue import TRAIN, catalogue
from proof_r1_formal.rules.schema import Catalogue

WIDE = 200
"""Width of tables with --wide, in characters."""


def evaluate(
    problems: Annotated[
        Path | None, typer.Option("-p", "--problems", help="File of problems.", show_default=False)
    ] = None,
    completions: Annotated[
        list[Path] | None,
        typer.Option(
            "-c",
            "--completions",
            help="File of completions of a system; repeat -c for more files. Of repeated samples the first counts.",
            show_default=False,
        ),
    ] = None,
    study: Annotated[
        Path | None,
        typer.Option("--study", help="TOML file that lists several systems and datasets.", show_default=False),
    ] = None,
    field: common.FieldOption = None,
    format: common.FormatOption = "auto",  # noqa: A002
    notation: common.NotationOption = "auto",
    rules: common.RulesOption = "train",
    atomic: common.AtomicOption = False,
    solver: common.SolverOption = "embedded",
    strict: common.StrictOption = False,
    workers: common.WorkersOption = 1,
    ray: common.RayOption = None,
    bootstrap: Annotated[
        int, typer.Option("--bootstrap", min=0, help="Number of resamples for confidence intervals.")
    ] = 0,
    eligibility: Annotated[
        Eligibility,
        typer.Option(
            "--eligibility",
            help="Which failed steps FVR and RVR leave out: cascades, or those that the reference leaves out.",
        ),
    ] = "own-fault",
    contract: Annotated[
        Contract,
        typer.Option("--contract", help="Whether an action that is not well formed costs itself or the whole output."),
    ] = "per-action",
    json: JsonOption = None,
    markdown: Annotated[Path | None, typer.Option("--markdown", help="Also write the tables as Markdown.")] = None,
    latex: Annotated[Path | None, typer.Option("--latex", help="Also write the tables as LaTeX.")] = None,
    csv: Annotated[Path | None, typer.Option("--csv", help="Folder for the tables as CSV files.")] = None,
    plots: Annotated[
        Path | None, typer.Option("--plots", help="Folder for the figures, as SVG and PNG, light and dark.")
    ] = None,
    diagnosis: Annotated[
        Path | None,
        typer.Option(
            "--diagnosis",
            help="Also write every entailed step under a wrong rule, with the rules that would accept it.",
        ),
    ] = None,
    wide: Annotated[bool, typer.Option("--wide", help="Show spreads (±) and counts of zero, in any width.")] = False,
) -> None:
    """Verify completions, and show metrics and errors.

    Give the completions of one system, or several systems in a --study file, which specifies the rules and the format
    of its problems.
    """
    described = read_study(study) if study is not None and problems is None and not completions else None
    given = {"--rules": rules != "train", "--format": format != "auto", "--notation": notation != "auto"}
    if described is not None and (named := [name for name, is_given in given.items() if is_given]):
        common.fail(f"a study names rules, format and notation for each dataset: drop {', '.join(named)}")
    inputs = (problems, *(completions or ()), study, *(() if described is None else described.inputs()))
    outputs = [json, markdown, latex, diagnosis]
    common.check_outputs(*outputs, inputs=inputs)
    for folder in (csv, plots):
        if folder is not None:
            check_folder(folder)
    if plots is not None:
        require_drawing()
    if 0 < bootstrap < LEAST_RESAMPLES:
        common.fail(f"--bootstrap: intervals require at least {LEAST_RESAMPLES} resamples")
    settings = Settings(solver=solver, rules=rules, atomic=atomic)
    left_out = common.LeftOut(strict)
    assessor = _Assessor(
        settings, workers, common.executor(ray), bootstrap, eligibility, contract, left_out, common.fields_of(field)
    )
    match problems, completions, study:
        case Path(), [_, *_], None:
            known = problem_files.read_problem_file(problems, format, left_out, notation=notation)
            key = Key(stem(problems), "", " + ".join(map(stem, completions)))
            results = {key: assessor.assess(key, known, completions, rules, TRAIN)}
            (one,) = results.values()
            tables: Sequence[Table] = (
                *metrics_tables(one.metrics, unreadable=one.unreadable),
                *detail_tables(results),
                *diagnosis_tables(one.diagnosis),
            )
        case _ if described is not None:
            results = _study_results(described, assessor)
            tables = study_tables(results, resamples=bootstrap or RESAMPLES)
        case _:
            common.fail("give --problems and --completions, or --study")
    common.OUT.width = WIDE if wide else common.OUT.width
    for table in tables:
        if (shown := to_rich(table, wide=wide)).row_count:
            common.OUT.print(shown)
    files = {} if csv is None else _csv_files(csv, tables)
    pictures = {} if plots is None else study_pictures(results)
    outputs += [*files, *(() if plots is None else picture_files(pictures, plots))]
    common.check_outputs(*outputs, inputs=inputs)
    if json is not None:
        write_output(json, to_json(tables))
    if markdown is not None:
        write_output(markdown, "\n".join(map(to_markdown, tables)).encode())
    if latex is not None:
        write_output(latex, "\n".join(map(to_latex, tables)).encode())
    for path, table in files.items():
        write_output(path, to_csv(table).encode())
    if plots is not None:
        write_pictures(pictures, plots)
    if diagnosis is not None:
        write_output(diagnosis, "".join(assessor.misnamed).encode("ascii"))
    common.finish(left_out, assessor.doubts)


def _csv_files(folder: Path, tables: Sequence[Table]) -> dict[Path, Table]:
    """The file of each table."""
    return {folder / f"{number:02}-{_slug(table.title)}.csv": table for number, table in enumerate(tables, 1)}


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60]


def _study_results(described: Study, assessor: _Assessor) -> dict[Key, Assessment]:
    seen = catalogue(described.seen)
    for file in (file for files in described.files().values() for file in files):
        if not file.is_file():  # fail before spending hours on the others
            common.fail(f"{file}, a file of the study, does not exist")
    left_out = assessor.left_out
    known = {
        name: problem_files.read_problem_file(one.problems, one.format, left_out, notation=one.notation)
        for name, one in described.datasets.items()
    }
    if left_out.strict:  # before any work: that on each file would come before the next is read
        for key, files in described.files().items():
            list(common.distinct_completions(files, known[key.dataset], left_out, assessor.fields))
        left_out.truncated = 0  # they are read again
    return {
        key: assessor.assess(key, known[key.dataset], files, described.datasets[key.dataset].rules, seen)
        for key, files in described.files().items()
    }


@dataclass(slots=True)
class _Assessor:
    """Assesses files of completions, all in the same way.

    Attributes:
        left_out: what cannot be used.
        fields: where the parts of completions are, if that is named.
        misnamed: every entailed step under a wrong rule, a line of JSON each.
        doubts: what makes the verdicts doubtful.
    """

    settings: Settings
    workers: int
    executor: str
    resamples: int
    eligibility: Eligibility
    contract: Contract
    left_out: common.LeftOut
    fields: Fields | None = None
    misnamed: list[str] = field(default_factory=list)
    doubts: Doubts = field(default_factory=Doubts)

    def assess(self, key: Key, known: ProblemSet, files: Sequence[Path], rules: str, seen: Catalogue) -> Assessment:
        """The assessment of a system by its files of completions."""
        completions: Iterable[Completion] = common.distinct_completions(
            files, known, self.left_out, self.fields, repeats=True
        )
        if self.contract == "strict":
            completions = (structs.replace(one, completion=isolate_array(one.completion)) for one in completions)
        settings = replace(self.settings, rules=rules)
        unknown, unreadable = self.left_out.unknown, self.left_out.unreadable
        examined = examine_many(known, completions, settings=settings, workers=self.workers, executor=self.executor)
        found = assess(
            known,
            self._record(
                key, common.with_progress(examined, " + ".join(map(stem, files)), sum(map(common.count_lines, files)))
            ),
            rules=catalogue(rules),
            seen=seen,
            eligibility=self.eligibility,
            contract=self.contract,
            resamples=self.resamples,
        ).with_left_out(unknown=self.left_out.unknown - unknown, unreadable=self.left_out.unreadable - unreadable)
        shown = ", ".join(map(str, files))
        answered = {problem for problem, _ in found.answered}
        if absent := [problem for problem in known if problem not in answered]:
            have = common.count_of(len(absent), "problem has", "problems have")
            common.log(f"{shown}: {have} no completion: {problem_files.shown_ids(absent)}")
        if incomplete := found.metrics.overall.incomplete:
            have = common.count_of(incomplete, "problem has", "problems have")
            common.log(f"{shown}: {have} fewer than K = {found.metrics.samples} completions")
        return found

    def _record(self, key: Key, examined: Iterable[Examined]) -> Iterator[Examined]:
        """The same, while their doubts and misnamed steps are recorded."""
        for one in examined:
            self.doubts.add(one.report)
            for misnamed in one.misnamed:
                record = {**key._asdict(), **misnamed_record(one.report, misnamed)}
                self.misnamed.append(f"{to_json_line(record)}\n")
            yield one


def best(
    problems: common.ProblemsOption,
    completions: common.CompletionsOption,
    out: Annotated[Path, typer.Option("-o", "--out", help="File of completions to write, one per problem.")],
    format: common.FormatOption = "auto",  # noqa: A002
    notation: common.NotationOption = "auto",
    rules: common.RulesOption = "train",
    solver: common.SolverOption = "embedded",
    strict: common.StrictOption = False,
    workers: common.WorkersOption = 1,
    ray: common.RayOption = None,
) -> None:
    """Select one completion per problem by evidence, or by vote.

    A completion with a certified answer comes first, or else one with the most frequent answer.
    """
    common.check_outputs(out, inputs=(problems, completions))
    left_out = common.LeftOut(strict)
    known = problem_files.read_problem_file(problems, format, left_out, notation=notation)
    read: dict[Sample, Completion] = {}
    candidates: dict[str, list[Candidate]] = {}

    def remember() -> Iterator[Completion]:
        for completion in common.distinct_completions([completions], known, left_out):
            read[completion.problem_id, completion.sample] = completion
            yield completion

    settings = Settings(solver=solver, rules=rules)
    examined = examine_many(known, remember(), settings=settings, workers=workers, executor=common.executor(ray))
    doubts = Doubts()
    for one in common.with_progress(examined, "examining", common.count_lines(completions)):
        doubts.add(one.report)
        candidates.setdefault(one.report.problem_id, []).append(one.candidate())
    chosen = {problem_id: best_of(of) for problem_id, of in candidates.items()}
    write_completions(out, [read[problem_id, one.sample] for problem_id, one in chosen.items()])
    certified = sum(one.certified for one in chosen.values())
    silent = sum(one.answer is None for one in chosen.values())
    common.log(
        f"{common.count_of(len(chosen), 'completion')} written to {out}: {certified} certified, "
        f"{len(chosen) - certified - silent} with the most frequent answer, {silent} without an answer"
    )
    common.finish(left_out, doubts)
