"""An audit of backends as tables, pictures and files.

In: :class:`~proof_r1_formal.audit.crosscheck.Audit`. Out: tables of ``evaluation.tables``: what every backend said,
how every two compare, and the two rates of every backend; and a heat map per pair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from proof_r1_formal.audit.backends import Outcome, slug
from proof_r1_formal.audit.crosscheck import Audit, System
from proof_r1_formal.audit.disagreement import Pair, describe
from proof_r1_formal.audit.local_check import Fault
from proof_r1_formal.evaluation.heatmap import heatmap
from proof_r1_formal.evaluation.measures import Estimate, Measure
from proof_r1_formal.evaluation.tables import Cell, Column, Style, Table, to_json, to_markdown
from proof_r1_formal.kernel.answer import Reason
from proof_r1_formal.outputs import write_output


def audit_tables(audit: Audit) -> tuple[Table, ...]:
    """The tables of an audit: outcomes, reasons for missing ones, each pair, disagreements, FVR and RVR."""
    return (_outcomes(audit), _others(audit), *_pairs(audit), _disagreements(audit), _rates(audit))


def pictures(audit: Audit) -> dict[str, str]:
    """The heat map of each pair over all systems, by the name of its file."""
    labels = [outcome.value for outcome in Outcome]
    return {
        f"{slug(first)}-{slug(second)}.svg": heatmap(
            first, second, labels, {(a.value, b.value): n for (a, b), n in _total(audit, (first, second)).items()}
        )
        for first, second in _pair_names(audit)
    }


def write_audit(audit: Audit, folder: Path) -> None:
    """Write ``tables.md``, ``tables.json`` and the pictures into a folder.

    Raises:
        DataError: it cannot be written to.
    """
    tables = audit_tables(audit)
    text = "\n".join([*map(to_markdown, tables), *[f"    {line}" for line in disagreement_lines(audit)]])
    contents = {"tables.md": text.encode(), "tables.json": to_json(tables)}
    contents |= {name: picture.encode() for name, picture in pictures(audit).items()}
    for name, content in contents.items():
        write_output(folder / name, content)


def disagreement_lines(audit: Audit) -> Iterator[str]:
    """The disagreements, whole, as lines of text."""
    for number, disagreement in enumerate(audit.disagreements, 1):
        first, *rest = describe(disagreement).splitlines()
        yield f"{number}. {first}"
        yield from (f"   {line}" for line in rest)


def _pair_names(audit: Audit) -> list[Pair]:
    return list(audit.contradictions)


def _total(audit: Audit, pair: Pair) -> Counter[tuple[Outcome, Outcome]]:
    return sum((system.pairs[pair] for system in audit.systems.values()), Counter())


def _text(*names: str) -> tuple[Column, ...]:
    return tuple(Column(name, Style.TEXT) for name in names)


def _counts(*names: str, detail: bool = False) -> tuple[Column, ...]:
    return tuple(Column(name, Style.COUNT, detail=detail) for name in names)


def _outcomes(audit: Audit) -> Table:
    return Table(
        "Local checks",
        (*_text("system", "backend"), *_counts("actions", *Outcome, "with checked evidence")),
        tuple(
            (name, backend, system.actions, *[outcomes[outcome] for outcome in Outcome], system.checked[backend])
            for name, system in audit.systems.items()
            for backend, outcomes in system.outcomes.items()
        ),
    )


def _others(audit: Audit) -> Table:
    """What is in the column Other: the same faults for all, and each backend's own undecided queries."""

    def row(name: str, backend: str, system: System) -> tuple[Cell, ...]:
        faults = [system.faults[fault] for fault in Fault]
        unknown = [system.unknown[backend][reason] for reason in Reason]
        return (name, backend, system.outcomes[backend][Outcome.OTHER], *faults, *unknown)

    return Table(
        "Other, by reason",
        (*_text("system", "backend"), *_counts("Other", *Fault, *[f"unknown: {reason}" for reason in Reason])),
        tuple(row(name, backend, system) for name, system in audit.systems.items() for backend in system.outcomes),
    )


def _pairs(audit: Audit) -> Iterator[Table]:
    for first, second in _pair_names(audit):
        columns = [
            column for theirs in Outcome for column in (*_counts(theirs), Column(f"{theirs} (%)", Style.PERCENT))
        ]
        yield Table(
            f"{first} (rows) and {second} (columns)",
            (*_text("system", first), *columns),
            tuple(
                (name, mine.value, *_pair_cells(system, (first, second), mine))
                for name, system in audit.systems.items()
                for mine in Outcome
            ),
        )


def _pair_cells(system: System, pair: Pair, mine: Outcome) -> Iterator[Cell]:
    for theirs in Outcome:
        count = system.pairs[pair][mine, theirs]
        yield from (count, _share(count, system.actions))


def _share(numerator: float, denominator: float) -> Estimate:
    return Estimate(numerator / denominator if denominator else 0.0, numerator, denominator)


def _disagreements(audit: Audit) -> Table:
    """UNSAT against SAT; other results never count as a disagreement."""
    return Table(
        "UNSAT against SAT",
        (*_text("backend", "and backend"), *_counts("distinct queries", "contradictory", "actions", "reproducers")),
        tuple(
            (
                *pair,
                audit.queries,
                count,
                sum(_total(audit, pair)[both] for both in _CONTRADICTIONS),
                sum({found.entailed_by, found.refuted_by} == set(pair) for found in audit.disagreements),
            )
            for pair, count in audit.contradictions.items()
        ),
    )


_CONTRADICTIONS = ((Outcome.UNSAT, Outcome.SAT), (Outcome.SAT, Outcome.UNSAT))


def _rates(audit: Audit) -> Table:
    def cells(estimate: Estimate) -> tuple[Cell, ...]:
        numerator, denominator = int(estimate.numerator), int(estimate.denominator)
        return _share(numerator, denominator), numerator, denominator

    measures = (Measure.FVR, Measure.RVR)
    columns = [
        c for m in measures for c in (Column(f"{m} (%)", Style.PERCENT), *_counts(f"{m} steps", f"{m} of", detail=True))
    ]
    return Table(
        "Rates, with all checks done by one backend",
        (*_text("system", "difficulty", "backend"), *columns),
        tuple(
            (
                name,
                "overall" if difficulty is None else difficulty or "(none)",
                backend,
                *[cell for measure in measures for cell in cells(group.scores[measure])],
            )
            for name, system in audit.systems.items()
            for difficulty in (*next(iter(system.metrics.values())).difficulties, None)
            for backend, metrics in system.metrics.items()
            for group in [metrics.overall if difficulty is None else metrics.difficulties[difficulty]]
        ),
    )
