"""Answers remembered by canonical query, in memory and, on request, countermodels in a file.

What is solved is the canonical query itself, so an answer does not depend on what was asked before. Evidence is renamed
back to the names of the query that was asked; who wants to rely on it checks it after that.

A file is not trusted. It holds countermodels only, and one that is read counts if it interprets exactly the symbols of
the query and the evaluator confirms it. Anything else is a miss, and the query is solved. Proofs are not kept in files:
the search finds most of them faster than a file is read, and a valid proof with a detour through a premise that it does
not need would change which dependencies the report calls used.

A file also holds the price of each countermodel, so that a trace is charged the same with the file and without. Who can
change the file can change when a trace runs out of budget, nothing else.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import msgspec

from proof_r1_formal.errors import DataError, ProofR1Error
from proof_r1_formal.evidence.confirm import confirm
from proof_r1_formal.evidence.serial import structure_from_data, structure_to_data
from proof_r1_formal.evidence.term import renamed
from proof_r1_formal.logic.model import Structure
from proof_r1_formal.logic.signature import Signature
from proof_r1_formal.solvers.base import Answer, Entailed, Query, Refuted
from proof_r1_formal.solvers.canonical import Canonical, canonical

MAX_BYTES = 1 << 18
"""The longest entry of a file that is written or read."""
MAX_STEPS = 10_000_000
"""The highest price that is read; no question costs as much."""

_TABLE = "CREATE TABLE answers (query TEXT PRIMARY KEY, answer BLOB) WITHOUT ROWID"


class AnswerFile:
    """Countermodels in an SQLite file, by canonical query; several processes may share it.

    Args:
        path: of the file; it is made when it is first needed.

    Raises:
        DataError: in use, if it is no such file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def _database(self) -> sqlite3.Connection:
        database = sqlite3.connect(self._path, isolation_level=None, timeout=60)
        database.execute("PRAGMA trusted_schema = OFF")
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = OFF")  # what is lost is solved again
        database.execute(_TABLE.replace("TABLE", "TABLE IF NOT EXISTS"))
        found = database.execute("SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'").fetchall()
        if found != [(_TABLE,)]:  # a view or a trigger would run whenever the file is asked
            raise sqlite3.DatabaseError("it holds something else than the one table of answers")
        return database

    def _execute(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        try:
            return self._database.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise DataError(str(self._path), f"cannot be used as a file of answers: {error}") from error

    def get(self, form: Canonical) -> Refuted | None:
        """The countermodel of a canonical query, if the file has one that holds."""
        statement = "SELECT answer FROM answers WHERE query = ? AND typeof(answer) = 'blob' AND length(answer) <= ?"
        rows = self._execute(statement, str(form.key), MAX_BYTES)
        if not rows:
            return None
        try:
            match msgspec.json.decode(rows[0][0]):
                case {"countermodel": data, "steps": int(steps), **rest} if not rest and 0 <= steps <= MAX_STEPS:
                    model = structure_from_data(data)
                case _:
                    return None
            answer = Refuted(model, steps)
            return answer if _interprets_exactly(model, form.query) and confirm(form.query, answer).checked else None
        except (ProofR1Error, ValueError, RecursionError):
            return None

    def put(self, form: Canonical, answer: Answer) -> None:
        """Keep the countermodel of an answer, if it has one."""
        if isinstance(answer, Refuted) and answer.model is not None:
            data = msgspec.json.encode({"countermodel": structure_to_data(answer.model), "steps": answer.steps})
            if len(data) <= MAX_BYTES:
                self._execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", str(form.key), data)


def _interprets_exactly(model: Structure, query: Query) -> bool:
    """Whether the model has the sorts and symbols of the query, and no others."""
    signature = Signature.infer((*query.dependencies, query.conclusion))
    return (
        model.domains.keys() == {*signature.sorts}
        and model.predicates.keys() == signature.predicates.keys()
        and model.functions.keys() == signature.functions.keys()
    )


class AnswerCache:
    """The answers of one solver to the last ``size`` canonical queries.

    Args:
        solve: answers a query anew.
        size: how many answers are remembered; 0 for none.
        file: where countermodels are kept from run to run.
    """

    def __init__(
        self, solve: Callable[[Query], Answer], *, size: int = 1 << 14, file: AnswerFile | None = None
    ) -> None:
        self._solve = solve
        self._file = file
        self._answer = lru_cache(maxsize=size)(self._answer_from_file)

    def _answer_from_file(self, form: Canonical) -> Answer:
        if self._file is None:
            return self._solve(form.query)
        kept = self._file.get(form)
        if kept is not None:
            return kept
        answer = self._solve(form.query)
        self._file.put(form, answer)
        return answer

    def decide(self, query: Query) -> Answer:
        """The answer to the canonical query, in the names of ``query``."""
        form = canonical(query)
        names = {name for _, name in form.symbols}
        if len(names) < len(form.symbols) or any(name.startswith("␣") for name in names):
            # canonical names would hide that one is of two kinds; or be those of constants that a proof brings in
            return self._solve(query)
        return _in_its_own_names(self._answer(form), form)


def _in_its_own_names(answer: Answer, form: Canonical) -> Answer:
    match answer:
        case Entailed(proof, steps) if proof is not None:
            return Entailed(renamed(proof, form.order, predicates=form.predicates, functions=form.functions), steps)
        case Refuted(model, steps) if model is not None:
            predicates = {form.predicates[name]: rows for name, rows in model.predicates.items()}
            functions = {form.functions[name]: table for name, table in model.functions.items()}
            return Refuted(Structure(model.domains, predicates, functions), steps)
        case _:
            return answer
