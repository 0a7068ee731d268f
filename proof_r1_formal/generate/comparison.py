"""Comparison of sets of problems: tables of their statistics.

In: statistics by the name of a set. Out: tables with one column per set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from proof_r1_formal.data.problem import FALSE, GOAL_UNCERTAIN, THREE_WAY, TRUE, UNCERTAIN
from proof_r1_formal.evaluation.tables import Column, Style, Table
from proof_r1_formal.generate.diversity import Statistics

MOST_SHAPES = 24
"""Maximum number of rows of the table of shapes; it shows the most frequent ones."""


def comparison(sets: Mapping[str, Statistics]) -> tuple[Table, ...]:
    """Tables of properties of the problems, of the rules of their proofs, and of the shapes of their premises."""
    return (
        _table(
            "Problems",
            sets,
            {
                "problems": lambda one: f"{one.problems}",
                **{f"answer {label}": _answered(THREE_WAY[label.lower()]) for label in (TRUE, FALSE, UNCERTAIN)},
                "premises, mean": lambda one: _mean(one.premises),
                "people, mean": lambda one: _mean(one.people),
                "steps of proofs, mean": lambda one: _mean(one.steps),
                "different skeletons of proofs": lambda one: f"{len(one.skeletons)} of {one.steps.total()}",
                "Uncertain, and nothing leads to the goal": lambda one: share(one.shallow, one.answers[GOAL_UNCERTAIN]),
            },
        ),
        _shares("Steps by rule, the terminal ones left out", sets, lambda one: one.rules),
        _shares("Premises by shape", sets, lambda one: one.patterns),
    )


def _answered(option: str) -> Callable[[Statistics], str]:
    return lambda one: share(one.answers[option], one.problems)


def share(part: int, whole: int) -> str:
    """A share in percent; a dash if the total is 0."""
    return f"{100 * part / whole:.1f} %" if whole else "–"


def _mean(counts: Counter[int]) -> str:
    total = counts.total()
    return f"{sum(value * count for value, count in counts.items()) / total:.1f}" if total else "–"


def _shares(title: str, sets: Mapping[str, Statistics], counts: Callable[[Statistics], Counter[str]]) -> Table:
    """The shares of everything that is counted, the most frequent first."""
    together: Counter[str] = sum((counts(one) for one in sets.values()), Counter())
    rows = {name: _row(name, counts) for name, _ in together.most_common(MOST_SHAPES)}
    return _table(title, sets, rows)


def _row(name: str, counts: Callable[[Statistics], Counter[str]]) -> Callable[[Statistics], str]:
    return lambda one: share(counts(one)[name], counts(one).total())


def _table(title: str, sets: Mapping[str, Statistics], rows: Mapping[str, Callable[[Statistics], str]]) -> Table:
    return Table(
        title,
        (Column("", Style.TEXT), *[Column(name, Style.COUNT) for name in sets]),
        tuple((name, *[cell(one) for one in sets.values()]) for name, cell in rows.items()),
    )
