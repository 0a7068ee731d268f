"""Questions about a verified trace: what would repair a step, which rule it is an instance of, which proof to show.

In: a judge. Out: its answers, paid from one budget of counted steps for a trace. They change no verdict: after the end
of the budget a question stays undecided, and whoever shows the answers says so.
"""

from __future__ import annotations

from typing import Final

from proof_r1_formal.engine.oracle import Metered
from proof_r1_formal.kernel.answer import Answer
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.proof.judge import Judge
from proof_r1_formal.rules.check import RuleResult, Undecided

INQUIRY_STEPS: Final = 250_000
"""Budget of an inquiry: a quarter of what the verification of a trace may cost."""


class Inquiry:
    """The questions about one trace that its verification does not ask, with their own budget.

    Attributes:
        oracle: answers questions without evidence, at the expense of the inquiry.
    """

    def __init__(self, judge: Judge, *, steps: int | None = None) -> None:
        self._judge = judge
        self.oracle = Metered(judge.oracle, INQUIRY_STEPS if steps is None else steps, "inquiry")

    @property
    def over(self) -> bool:
        """Whether the budget is spent, so that later questions stay undecided."""
        return self.oracle.spent is not None

    def justify(self, dependencies: tuple[Formula, ...], conclusion: Formula) -> Answer:
        """Whether the dependencies entail the conclusion, with rechecked evidence."""
        return self.oracle.justify(dependencies, conclusion).answer

    def match_rule(
        self, rule: str, dependencies: tuple[Formula, ...], conclusion: Formula, *, terminal: bool
    ) -> RuleResult:
        """Whether a step is an instance of a rule."""
        if (spent := self.oracle.spent) is not None:
            return Undecided(spent.detail)
        result, _, price = self._judge.match_rule(rule, dependencies, conclusion, terminal)
        self.oracle.charge(price)
        return result if (after := self.oracle.spent) is None else Undecided(after.detail)
