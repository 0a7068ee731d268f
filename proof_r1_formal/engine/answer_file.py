"""Countermodels that are kept from run to run.

A file is not trusted. It holds countermodels only, and one that is read counts if it interprets exactly the symbols of
the query and the evaluator confirms it. Anything else is a miss, and the query is solved. Proofs are not kept in files:
the search finds most of them faster than a file is read, and a valid proof with a detour through a premise that it does
not need would change which dependencies the report calls used.

A file also holds the price of each countermodel and the engine that found it, so that a report is the same with the
file and without. Whoever can change the file can change these two, nothing else.
"""

from __future__ import annotations

import sqlite3
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

from proof_r1_formal.errors import DataError, ProofR1Error
from proof_r1_formal.kernel.answer import Answer, Refuted
from proof_r1_formal.kernel.confirm import confirm
from proof_r1_formal.kernel.model import Structure
from proof_r1_formal.kernel.query import Query
from proof_r1_formal.kernel.serial import structure_from_data, structure_to_data
from proof_r1_formal.kernel.signature import Signature

MAX_BYTES = 1 << 18
"""The longest entry of a file that is written or read."""
MAX_STEPS = 10_000_000
"""The highest price that is read; no question costs as much."""

_TABLE = "CREATE TABLE answers (query TEXT PRIMARY KEY, answer BLOB) WITHOUT ROWID"


class AnswerFile:
    """Countermodels in an SQLite file, by query; several processes may share it.

    Args:
        path: of the file; it is made when it is first needed.

    Raises:
        DataError: in use, if it is not such a file.
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

    def get(self, query: Query) -> Refuted | None:
        """The countermodel of a query, if the file has one that holds."""
        statement = "SELECT answer FROM answers WHERE query = ? AND typeof(answer) = 'blob' AND length(answer) <= ?"
        rows = self._execute(statement, _key(query), MAX_BYTES)
        if not rows:
            return None
        try:
            match msgspec.json.decode(rows[0][0]):
                case {"countermodel": data, "steps": int(steps), "engine": str(engine), **rest} if (
                    not rest and 0 <= steps <= MAX_STEPS
                ):
                    model = structure_from_data(data)
                case _:
                    return None
            answer = Refuted(model, steps, engine)
            return answer if _interprets_exactly(model, query) and confirm(query, answer).checked else None
        except (ProofR1Error, ValueError, RecursionError):
            return None

    def put(self, query: Query, answer: Answer) -> None:
        """Keep the countermodel of an answer, if it has one."""
        if isinstance(answer, Refuted) and answer.model is not None:
            entry = {"countermodel": structure_to_data(answer.model), "steps": answer.steps, "engine": answer.engine}
            data = msgspec.json.encode(entry)
            if len(data) <= MAX_BYTES:
                self._execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", _key(query), data)


def _key(query: Query) -> str:
    """The key of an entry; an entry is checked against the query itself."""
    return blake2b(repr(query).encode("utf-8", "surrogatepass"), digest_size=32).hexdigest()


def _interprets_exactly(model: Structure, query: Query) -> bool:
    """Whether the model has the sorts and symbols of the query, and no others."""
    signature = Signature.infer(query.formulas)
    return (
        model.domains.keys() == {*signature.sorts}
        and model.predicates.keys() == signature.predicates.keys()
        and model.functions.keys() == signature.functions.keys()
    )
