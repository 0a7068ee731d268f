"""A derivation as short steps of a rule catalogue.

In: a derivation (``generate.from_evidence``) and a verifier, whose catalogue lets steps stand under
hypotheses. Out: inferences, each an instance of its rule. A node that its consumers can do without is left out: they
then follow from what it follows from, by one rule each. Work is counted in steps of RuleCheck.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from proof_r1_formal.engine.oracle import QUESTION, Answers, Oracle
from proof_r1_formal.engine.solver import Budget, BudgetSpentError
from proof_r1_formal.generate.from_evidence import Derivation, derivation
from proof_r1_formal.generate.search import Inference
from proof_r1_formal.kernel.answer import Confirmation, Entailed
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.kernel.term import Proof
from proof_r1_formal.proof.action import MAX_DEPENDENCIES
from proof_r1_formal.proof.report import Code
from proof_r1_formal.proof.step import CHECK_STEPS, AdmittedConclusions, progress_findings
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.catalogue import COMPLETE, FOLIO
from proof_r1_formal.rules.check import Match, check_rule
from proof_r1_formal.rules.schema import GOAL_BINDING, Catalogue
from proof_r1_formal.text.equivalence import regroup

BUDGET: Final = 8_000_000
"""How many steps the questions to RuleCheck of a translation may cost together, ``QUESTION`` for each of them besides;
those of ProofCheck may cost a quarter of that."""
_MAX_NODES: Final = 600
"""Derivations of more nodes are not translated: nobody would read the proof."""
_QUICK: Final = 3_000
"""Budget of one of them, a small part of what the check of an action may cost."""
_THOROUGH: Final = 100_000
"""The same where no rule was found for a step that nothing can do without."""
_CONDITIONAL: Final = ("REDUCTIO_AD_ABSURDUM", "MODUS_TOLLENS", "DISJUNCTIVE_SYLLOGISM", "EXISTENTIAL_ELIMINATION")
"""The rules by which suppositions end. Their checks are the expensive ones: what is supposed may be a long formula."""
_MAX_CONSUMERS: Final = 3
"""A node that more steps use is not left out."""
_PASSES: Final = 3
_FIRST: Final = (
    "IMPLICATION_ELIMINATION",
    "MODUS_TOLLENS",
    "CONJUNCTION_ELIMINATION",
    "UNIVERSAL_ELIMINATION",
    "DISJUNCTIVE_SYLLOGISM",
    "CONJUNCTION_INTRODUCTION",
    "EXISTENTIAL_INTRODUCTION",
    "REDUCTIO_AD_ABSURDUM",
    "EXISTENTIAL_ELIMINATION",
)
"""The rules that most steps are by, asked first."""


@dataclass(slots=True)
class _Step:
    """A step that is being shortened; without a rule, none was found that it is an instance of."""

    formula: Formula
    dependencies: tuple[int, ...]
    rule: str | None


def searched_rules(catalogue: Catalogue) -> Catalogue:
    """The rules of a catalogue that the search of ``generate.search`` tries."""
    if not catalogue.hypotheses:
        return catalogue
    added = [rule for rule in COMPLETE.rules if rule not in FOLIO.rules]
    return replace(catalogue, rules=tuple([rule for rule in catalogue.rules if rule not in added]), aliases={})


class Translator:
    """Writes derivations as steps of the verifier's catalogue."""

    def __init__(self, verifier: Verifier) -> None:
        self._verifier = verifier
        names = [rule.name for rule in verifier.rules.rules if rule.name != GOAL_BINDING]
        self._rules = sorted(names, key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST))

    def inferences(
        self, proof: Proof, premises: Sequence[Formula], conclusion: Formula
    ) -> tuple[list[tuple[int, Inference]], int] | None:
        """The numbered inferences that end with the conclusion, and its number; None if one is by no rule.

        Args:
            proof: that the checker accepts.
            premises, conclusion: closed formulas; the premises have the first numbers.
        """
        found = derivation(proof, premises, conclusion)
        if found is None or len(found.nodes) > _MAX_NODES:
            return None
        shortening = _Shortening(self._verifier, self._rules, found, len(premises))
        for find in (shortening.find_rules, shortening.find_expensive_rules):
            if find():
                shortening.run()
                if (inferences := shortening.inferences()) is not None:
                    return inferences
        return None


class _Shortening:
    """The steps of one derivation."""

    def __init__(self, verifier: Verifier, rules: list[str], derivation: Derivation, premises: int) -> None:
        self._verifier = verifier
        self._oracle: Oracle = verifier.oracle.with_budget(BUDGET // 4, "translation")
        self._rules = rules
        self._conditional = [rule for rule in _CONDITIONAL if rule in rules]
        self._premises = premises
        self._derivation = derivation
        self._end = derivation.end
        self._budget = Budget(BUDGET)
        self._asked: set[tuple[tuple[Formula, ...], Formula]] = set()
        self._known: dict[tuple[frozenset[Formula], Formula], str | None] = {}
        self._formulas = [node.formula for node in derivation.nodes]
        self._steps: dict[int, _Step] = {}

    def find_rules(self) -> bool:
        """Ask for the rule of each step of the derivation; False if the budget ended before."""
        self._restore()
        try:
            for step in self._steps.values():
                step.rule = self._rule(step.formula, step.dependencies)
        except BudgetSpentError:
            return False
        return True

    def find_expensive_rules(self) -> bool:
        """The same from the start and with a new budget, where each step may cost as much as the check of an action.

        Another new budget pays for what comes next. False also if a step is by no rule.
        """
        self._restore()
        self._budget = Budget(BUDGET)
        try:
            for step in self._steps.values():
                step.rule = self._rule(step.formula, step.dependencies) or self._expensive_rule(step)
                if step.rule is None:
                    return False
        except BudgetSpentError:
            return False
        self._budget = Budget(BUDGET)
        return True

    def _restore(self) -> None:
        """Take the steps that the end of the derivation needs."""
        self._end = self._derivation.end
        self._steps.clear()
        wanted = {self._end}
        for number in range(self._end, self._premises - 1, -1):
            if number in wanted:
                wanted.update(self._derivation.nodes[number].dependencies)
        for number in sorted(wanted):
            if number >= self._premises:
                node = self._derivation.nodes[number]
                self._steps[number] = _Step(node.formula, node.dependencies, None)

    def run(self) -> None:
        """Leave out what can be, within the budget."""
        try:
            for _ in range(_PASSES):
                before = len(self._steps)
                self._leave_out(self._empty())
                self._leave_out(list(self._steps))
                if len(self._steps) == before:
                    break
            for _, step in self.missing():
                given = tuple([self._formulas[number] for number in step.dependencies])
                step.rule = next(self._matching(given, step.formula, self._rules, _THOROUGH), None)
        except BudgetSpentError:
            return

    def _end_sooner(self) -> None:
        """Bind the claim in other words, if the step that says it as written is by no rule, or not progress."""
        step = self._steps.get(self._end)
        while step is not None and len(step.dependencies) == 1 and step.dependencies[0] in self._steps:
            (before,) = step.dependencies
            if step.rule is not None and not self._restates(step.formula, self._formulas[before]):
                return
            del self._steps[self._end]
            self._end = before
            step = self._steps[before]

    def _restates(self, formula: Formula, other: Formula) -> bool:
        if regroup(formula) is regroup(other):
            return True
        valid = isinstance(self._oracle.valid(formula), Entailed)
        return not valid and isinstance(self._oracle.equivalent(formula, other), Entailed)

    def inferences(self) -> tuple[list[tuple[int, Inference]], int] | None:
        """The result, see :meth:`Translator.inferences`."""
        self._end_sooner()
        if any(step.rule is None for step in self._steps.values()):
            return None
        return [
            (n, Inference(s.rule or "", s.dependencies, s.formula)) for n, s in sorted(self._steps.items())
        ], self._end

    def missing(self) -> list[tuple[int, _Step]]:
        """The steps without a rule."""
        return [(n, s) for n, s in self._steps.items() if s.rule is None]

    # -- leaving out --------------------------------------------------------------------------------------------------

    def _empty(self) -> list[int]:
        """The steps that make no progress, and those by no rule."""
        admitted = AdmittedConclusions()
        found: list[int] = []
        for number in sorted(self._steps):
            if number not in self._steps:
                continue
            step = self._steps[number]
            given = {str(d): self._formulas[d] for d in step.dependencies}
            findings = progress_findings(step.formula, given, admitted, self._oracle)
            if findings or step.rule is None:
                found.append(number)
            else:
                admitted.add(str(number), step.formula)
            for finding in findings:
                if finding.code in (Code.RESTATES_DEPENDENCY, Code.REPEATS_CONCLUSION):
                    self._replace(number, (int(finding.dependencies[0]),))
        return [number for number in found if number in self._steps]

    def _leave_out(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            if number in self._steps and number != self._end:
                self._replace(number, self._steps[number].dependencies)
            elif number in self._steps and self._steps[number].rule is None:
                for dependency in self._steps[number].dependencies:  # the end itself is by no rule
                    if dependency in self._steps:
                        self._inline(number, dependency)

    def _inline(self, number: int, dependency: int) -> None:
        """Let a step follow from what one of its dependencies follows from, if it is by a rule then."""
        step = self._steps[number]
        given = _without(step.dependencies, dependency, self._steps[dependency].dependencies)
        rule = self._rule(step.formula, given) if len(given) <= MAX_DEPENDENCIES else None
        if rule is not None:
            self._steps[number] = _Step(step.formula, given, rule)
            self._drop_unused()

    def _replace(self, number: int, by: tuple[int, ...]) -> None:
        """Let the steps that use one use others instead, if each is by a rule then."""
        consumers = [n for n, step in self._steps.items() if number in step.dependencies]
        if number == self._end or len(consumers) > _MAX_CONSUMERS:
            return
        changed: dict[int, _Step] = {}
        for consumer in consumers:
            step = self._steps[consumer]
            given = _without(step.dependencies, number, by)
            if len(given) > MAX_DEPENDENCIES:
                return
            rule = self._rule(step.formula, given, first=step.rule)
            if rule is None:
                return
            changed[consumer] = _Step(step.formula, given, rule)
        self._steps.update(changed)
        self._drop_unused()

    def _drop_unused(self) -> None:
        wanted = {self._end}
        for number in sorted(self._steps, reverse=True):
            if number in wanted:
                wanted.update(self._steps[number].dependencies)
            else:
                del self._steps[number]

    def _rule(self, formula: Formula, dependencies: tuple[int, ...], *, first: str | None = None) -> str | None:
        """The first rule that a step is an instance of, with nothing unstated; None without one."""
        given = tuple([self._formulas[number] for number in dependencies])
        key = frozenset(given), formula
        if key not in self._known:
            rules = dict.fromkeys((*((first,) if first is not None else ()), *self._rules))
            found = (r for plainly in (True, False) for r in self._matching(given, formula, rules, _QUICK, plainly))
            self._known[key] = next(found, None)
        return self._known[key]

    def _expensive_rule(self, step: _Step) -> str | None:
        """The first rule of those by which suppositions end that a step is an instance of, the cheaper checks first."""
        given = tuple([self._formulas[number] for number in step.dependencies])
        budgets = (_THOROUGH, CHECK_STEPS)
        found = (rule for most in budgets for rule in self._matching(given, step.formula, self._conditional, most))
        rule = self._known[frozenset(given), step.formula] = next(found, None)
        return rule

    def _matching(
        self, given: tuple[Formula, ...], formula: Formula, rules: Iterable[str], most: int, plainly: bool = False
    ) -> Iterator[str]:
        for rule in rules:
            known = self._verifier.rules.find(rule)
            assert known is not None
            oracle = CheckOracle(self._verifier.oracle.answers, most, self._asked)
            found = check_rule(known, given, formula, oracle, hypotheses=True, plainly=plainly)
            self._budget.spend(QUESTION + oracle.charged - oracle.repeated)
            if isinstance(found, Match) and not found.unstated:
                yield rule


class CheckOracle(Oracle):
    """The oracle of one rule check, which tells what it paid for questions that earlier checks had asked.

    Args:
        asked: the questions so far; those of the check are added.

    Attributes:
        repeated: the part of ``charged`` for questions asked before.
    """

    def __init__(self, answers: Answers, budget: int, asked: set[tuple[tuple[Formula, ...], Formula]]) -> None:
        super().__init__(answers, budget, "rule check")
        self.repeated = 0
        self._asked = asked

    def ask(self, dependencies: tuple[Formula, ...], conclusion: Formula) -> Confirmation:
        before = self.charged
        found = super().ask(dependencies, conclusion)
        if (dependencies, conclusion) in self._asked:
            self.repeated += self.charged - before
        elif self.charged > before:
            self._asked.add((dependencies, conclusion))
        return found


def _without(dependencies: tuple[int, ...], number: int, by: tuple[int, ...]) -> tuple[int, ...]:
    """The dependencies with others in the place of one."""
    found: list[int] = []
    for dependency in dependencies:
        found += by if dependency == number else (dependency,)
    return tuple(dict.fromkeys(found))
