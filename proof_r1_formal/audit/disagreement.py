"""Queries on which two backends contradict each other, and what is left of them when they are made smaller.

In: what backends said. Out: :class:`Disagreement`, with the evidence of either side, which tells who is wrong; and a
file for people and for the backends' makers.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from proof_r1_formal.audit.backends import AnswerRecord, Backend, Outcome, ask
from proof_r1_formal.audit.shrink import shrink
from proof_r1_formal.engine.solver import Solver
from proof_r1_formal.generate.shape import isomorphism_key
from proof_r1_formal.kernel.query import Query
from proof_r1_formal.render.smtlib import script
from proof_r1_formal.text.show import show

MAX_REPRODUCERS = 20
"""How many contradictory queries of a pair are made smaller."""

Pair: TypeAlias = tuple[str, str]
"""The names of two backends."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """What is left of queries that one backend says are entailed and another refutes.

    Attributes:
        entailed_by, refuted_by: the backends.
        query: none that is a step smaller has the same two answers (see ``audit.shrink``).
        proved, countermodel: whether the first one's proof, and the second one's countermodel, was checked.
        queries: the distinct queries, by number, that came down to this one.
    """

    entailed_by: str
    refuted_by: str
    query: Query
    proved: bool
    countermodel: bool
    queries: tuple[int, ...]


def contradictory(answers: Mapping[str, Sequence[AnswerRecord]], pair: Pair) -> list[int]:
    """The queries, by number, that one of the pair says are entailed and the other refutes."""
    first, second = ([answer.outcome for answer in answers[name]] for name in pair)
    both = enumerate(zip(first, second, strict=True))
    return [number for number, outcomes in both if set(outcomes) == {Outcome.UNSAT, Outcome.SAT}]


def disagreements_of(
    contradictions: Mapping[Pair, Sequence[int]],
    queries: Sequence[Query],
    backends: Sequence[Backend],
    answers: Mapping[str, Sequence[AnswerRecord]],
) -> Iterator[Disagreement]:
    """What is left of the first ``MAX_REPRODUCERS`` contradictory queries of each pair.

    Args:
        contradictions: of each pair, the queries by number.
        queries, backends: all of them.
        answers: of each backend, to each query.
    """
    named = {backend.name: backend for backend in backends}
    for pair, found in contradictions.items():
        solvers = {name: named[name].solver() for name in pair} if found else {}
        reduced: dict[tuple[str, str, object], tuple[Query, list[int]]] = {}
        for number in found[:MAX_REPRODUCERS]:
            first_says_yes = answers[pair[0]][number].outcome is Outcome.UNSAT
            entailed_by, refuted_by = pair if first_says_yes else pair[::-1]
            query = _reduced(queries[number], solvers[entailed_by], solvers[refuted_by])
            key = isomorphism_key(query.dependencies, query.conclusion)
            reduced.setdefault((entailed_by, refuted_by, key), (query, []))[1].append(number)
        for (entailed_by, refuted_by, _), (query, origins) in reduced.items():
            proved, refuted = (ask(solvers[name], query).checked for name in (entailed_by, refuted_by))
            yield Disagreement(entailed_by, refuted_by, query, proved, refuted, tuple(origins))


def _reduced(query: Query, yes: Solver, no: Solver) -> Query:
    # The sides stay as they are: the other way round might be another bug.
    return shrink(query, lambda q: ask(yes, q).outcome is Outcome.UNSAT and ask(no, q).outcome is Outcome.SAT)


def describe(disagreement: Disagreement) -> str:
    """A disagreement in lines of text."""
    proof = "a checked proof" if disagreement.proved else "no proof"
    model = "a checked countermodel" if disagreement.countermodel else "no countermodel"
    return "\n".join(
        [
            f"entailed, says {disagreement.entailed_by}, with {proof}",
            f"refuted, says {disagreement.refuted_by}, with {model}",
            f"what is left of: {', '.join([f'query {number}' for number in disagreement.queries])}",
            *[f"dependency: {show(formula)}" for formula in disagreement.query.dependencies],
            f"conclusion: {show(disagreement.query.conclusion)}",
        ]
    )


def reproducer(disagreement: Disagreement) -> str:
    """The query as SMT-LIB, below a comment that says who says what."""
    comment = textwrap.indent(describe(disagreement), "; ", lambda _: True)
    return f"{comment}\n{script(disagreement.query.assertions)}"
