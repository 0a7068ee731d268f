"""Completions to the data of evaluation: reports, alternative rules of steps, and certification of answers.

In: problems and completions. Out: an :class:`Examined` per completion, in their order, the same whatever the number of
workers. Everything about one completion is found in one process, so that it shares what the verifier remembers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice

from proof_r1_formal.data.completions import Completion
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.evaluation.diagnosis import Misnamed, misnamed_steps
from proof_r1_formal.evaluation.selection import Candidate
from proof_r1_formal.proof.batch import Settings
from proof_r1_formal.proof.certify import certify_verified
from proof_r1_formal.proof.report import TraceReport
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.workers import PROCESSES, ordered_map

CHUNK = 16
"""How many completions a worker is given at a time."""


@dataclass(frozen=True, slots=True)
class Examined:
    """The results for a completion.

    Attributes:
        report: the verdicts.
        misnamed: entailed steps whose rule check failed.
        certified: whether there is a certificate of the answer; its proofs are checked, but not by a kernel.
    """

    report: TraceReport
    misnamed: tuple[Misnamed, ...]
    certified: bool

    def candidate(self) -> Candidate:
        """The candidate for the selection among the samples of a problem."""
        steps = sum(step.in_closure for step in self.report.actions)
        return Candidate(self.report.sample, self.report.answer, self.certified, steps)


def examine(verifier: Verifier, problem: Problem, completion: Completion) -> Examined:
    """Verify a completion, look for other rules of its steps, and try to certify its answer.

    Raises:
        SignatureError, SolverError: see :meth:`Verifier.verify`.
    """
    text = completion.completion
    report = verifier.verify(problem, text, sample=completion.sample)
    certified = certify_verified(verifier, problem, text, report).certificate is not None
    return Examined(report, misnamed_steps(verifier, problem, text, report), certified)


def examine_many(
    problems: Mapping[str, Problem],
    completions: Iterable[Completion],
    *,
    settings: Settings | None = None,
    workers: int = 1,
    engine: str = PROCESSES,
) -> Iterator[Examined]:
    """Examine completions, and yield one result for each, in the order of the input.

    Args:
        problems: by id; every completion is of one of them.
        completions: any iterable; it is read a bounded number of completions ahead of the results.
        settings: how to verify.
        workers, engine: who does it, see :func:`proof_r1_formal.workers.ordered_map`.

    Raises:
        ProofR1Error: a worker died, or see :meth:`Settings.verifier`.
    """
    settings = settings or Settings()
    settings.verifier()  # report a wrong setting here, not from a dying worker
    initializer = partial(_start_worker, settings, dict(problems))
    chunks = _chunks(completions)
    return chain.from_iterable(ordered_map(_examine_chunk, chunks, workers, initializer=initializer, engine=engine))


_worker: tuple[Verifier, Mapping[str, Problem]]
"""The verifier and the problems of a worker process; set once, when it starts."""


def _start_worker(settings: Settings, problems: Mapping[str, Problem]) -> None:
    global _worker
    _worker = (settings.verifier(), problems)


def _examine_chunk(completions: list[Completion]) -> list[Examined]:
    verifier, problems = _worker
    return [examine(verifier, problems[completion.problem_id], completion) for completion in completions]


def _chunks(completions: Iterable[Completion]) -> Iterator[list[Completion]]:
    source = iter(completions)
    while chunk := list(islice(source, CHUNK)):
        yield chunk
