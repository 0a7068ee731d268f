"""``prove``: proofs of the answers of problems, for people, as data, and as completions for training."""

from __future__ import annotations

import json as json_
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from statistics import fmean
from time import monotonic
from typing import Annotated, TypeAlias, assert_never

import msgspec
import typer
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from proof_r1_formal.assistants.lean_file import PACKAGE
from proof_r1_formal.commands import benchmark, certificates, common, problem_files
from proof_r1_formal.commands.corrections import continue_completions
from proof_r1_formal.commands.tables import print_tables
from proof_r1_formal.data.completions import Completion, encode
from proof_r1_formal.data.problem import Problem, ReferenceStep
from proof_r1_formal.evaluation.measures import Measure
from proof_r1_formal.evaluation.metrics import evaluate_metrics
from proof_r1_formal.evaluation.tables import Cell, Column, Style, Table
from proof_r1_formal.generate.synthesize import BUDGET, GaveUp, Proved, Prover, Reason, Result, Uncertain
from proof_r1_formal.outputs import LineFile, check_folder, output
from proof_r1_formal.proof.batch import Settings
from proof_r1_formal.proof.report import ModelReport
from proof_r1_formal.proof.trajectory import Thinking, completion
from proof_r1_formal.rules.catalogue import catalogue
from proof_r1_formal.rules.schema import Catalogue

_Results: TypeAlias = Iterator[tuple[Problem, Result, float]]
"""Problems with what was found, and the seconds that it took."""
_SHOWN = 20
_NOT_WITH_CONTINUE = "--id, --certify, --table, --time and --thinking"


def prove(
    problems: common.ProblemFilesOption,
    id: Annotated[str | None, typer.Option("--id", help="Only this problem.", show_default=False)] = None,  # noqa: A002
    rules: common.RulesOption = "train",
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="File of completions to write, one per proof.", show_default=False),
    ] = None,
    format: common.FormatOption = "auto",  # noqa: A002
    notation: common.NotationOption = "auto",
    thinking: Annotated[
        Thinking,
        typer.Option("--thinking", help="Whether the prompt asks for <think>, or the model's template contains it."),
    ] = "explicit",
    short: Annotated[
        bool, typer.Option("--short", help="Use the stated parts of a ∧ or ⊕ without a step that combines them.")
    ] = False,
    budget: Annotated[
        int, typer.Option("--budget", min=1, help="Maximum number of search steps per problem and rule set.")
    ] = BUDGET,
    continue_: Annotated[
        Path | None,
        typer.Option(
            "--continue",
            help="File of completions: keep each up to its first wrong step, and continue it.",
            show_default=False,
        ),
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option(
            "--json",
            help="File of all results, one JSON object per line; with --continue, the table.",
            show_default=False,
        ),
    ] = None,
    solver: common.SolverOption = "embedded",
    certify: Annotated[
        Path | None,
        typer.Option("--certify", help="Folder for theorems of what follows, or does not.", show_default=False),
    ] = None,
    kernel: certificates.KernelOption = "lean",
    name: certificates.NameOption = PACKAGE,
    isabelle_session: certificates.IsabelleOption = False,
    short_names: certificates.ShortNamesOption = False,
    lean_program: common.LeanOption = None,
    table: Annotated[
        bool, typer.Option("--table", help="Print a row for each problem: answer, evidence, seconds.")
    ] = False,
    time: Annotated[bool, typer.Option("--time", help="Say how long each problem takes.")] = False,
    strict: common.StrictOption = False,
) -> None:
    """Find short proofs of answers, or countermodels if Uncertain.

    With --id the proof is shown; with --out proofs become completions, and an interrupted run resumes. With --json,
    --table or --certify as well, it searches again for the proofs that it has, as these get all results. With
    --continue, --out gets the completions, corrected. With --certify each answer becomes a theorem, as by `certify`.
    """
    common.check_outputs(out, json, inputs=(*problems, continue_))
    writes = {"--isabelle": isabelle_session, "--short-names": short_names, "--name": name != PACKAGE}
    _check_certify(certify, writes, kernel, lean_program)
    if continue_ is not None and (id or certify or table or time or thinking != "explicit"):
        common.fail(f"--continue corrects the completions of a file; leave out {_NOT_WITH_CONTINUE}")
    certificates.refuse_without("--out", {"--thinking": out is None and thinking != "explicit"})
    left_out = common.LeftOut(strict)
    found = problem_files.read_problem_files(problems, format, left_out if id is None else None, notation=notation)
    known = found if id is None else {id: problem_files.problem_of(problem_files.shown_paths(problems), found, id)}
    # What is corrected binds an option by its id, as in training.
    verifier = Settings(solver=solver, rules=rules, evaluation=continue_ is None).verifier()
    prover = Prover(verifier, stepwise=not short, budget=budget)
    if continue_ is not None:
        continue_completions(found, continue_, prover, left_out, out=out, json=json)
        return
    theorems = None
    if certify is not None:
        check_folder(certify)
        forms = {"standalone": False, "isabelle": isabelle_session, "short": short_names}
        files = certificates.Files(certify, certificates.package_of(name, None, certify), "shallow", **forms)
        theorems = certificates.Theorems(verifier, certificates.find_kernel(kernel, lean_program), files, "shallow")
    if out is None:
        results = _results(known, prover, frozenset())
    else:
        settings = f"{rules} {thinking} {short} {budget} {id} {format}"
        settings += "" if solver == "embedded" else f" {solver}"
        again = json is not None or theorems is not None or table
        results = _write_proofs(known, prover, out, problems, thinking, settings, again=again)
    tally = _Tally(known, catalogue(rules))
    rows: dict[str, benchmark.Row] = {}
    with nullcontext() if json is None else output(json) as lines:
        for problem, result, seconds in results:
            tally.count(problem, result)
            if table or time:
                rows[problem.id] = benchmark.row(verifier, problem, result, seconds)
            if theorems is not None:
                theorems.add(problem, result)
            if lines is not None:
                record = {"problem_id": problem.id, **_data(result)} | ({"seconds": round(seconds, 3)} if time else {})
                lines.write(f"{json_.dumps(record, ensure_ascii=False)}\n".encode())
            if id is not None:
                common.OUT.print(_shown(problem, result))
    if theorems is not None:
        theorems.finish()
        counts = ", ".join([f"{word}: {count}" for word, count in sorted(theorems.counts.items())])
        common.log(f"{counts}; written to {certify}")
    if table:
        print_tables([benchmark.table(rows)])
    elif id is None:
        print_tables([tally.table()])
    if rows:
        common.log(benchmark.totals(rows))
    if theorems is not None or table:
        unsolved = bool(theorems.without) if theorems is not None else not all(each.solved for each in rows.values())
        common.finish(left_out)
        if unsolved:
            raise typer.Exit(1)
        return
    tally.finish()
    common.finish(left_out)


def _check_certify(
    certify: Path | None, writes: Mapping[str, bool], kernel: certificates.KernelName, lean_program: str | None
) -> None:
    """Refuse options that have an effect only with others: ``writes`` are those of the files of theorems."""
    if certify is None:
        checks = {"--kernel": kernel != "lean", "--lean": lean_program is not None}
        certificates.refuse_without("--certify", {**writes, **checks})
    certificates.refuse_without("--kernel lean", {"--lean": lean_program is not None and kernel != "lean"})


def _results(known: Mapping[str, Problem], prover: Prover, done: frozenset[str]) -> _Results:
    todo = [problem for problem in known.values() if problem.id not in done]

    def timed(problem: Problem) -> tuple[Problem, Result, float]:
        start = monotonic()
        return problem, prover.prove(problem), monotonic() - start

    yield from common.with_progress(map(timed, todo), "proving", len(todo))


def _write_proofs(
    known: Mapping[str, Problem],
    prover: Prover,
    out: Path,
    sources: Sequence[Path],
    thinking: Thinking,
    settings: str,
    *,
    again: bool,
) -> _Results:
    """The results; writes each proof at once, and skips those that an interrupted run wrote.

    ``again``: does not skip their problems, but proves them again, because all results are wanted.
    """
    done: set[str] = set()
    decoder = msgspec.json.Decoder(Completion)

    def remember(line: bytes) -> None:
        done.add(decoder.decode(line).problem_id)

    rest = "; their proofs are searched for again" if again else "; the table covers only the other problems"
    with (
        LineFile.open(out, inputs=tuple(sources), settings=settings, read=remember) as file,
        common.resumable(file, "completion", rest),
    ):
        for problem, result, seconds in _results(known, prover, frozenset() if again else frozenset(done)):
            if isinstance(result, Proved) and problem.id not in done:
                text = completion(problem, result.steps, thinking=thinking)
                file.append_line(encode(Completion(problem_id=problem.id, completion=text)))
            yield problem, result, seconds
    common.log(f"{common.count_of(file.done, 'completion')} written to {out}")


def _data(result: Result) -> dict[str, object]:
    """The result as JSON."""
    match result:
        case Proved(answer, steps, _):
            return {"result": "proved", "answer": answer, "steps": msgspec.to_builtins(steps)}
        case Uncertain(models):
            reports = {name: msgspec.to_builtins(ModelReport.of(model)) for name, model in models.items()}
            return {"result": "uncertain", "models": reports}
        case GaveUp(reason, detail):
            return {"result": "gave up", "reason": reason.name, "message": reason.value, "detail": detail}
    assert_never(result)


class _Tally:
    """Counts results for the table."""

    def __init__(self, known: Mapping[str, Problem], rules: Catalogue) -> None:
        self._known = known
        self._rules = rules
        self._proved: list[tuple[Problem, Proved]] = []
        self._counts: Counter[str] = Counter()
        self._agreeing: Counter[str] = Counter()
        self._labelled: Counter[str] = Counter()
        self._open: list[str] = []
        self._by_engine = 0

    def count(self, problem: Problem, result: Result) -> None:
        """Take one result into account."""
        match result:
            case Proved(answer):
                self._add("proved", problem, {answer})
                self._proved.append((problem, result))
            case Uncertain(models):
                self._add("uncertain, with countermodels", problem, {o.id for o in problem.options} - models.keys())
            case GaveUp(reason, detail):
                self._counts[f"given up: {reason.value}"] += 1
                self._open.append(f"{problem.id}: {reason.value}{f' ({detail})' if detail else ''}")
                self._by_engine += reason in (Reason.NO_PROOF, Reason.BUDGET) and bool(detail)
            case _:
                assert_never(result)

    def _add(self, row: str, problem: Problem, answers: set[str]) -> None:
        self._counts[row] += 1
        self._labelled[row] += problem.answer is not None
        self._agreeing[row] += problem.answer in answers

    def table(self) -> Table:
        """The number of problems by result, and the lengths of proofs."""
        rows: list[tuple[Cell, ...]] = []
        for row, count in sorted(self._counts.items(), key=lambda item: item[0].startswith("given up")):
            labelled = self._labelled[row]
            rows.append((f"problems: {row}", count, labelled, self._agreeing[row] if labelled else None))
        lengths = [len(proved.steps) - 1 for _, proved in self._proved]
        if lengths:
            rows.append(("steps per proof, without the terminal one", fmean(lengths), None, None))
        reports = [proved.report for _, proved in self._proved]
        distance = evaluate_metrics(self._known, reports).overall.scores[Measure.RGD]
        if distance.denominator:
            rows.append((f"RGD on {distance.denominator:.0f} with a reference proof", distance.value, None, None))
        counts = [Column(name, Style.COUNT) for name in ("with a label", "as labelled")]
        return Table("Proofs", (Column("what", Style.TEXT), Column("number", Style.RATIO), *counts), tuple(rows))

    def finish(self) -> None:
        """Report unproved problems, and end with status 1 if there are any."""
        for problem in self._open[:_SHOWN]:
            common.log(f"no proof of {problem}")
        if len(self._open) > _SHOWN:
            common.log(f"… and {len(self._open) - _SHOWN} more")
        if self._by_engine:
            steps = "" if self._rules.hypotheses else ", and --rules complete writes its proofs as steps"
            certify = f"--certify FOLDER makes it a theorem{steps}"
            common.log(f"the engine has evidence for {self._by_engine} of these answers: {certify}")
        if self._open:
            raise typer.Exit(1)


def _shown(problem: Problem, found: Result) -> RenderableType:
    """The result of proof synthesis for a problem."""
    heading = [problem.id, *([problem.question] if problem.question else [])]
    match found:
        case Proved(answer, steps, _):
            option = problem.option(answer)
            correct = {None: "", answer: " (right)"}.get(problem.answer, " (wrong)")
            said = answer if option is None else option.label
            heading.append(f"answer {said}{correct}, {common.count_of(len(steps) - 1, 'step')}")
            return Group(Text("\n".join(heading), "bold"), _proof(problem, steps))
        case Uncertain(models):
            lines = [
                f"model of the premises in which {name} is false: {ModelReport.of(model).in_words()}"
                for name, model in models.items()
            ]
            return Group(Text("\n".join([*heading, "answer Uncertain"]), "bold"), Text("\n".join(lines)))
        case GaveUp(reason, detail):
            ending = f" ({detail})" if detail else ""
            return Text("\n".join([*heading, f"no proof: {reason.value}{ending}"]), "bold")
    assert_never(found)


def _proof(problem: Problem, steps: tuple[ReferenceStep, ...]) -> Grid:
    """The premises of a proof with their English, then its steps with their rules."""
    used = {name for step in steps for name in step.dependencies}
    table = Grid(show_header=False, box=None)
    for premise in problem.premises:
        if premise.id in used:
            table.add_row(Text(premise.id), Text(f"{premise.formula}"), Text(premise.text, "dim"))
    for step in steps:
        rule_name = step.rule.replace("_", " ").lower()
        table.add_row(
            Text(step.id, "green"), Text(step.conclusion), Text(f"{rule_name}: {', '.join(step.dependencies)}", "dim")
        )
    return table
