"""The four checks of one action, given the actions admitted before it.

In: an action, the state after earlier actions, and the rules. Out: a :class:`Verdict`. Only the budget changes;
``proof.session`` admits the action to the state.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec import structs

from proof_r1_formal.engine.oracle import Oracle
from proof_r1_formal.engine.solver import engine_of
from proof_r1_formal.errors import SignatureError
from proof_r1_formal.kernel.answer import Answer, Entailed, Reason, Refuted, Unknown
from proof_r1_formal.kernel.confirm import Evidence
from proof_r1_formal.kernel.signature import SignatureBuilder
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.proof.action import Action
from proof_r1_formal.proof.answer import binding_findings
from proof_r1_formal.proof.context import ProblemContext
from proof_r1_formal.proof.progress import AdmittedConclusions, progress_findings
from proof_r1_formal.proof.report import Code, Finding, ModelReport, RuleReport, StepReport
from proof_r1_formal.proof.rule_check import RuleChecker
from proof_r1_formal.rules.check import Match, NoMatch, Undecided
from proof_r1_formal.rules.schema import GOAL_BINDING
from proof_r1_formal.text.show import show

MALFORMED, UNSUPPORTED, UNRULED, VERIFIED = 0.0, 0.1, 0.3, 1.0
"""The four signals: not well formed; not entailed; entailed but no rule instance or no progress; all four checks."""

QUANTIFIER_NEGATION: Final = "QUANTIFIER_NEGATION"


class State:
    """The state after the earlier actions of a trace.

    Attributes:
        semantic: id -> formula of the premises, and of the actions that are well formed and entailed.
        rule: of those that are also instances of their rules.
        admitted: the conclusions in ``semantic`` that are not premises.
        ids: of the premises and of all actions, admitted or not.
        symbols: of the problem and of the admitted conclusions.
    """

    __slots__ = ("admitted", "ids", "rule", "semantic", "symbols")

    def __init__(self, context: ProblemContext) -> None:
        self.semantic = dict(context.premises)
        self.rule = dict(context.premises)
        self.admitted = AdmittedConclusions()
        self.ids = set(context.premises)
        self.symbols: SignatureBuilder = context.symbols


class Verdict:
    """The verdicts on one action during its checks; one that is not known yet is negative.

    Args:
        findings: from reading it.

    Attributes:
        mismatched: whether the action is terminal and does not state the option that it names.
        answer: to the question whether the admitted dependencies entail the conclusion, if it was asked.
        symbols: known once the action is admitted.
    """

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.schema = self.semantic = self.rule = self.progress = self.mismatched = False
        self.findings = list(findings)
        self.instance: RuleReport | None = None
        self.countermodel: ModelReport | None = None
        self.evidence: Evidence | None = None
        self.engine: str | None = None
        self.used: tuple[str, ...] | None = None
        self.answer: Answer | None = None
        self.symbols: SignatureBuilder | None = None

    @property
    def signal(self) -> float:
        if not self.schema:
            return MALFORMED
        if not self.semantic:
            return UNSUPPORTED
        return VERIFIED if self.rule and self.progress else UNRULED

    def report(self, action: Action, *, terminal: bool) -> StepReport:
        """The verdicts as plain data; without later actions, only a terminal one is inside a closure."""
        return StepReport(
            action.id,
            action.span,
            action.rule,
            action.dependencies,
            action.conclusion,
            schema=self.schema,
            semantic=self.semantic,
            rule=self.rule,
            progress=self.progress,
            in_closure=terminal,
            terminal=terminal,
            signal=self.signal,
            findings=tuple(self.findings),
            instance=self.instance,
            countermodel=self.countermodel,
            evidence=self.evidence,
            engine=self.engine,
            used=self.used,
        )


class StepChecker:
    """Checks the actions of one trace.

    Args:
        context: of the problem.
        rules: of the rule check.
        oracle: answers the other questions, and charges the trace for all.
    """

    def __init__(self, context: ProblemContext, rules: RuleChecker, oracle: Oracle) -> None:
        self._context = context
        self._rules = rules
        self._oracle = oracle

    def check(self, action: Action, state: State, *, terminal: bool) -> Verdict:
        """The verdicts on an action in a state. The state is not changed.

        Args:
            action: with the problem's sorts written into its conclusion.
            state: after the earlier actions.
            terminal: whether the action binds the answer.
        """
        verdict = Verdict(action.findings)
        self._schema_check(action, state, verdict)
        formula = action.formula
        if not verdict.schema or formula is None or action.id is None:
            return verdict
        known = {name: state.semantic[name] for name in action.dependencies if name in state.semantic}
        dependencies = tuple([known[name] for name in action.dependencies if name in known])
        if len(dependencies) == len(action.dependencies):
            self._entailment_check(action, formula, dependencies, verdict)
        else:
            lacking = [name for name in action.dependencies if name not in known]
            verdict.findings.extend([_why_unresolved(action, name, state) for name in lacking])
        if terminal:
            mismatch = binding_findings(self._context.problem, action.id, formula, self._oracle)
            verdict.mismatched = bool(mismatch)
            verdict.findings.extend(mismatch)
        rule = self._rules.rule_of(action)
        matched = None
        if rule is None:
            problem = f"there is no rule {action.rule!r} in the catalogue {self._rules.rules.name!r}"
            verdict.findings.append(Finding(Code.UNKNOWN_RULE, problem))
        elif verdict.answer is not None:
            matched = self._rule_check(rule.name, action, formula, dependencies, state, verdict, terminal=terminal)
        if terminal and rule is not None and rule.name == GOAL_BINDING:  # it restates by nature
            verdict.progress = not verdict.mismatched
            return verdict
        exempt = None
        if matched is not None and rule is not None and rule.name == QUANTIFIER_NEGATION:
            exempt = next(iter(_principal_of(matched, action)), None)
        findings = progress_findings(formula, known, state.admitted, self._oracle, exempt=exempt)
        verdict.findings.extend(findings)
        verdict.progress = not findings and not verdict.mismatched
        return verdict

    def _schema_check(self, action: Action, state: State, verdict: Verdict) -> None:
        """Check what only the problem and the earlier actions can tell."""
        symbols = state.symbols
        if action.id is not None and action.id in state.ids:
            taken = "a premise" if action.id in self._context.premises else "an earlier action"
            verdict.findings.append(Finding(Code.DUPLICATE_ID, f"id {action.id!r} is already {taken}"))
        if action.formula is not None and Code.SYMBOL_CLASH not in {finding.code for finding in action.findings}:
            try:
                symbols = symbols.extend(action.formula)
            except SignatureError as error:
                verdict.findings.append(Finding(Code.SYMBOL_CLASH, str(error)))
        verdict.schema = not verdict.findings
        verdict.symbols = symbols

    def _entailment_check(
        self, action: Action, formula: Formula, dependencies: tuple[Formula, ...], verdict: Verdict
    ) -> None:
        """Check whether the dependencies, all of them admitted, entail the conclusion."""
        confirmation = self._oracle.decide(dependencies, formula)
        verdict.answer = answer = confirmation.answer
        if not isinstance(answer, Unknown):
            verdict.evidence = None if self._oracle.evidence == "none" else confirmation.evidence
            verdict.engine = engine_of(answer, self._oracle.solver)
        match answer:
            case Entailed():
                verdict.semantic = True
                verdict.used = None if confirmation.used is None else action.dependencies
                if confirmation.used is not None and len(confirmation.used) < len(action.dependencies):
                    verdict.used = tuple([n for i, n in enumerate(action.dependencies) if i in confirmation.used])
                    unused = tuple([n for i, n in enumerate(action.dependencies) if i not in confirmation.used])
                    problem = f"the conclusion follows without {', '.join(unused)}"
                    verdict.findings.append(Finding(Code.UNUSED_DEPENDENCY, problem, unused))
            case Refuted(model):
                verdict.findings.append(Finding(Code.NOT_ENTAILED, "the dependencies do not entail the conclusion"))
                verdict.countermodel = None if model is None else ModelReport.of(model)
            case Unknown(reason, detail):
                problem = f"whether the dependencies entail the conclusion stayed undecided ({reason}: {detail})"
                verdict.findings.append(Finding(Code.UNDECIDED, problem, broken=reason is Reason.BROKEN))

    def _rule_check(
        self,
        rule: str,
        action: Action,
        formula: Formula,
        dependencies: tuple[Formula, ...],
        state: State,
        verdict: Verdict,
        *,
        terminal: bool,
    ) -> Match | None:
        lacking = tuple([name for name in action.dependencies if name not in state.rule])
        if lacking:
            problem = f"not verified as instances of their own rules: {', '.join(lacking)}"
            verdict.findings.append(Finding(Code.RULE_UNTRUSTED_DEPENDENCY, problem, lacking))
            return None
        if isinstance(verdict.answer, Refuted):  # an instance of a sound rule would be entailed
            verdict.findings.append(Finding(Code.NO_RULE_MATCH, f"a refuted step is not an instance of {rule}"))
            return None
        if verdict.evidence == "unsupported":  # the signal of a step that no proof supports is never 1
            problem = f"{rule}: only {verdict.engine} says that the step is entailed, without a proof"
            verdict.findings.append(Finding(Code.RULE_UNDECIDED, problem))
            return None
        result, report = self._rules.match(rule, dependencies, formula, terminal=terminal, budget=self._oracle)
        match result:
            case Match() as matched:
                if rule == GOAL_BINDING and verdict.mismatched:
                    return None
                if matched.unstated:
                    verdict.findings.append(_compound(matched))
                    if self._rules.atomic:
                        problem = f"the step is not an instance of {rule} whose premises are stated"
                        verdict.findings.append(Finding(Code.NO_RULE_MATCH, problem))
                        return None
                verdict.rule = True
                if report is not None:
                    verdict.instance = structs.replace(report, principal=_principal_of(matched, action))
                return matched
            case NoMatch():
                problem = f"the step is not an instance of {rule}"
                if rule == GOAL_BINDING:
                    problem += "; the last action binds an option's formula that is one of its dependencies"
                verdict.findings.append(Finding(Code.NO_RULE_MATCH, problem))
            case Undecided(why, broken):
                verdict.findings.append(Finding(Code.RULE_UNDECIDED, f"{rule}: {why}", broken=broken))
        return None


def _why_unresolved(action: Action, name: str, state: State) -> Finding:
    """Why a dependency does not resolve: an earlier action is not admitted, or there is no such earlier action."""
    if name == action.id:
        return Finding(Code.MISSING_DEPENDENCY, f"dependency {name!r} is this action itself", (name,))
    if name in state.ids:
        return Finding(Code.UNTRUSTED_DEPENDENCY, f"the earlier action {name!r} is not admitted", (name,))
    return Finding(Code.MISSING_DEPENDENCY, f"{name!r} names no premise and no earlier action", (name,))


def _principal_of(matched: Match, action: Action) -> tuple[str, ...]:
    """The names of the dependencies that hold principal premises; hypotheses of the step have none."""
    names = action.dependencies
    return tuple([names[anchor.dependency] for anchor in matched.principal if anchor.dependency < len(names)])


def _compound(matched: Match) -> Finding:
    shown = ", ".join([show(formula) for formula in matched.unstated])
    return Finding(Code.COMPOUND_STEP, f"two inferences in one: the dependencies entail {shown}, but none states it")
