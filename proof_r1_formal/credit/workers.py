"""Verification during sampling and training: worker processes check completions while this process uses the device.

In: problems and completions, one at a time. Out: for each a future of :class:`Checked`. If a completion makes its
process fail, die or hang, its report has no action and no answer. Reports depend on problems and completions only, not
on the workers. A future also says whether the completion may have caused a failure: a trainer credits only that.
A correction is a task of its own: a prover that fails or takes too long changes no report.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, Self, TypeAlias

from proof_r1_formal import Problem, Settings, TraceReport, Verifier
from proof_r1_formal.credit.corrections import CorrectedText
from proof_r1_formal.errors import SolverError
from proof_r1_formal.generate.correction import Correction, correct
from proof_r1_formal.generate.synthesize import Prover
from proof_r1_formal.workers import Limits, NoWorkerError, WorkerError, worker_pool

LOG = logging.getLogger(__name__)

_CORRECTION_BUDGET = 20_000
"""Budget of the prover for one completion, in the units of ``generate.synthesize``; it stops a hard search."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A report, with its processor time.

    Attributes:
        report: on the completion.
        seconds: of processor time.
        failure: reason for a missing report, if it is missing.
        caused: False if no completion can have caused the failure: no worker can be started.
    """

    report: TraceReport
    seconds: float
    failure: str | None = None
    caused: bool = True


class Corrected(NamedTuple):
    """A correction, if the prover found one, and the seconds of processor time that it took."""

    text: CorrectedText | None
    seconds: float


class _Verify(NamedTuple):
    problem: Problem
    completion: str
    sample: int
    evaluation: bool


class _Correct(NamedTuple):
    problem: Problem
    completion: str
    report: TraceReport


_Answer: TypeAlias = Checked | str


class Workers:
    """Processes that verify, with a timeout in seconds per completion. Use it in a ``with`` statement, more than once.

    ``corrects``: whether they can correct completions, too.

    Raises:
        ProofR1Error: the settings are unusable.
    """

    def __init__(self, settings: Settings, *, count: int = 1, timeout: float = 60.0, corrects: bool = False) -> None:
        settings.verifier()  # so that a wrong setting is reported here and not by a process
        self._settings, self._corrects = settings, corrects
        self._count, self._limits = count, Limits(timeout=timeout)

    def __enter__(self) -> Self:
        self._open = ExitStack()
        opening = worker_pool(
            self._count, initializer=partial(_start, self._settings, self._corrects), limits=self._limits
        )
        self._pool = self._open.enter_context(opening)
        return self

    def __exit__(self, *_error: object) -> None:
        self._open.close()

    def verify(
        self, problem: Problem, completion: str, sample: int = 0, *, evaluation: bool | None = None
    ) -> Future[Checked]:
        """Verify a completion.

        Args:
            problem, completion, sample: see ``proof_r1_formal.Verifier``.
            evaluation: whether the chosen option is found as evaluation finds it; as the settings say if None.

        Returns:
            A future of the report. It raises SolverError if the solver is broken.
        """
        evaluation = self._settings.evaluation if evaluation is None else evaluation
        checked: Future[Checked] = Future()

        def settle(answer: Future[_Answer]) -> None:
            if answer.cancelled():
                checked.cancel()
                return
            match answer.exception() or answer.result():
                case Checked() as found:
                    checked.set_result(found)
                case NoWorkerError(args=(reason,)):
                    missing = nothing(problem, sample, self._settings)
                    checked.set_result(Checked(missing, 0.0, reason, caused=False))
                case str(reason) | WorkerError(args=(reason,)):
                    checked.set_result(Checked(nothing(problem, sample, self._settings), 0.0, reason))
                case BaseException() as error:
                    checked.set_exception(error)

        self._pool.submit(_check, _Verify(problem, completion, sample, evaluation)).add_done_callback(settle)
        return checked

    def correct(self, problem: Problem, completion: str, report: TraceReport) -> Future[Corrected]:
        """Correct a completion with this report.

        Returns:
            A future. It raises SolverError if the solver is broken.
        """
        corrected: Future[Corrected] = Future()

        def settle(answer: Future[Corrected]) -> None:
            if answer.cancelled():
                corrected.cancel()
                return
            match answer.exception():
                case None:
                    corrected.set_result(answer.result())
                case WorkerError():
                    corrected.set_result(Corrected(None, 0.0))
                case error:
                    corrected.set_exception(error)

        self._pool.submit(_correct, _Correct(problem, completion, report)).add_done_callback(settle)
        return corrected


_verifiers: Mapping[bool, Verifier]
"""The verifiers of a worker process, for evaluation and for training; set once, when it starts."""
_prover: Prover | None
"""The prover of a worker process that corrects; set at the same time."""


def _start(settings: Settings, corrects: bool) -> None:
    global _verifiers, _prover
    _verifiers = {kind: replace(settings, evaluation=kind).verifier() for kind in (False, True)}
    _prover = prover_of(_verifiers[False]) if corrects else None


def _check(task: _Verify) -> _Answer:
    problem, completion, sample, evaluation = task
    return attempt(problem, completion, _verifiers[evaluation], sample=sample)


def _correct(task: _Correct) -> Corrected:
    assert _prover is not None
    return attempt_correction(*task, _prover)


def attempt(problem: Problem, completion: str, verifier: Verifier, *, sample: int = 0) -> Checked | str:
    """The report on a completion, or why there is none. One completion never stops a run.

    Raises:
        SolverError: the solver is broken.
    """
    started = time.process_time()
    try:
        report = verifier.verify(problem, completion, sample=sample)
    except SolverError:
        raise
    except Exception as error:  # noqa: BLE001 (it is counted, and the text is kept)
        return f"{type(error).__name__}: {error}"
    return Checked(report, time.process_time() - started)


def attempt_correction(problem: Problem, completion: str, report: TraceReport, prover: Prover) -> Corrected:
    """The correction of a completion with this report. A fault of the prover leaves the completion uncorrected.

    Raises:
        SolverError: the solver is broken.
    """
    started = time.process_time()
    corrected = None
    try:
        found = correct(problem, completion, prover, report=report)
        if isinstance(found, Correction):
            whole = prover.verifier.verify(problem, found.text, sample=report.sample)
            corrected = CorrectedText(len(found.kept), found.added, found.accepted, whole)
    except SolverError:
        raise
    except Exception as error:  # noqa: BLE001 (the prover's fault is not the completion's)
        LOG.warning("the prover failed on a completion of %s: %s: %s", problem.id, type(error).__name__, error)
    return Corrected(corrected, time.process_time() - started)


def prover_of(verifier: Verifier) -> Prover:
    """The prover that corrects completions."""
    return Prover(verifier, budget=_CORRECTION_BUDGET)


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
        evidence=settings.evidence,
    )
