"""What the commands share: options, reading of files, progress, and what goes to which stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NoReturn, TypeVar

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from proof_r1_formal.data import Format, read_problems
from proof_r1_formal.data.completions import BadLine, Completion, read_completions
from proof_r1_formal.data.problem import ProblemSet
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.outputs import check_output, is_standard_output, is_stream
from proof_r1_formal.proof.judge import EvidenceLevel
from proof_r1_formal.rules.catalogue import RuleSystem as RuleSystem
from proof_r1_formal.workers import PROCESSES, RAY

OUT = Console(highlight=False)
"""Standard output, for what was asked for."""
ERR = Console(stderr=True, highlight=False)
"""Standard error, for what is said about it."""

_T = TypeVar("_T")

ProblemsOption = Annotated[Path, typer.Option("--problems", help="File of problems.", show_default=False)]
CompletionsOption = Annotated[
    Path, typer.Option("--completions", help="File of completions, one JSON object per line.", show_default=False)
]
FormatOption = Annotated[Format, typer.Option("--format", help="Format of the problems.")]
RulesOption = Annotated[RuleSystem, typer.Option("--rules", help="Rule catalogue.")]
AtomicOption = Annotated[
    bool, typer.Option("--atomic", help="Instances of rules count only if dependencies state their minor premises.")
]
SolverOption = Annotated[str, typer.Option("--solver", help="Solver that decides entailment; see 'proof-r1 doctor'.")]
EvidenceOption = Annotated[
    EvidenceLevel, typer.Option("--evidence", help="Whether to check the evidence of entailment verdicts again.")
]
AnswersOption = Annotated[
    Path | None,
    typer.Option(
        "--answers",
        help="File that keeps countermodels for the next run, which checks them again.",
        resolve_path=True,  # for workers elsewhere
        show_default=False,
    ),
]
LeanOption = Annotated[
    str | None, typer.Option("--lean", help="Lean program to use in place of what is found.", show_default=False)
]
WorkersOption = Annotated[int, typer.Option("--workers", min=1, help="How many workers; processes without --ray.")]
RayOption = Annotated[
    str | None,
    typer.Option("--ray", metavar="[ADDRESS]", help="Workers are on a Ray cluster: HOST:PORT, auto, or a private one."),
]


def engine(ray: str | None) -> str:
    """The engine that ``--ray`` asks for."""
    return PROCESSES if ray is None else f"{RAY}:{ray}"


def read_problem_file(path: Path, format_: Format) -> ProblemSet:
    """The problems of a file; what cannot be used, or is odd, is said."""
    known = read_problems(path, format=format_)
    for rejected in known.rejected[:10]:
        say(f"{path}: problem {rejected.id} cannot be used: {'; '.join(rejected.reasons)}")
    if len(known.rejected) > 10:
        say(f"{path}: … and {len(known.rejected) - 10} more that cannot be used")
    noted = [problem for problem in known.values() if problem.notes]
    if noted:
        say(f"{path}: {len(noted)} problems have notes; the first: {noted[0].id}: {noted[0].notes[0]}")
    if not known:
        fail(f"{path} holds no usable problem")
    return known


def usable_completions(path: Path, known: ProblemSet, skipped: list[str]) -> Iterator[Completion]:
    """The completions that can be verified; what is wrong with each other line goes to ``skipped``."""
    for item in read_completions(path):
        match item:
            case BadLine(line, problem):
                skipped.append(f"{path}, line {line}: {problem}")
            case Completion(problem_id=problem_id) if problem_id not in known:
                skipped.append(f"{path}: problem {problem_id!r} of a completion is not among the usable problems")
            case completion:
                yield completion


def distinct_completions(path: Path, known: ProblemSet, skipped: list[str]) -> Iterator[Completion]:
    """The usable completions, of several with the same problem and number the first; the others go to ``skipped``."""
    seen: set[tuple[str, int]] = set()
    for completion in usable_completions(path, known, skipped):
        sample = (completion.problem_id, completion.sample)
        if sample in seen:
            skipped.append(f"{path}: problem {sample[0]!r} has sample {sample[1]} twice")
        else:
            seen.add(sample)
            yield completion


def finish(skipped: list[str]) -> None:
    """Say what was skipped, and end with status 1 if anything was."""
    for problem in skipped[:10]:
        say(f"skipped: {problem}")
    if skipped:
        say(f"{len(skipped)} lines were skipped; everything else was checked")
        raise typer.Exit(1)


def count_lines(path: Path) -> int:
    """How many completions there are at most; a file that cannot be read is told of when it is read."""
    try:
        if not path.is_file():  # a stream can be read only once
            return 0
        with path.open("rb") as file:
            return sum(1 for line in file if line.strip())
    except OSError:
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
    """Progress on standard error, if that is a terminal: a function to tell what is done, how much, and of how much."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    progress = Progress(*columns, console=ERR, transient=True, disable=not ERR.is_terminal)
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


def check_outputs(*outputs: Path | None, inputs: Iterable[Path | None]) -> None:
    """Check the files that a command will write, before it does any work.

    Where one is standard output, everything else that the command would print there goes to standard error.

    Args:
        outputs: None for one that was not asked for.
        inputs: files that no output may overwrite; None for one that was not given.

    Raises:
        DataError: see :func:`~proof_r1_formal.outputs.check_output`; or two outputs are the same file.
    """
    wanted = [path for path in outputs if path is not None]
    given = [path for path in inputs if path is not None]
    for number, path in enumerate(wanted):
        check_output(path, inputs=given)
        if not is_stream(path) and any(path.resolve() == other.resolve() for other in wanted[:number]):
            fail(f"{path}: two outputs would go to this file; name another for one of them")
    OUT.stderr = any(map(is_standard_output, wanted))


def write(text: str) -> None:
    """A line of what was asked for."""
    OUT.file.write(f"{text}\n")


def say(message: str) -> None:
    """A line about what was asked for."""
    ERR.print(Text(message), soft_wrap=True)


def fail(message: str) -> NoReturn:
    """End with an error."""
    raise ProofR1Error(message)
