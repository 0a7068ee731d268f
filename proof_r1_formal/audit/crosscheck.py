"""The audit of backends: every action's local check, and all checks of every completion, on each of them.

In: problems, completions by system, backends, a folder. Out: an :class:`Audit`, plain data, which ``audit.audit_files``
shows; and in the folder everything that it was counted from. Each backend gets distinct queries once. An interrupted
run resumes. The number of processes does not affect the files.

The folder holds ``queries.jsonl`` (one query per line), ``answers/`` (a file per backend: a header, then its answer to
each query, countermodels included), ``steps.jsonl`` (one action per line), ``reports/`` (a file per backend: a header,
then its report on each completion), and ``disagreements/`` (what is left of a query on which two backends contradict
each other, as SMT-LIB).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import combinations, islice, pairwise
from pathlib import Path
from typing import TypeAlias, TypeVar

import msgspec

from proof_r1_formal.audit.backends import AnswerRecord, Backend, Outcome, Work, kept, running_backends, slug
from proof_r1_formal.audit.disagreement import Disagreement, Pair, contradictory, disagreements_of, reproducer
from proof_r1_formal.audit.local_check import Fault, LocalCheck, local_checks
from proof_r1_formal.data.completions import Completion
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.evaluation.measures import Metrics
from proof_r1_formal.evaluation.metrics import evaluate_metrics
from proof_r1_formal.kernel.query import Query
from proof_r1_formal.outputs import check_folder, output, write_output
from proof_r1_formal.proof.report import TraceReport
from proof_r1_formal.render.smtlib import script, term
from proof_r1_formal.rules.catalogue import catalogue
from proof_r1_formal.rules.manifest import require_proved
from proof_r1_formal.text.show import show
from proof_r1_formal.version import __version__
from proof_r1_formal.workers import PROCESSES

_T = TypeVar("_T")

Progress: TypeAlias = Callable[[str, int, int], None]
"""A callback for progress: the current work, the finished part of it, and the total."""


@dataclass(frozen=True, slots=True)
class System:
    """The completions of one file or model, as all backends see them.

    Attributes:
        completions, actions: how many there are.
        faults: actions that raise no question, by the reason.
        outcomes: of each backend, all actions by outcome.
        unknown: of each backend, the undecided actions by reason.
        checked: of each backend, the decided actions whose evidence was checked.
        pairs: of each two backends, all actions by the two outcomes.
        metrics: of each backend, from its own reports.
    """

    completions: int
    actions: int
    faults: Counter[Fault]
    outcomes: dict[str, Counter[Outcome]]
    unknown: dict[str, Counter[str]]
    checked: dict[str, int]
    pairs: dict[Pair, Counter[tuple[Outcome, Outcome]]]
    metrics: dict[str, Metrics]


@dataclass(frozen=True, slots=True)
class Audit:
    """What :func:`crosscheck` finds.

    Attributes:
        versions: of the backends, by name.
        queries: how many distinct ones there are.
        systems: by name, in order.
        contradictions: of each two backends, how many distinct queries one says are entailed and the other refutes.
        disagreements: what is left of those queries, the first ``MAX_REPRODUCERS`` of each pair.
    """

    versions: dict[str, str]
    queries: int
    systems: dict[str, System]
    contradictions: dict[Pair, int]
    disagreements: tuple[Disagreement, ...]


def crosscheck(
    problems: Mapping[str, Problem],
    systems: Mapping[str, Sequence[Completion]],
    backends: Sequence[Backend],
    folder: Path,
    *,
    rules: str = "train",
    workers: int = 1,
    engine: str = PROCESSES,
    progress: Progress | None = None,
) -> Audit:
    """Ask all backends the same questions, and compare their answers.

    Args:
        problems: by id.
        systems: the completions of each file or model, by its name.
        backends: at least two.
        folder: for answers and results; it is created if it is missing.
        rules: name of the rule catalogue.
        workers, engine: see :func:`proof_r1_formal.workers.worker_pool`.
        progress: called in this process, the first time after all others have been started.

    Raises:
        ProofR1Error: there are fewer than two backends, two backends have one name, the workers cannot start, a
            completion names an unknown problem, or a worker died.
        CatalogueError: the catalogue is unknown, or has a schema without a theorem.
        DataError: the folder cannot be used.
    """
    _require_usable(backends)
    require_proved(catalogue(rules))
    completions = [(_problem_of(problems, c), c) for chosen in systems.values() for c in chosen]
    checks = [local_checks(problem, completion.completion) for problem, completion in completions]
    questions = dict.fromkeys(check.question for found in checks for check in found)
    queries = [question for question in questions if isinstance(question, Query)]
    questioned = _digest(script(query.assertions) for query in queries)
    verified = _digest(_inputs(completions, rules))
    for name in ("answers", "reports", "disagreements"):
        check_folder(folder / name)

    with running_backends(Work(backends, queries, completions, rules), workers, engine=engine) as pool:

        def with_progress(items: Generator[_T], what: str, total: int) -> Generator[_T]:
            with closing(items):
                for done, item in enumerate(items, 1):
                    if progress is not None:
                        progress(what, done, total)
                    yield item

        def answers_of(index: int, backend: Backend) -> list[AnswerRecord]:
            path, total = folder / "answers" / f"{slug(backend.name)}.jsonl", len(queries)
            answers = kept(
                path, _header(backend, questioned), AnswerRecord, lambda done: pool.answers(index, range(done, total))
            )
            return list(with_progress(answers, f"local checks, {backend.name}", total))

        def metrics_of(index: int, backend: Backend) -> dict[str, Metrics]:
            path, total = folder / "reports" / f"{slug(backend.name)}.jsonl", len(completions)
            header = _header(backend, verified)
            reports = kept(path, header, TraceReport, lambda done: pool.reports(index, range(done, total)))
            metrics = {}
            with closing(with_progress(reports, f"all checks, {backend.name}", total)) as source:
                for name, chosen in systems.items():
                    of_system = {c.problem_id: problems[c.problem_id] for c in chosen}
                    metrics[name] = evaluate_metrics(of_system, islice(source, len(chosen)), eligibility="reference")
            return metrics

        answers = {backend.name: answers_of(index, backend) for index, backend in enumerate(backends)}
        metrics = {backend.name: metrics_of(index, backend) for index, backend in enumerate(backends)}

    numbers = {query: number for number, query in enumerate(queries)}
    ends = [0, *_running_totals(len(chosen) for chosen in systems.values())]
    audited = {
        name: _system(checks[start:end], numbers, answers, {b: found[name] for b, found in metrics.items()})
        for name, (start, end) in zip(systems, pairwise(ends), strict=True)
    }
    contradictions = {pair: contradictory(answers, pair) for pair in combinations(answers, 2)}
    disagreements = tuple(disagreements_of(contradictions, queries, backends, answers))
    _write(folder / "queries.jsonl", [_query_line(number, query) for number, query in enumerate(queries)])
    names = [name for name, chosen in systems.items() for _ in chosen]
    _write(folder / "steps.jsonl", _step_lines(names, completions, checks, numbers, answers))
    _write_reproducers(folder / "disagreements", disagreements)
    return Audit(
        versions={backend.name: backend.version for backend in backends},
        queries=len(queries),
        systems=audited,
        contradictions={pair: len(found) for pair, found in contradictions.items()},
        disagreements=disagreements,
    )


def _require_usable(backends: Sequence[Backend]) -> None:
    if len(backends) < 2:
        raise ProofR1Error(f"there is nothing to compare: {len(backends)} backends were named; name at least 2")
    first, second = next(((a, b) for a, b in combinations(backends, 2) if slug(a.name) == slug(b.name)), (None, None))
    if first is not None and second is not None:
        raise ProofR1Error(f"backends {first.name!r} and {second.name!r} would share their files; name one of them")


def _problem_of(problems: Mapping[str, Problem], completion: Completion) -> Problem:
    try:
        return problems[completion.problem_id]
    except KeyError:
        raise ProofR1Error(f"a completion names problem {completion.problem_id!r}, which is not there") from None


def _running_totals(counts: Iterable[int]) -> Iterator[int]:
    total = 0
    for count in counts:
        total += count
        yield total


# -- what results depend on -------------------------------------------------------------------------------------------


def _header(backend: Backend, inputs: str) -> dict[str, str]:
    return {
        "proof_r1_formal": __version__,
        "backend": backend.name,
        "version": backend.version,
        "limits": repr(backend.limits),
        "inputs": inputs,
    }


def _digest(texts: Iterable[str]) -> str:
    found = hashlib.sha256()
    for text in texts:
        found.update(f"{len(text)}:{text}".encode("utf-8", "surrogatepass"))
    return found.hexdigest()


def _inputs(completions: Iterable[tuple[Problem, Completion]], rules: str) -> Iterator[str]:
    """All that verdicts depend on, but for the solver."""
    yield rules
    for problem, completion in completions:
        for premise in problem.premises:
            yield from ("premise", premise.id, term(premise.formula))
        for option in problem.options:
            yield from ("option", option.id, option.label, term(option.formula))
        yield from ("completion", repr(problem.answer), problem.id, str(completion.sample), completion.completion)


# -- counting ---------------------------------------------------------------------------------------------------------


def _system(
    checks: Sequence[Sequence[LocalCheck]],
    numbers: Mapping[Query, int],
    answers: Mapping[str, Sequence[AnswerRecord]],
    metrics: dict[str, Metrics],
) -> System:
    questions = [check.question for found in checks for check in found]
    asked = [numbers[question] for question in questions if isinstance(question, Query)]
    outcomes = {name: [_outcome(question, numbers, said) for question in questions] for name, said in answers.items()}
    return System(
        completions=len(checks),
        actions=len(questions),
        faults=Counter(question for question in questions if isinstance(question, Fault)),
        outcomes={name: Counter(found) for name, found in outcomes.items()},
        unknown={
            name: Counter(str(said[number].reason) for number in asked if said[number].outcome is Outcome.OTHER)
            for name, said in answers.items()
        },
        checked={name: sum(said[number].checked for number in asked) for name, said in answers.items()},
        pairs={
            (first, second): Counter(zip(outcomes[first], outcomes[second], strict=True))
            for first, second in combinations(answers, 2)
        },
        metrics=metrics,
    )


def _outcome(question: Query | Fault, numbers: Mapping[Query, int], answers: Sequence[AnswerRecord]) -> Outcome:
    return Outcome.OTHER if isinstance(question, Fault) else answers[numbers[question]].outcome


# -- files ------------------------------------------------------------------------------------------------------------


def _query_line(number: int, query: Query) -> dict[str, object]:
    return {
        "query": number,
        "dependencies": [show(formula) for formula in query.dependencies],
        "conclusion": show(query.conclusion),
    }


def _step_lines(
    systems: Sequence[str],
    completions: Sequence[tuple[Problem, Completion]],
    checks: Sequence[Sequence[LocalCheck]],
    numbers: Mapping[Query, int],
    answers: Mapping[str, Sequence[AnswerRecord]],
) -> Iterator[dict[str, object]]:
    for system, (problem, completion), found in zip(systems, completions, checks, strict=True):
        for index, check in enumerate(found):
            question = check.question
            yield {
                "system": system,
                "problem_id": problem.id,
                "sample": completion.sample,
                "action": index,
                "id": check.id,
                "query": None if isinstance(question, Fault) else numbers[question],
                "fault": question if isinstance(question, Fault) else None,
                "outcomes": {name: _outcome(question, numbers, said) for name, said in answers.items()},
            }


def _write_reproducers(folder: Path, disagreements: Sequence[Disagreement]) -> None:
    for old in folder.glob("*.smt2"):
        old.unlink()
    for number, disagreement in enumerate(disagreements, 1):
        write_output(folder / f"{number}.smt2", reproducer(disagreement).encode())


def _write(path: Path, records: Iterable[dict[str, object]]) -> None:
    with output(path) as file:
        file.writelines(msgspec.json.encode(record) + b"\n" for record in records)
