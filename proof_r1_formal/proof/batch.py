"""Verify many completions: :func:`verify_many` yields reports in the order of its input, with bounded memory, and
:func:`verify_to_lines` yields the lines of a file of reports.

The number of workers does not affect reports: a verdict depends only on the problem and the completion.
"""

from __future__ import annotations

import gc
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice

from proof_r1_formal.data.completions import Completion
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.engine import get_solver
from proof_r1_formal.engine.solver import Limits
from proof_r1_formal.errors import ProofR1Error, require_type
from proof_r1_formal.executors import ALLOCATIONS_PER_COLLECTION, PROCESSES
from proof_r1_formal.kernel.answer import BatchKernel, EvidenceLevel
from proof_r1_formal.proof.report import TraceReport, decode, encode
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.catalogue import catalogue

CHUNK, CLUSTER_CHUNK = 16, 512
"""How many completions a worker is given at a time: a process, and one of a cluster, where handing over costs more."""
_KERNEL_CHUNK = 256
"""How many completions' evidence a kernel is given at a time."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a verifier. They are plain data, from which each worker process makes its own verifier.

    Attributes:
        solver: name of the solver, see ``engine.get_solver``.
        rules: name of the rule catalogue.
        limits: the solver's budget per query.
        evaluation, aliases, atomic, evidence: see :class:`~proof_r1_formal.proof.verify.Verifier`.
        find_kernel: makes the kernel that checks evidence, which ``evidence="kernel"`` needs, in each worker;
            :class:`~proof_r1_formal.assistants.lean_evidence.FindLean` finds Lean.
    """

    solver: str = "embedded"
    rules: str = "train"
    limits: Limits = field(default_factory=Limits)
    evaluation: bool = True
    aliases: bool = False
    atomic: bool = False
    evidence: EvidenceLevel = "checked"
    find_kernel: Callable[[], BatchKernel] | None = None

    def verifier(self) -> Verifier:
        """A new verifier with these settings.

        Raises:
            SolverError: the solver is unknown or not installed, or kernel evidence is requested without a kernel.
            CatalogueError: the catalogue is unknown.
        """
        kernel = self.find_kernel() if self.evidence == "kernel" and self.find_kernel is not None else None
        return Verifier(
            get_solver(self.solver, self.limits),
            rules=catalogue(self.rules),
            evaluation=self.evaluation,
            aliases=self.aliases,
            atomic=self.atomic,
            evidence=self.evidence,
            kernel=kernel,
        )


def verify(
    problem: Problem, completion: str, *, sample: int = 0, solver: str = "embedded", rules: str = "train"
) -> TraceReport:
    """Check every action of one completion. For several completions, :func:`verify_many` is faster.

    Args:
        problem: the question with its formal premises.
        completion: the model's whole answer, as text.
        sample: number of the completion among those of the problem, for the report.
        solver, rules: names of the solver and of the rule catalogue.

    Raises:
        SolverError, CatalogueError: the solver or the catalogue is unknown.
    """
    return Settings(solver=solver, rules=rules).verifier().verify(problem, completion, sample=sample)


def verify_many(
    problems: Mapping[str, Problem],
    completions: Iterable[Completion],
    *,
    settings: Settings | None = None,
    workers: int = 1,
    executor: str = PROCESSES,
) -> Iterator[TraceReport]:
    """Check completions, and yield one report for each, in the order of the input.

    Args:
        problems: by id.
        completions: any iterable; it is read a bounded number of completions ahead of the reports.
        settings: of the verifiers; the workers open the files that it names.
        workers: number of workers; one worker without Ray is the calling process.
        executor: ``processes``, ``ray`` or ``ray:ADDRESS``; see :mod:`proof_r1_formal.workers`. Ray replaces a worker
            that dies.

    Raises:
        ProofR1Error: a completion names an unknown problem, or a worker died and was not replaced; also the errors of
            :func:`proof_r1_formal.workers.worker_pool` and :meth:`Settings.verifier`.
    """
    require_type(problems, Mapping, "problems", "read_problems() returns a mapping from id to problem")
    if workers == 1 and executor == PROCESSES:
        return (report for _, report in verified_by((settings or Settings()).verifier(), problems, completions))
    return map(decode, verify_to_lines(problems, completions, settings=settings, workers=workers, executor=executor))


def verify_to_lines(
    problems: Mapping[str, Problem],
    completions: Iterable[Completion],
    *,
    settings: Settings | None = None,
    workers: int = 1,
    executor: str = PROCESSES,
) -> Iterator[bytes]:
    """The reports of :func:`verify_many` as lines of JSON, without newlines.

    The workers encode the reports, so the calling process only passes lines on.

    Raises:
        ProofR1Error: see :func:`verify_many`.
    """
    if workers == 1 and executor == PROCESSES:
        return map(encode, verify_many(problems, completions, settings=settings))
    from proof_r1_formal.workers import ordered_map  # which needs asyncio, and one worker does without

    settings = settings or Settings()
    settings.verifier()  # here, too, so that a wrong setting is an error at once, and not of a dying worker
    initializer = partial(_start_worker, settings, dict(problems))
    size = CHUNK if executor == PROCESSES else CLUSTER_CHUNK
    chunks = map(pickle.dumps, _chunks(completions, size))  # here, as Ray's own pickling asks Python about each object
    return chain.from_iterable(ordered_map(_verify_chunk, chunks, workers, initializer=initializer, executor=executor))


def verified_by(
    verifier: Verifier, problems: Mapping[str, Problem], completions: Iterable[Completion]
) -> Iterator[tuple[Completion, TraceReport]]:
    """Each completion with the verifier's report on it, in the order of the input; a kernel gets many at once.

    Raises:
        ProofR1Error: a completion names an unknown problem; also the errors of :meth:`Verifier.verify`.
    """
    source = _require_completions(completions)
    collecting = None if verifier.kernel is None else verifier.without_kernel()
    while chunk := list(islice(source, 1 if collecting is None else _KERNEL_CHUNK)):
        if collecting is not None and verifier.kernel is not None:  # the kernel is quick only for many at once
            asked = [collecting.obligations(_problem_of(problems, c), c.completion) for c in chunk]
            verifier.kernel.prepare(chain.from_iterable(asked))
        for completion in chunk:
            problem = _problem_of(problems, completion)
            yield completion, verifier.verify(problem, completion.completion, sample=completion.sample)


def _require_completions(completions: Iterable[Completion]) -> Iterator[Completion]:
    for completion in completions:
        if not isinstance(completion, Completion):
            require_type(completion, Completion, "each completion", f"got {completion!r:.200}")
        yield completion


def _problem_of(problems: Mapping[str, Problem], completion: Completion) -> Problem:
    try:
        return problems[completion.problem_id]
    except KeyError:
        raise ProofR1Error(f"a completion names problem {completion.problem_id!r}, which is not there") from None


_worker: tuple[Verifier, Mapping[str, Problem]]
"""The verifier and the problems of a worker process; set once, when it starts."""


def _start_worker(settings: Settings, problems: Mapping[str, Problem]) -> None:
    global _worker
    gc.set_threshold(ALLOCATIONS_PER_COLLECTION)
    _worker = (settings.verifier(), problems)


def _verify_chunk(pickled: bytes) -> list[bytes]:
    return [encode(report) for _, report in verified_by(*_worker, pickle.loads(pickled))]


def _chunks(completions: Iterable[Completion], size: int) -> Iterator[list[Completion]]:
    """Chunks of ``size`` completions, or up to twice as many about one problem, which a worker then reads once."""
    chunk: list[Completion] = []
    for completion in _require_completions(completions):
        if len(chunk) >= size and (completion.problem_id != chunk[-1].problem_id or len(chunk) == 2 * size):
            yield chunk
            chunk = []
        chunk.append(completion)
    if chunk:
        yield chunk
