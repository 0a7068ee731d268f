"""Answers remembered by canonical query, in memory and, if wanted, in a file.

What is solved is the canonical query itself, so an answer does not depend on what was asked before. Evidence is renamed
back to the names of the query that was asked; who wants to rely on it checks it after that. A file is not trusted: it
holds nothing but evidence, and what is read from it counts only if that holds.
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
from proof_r1_formal.evidence.serial import proof_from_data, proof_to_data, structure_from_data, structure_to_data
from proof_r1_formal.evidence.term import renamed
from proof_r1_formal.logic.model import Structure
from proof_r1_formal.solvers.base import Answer, Entailed, Query, Refuted
from proof_r1_formal.solvers.canonical import Canonical, canonical


class AnswerFile:
    """Evidence for answers in an SQLite file, by canonical query; several processes may share it.

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
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = OFF")  # what is lost is solved again
        database.execute("CREATE TABLE IF NOT EXISTS answers (query TEXT PRIMARY KEY, answer BLOB) WITHOUT ROWID")
        return database

    def _execute(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        try:
            return self._database.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise DataError(str(self._path), f"cannot be used as a file of answers: {error}") from error

    def get(self, form: Canonical) -> Answer | None:
        """The answer to a canonical query, if the file holds evidence for it that holds."""
        rows = self._execute("SELECT answer FROM answers WHERE query = ?", str(form.key))
        if not rows:
            return None
        try:
            match msgspec.json.decode(rows[0][0]):
                case {"proof": data}:
                    answer: Answer = Entailed(proof_from_data(data))
                case {"countermodel": data}:
                    answer = Refuted(structure_from_data(data))
                case _:
                    return None
        except (ProofR1Error, msgspec.DecodeError, TypeError):
            return None
        return answer if confirm(form.query, answer).checked else None

    def put(self, form: Canonical, answer: Answer) -> None:
        """Keep the evidence of an answer, if it has any."""
        match answer:
            case Entailed(proof) if proof is not None:
                data = {"proof": proof_to_data(proof)}
            case Refuted(model) if model is not None:
                data = {"countermodel": structure_to_data(model)}
            case _:
                return
        self._execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", str(form.key), msgspec.json.encode(data))


class AnswerCache:
    """The answers of one solver to the last ``size`` canonical queries.

    Args:
        solve: answers a query anew.
        size: how many answers are remembered; 0 for none.
        file: where evidence is kept from run to run.
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
        answer = self._file.get(form)
        if answer is None:
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
        case Entailed(proof) if proof is not None:
            return Entailed(renamed(proof, form.order, predicates=form.predicates, functions=form.functions))
        case Refuted(model) if model is not None:
            return Refuted(
                Structure(
                    model.domains,
                    {form.predicates[name]: rows for name, rows in model.predicates.items()},
                    {form.functions[name]: table for name, table in model.functions.items()},
                )
            )
        case _:
            return answer
