"""The questions that verification asks, answered by one solver with a bounded memory of exact repeats.

In: formulas. Out: the solver's answers, unchanged; ``Unknown`` stays Unknown. Truth tables settle questions about small
formulas without quantifiers whose answers need no evidence. Fingerprints (counterexamples in fixed structures) settle
most of the other questions with a negative answer, without the solver.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from proof_r1_formal.compiling import mypyc_attr
from proof_r1_formal.logic.fingerprint import false_everywhere, fingerprint_price, fingerprints_differ, true_everywhere
from proof_r1_formal.logic.query import Query
from proof_r1_formal.logic.syntax import BOTTOM, Formula, Iff, Not
from proof_r1_formal.logic.transform import regrouped
from proof_r1_formal.logic.truth_table import CONTRADICTION, TAUTOLOGY, SemanticKey, semantic_key, table_entails
from proof_r1_formal.solvers.base import Answer, Entailed, Reason, Refuted, Solver, Unknown

QUESTION: Final = 20
"""The price, in steps, of asking a question, whatever its answer costs."""

_YES: Final = Entailed()
_NO: Final = Refuted()


@mypyc_attr(allow_interpreted_subclasses=True)
class Oracle:
    """Asks ``solver``, remembering the last ``memory`` distinct questions.

    Args:
        solver: decides.
        tables: whether semantic keys may answer questions of equivalence and validity in its place.
        memory: how many answers are remembered.

    Attributes:
        spent: what answers every question from now on; None while questions may be asked.
    """

    def __init__(self, solver: Solver, *, tables: bool = False, memory: int = 1 << 12) -> None:
        self.solver = solver
        self.spent: Unknown | None = None
        self.tables = tables
        self._remembered = lru_cache(maxsize=memory)(self._entails)

    def entails(self, dependencies: tuple[Formula, ...], conclusion: Formula) -> Answer:
        """Do the dependencies entail the conclusion?"""
        return self._remembered(dependencies, conclusion)

    def charge(self, steps: int) -> None:
        """Take steps from the budget, if there is one."""

    def _entails(self, dependencies: tuple[Formula, ...], conclusion: Formula) -> Answer:
        return self.solver.decide(Query(dependencies, conclusion))

    def equivalent(self, first: Formula, second: Formula) -> Answer:
        """Are the formulas logically equivalent? A refutation may come without a model."""
        if first is second:
            return _YES
        spent = self.spent
        if self.tables and spent is None:
            one = semantic_key(first)
            other = None if one is None else semantic_key(second)
            if other is not None:
                self.charge(2)
                return _YES if one == other else _NO
        if first.size == second.size and regrouped(first) is regrouped(second):  # regrouping keeps the size
            return _YES
        if spent is not None:
            return spent
        self.charge(fingerprint_price(first) + fingerprint_price(second))
        return _NO if fingerprints_differ(first, second) else self.entails((), Iff(first, second))

    def follows(self, dependencies: tuple[Formula, ...], conclusion: Formula) -> Answer:
        """Do the dependencies entail the conclusion? The answer may come without evidence."""
        if not dependencies:
            return self.valid(conclusion)
        if self.tables and self.spent is None:
            holds = table_entails(dependencies, conclusion)
            if holds is not None:
                self.charge(1 + (conclusion.size + sum([formula.size for formula in dependencies])) // 4)
                return _YES if holds else _NO
        return self.entails(dependencies, conclusion)

    def valid(self, formula: Formula) -> Answer:
        """Is the formula a tautology? A refutation may come without a model."""
        if (spent := self.spent) is not None:
            return spent
        key = self._key(formula)
        if key is not None:
            return _YES if key == TAUTOLOGY else _NO
        self.charge(fingerprint_price(formula))
        return self.entails((), formula) if true_everywhere(formula) else _NO

    def constant(self, formula: Formula) -> Answer:
        """Is the formula or its negation a tautology?"""
        if (spent := self.spent) is not None:
            return spent
        key = self._key(formula)
        if key is not None:
            return _YES if key in (TAUTOLOGY, CONTRADICTION) else _NO
        self.charge(fingerprint_price(formula))
        if true_everywhere(formula):
            return self.entails((), formula)
        return self.entails((), Not(formula)) if false_everywhere(formula) else _NO

    def _key(self, formula: Formula) -> SemanticKey | None:
        """The semantic key of a formula, if truth tables may answer and it has one; a step."""
        if not self.tables:
            return None
        self.charge(1)
        return semantic_key(formula)

    def inconsistent(self, formulas: tuple[Formula, ...]) -> Answer:
        """Do the formulas have no model? A refutation carries one. Not remembered, as a problem asks it once."""
        return self._entails(formulas, BOTTOM)


class Metered(Oracle):
    """An oracle that charges a budget for what it is asked; each distinct question to the solver is charged once.

    What is charged is the price that comes with an answer, so it does not matter who remembers the answer. Once the
    budget is spent, the solver is not asked any more, and the question that spent it stays undecided, too.

    Args:
        oracle: answers.
        budget: in steps.
        whose: the budget is, for the reason of what stays undecided.

    Attributes:
        charged: the sum of all charges.
    """

    def __init__(self, oracle: Oracle, budget: int, whose: str) -> None:
        self.solver = oracle.solver
        self.spent = None
        self.charged = 0
        self._budget = budget
        self._whose = whose
        self.tables = oracle.tables
        self._oracle = oracle
        self._answers: dict[tuple[tuple[Formula, ...], Formula], Answer] = {}

    def charge(self, steps: int) -> None:
        """Take steps from the budget."""
        self.charged += steps
        if self.charged > self._budget and self.spent is None:
            self.spent = Unknown(Reason.BUDGET, f"the {self._whose}'s budget of {self._budget} steps is spent")

    def mark(self) -> tuple[int, int]:
        """What was charged, and how many distinct questions were asked so far; :meth:`rewind` goes back to it."""
        return self.charged, len(self._answers)

    def rewind(self, mark: tuple[int, int]) -> None:
        """Forget what was asked and charged since a mark."""
        self.charged, asked = mark
        if self.charged <= self._budget:
            self.spent = None
        while len(self._answers) > asked:
            self._answers.popitem()

    def entails(self, dependencies: tuple[Formula, ...], conclusion: Formula) -> Answer:
        question = dependencies, conclusion
        answer = self._answers.get(question)
        if answer is None:
            if (spent := self.spent) is not None:
                return spent
            answer = self._oracle.entails(dependencies, conclusion)
            self.charge(QUESTION + answer.steps)
            answer = self._answers[question] = self.spent or answer
        return answer
