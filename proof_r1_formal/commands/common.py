"""Shared parts of the commands: options, reading of files, progress, and output streams."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn, TypeVar, get_args

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from proof_r1_formal.data import Format
from proof_r1_formal.data.completions import BadLine, Completion, numbered_completions
from proof_r1_formal.data.layouts import Fields
from proof_r1_formal.data.problem import ProblemSet, completed_id
from proof_r1_formal.data.sources import open_to_read
from proof_r1_formal.errors import DataError, ProofR1Error
from proof_r1_formal.evaluation.summary import Doubts
from proof_r1_formal.executors import PROCESSES, RAY
from proof_r1_formal.kernel.answer import BatchKernel, EvidenceLevel
from proof_r1_formal.outputs import STANDARD_STREAM, LineFile, check_output, is_null, is_standard_output
from proof_r1_formal.rules.catalogue import RuleSystem as RuleSystem
from proof_r1_formal.text.conventions import NotationName

if TYPE_CHECKING:
    from rich.progress import TaskID

_CONTROL = dict.fromkeys([*range(10), *range(11, 32), *range(127, 160)], "\N{REPLACEMENT CHARACTER}")


class _Terminal(Console):
    """A console that writes no control character of a text: a model's answer must not command the terminal."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        for segment in super().render(renderable, options):
            yield segment._replace(text=segment.text.translate(_CONTROL)) if segment.control is None else segment


OUT = _Terminal(highlight=False)
"""Standard output, for results."""
ERR = _Terminal(stderr=True, highlight=False)
"""Standard error, for messages."""
_SHOWN_LINES = 10
"""How many skipped lines are reported."""
INTERRUPTED = 130
"""Exit status of a command that Ctrl-C ended."""

_T = TypeVar("_T")


def _rules(name: str) -> str:
    """The catalogue of ``--rules``, a file by its whole path, for workers in other folders."""
    return name if name in get_args(RuleSystem) or not name.endswith(".toml") else str(Path(name).resolve())


ProblemsOption = Annotated[
    Path, typer.Option("-p", "--problems", help="File of problems; - is standard input.", show_default=False)
]
ProblemFilesOption = Annotated[
    list[Path], typer.Option("-p", "--problems", help="File of problems; may be repeated.", show_default=False)
]
CompletionsOption = Annotated[
    Path,
    typer.Option(
        "-c", "--completions", help="File of completions, one per line; - is standard input.", show_default=False
    ),
]
FieldOption = Annotated[
    list[str] | None,
    typer.Option("--field", metavar="NAME=PATH", help="Path of problem_id, completion or sample in a line."),
]
FormatOption = Annotated[Format, typer.Option("--format", help="Format of the problems.")]
NotationOption = Annotated[
    NotationName, typer.Option("--notation", help="Notation of formulas, where notations clash.")
]
RulesOption = Annotated[
    str,
    typer.Option(
        "--rules",
        help="Rule catalogue: train, folio, complete, or a TOML file of your own.",
        callback=_rules,
        metavar="NAME|FILE",
    ),
]
AtomicOption = Annotated[
    bool, typer.Option("--atomic", help="Accept an instance of a rule only if dependencies state its minor premises.")
]
SolverOption = Annotated[str, typer.Option("--solver", help="Solver that decides entailment; see 'proof-r1 doctor'.")]
EvidenceOption = Annotated[
    EvidenceLevel, typer.Option("--evidence", help="How to recheck the evidence of entailment verdicts.")
]
LeanOption = Annotated[
    str | None, typer.Option("--lean", help="Lean program to use, or 'wheel'; see 'doctor'.", show_default=False)
]
StrictOption = Annotated[
    bool, typer.Option("--strict", help="End with an error, before any work, if a record cannot be used.")
]
WorkersOption = Annotated[
    int, typer.Option("-j", "--workers", min=1, help="Number of workers (local processes, or Ray workers with --ray).")
]
RayOption = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="[ADDRESS]",
        help="Run the workers on a Ray cluster: HOST:PORT, auto, or by default a private one.",
    ),
]


def kernel_finder(evidence: EvidenceLevel, lean: str | None) -> Callable[[], BatchKernel] | None:
    """``find_kernel`` of settings with that level of evidence."""
    if evidence != "kernel":
        return None
    from proof_r1_formal.assistants.lean_evidence import FindLean  # few runs need it

    return FindLean(lean)


def fields_of(given: list[str] | None) -> Fields | None:
    """The fields that ``--field`` names; None if it is not given."""
    return Fields.of(given) if given else None


def executor(ray: str | None) -> str:
    """The executor that ``--ray`` selects."""
    return PROCESSES if ray is None else f"{RAY}:{ray}"


@dataclass(slots=True)
class LeftOut:
    """The unusable records, which a command leaves out: each is named and counted, and the status is then 1.

    Attributes:
        strict: whether it is an error instead, before any work.
        problems: number of unusable problems.
        lines: the errors of unusable completions.
        unknown, unreadable: how many of these lines name an unknown problem, and hold no completion.
        truncated: number of completions that were cut off, as their file says; they are not left out.
    """

    strict: bool
    problems: int = 0
    lines: list[str] = field(default_factory=list)
    unknown: int = 0
    unreadable: int = 0
    truncated: int = 0

    def refuse(self) -> None:
        """End with an error if nothing may be left out and something was."""
        if self.strict and (self.problems or self.lines):
            log_skipped(self)
            which = [count_of(self.problems, "problem"), count_of(len(self.lines), "completion")]
            shown = " and ".join([one for one in which if not one.startswith("0 ")])
            fail(f"{shown} cannot be used, and --strict forbids to leave anything out; nothing was written")


def usable_completions(
    path: Path, known: ProblemSet, left_out: LeftOut, fields: Fields | None = None
) -> Iterator[Completion]:
    """The completions that can be verified; the errors of all other lines go to ``left_out``."""
    return _read_first(_usable(path, known, left_out, fields), left_out)


def distinct_completions(
    paths: Iterable[Path],
    known: ProblemSet,
    left_out: LeftOut,
    fields: Fields | None = None,
    *,
    repeats: bool = False,
) -> Iterator[Completion]:
    """The usable completions of files, file by file; the first of each problem and sample number counts.

    The errors of repeats, in one file and in several, go to ``left_out``; ``repeats`` yields them nevertheless.
    """
    return _read_first(_distinct(paths, known, left_out, fields, repeats), left_out)


def _read_first(completions: Iterator[Completion], left_out: LeftOut) -> Iterator[Completion]:
    """The same; all are read before the first if nothing may be left out."""
    if not left_out.strict:
        return completions
    read = list(completions)
    left_out.refuse()
    return iter(read)


def _usable(path: Path, known: ProblemSet, left_out: LeftOut, fields: Fields | None) -> Iterator[Completion]:
    for line, item in numbered_completions(path, fields):
        match item:
            case BadLine(_, problem):
                left_out.unreadable += 1
                left_out.lines.append(f"{path}, line {line}: {problem}")
            case Completion(problem_id=id_) if id_ not in known:
                left_out.unknown += 1
                hint = completed_id(id_, known) if len(left_out.lines) < _SHOWN_LINES else ""
                left_out.lines.append(
                    f"{path}, line {line}: the completion names {id_!r}, which is not a usable problem{hint}"
                )
            case completion:
                left_out.truncated += completion.truncated
                yield completion


def _distinct(
    paths: Iterable[Path], known: ProblemSet, left_out: LeftOut, fields: Fields | None, repeats: bool
) -> Iterator[Completion]:
    seen: dict[tuple[str, int], Path] = {}
    for path in paths:
        for completion in _usable(path, known, left_out, fields):
            sample = (completion.problem_id, completion.sample)
            first = seen.get(sample)
            if first is None:
                seen[sample] = path
            else:
                again = "more than once" if first == path else f"that {first} has too, which counts"
                left_out.lines.append(f"{path}: problem {sample[0]!r} has sample {sample[1]} {again}")
            if first is None or repeats:
                yield completion


def log_skipped(left_out: LeftOut) -> None:
    """Report the first skipped lines."""
    for problem in left_out.lines[:_SHOWN_LINES]:
        log(f"skipped: {problem}")


def finish(left_out: LeftOut, doubts: Doubts | None = None) -> None:
    """Report skipped lines, verdicts without evidence, and questions that a broken solver left undecided.

    The status is 1 if lines or problems were left out, or the solver is broken.
    """
    doubts = doubts or Doubts()
    log_skipped(left_out)
    if left_out.truncated:
        were = count_of(left_out.truncated, "completion was", "completions were")
        log(f"{were} cut off at the limit of tokens, as the file says; they were checked like the others")
    if left_out.lines:
        log(f"{count_of(len(left_out.lines), 'line was', 'lines were')} skipped; everything else was checked")
    if doubts.unchecked:
        log("no evidence was checked (--evidence none): “verified” rests on the solver")
    if doubts.unsupported:
        have = count_of(doubts.unsupported, "step has", "steps have")
        log(f"{have} an answer without evidence, which verifies nothing (“evidence”: “unsupported” in the reports)")
    if doubts.broken:
        questions = count_of(doubts.broken, "question is", "questions are")
        log(f"{questions} undecided because the solver is broken; the findings say how. Choose another with --solver")
    if left_out.lines or left_out.problems or doubts.broken:
        raise typer.Exit(1)


def count_lines(path: Path) -> int:
    """The number of lines, for a progress bar; 0 for an unreadable file, which fails later, when it is read."""
    try:
        if not path.is_file():  # a stream can be read only once
            return 0
        with open_to_read(path) as file:
            return sum(1 for line in file if line.strip())
    except (OSError, DataError):
        return 0


def with_progress(items: Iterable[_T], what: str, total: int) -> Iterator[_T]:
    """The items, with a progress bar on standard error if that is a terminal."""
    iterator = iter(items)
    first = next(iterator, None)  # workers start with the first item, before the bar's own thread
    if first is None:
        return
    with progress_bar() as advance:
        advance(what, 1, total)
        yield first
        for done, item in enumerate(iterator, 2):
            advance(what, done, total)
            yield item


@contextmanager
def progress_bar() -> Iterator[Callable[[str, int, int], None]]:
    """Progress on standard error, if that is a terminal: a function of a task, what is done of it, and its total."""
    if not ERR.is_terminal:
        yield lambda _what, _done, _total: None
        return
    from rich import progress as parts

    kinds = (parts.BarColumn, parts.MofNCompleteColumn, parts.TimeElapsedColumn, parts.TimeRemainingColumn)
    columns = [parts.TextColumn("{task.description}"), *[kind() for kind in kinds]]
    progress = parts.Progress(*columns, console=ERR, transient=True)
    tasks: dict[str, TaskID] = {}

    def advance(what: str, done: int, total: int) -> None:
        if not tasks:  # only now, as workers may start before the bar's own thread
            progress.start()
        if what not in tasks:
            tasks[what] = progress.add_task(what, total=total)
        progress.update(tasks[what], completed=done, total=total)

    try:
        yield advance
    finally:
        progress.stop()


@contextmanager
def resumable(file: LineFile, thing: str, rest: str = "") -> Iterator[None]:
    """Say what an interrupted run has left, and on Ctrl-C what a later run resumes.

    Args:
        file: whose lines are things of this name.
        thing: in the singular.
        rest: what happens to the things that are there.
    """
    if file.done:
        log(f"resuming after {count_of(file.done, thing)}{rest}")
    try:
        yield
    except KeyboardInterrupt:
        kept = f"; {count_of(file.done, thing)} kept: repeat the command to resume" if file.is_resumable else ""
        log(f"interrupted{kept}")
        raise typer.Exit(INTERRUPTED) from None


def count_of(number: int, thing: str, things: str | None = None) -> str:
    """A number with its noun: ``1 report``, ``2 reports``."""
    return f"{number} {thing if number == 1 else things or f'{thing}s'}"


def check_outputs(*outputs: Path | None, inputs: Iterable[Path | None]) -> None:
    """Check the files that a command will write, before it does any work; a None is a file that was not asked for.

    No output may overwrite an input. If one is standard output, all messages of the command go to standard error.

    Raises:
        ProofR1Error: see :func:`~proof_r1_formal.outputs.check_output`; or two outputs would be mixed in one file, in
            one pipe or on standard output (the null device takes any number); or two inputs are standard input.
    """
    wanted = [path for path in outputs if path is not None]
    given = [path for path in inputs if path is not None]
    if given.count(STANDARD_STREAM) > 1:
        fail("-: only one input can be standard input; name a file for the other")
    for number, path in enumerate(wanted):
        check_output(path, inputs=given)
        if is_null(path):
            continue
        if is_standard_output(path) and any(map(is_standard_output, wanted[:number])):
            fail(f"{path}: two outputs would go to standard output; name a file for one of them")
        if any(path.resolve() == other.resolve() for other in wanted[:number]):
            fail(f"{path}: two outputs would go to this file; choose another for one of them")
    OUT.stderr = any(map(is_standard_output, wanted))


def write(text: str) -> None:
    """Print a line of the result."""
    OUT.file.write(f"{text}\n")


def log(message: str) -> None:
    """Print a message."""
    ERR.print(Text(message), soft_wrap=True)


def complain(message: str) -> None:
    """An error, as a line."""
    ERR.print(Text(message, style="red"), soft_wrap=True)


def fail(message: str) -> NoReturn:
    """End with an error."""
    raise ProofR1Error(message)
