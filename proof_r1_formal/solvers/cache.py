"""Answers remembered by canonical query.

What is solved is the canonical query itself, so an answer does not depend on what was asked before. Evidence is renamed
back to the names of the query that was asked; who wants to rely on it checks it after that.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from proof_r1_formal.evidence.term import renamed
from proof_r1_formal.logic.model import Structure
from proof_r1_formal.logic.symbols import symbols
from proof_r1_formal.solvers.base import Answer, Entailed, Query, Refuted
from proof_r1_formal.solvers.canonical import Canonical, canonical


class AnswerCache:
    """The answers of one solver to the last ``size`` canonical queries.

    Args:
        solve: answers a query anew.
        size: how many answers are remembered; 0 for none.
    """

    def __init__(self, solve: Callable[[Query], Answer], *, size: int = 1 << 14) -> None:
        self._solve = solve
        self._answer = lru_cache(maxsize=size)(self._answer_anew)

    def _answer_anew(self, form: Canonical) -> Answer:
        return self._solve(form.query)

    def decide(self, query: Query) -> Answer:
        """The answer to the canonical query, in the names of ``query``."""
        if any(name.startswith("␣") for name in _functions(query)):
            return self._solve(query)  # a proof of the canonical query could bring in constants of these names
        form = canonical(query)
        return _in_its_own_names(self._answer(form), form)


def _functions(query: Query) -> set[str]:
    return set[str]().union(*[symbols(f).functions for f in (*query.dependencies, query.conclusion)])


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
