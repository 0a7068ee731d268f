"""Verification beside sampling and training: other processes check completions while this one keeps the device busy.

In: problems and completions, one at a time. Out: for each a future of :class:`Checked`. A completion that makes its
process fail, die or hang costs itself: its report says that it has no action and no answer, and a new process takes
over. Reports depend on problems and completions only, not on the workers.

No PyTorch here: the processes start in about a second.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from types import TracebackType
from typing import TypeAlias

from proof_r1_formal import Problem, ProofR1Error, Settings, TraceReport, Verifier
from proof_r1_formal.errors import SolverError

ATTEMPTS = 2
"""How often a completion is tried if its process dies: the first time it may have been killed from outside."""
START = 120.0
"""Seconds that a process may take to start."""
ROOT = Path(__file__).resolve().parents[2]
"""Where the processes find this module."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A report, and what it took.

    Attributes:
        report: on the completion.
        seconds: of processor time.
        failure: why there is no real report, if there is none.
    """

    report: TraceReport
    seconds: float
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class _Job:
    problem: Problem
    completion: str
    sample: int
    evaluation: bool
    result: Future[Checked]


_Task: TypeAlias = tuple[Problem, str, int, bool]
_Answer: TypeAlias = tuple[TraceReport, float] | str | SolverError


class Workers:
    """Processes that verify; to be used in a ``with`` statement.

    Args:
        settings: how to verify.
        count: number of processes.
        patience: seconds that one completion may take.

    Raises:
        ProofR1Error: with these settings nothing can be verified.
    """

    def __init__(self, settings: Settings, *, count: int = 1, patience: float = 60.0) -> None:
        settings.verifier()  # so that a wrong setting is told here and not by a dying process
        self._settings, self._patience = settings, patience
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._threads = [Thread(target=self._serve, name=f"verification {n}", daemon=True) for n in range(count)]

    def __enter__(self) -> Workers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for _ in self._threads:
            self._jobs.put(None)
        if kind is None:  # otherwise nobody waits for what is left
            for thread in self._threads:
                thread.join()

    def verify(
        self, problem: Problem, completion: str, sample: int = 0, *, evaluation: bool | None = None
    ) -> Future[Checked]:
        """Have a completion checked.

        Args:
            problem, completion, sample: see ``proof_r1_formal.Verifier``.
            evaluation: whether the chosen option is found as evaluation finds it; as the settings say if None.

        Returns:
            What comes of it; a SolverError if the solver is broken, which is no fault of the completion.
        """
        result: Future[Checked] = Future()
        evaluation = self._settings.evaluation if evaluation is None else evaluation
        self._jobs.put(_Job(problem, completion, sample, evaluation, result))
        return result

    def _serve(self) -> None:
        """What a thread does: hand jobs to a process of its own, one after the other."""
        process: _Process | None = None
        while (job := self._jobs.get()) is not None:
            try:
                for attempt in range(1, ATTEMPTS + 1):
                    process = process or _Process(self._settings)
                    task = (job.problem, job.completion, job.sample, job.evaluation)
                    outcome = process.check(task, self._patience)
                    if isinstance(outcome, _Gone):
                        process = None
                        if attempt < ATTEMPTS and not outcome.hung:
                            continue
                    job.result.set_result(_checked(job, outcome, self._settings))
                    break
            except BaseException as error:  # noqa: BLE001 (whoever waits for the result is told, and the thread goes on)
                job.result.set_exception(error)
        if process is not None:
            process.end()


@dataclass(frozen=True, slots=True)
class _Gone:
    """A process that died, or was ended as it hung."""

    reason: str
    hung: bool = False


class _Process:
    """A process that verifies what it is sent.

    It is no child of ``multiprocessing``, which would run the caller's program in it a second time.
    """

    def __init__(self, settings: Settings) -> None:
        self._pipe, theirs = multiprocessing.Pipe()
        code = f"from {__name__} import work; work({theirs.fileno()})"
        self._process = subprocess.Popen(
            [sys.executable, "-c", code],
            pass_fds=[theirs.fileno()],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), *sys.path]))},
            start_new_session=True,  # Ctrl-C is for who asks, who decides when to stop
        )
        theirs.close()
        self._pipe.send(settings)
        if not self._pipe.poll(START) or self._receive() is None:
            self.end()
            raise ProofR1Error("a process that verifies could not start; its own message is above")

    def check(self, task: _Task, patience: float) -> _Answer | _Gone:
        """The answer of the process; without one, it is gone."""
        try:
            self._pipe.send(task)
        except OSError:
            self.end()
            return _Gone("the process died before it was asked")
        if not self._pipe.poll(patience):
            self.end()
            return _Gone(f"not verified within {patience:g} s", hung=True)
        answer = self._receive()
        if answer is None:
            self.end()
            return _Gone(f"the process died (exit status {self._process.returncode})")
        return answer

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        self._pipe.close()

    def _receive(self) -> _Answer | None:
        try:
            answer: _Answer = self._pipe.recv()
        except (EOFError, OSError):
            return None
        return answer


def work(handle: int) -> None:
    """What a process does: answer until nobody asks.

    Args:
        handle: of its end of the pipe.
    """
    with Connection(handle) as pipe:
        settings: Settings = pipe.recv()
        verifiers = {kind: replace(settings, evaluation=kind).verifier() for kind in (False, True)}
        pipe.send("ready")
        while True:
            try:
                task: _Task = pipe.recv()
                pipe.send(_answer(verifiers, task))
            except (EOFError, BrokenPipeError, ConnectionResetError):  # nobody is there any more
                return


def _answer(verifiers: Mapping[bool, Verifier], task: _Task) -> _Answer:
    problem, completion, sample, evaluation = task
    start = time.process_time()
    try:
        return verifiers[evaluation].verify(problem, completion, sample=sample), time.process_time() - start
    except SolverError as error:
        return error
    except Exception as error:  # noqa: BLE001 (one completion never stops a run; it is counted and its text is kept)
        return f"{type(error).__name__}: {error}"


def _checked(job: _Job, outcome: _Answer | _Gone, settings: Settings) -> Checked:
    match outcome:
        case (report, seconds):
            return Checked(report, seconds)
        case str(reason) | _Gone(reason):
            return Checked(nothing(job.problem, job.sample, settings), 0.0, reason)
        case SolverError():
            raise outcome


def nothing(problem: Problem, sample: int, settings: Settings) -> TraceReport:
    """The report on a completion that could not be verified: no action, no answer."""
    return TraceReport(
        problem_id=problem.id,
        sample=sample,
        parsed=False,
        answer=None,
        answer_correct=None if problem.answer is None else False,
        actions=(),
        closure=(),
        used_closure=(),
        consistency="undecided",
        uncertain=None,
        verified=False,
        rule_verified=False,
        findings=(),
        rules=settings.rules,
        solver=settings.solver,
    )
