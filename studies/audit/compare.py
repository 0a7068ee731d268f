"""Answers of solvers on the same completions: the local check of every action, and the rates if one does all checks.

In: completions by system, and names of solvers. Out: an :class:`Audit`, plain data, which ``studies.audit.page`` shows.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import combinations
from typing import NamedTuple, TypeAlias, assert_never

from proof_r1_formal.engine import get_solver, program_version
from proof_r1_formal.engine.solver import Limits, Solver
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.evaluation.measures import Estimate, Measure
from proof_r1_formal.evaluation.metrics import evaluate_metrics
from proof_r1_formal.kernel.answer import Entailed, Query, Reason, Refuted, Unknown, confirm
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.workers import ordered_map
from studies.audit.local_check import Fault, local_checks
from studies.bench.traces import Sample

LIMITS = Limits(seconds=5.0)
"""Budget of a query: the solvers' default budgets of steps, and at most five seconds. Isabelle has its own limits."""
RATES = (Measure.FVR, Measure.RVR)

Systems: TypeAlias = Mapping[str, Sequence[Sample]]
Pair: TypeAlias = tuple[str, str]
"""The names of two solvers."""


class Outcome(StrEnum):
    """Whether dependencies and negated conclusion have a common model: no (entailed), yes (refuted), or not known."""

    UNSAT = "UNSAT"
    SAT = "SAT"
    OTHER = "Other"


class Said(NamedTuple):
    """An answer to the question of an action.

    Attributes:
        outcome: the answer; OTHER if its evidence does not hold.
        checked: whether a proof or a countermodel was checked.
        reason: why the outcome is OTHER.
    """

    outcome: Outcome
    checked: bool = False
    reason: Reason | Fault | None = None


@dataclass(frozen=True, slots=True)
class Backend:
    """The answers of one solver.

    Attributes:
        version: name and version.
        answers: to each distinct query.
        rates: FVR and RVR by system, with the reference's eligibility, if this solver does all checks.
    """

    version: str
    answers: Mapping[Query, Said]
    rates: Mapping[str, Mapping[Measure, Estimate]]

    def said(self, question: Query | Fault) -> Said:
        """The answer to the question of an action."""
        return Said(Outcome.OTHER, reason=question) if isinstance(question, Fault) else self.answers[question]


@dataclass(frozen=True, slots=True)
class Audit:
    """The result of :func:`compare`.

    Attributes:
        questions: of every action, by system.
        backends: by the names of the solvers.
    """

    questions: Mapping[str, Sequence[Query | Fault]]
    backends: Mapping[str, Backend]

    def pairs(self) -> dict[Pair, Counter[Pair]]:
        """All actions by the outcomes of two solvers, for every two."""
        questions = [question for found in self.questions.values() for question in found]
        said = {name: [one.said(question).outcome for question in questions] for name, one in self.backends.items()}
        return {pair: Counter(zip(*[said[name] for name in pair], strict=True)) for pair in combinations(said, 2)}

    def contradictions(self, pair: Pair) -> list[Query]:
        """The distinct queries that one of two solvers proves and the other refutes."""
        first, second = (self.backends[name].answers for name in pair)
        decided = {Outcome.UNSAT, Outcome.SAT}
        return [query for query, said in first.items() if {said.outcome, second[query].outcome} == decided]


def compare(systems: Systems, names: Iterable[str], *, workers: int = 1) -> Audit:
    """Ask solvers the same questions.

    Args:
        systems: completions by system.
        names: of solvers, see :func:`~proof_r1_formal.engine.get_solver`.
        workers: number of processes; each takes one solver at a time.

    Raises:
        ProofR1Error: a solver is named twice, or fewer than two are named.
        SolverError: a solver is unknown, not installed or broken.
    """
    names = list(names)
    if len({*names}) < max(2, len(names)):
        raise ProofR1Error(f"the audit compares two or more different solvers, not {', '.join(names) or 'none'}")
    backends = ordered_map(partial(_backend, systems), names, workers)
    return Audit(questions_of(systems), dict(zip(names, backends, strict=True)))


def questions_of(systems: Systems) -> dict[str, list[Query | Fault]]:
    """The question of every action, by system."""
    return {
        name: [check.question for sample in samples for check in local_checks(sample.problem, sample.completion)]
        for name, samples in systems.items()
    }


def _backend(systems: Systems, name: str) -> Backend:
    solver = get_solver(name, None if name == "isabelle" else LIMITS)
    version = solver.name
    kind, _, command = name.partition(":")
    if kind == "process" and (printed := program_version(shlex.split(command)[0])):
        version = f"{version} ({printed})"
    queries = {q: None for found in questions_of(systems).values() for q in found if isinstance(q, Query)}
    answers = {query: _ask(solver, query) for query in queries}
    verifier = Verifier(solver, evidence="none")
    return Backend(version, answers, {system: _rates(verifier, samples) for system, samples in systems.items()})


def _ask(solver: Solver, query: Query) -> Said:
    confirmation = confirm(query, solver.decide(query))
    match confirmation.answer:
        case Entailed():
            return Said(Outcome.UNSAT, confirmation.checked)
        case Refuted():
            return Said(Outcome.SAT, confirmation.checked)
        case Unknown(reason):
            return Said(Outcome.OTHER, reason=reason)
    assert_never(confirmation.answer)


def _rates(verifier: Verifier, samples: Sequence[Sample]) -> dict[Measure, Estimate]:
    problems = {sample.problem.id: sample.problem for sample in samples}
    reports = (verifier.verify(one.problem, one.completion, sample=number) for number, one in enumerate(samples))
    scores = evaluate_metrics(problems, reports, eligibility="reference").overall.scores
    return {measure: scores[measure] for measure in RATES}
