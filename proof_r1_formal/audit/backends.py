"""Backends that answer the same questions, each separately, in several processes, with their answers stored on disk.

In: backends by name, queries, completions. Out: an :class:`AnswerRecord` per backend and query, and a report per
backend and completion, in order. A file grows line by line; an interrupted run resumes after its last complete line.
"""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeVar, assert_never

import msgspec

from proof_r1_formal.data.completions import Completion
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.engine import get_solver, program_version
from proof_r1_formal.engine.solver import Limits, Solver
from proof_r1_formal.errors import SolverError
from proof_r1_formal.kernel.answer import Answer, Entailed, Reason, Refuted, Unknown
from proof_r1_formal.kernel.confirm import confirm
from proof_r1_formal.kernel.query import Query
from proof_r1_formal.kernel.serial import structure_to_data
from proof_r1_formal.outputs import open_to_append, writing
from proof_r1_formal.proof.report import ModelReport, TraceReport
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.catalogue import catalogue
from proof_r1_formal.workers import PROCESSES, WorkerPool, worker_pool

LIMITS = Limits(seconds=5.0)
"""Budget of a query: the solvers' default budgets of steps, and at most five seconds."""
ISABELLE_LIMITS = Limits(seconds=60.0)
"""Budget of a query for Isabelle: each command takes seconds, and ``blast`` and Nitpick have their own limits."""
CHUNK = 16
"""Number of questions that a process gets at a time."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Backend:
    """A solver under a name.

    Attributes:
        name: displayed name, unique among the compared backends.
        make: makes the solver, once in each process.
        version: what the results depend on: name and version of the solver.
        limits: of a query; an answer after ``limits.seconds`` is discarded.
    """

    name: str
    make: Callable[[], Solver]
    version: str
    limits: Limits = LIMITS

    @classmethod
    def named(cls, name: str, *, limits: Limits | None = None) -> Backend:
        """The backend of a solver's name, see :func:`~proof_r1_formal.engine.get_solver`.

        Args:
            name: of the solver.
            limits: of a query; ``LIMITS`` if None, and for Isabelle its own and ``ISABELLE_LIMITS``.

        Raises:
            SolverError: the solver is unknown or not installed.
        """
        make = partial(get_solver, name, limits or (None if name == "isabelle" else LIMITS))
        version = make().name
        kind, _, command = name.partition(":")
        if kind == "process" and (printed := program_version(shlex.split(command)[0])):
            version = f"{version} ({printed})"
        return cls(name, make, version, limits or (ISABELLE_LIMITS if name == "isabelle" else LIMITS))

    def solver(self) -> Solver:
        """The solver; an error of it, or an answer that comes too late, is Unknown."""
        return _Guarded(self.make(), self.limits.seconds)


def slug(name: str) -> str:
    """The name of a backend as part of the name of a file."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-")[:60]


class _Guarded:
    """A solver that may break on one query without ending the comparison on all others."""

    def __init__(self, solver: Solver, seconds: float) -> None:
        self._solver = solver
        self._seconds = seconds
        self.name = solver.name

    def decide(self, query: Query) -> Answer:
        start = time.monotonic()
        try:
            answer = self._solver.decide(query)
        except SolverError as error:
            return Unknown(Reason.BROKEN, error.problem)
        if time.monotonic() - start > self._seconds + 1.0:  # a solver notes a little late that its time is up
            return Unknown(Reason.TIMEOUT, f"no answer within {self._seconds:g} s")
        return answer


# -- what a backend says ----------------------------------------------------------------------------------------------


class Outcome(StrEnum):
    """Whether dependencies and negated conclusion have a common model: no (entailed), yes (refuted), or not known."""

    UNSAT = "UNSAT"
    SAT = "SAT"
    OTHER = "Other"


class AnswerRecord(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A backend's answer as JSON.

    Attributes:
        outcome: the answer; OTHER if its evidence does not hold.
        checked: whether it has evidence that was checked: a proof term, or a countermodel.
        reason, detail: why the outcome is OTHER.
        countermodel: of SAT, if the backend gives one that is finite and holds.
    """

    outcome: Outcome
    checked: bool = False
    reason: Reason | None = None
    detail: str = ""
    countermodel: ModelReport | None = None


def ask(solver: Solver, query: Query) -> AnswerRecord:
    """The answer of a solver to a query, with checked evidence."""
    confirmed = confirm(query, solver.decide(query))
    match confirmed.answer:
        case Entailed():
            return AnswerRecord(Outcome.UNSAT, confirmed.checked)
        case Refuted(model):
            tables = None if model is None else msgspec.convert(structure_to_data(model), ModelReport)
            return AnswerRecord(Outcome.SAT, confirmed.checked, countermodel=tables)
        case Unknown(reason, detail):
            return AnswerRecord(Outcome.OTHER, reason=reason, detail=detail)
    assert_never(confirmed.answer)


# -- many questions ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Work:
    """All queries and completions; processes get only their numbers.

    Attributes:
        queries: distinct.
        completions: each with its problem.
        rules: name of the rule catalogue.
    """

    backends: Sequence[Backend]
    queries: Sequence[Query]
    completions: Sequence[tuple[Problem, Completion]]
    rules: str


class _Worker:
    """One process's solvers and verifiers, made when they are needed."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._solvers: dict[int, Solver] = {}
        self._verifiers: dict[int, Verifier] = {}

    def answers(self, backend: int, numbers: range) -> list[AnswerRecord]:
        solver = self._solvers.get(backend)
        if solver is None:
            solver = self._solvers[backend] = self._work.backends[backend].solver()
        return [ask(solver, self._work.queries[number]) for number in numbers]

    def reports(self, backend: int, numbers: range) -> list[TraceReport]:
        verifier = self._verifiers.get(backend)
        if verifier is None:
            verifier = Verifier(
                self._work.backends[backend].solver(), rules=catalogue(self._work.rules), evidence="none"
            )
            self._verifiers[backend] = verifier
        chosen = [self._work.completions[number] for number in numbers]
        return [verifier.verify(problem, c.completion, sample=c.sample) for problem, c in chosen]


_worker: _Worker
"""The worker of a process; set once, when it starts."""


def _start(work: Work) -> None:
    global _worker
    _worker = _Worker(work)


def _answers(task: tuple[int, range]) -> list[AnswerRecord]:
    return _worker.answers(*task)


def _reports(task: tuple[int, range]) -> list[TraceReport]:
    return _worker.reports(*task)


class RunningBackends:
    """Running backends; each worker has its own solvers.

    Args:
        pool: its workers have started with the work.
        chunk: number of questions that a worker gets at a time.
    """

    def __init__(self, pool: WorkerPool, chunk: int) -> None:
        self._pool = pool
        self._chunk = chunk

    def answers(self, backend: int, numbers: range) -> Iterator[AnswerRecord]:
        """The answers of a backend to the queries with these numbers, in order."""
        return chain.from_iterable(self._pool.map(_answers, self._tasks(backend, numbers)))

    def reports(self, backend: int, numbers: range) -> Iterator[TraceReport]:
        """The reports of a backend, which does all checks, on the completions with these numbers, in order."""
        return chain.from_iterable(self._pool.map(_reports, self._tasks(backend, numbers)))

    def _tasks(self, backend: int, numbers: range) -> Iterator[tuple[int, range]]:
        return ((backend, numbers[start : start + self._chunk]) for start in range(0, len(numbers), self._chunk))


@contextmanager
def running_backends(work: Work, workers: int, *, engine: str = PROCESSES) -> Iterator[RunningBackends]:
    """Run workers for a ``with`` statement.

    Args:
        work: the queries and completions.
        workers, engine: see :func:`proof_r1_formal.workers.worker_pool`.

    Raises:
        ProofR1Error: the workers cannot start.
    """
    alone = workers == 1 and engine == PROCESSES
    with worker_pool(workers, initializer=partial(_start, work), engine=engine) as pool:
        yield RunningBackends(pool, 1 if alone else CHUNK)


# -- kept on disk -----------------------------------------------------------------------------------------------------


def kept(path: Path, header: dict[str, str], type_: type[_T], rest: Callable[[int], Iterator[_T]]) -> Generator[_T]:
    """The items of a file, then the missing ones, each written before it is yielded; the file is locked meanwhile.

    Args:
        path: the file; JSON, one item per line below the header.
        header: what the items depend on; a file with another header is replaced.
        type_: of the items.
        rest: gives the items after a number of them.

    Raises:
        DataError: the file cannot be opened or written, or another run has it open.
    """
    first = msgspec.json.encode(header) + b"\n"
    decoder = msgspec.json.Decoder(type_)
    done = size = 0
    with writing(path), open_to_append(path) as file:
        file.seek(0)
        if file.readline() == first:
            size = len(first)
            for line in file:
                try:
                    item = decoder.decode(line)
                except msgspec.DecodeError:
                    break
                if not line.endswith(b"\n"):  # cut short, though what is there can be read
                    break
                size += len(line)
                done += 1
                yield item
        file.truncate(size)
        file.write(b"" if size else first)
        for item in rest(done):
            file.write(msgspec.json.encode(item, order="deterministic") + b"\n")
            file.flush()
            yield item
