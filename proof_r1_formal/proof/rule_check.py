"""The rule check of a step: is it an instance of the rule that it names?

In: a step. Out: the instance, also as text for the report, or why there is none. A :class:`RuleChecker` has the rules
and caches recent checks. It has no state of a trace.
"""

from __future__ import annotations

from functools import lru_cache

from proof_r1_formal.engine.oracle import Oracle
from proof_r1_formal.kernel.pattern import Lambda
from proof_r1_formal.kernel.syntax import Formula, Var
from proof_r1_formal.proof.action import Action
from proof_r1_formal.proof.report import RuleReport
from proof_r1_formal.rules.check import Match, RuleResult, Undecided, check_rule
from proof_r1_formal.rules.manifest import title
from proof_r1_formal.rules.schema import Catalogue, Rule
from proof_r1_formal.text.show import show, show_term

CHECK_STEPS = 400_000
"""Budget of the questions of one rule check."""


class RuleChecker:
    """Checks steps against the rules of a catalogue. A result does not depend on earlier ones.

    Args:
        rules: that actions may name.
        oracle: answers the questions of the checks.
        aliases: whether other spellings of rule names are accepted.
        atomic: whether dependencies must state the minor premises of an instance.
        memory: how many results are cached.

    Attributes:
        system: the name of the rules in reports: the title of the catalogue, and ``atomic`` if steps must be atomic.
    """

    def __init__(
        self, rules: Catalogue, oracle: Oracle, *, aliases: bool = False, atomic: bool = False, memory: int = 1 << 13
    ) -> None:
        self.rules = rules
        self.atomic = atomic
        self.system = f"{title(rules)}, atomic" if atomic else title(rules)
        self._aliases = aliases
        self._oracle = oracle
        self._check = lru_cache(maxsize=memory)(self._check_once)

    def rule_of(self, action: Action) -> Rule | None:
        """The rule that an action names; None if the catalogue does not contain it."""
        return self.rules.find(action.rule or "", aliases=self._aliases)

    def match(
        self, rule: str, dependencies: tuple[Formula, ...], conclusion: Formula, *, terminal: bool, budget: Oracle
    ) -> tuple[RuleResult, RuleReport | None]:
        """Whether a step is an instance of a rule, and the instance as text (without ids).

        Args:
            rule: its name in the catalogue.
            dependencies, conclusion: of the step.
            terminal: whether the step binds the answer.
            budget: pays for the check. Once it is spent, the check stays undecided.
        """
        if (spent := budget.spent) is not None:
            return Undecided(spent.detail), None
        result, report, steps = self._check(rule, dependencies, conclusion, terminal)
        budget.charge(steps)
        return (result, report) if (spent := budget.spent) is None else (Undecided(spent.detail), None)

    def _check_once(
        self, rule: str, dependencies: tuple[Formula, ...], conclusion: Formula, terminal: bool
    ) -> tuple[RuleResult, RuleReport | None, int]:
        """The result of :meth:`match`, and the price of the check, which has a budget of its own."""
        known = self.rules.find(rule)
        assert known is not None
        oracle = self._oracle.with_budget(CHECK_STEPS, "rule check")
        hypotheses = self.rules.hypotheses
        result = check_rule(known, dependencies, conclusion, oracle, terminal=terminal, hypotheses=hypotheses)
        return result, _rule_report(result) if isinstance(result, Match) else None, oracle.charged


def _rule_report(matched: Match) -> RuleReport:
    """The instance as text, but for the ids of dependencies."""
    substitution: dict[str, str] = {}
    for name, value in matched.substitution.items():
        if isinstance(value, Lambda):
            text = show(value.body)
            for variable in reversed(value.variables):
                text = f"λ{variable.name}. {text}"
            substitution[name] = text
        elif not isinstance(value, Var):  # the name of a bound variable says nothing
            substitution[name] = show_term(value)
    minor = tuple([show(formula) for formula in matched.minor])
    return RuleReport(schema=matched.schema.name, substitution=substitution, principal=(), minor=minor)
