"""Classes of equivalent formulas."""

from __future__ import annotations

from collections import defaultdict

from proof_r1_formal.generate.openings import plain
from proof_r1_formal.logic.fingerprint import single
from proof_r1_formal.logic.syntax import Formula
from proof_r1_formal.solvers.base import Entailed
from proof_r1_formal.solvers.oracle import Oracle


class Classes:
    """Numbers for formulas. Formulas have the same number if the oracle finds them equivalent."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle
        self._numbers: dict[Formula, int] = {}
        self._alike: dict[int, list[Formula]] = defaultdict(list)  # by fingerprint, one formula of each class

    def of(self, formula: Formula) -> int:
        """The number of a closed formula."""
        number = self._numbers.get(formula)
        if number is None:
            number = self._numbers[formula] = self._find(plain(formula))
        return number

    def _find(self, formula: Formula) -> int:
        alike = self._alike[single(formula)]
        for other in alike:
            if isinstance(self._oracle.equivalent(formula, other), Entailed):
                return self._numbers[other]
        alike.append(formula)
        self._numbers[formula] = number = len(self._numbers)
        return number
