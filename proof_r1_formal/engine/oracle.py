"""The questions that verification asks, answered by one solver with a bounded memory of exact repeats.

In: formulas. Out: the solver's answers; ``Unknown`` stays Unknown. All evidence is checked here. The step under check
is *decided*: its answer comes with its evidence, if it has some. Every other question counts a "yes" or "no" only
with checked evidence, so that no other verdict rests on an answer without evidence.

Truth tables settle questions about small formulas without quantifiers whose answers need no evidence. Fingerprints
(counterexamples in fixed structures) settle most of the other questions with a negative answer, without the solver.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from proof_r1_formal.engine.solver import Solver, engine_of
from proof_r1_formal.engine.truth_table import (
    CONTRADICTION,
    TAUTOLOGY,
    false_everywhere,
    fingerprint_price,
    fingerprints_differ,
    fingerprints_refute,
    semantic_key,
    table_entails,
    true_everywhere,
)
from proof_r1_formal.kernel.answer import (
    Answer,
    Confirmation,
    Entailed,
    EvidenceLevel,
    Kernel,
    Query,
    Reason,
    Refuted,
    Unknown,
    confirm,
    confirm_by,
)
from proof_r1_formal.kernel.compiling import mypyc_attr
from proof_r1_formal.kernel.syntax import BOTTOM, Formula, Iff, Not
from proof_r1_formal.text.equivalence import regroup

QUESTION: Final = 20
"""The price, in steps, of asking a question, whatever its answer costs."""

_YES: Final = Entailed()
_NO: Final = Refuted()


class Answers:
    """A solver's answers with checked evidence; the last ``memory`` distinct questions are remembered.

    ``ask(dependencies, conclusion)`` says whether the dependencies entail the conclusion, and what supports the answer.
    ``decide`` does so for what a verified answer rests on: the kernel, if there is one, checks the evidence, too.

    Args:
        tables: whether truth tables may answer in place of the solver where no evidence is needed.
        evidence: how evidence is checked. With ``none``, answers without evidence count everywhere.
        kernel: checks the evidence of what a verified answer rests on once more, if it is given.
    """

    def __init__(
        self,
        solver: Solver,
        *,
        tables: bool = False,
        memory: int = 1 << 13,
        evidence: EvidenceLevel = "none",
        kernel: Kernel | None = None,
    ) -> None:
        self.solver = solver
        self.tables = tables
        self.evidence = evidence
        self._kernel = kernel
        self.ask = lru_cache(maxsize=memory)(self._decide)
        self.decide = self.ask if kernel is None else lru_cache(maxsize=memory)(self._by_kernel)

    def _decide(self, dependencies: tuple[Formula, ...], conclusion: Formula) -> Confirmation:
        query = Query(dependencies, conclusion)
        answer = self.solver.decide(query)
        return Confirmation(answer) if self.evidence == "none" else confirm(query, answer)

    def _by_kernel(self, dependencies: tuple[Formula, ...], conclusion: Formula) -> Confirmation:
        assert self._kernel is not None
        return confirm_by(self._kernel, Query(dependencies, conclusion), self.ask(dependencies, conclusion))


@mypyc_attr(allow_interpreted_subclasses=True)
class Oracle:
    """The questions of verification, paid from a budget if there is one.

    Each distinct question to the solver is charged once, with the price that comes with its answer, so it does not
    matter who remembers the answer. Once the budget is spent, the solver is not asked any more, and the question that
    spent it stays undecided, too.

    Args:
        budget: in steps; None if nothing is paid.
        whose: the budget is, for the reason of what stays undecided.

    Attributes:
        spent: what answers every question from now on; None while questions may be asked.
        charged: the sum of all charges.
    """

    def __init__(self, answers: Answers, budget: int | None = None, whose: str = "") -> None:
        self.answers = answers
        self.solver = answers.solver
        self.evidence = answers.evidence
        self.tables = answers.tables
        self.spent: Unknown | None = None
        self.charged = 0
        self._budget = budget
        self._whose = whose
        self._known: dict[tuple[tuple[Formula, ...], Formula, bool], Confirmation] = {}

    def with_budget(self, budget: int, whose: str) -> Oracle:
        """An oracle with the same answers and a budget of its own."""
        return Oracle(self.answers, budget, whose)

    # -- the budget ---------------------------------------------------------------------------------------------------

    def charge(self, steps: int) -> None:
        """Take steps from the budget."""
        self.charged += steps
        if self._budget is not None and self.charged > self._budget and self.spent is None:
            self.spent = Unknown(Reason.BUDGET, f"the {self._whose}'s budget of {self._budget} steps is spent")

    def mark(self) -> tuple[int, int]:
        """The charges and the number of distinct questions so far; :meth:`rewind` goes back to them."""
        return self.charged, len(self._known)

    def rewind(self, mark: tuple[int, int]) -> None:
        """Forget what was asked and charged since a mark."""
        self.charged, asked = mark
        if self._budget is None or self.charged <= self._budget:
            self.spent = None
        while len(self._known) > asked:
            self._known.popitem()

    # -- questions to the solver --------------------------------------------------------------------------------------

    def ask(self, dependencies: tuple[Formula, ...], conclusion: Formula) -> Confirmation:
        """See :class:`Answers`."""
        return self._pay(dependencies, conclusion, False)

    def decide(self, dependencies: tuple[Formula, ...], conclusion: Formula) -> Confirmation:
        """See :class:`Answers`."""
        return self._pay(dependencies, conclusion, self.evidence == "kernel")

    def _pay(self, dependencies: tuple[Formula, ...], conclusion: Formula, kernel: bool) -> Confirmation:
        asked = self.answers.decide if kernel else self.answers.ask
        if self._budget is None:
            return asked(dependencies, conclusion)
        question = dependencies, conclusion, kernel
        found = self._known.get(question)
        if found is None:
            if (spent := self.spent) is not None:
                return Confirmation(spent)
            found = asked(dependencies, conclusion)
            self.charge(QUESTION + found.answer.steps)
            found = self._known[question] = found if self.spent is None else Confirmation(self.spent)
        return found

    def inconsistent(self, formulas: tuple[Formula, ...]) -> Answer:
        """Do the formulas have no model?"""
        return self.checked_answer(self.decide(formulas, BOTTOM))

    def entails(self, dependencies: tuple[Formula, ...], conclusion: Formula) -> Answer:
        """Do the dependencies entail the conclusion? An answer without evidence counts as Unknown."""
        return self.checked_answer(self.ask(dependencies, conclusion))

    def checked_answer(self, confirmation: Confirmation) -> Answer:
        """The answer if its evidence was checked, or none was requested; else Unknown."""
        answer = confirmation.answer
        if confirmation.checked or self.evidence == "none" or isinstance(answer, Unknown):
            return answer
        word = "yes" if isinstance(answer, Entailed) else "no"
        return Unknown(
            Reason.INCOMPLETE, f"only {engine_of(answer, self.solver)} says {word}, without evidence", answer.steps
        )

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
        if first.size == second.size and regroup(first) is regroup(second):  # regrouping keeps the size
            return _YES
        if spent is not None:
            return spent
        return self.entails((), Iff(first, second)) if self.may_be_equivalent(first, second) else _NO

    def may_be_equivalent(self, first: Formula, second: Formula) -> bool:
        """Whether no fixed structure tells the formulas apart; also true once the budget is spent."""
        if self.spent is not None:
            return True
        self.charge(fingerprint_price(first) + fingerprint_price(second))
        return not fingerprints_differ(first, second)

    def may_be_constant(self, formula: Formula) -> bool:
        """Whether the formula has one truth value in all fixed structures; also true once the budget is spent."""
        if self.spent is not None:
            return True
        self.charge(fingerprint_price(formula))
        return true_everywhere(formula) or false_everywhere(formula)

    def follows(self, dependencies: tuple[Formula, ...], conclusion: Formula, *, fingerprints: bool = False) -> Answer:
        """Do the dependencies entail the conclusion? The answer may come without evidence.

        ``fingerprints``: whether fixed structures may refute it before the solver is asked.
        """
        if not dependencies:
            return self.valid(conclusion)
        if self.tables and self.spent is None:
            holds = table_entails(dependencies, conclusion)
            if holds is not None:
                self.charge(1 + (conclusion.size + sum([formula.size for formula in dependencies])) // 4)
                return _YES if holds else _NO
        if fingerprints and self.spent is None:
            self.charge(sum([fingerprint_price(formula) for formula in (*dependencies, conclusion)]))
            if fingerprints_refute(dependencies, conclusion):
                return _NO
        return self.entails(dependencies, conclusion)

    def valid(self, formula: Formula) -> Answer:
        """Is the formula a tautology? A refutation may come without a model."""
        return self._valid(formula, or_contradictory=False)

    def constant(self, formula: Formula) -> Answer:
        """Is the formula or its negation a tautology?"""
        return self._valid(formula, or_contradictory=True)

    def _valid(self, formula: Formula, *, or_contradictory: bool) -> Answer:
        if (spent := self.spent) is not None:
            return spent
        if self.tables:
            self.charge(1)
            key = semantic_key(formula)
            if key is not None:
                return _YES if key == TAUTOLOGY or (or_contradictory and key == CONTRADICTION) else _NO
        self.charge(fingerprint_price(formula))
        if true_everywhere(formula):
            return self.entails((), formula)
        return self.entails((), Not(formula)) if or_contradictory and false_everywhere(formula) else _NO

    def proves_equivalent(self, first: Formula, second: Formula) -> Answer:
        """Are the formulas one formula, or logically equivalent with evidence as in :meth:`decide`?"""
        answer = self.equivalent(first, second)
        if first is second or not isinstance(answer, Entailed):
            return answer
        return self.checked_answer(self.decide((), Iff(first, second)))
