"""Progress of a run: a bar with rates and the remaining time on a terminal, a line per step elsewhere."""

from __future__ import annotations

from types import TracebackType
from typing import assert_never

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from training.common.logs import EvaluationRecord, ImitationRecord, Record, StepRecord


class _Rate(ProgressColumn):
    """Seconds per step."""

    def render(self, task: Task) -> Text:
        return Text("" if not task.speed else f"{1 / task.speed:.1f} s/step")


class Display:
    """Shows records. Use it in a ``with`` statement.

    Args:
        console: to print to.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            _Rate(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[numbers]}", markup=False),
        )
        self._progress = Progress(*columns, console=console, disable=not console.is_terminal)

    def __enter__(self) -> Display:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def start(self, method: str, *, done: int, total: int) -> None:
        """Show that a run starts or resumes."""
        self._task = self._progress.add_task(method, completed=done, total=total, numbers="")

    def log(self, message: str) -> None:
        """A line."""
        self._console.print(Text(message), soft_wrap=True)

    def show(self, record: Record) -> None:
        """A record."""
        line = summary(record)
        if isinstance(record, EvaluationRecord):
            self.log(line)
        elif self._console.is_terminal:
            self._progress.update(self._task, completed=record.step, numbers=line)
        else:
            self.log(line)


def summary(record: Record) -> str:
    """The main numbers of a record."""
    match record:
        case EvaluationRecord():
            names = ("Avg", "Pass", "FVR", "RVR", "Right and verified", "RGD")
            scores = ", ".join([f"{name} {record.scores[name].value:.3f}" for name in names])
            return f"evaluation after {record.step} steps: {scores}, {record.actions:.1f} actions"
        case StepRecord():
            return (
                f"step {record.step}: correct {record.correct:.2f}, signal {record.signal:.2f}, FVR {record.fvr:.2f}, "
                f"RVR {record.rvr:.2f}, kl {record.kl:.2f}, entropy {record.entropy:.2f}, "
                f"{record.seconds.total:.1f} s"
            )
        case ImitationRecord():
            return (
                f"step {record.step}: loss {record.loss:.3f}, {record.demonstrations} demonstrations, "
                f"{record.seconds.total:.1f} s"
            )
    assert_never(record)
