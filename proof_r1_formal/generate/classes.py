"""Classes of equivalent formulas."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from proof_r1_formal.engine.oracle import Oracle
from proof_r1_formal.engine.truth_table import SemanticKey, semantic_key, single
from proof_r1_formal.generate.openings import plain
from proof_r1_formal.kernel.answer import Entailed
from proof_r1_formal.kernel.syntax import Formula

SOLVER_STEPS = 8
"""How many steps of a solver cost as much as one step of the search."""


class Classes:
    """Numbers for formulas. Formulas have the same number if the oracle finds them equivalent.

    ``spend`` is called with the price of each answer, in steps of the search.
    """

    def __init__(self, oracle: Oracle, spend: Callable[[int], None]) -> None:
        self._oracle = oracle
        self._spend = spend
        self._numbers: dict[Formula, int] = {}
        self._of_key: dict[SemanticKey, int] = {}
        # by fingerprint, one formula of each class: with a semantic key, and without
        self._keyed: defaultdict[int, list[Formula]] = defaultdict(list)
        self._others: defaultdict[int, list[Formula]] = defaultdict(list)

    def of(self, formula: Formula) -> int:
        """The number of a closed formula."""
        number = self._numbers.get(formula)
        if number is None:
            number = self._numbers[formula] = self._find(plain(formula))
        return number

    def _find(self, formula: Formula) -> int:
        key = semantic_key(formula)
        if key is not None and key in self._of_key:
            return self._of_key[key]
        fingerprint = single(formula)
        keyed, others = self._keyed[fingerprint], self._others[fingerprint]
        for other in others if key is not None else (*others, *keyed):  # different keys tell formulas apart
            answer = self._oracle.equivalent(formula, other)
            self._spend(answer.steps // SOLVER_STEPS)
            if isinstance(answer, Entailed):
                return self._numbers[other]
        (others if key is None else keyed).append(formula)
        self._numbers[formula] = number = len(self._numbers)
        if key is not None:
            self._of_key[key] = number
        return number
