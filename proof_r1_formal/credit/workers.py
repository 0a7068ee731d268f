"""Verification during sampling and training: worker processes check completions while this process uses the device.

In: problems and completions, one at a time. Out: for each a future of :class:`Checked`. If a completion makes its
process fail, die or hang, its report has no action and no answer. Reports depend on problems and completions only, not
on the workers. A future also says whether the completion may have caused a failure: a trainer credits only that. On
request, a prover corrects each completion in which something is wrong.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Self, TypeAlias

from proof_r1_formal import Problem, Settings, TraceReport, Verifier
from proof_r1_formal.credit.corrections import CorrectedText
from proof_r1_formal.errors import SolverError
from proof_r1_formal.generate.correction import Correction, correct
from proof_r1_formal.generate.synthesize import Prover
from proof_r1_formal.workers import Limits, NoWorkerError, WorkerError, worker_pool

CORRECTION_BUDGET = 20_000
"""Budget of the prover for one completion, in the units of ``generate.synthesize``; it stops a hard search."""

_Task: TypeAlias = tuple[Problem, str, int, bool]


@dataclass(frozen=True, slots=True)
class Checked:
    """A report, with its processor time.

    Attributes:
        report: on the completion.
        seconds: of processor time.
        failure: reason for a missing report, if it is missing.
        caused: False if no completion can have caused the failure: no worker can be started.
        corrected: the correction, if it was asked for, something is wrong, and the prover found one.
        correcting: seconds of processor time of the correction.
    """

    report: TraceReport
    seconds: float
    failure: str | None = None
    caused: bool = True
    corrected: CorrectedText | None = None
    correcting: float = 0.0


_Answer: TypeAlias = Checked | str


class Workers:
    """Processes that verify, with a timeout in seconds per completion. Use it in a ``with`` statement, more than once.

    ``corrects``: whether to correct the completions, too.

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

        self._pool.submit(_check, (problem, completion, sample, evaluation)).add_done_callback(settle)
        return checked


_verifiers: Mapping[bool, Verifier]
"""The verifiers of a worker process, for evaluation and for training; set once, when it starts."""
_prover: Prover | None
"""The prover of a worker process that corrects; set at the same time."""


def _start(settings: Settings, corrects: bool) -> None:
    global _verifiers, _prover
    _verifiers = {kind: replace(settings, evaluation=kind).verifier() for kind in (False, True)}
    _prover = prover_of(_verifiers[False]) if corrects else None


def _check(task: _Task) -> _Answer:
    problem, completion, sample, evaluation = task
    return attempt(problem, completion, _verifiers[evaluation], None if evaluation else _prover, sample=sample)


def attempt(
    problem: Problem, completion: str, verifier: Verifier, prover: Prover | None = None, *, sample: int = 0
) -> Checked | str:
    """The report on a completion, and its correction if there is a prover; or why there is none.

    One completion never stops a run.

    Raises:
        SolverError: the solver is broken.
    """
    try:
        return _checked(problem, completion, verifier, prover, sample)
    except SolverError:
        raise
    except Exception as error:  # noqa: BLE001 (it is counted, and the text is kept)
        return f"{type(error).__name__}: {error}"


def prover_of(verifier: Verifier) -> Prover:
    """The prover that corrects completions."""
    return Prover(verifier, budget=CORRECTION_BUDGET)


def _checked(problem: Problem, completion: str, verifier: Verifier, prover: Prover | None, sample: int) -> Checked:
    started = time.process_time()
    report = verifier.verify(problem, completion, sample=sample)
    verified = time.process_time()
    if prover is None:
        return Checked(report, verified - started)
    correction = correct(problem, completion, prover)
    corrected = None
    if isinstance(correction, Correction):
        whole = verifier.verify(problem, correction.text, sample=sample)
        corrected = CorrectedText(len(correction.kept), correction.added, correction.accepted, whole)
    correcting = time.process_time() - verified
    return Checked(report, verified - started, corrected=corrected, correcting=correcting)


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
