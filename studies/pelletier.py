"""Pelletier's seventy-five problems: ``python -m studies.pelletier`` writes the table of ``docs/pelletier.md``.

In: ``pelletier.toml``, which holds the problems. Out: for each one, what the default engine says and what supports it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.engine.solver import engine_of
from proof_r1_formal.kernel.answer import Entailed, Query, Unknown, confirm
from proof_r1_formal.text.parse import parse_formula

PROBLEMS = Path(__file__).with_suffix(".toml")
PAGE = Path(__file__).parent.parent / "docs" / "pelletier.md"
HEAD = "| number | verdict | engine | steps | |\n|---|---|---|---|---|\n"


class Sequent(NamedTuple):
    """A problem: do the premises entail the conclusion?"""

    number: int
    premises: tuple[str, ...]
    conclusion: str
    note: str

    @property
    def query(self) -> Query:
        """The problem as formulas."""
        return Query(tuple(map(parse_formula, self.premises)), parse_formula(self.conclusion))


def sequents() -> list[Sequent]:
    """The problems of the file, by number."""
    rows = tomllib.loads(PROBLEMS.read_text(encoding="utf-8"))["problem"]
    return [Sequent(r["number"], tuple(r.get("premises", ())), r["conclusion"], r.get("note", "")) for r in rows]


def missing() -> dict[int, str]:
    """The numbers without a problem, and why."""
    rows = tomllib.loads(PROBLEMS.read_text(encoding="utf-8"))["missing"]
    return {int(number): why for number, why in rows.items()}


def row(sequent: Sequent) -> str:
    """The row of a problem: ``proved`` and ``refuted`` with checked evidence only."""
    solver = EmbeddedSolver()
    found = confirm(sequent.query, solver.decide(sequent.query))
    answer = found.answer
    if isinstance(answer, Unknown):
        verdict, engine = "undecided", ""
    else:
        verdict = "proved" if isinstance(answer, Entailed) else "refuted"
        verdict, engine = verdict if found.checked else "unsupported", engine_of(answer, solver)
    return f"| {sequent.number} | {verdict} | {engine} | {answer.steps:,} | {sequent.note} |"


def table(rows: Iterable[Sequent]) -> Iterator[str]:
    """The rows of problems, with those of missing ones at their places."""
    absent = missing()
    for sequent in rows:
        yield row(sequent)
        following = sequent.number + 1
        while following in absent:
            yield f"| {following} | missing | | | {absent[following]} |"
            following += 1


def main() -> None:
    """Write the table, which is the end of the page."""
    text, _, _ = PAGE.read_text(encoding="utf-8").partition(HEAD)
    PAGE.write_text(text + HEAD + "\n".join(table(sequents())) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
