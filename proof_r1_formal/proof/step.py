"""The four checks of one action, given the actions admitted before it.

In: an action, the state after earlier actions, and the rules. Out: a :class:`Verdict`. Only the budget changes;
``proof.session`` admits the action to the state.

*Schema*: is it well formed beside the problem and the earlier actions? *Semantic*: do its dependencies entail its
conclusion? *Rule*: is it an instance of the rule that it names? *Progress*: does it add anything? Equivalence, not
spelling, decides that, so a model earns nothing for A ∧ B, (A ∧ B) ∧ A, ¬¬A and so on.

One module, because the four checks share the state and the verdict of the action.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from msgspec import structs

from proof_r1_formal.engine.oracle import Oracle
from proof_r1_formal.engine.solver import engine_of
from proof_r1_formal.engine.truth_table import SemanticKey, fingerprints_differ, semantic_key, single
from proof_r1_formal.errors import SignatureError
from proof_r1_formal.kernel.answer import Answer, Entailed, Evidence, Reason, Refuted, Unknown
from proof_r1_formal.kernel.pattern import Lambda
from proof_r1_formal.kernel.signature import SignatureBuilder
from proof_r1_formal.kernel.syntax import Formula, Var
from proof_r1_formal.proof.action import Action
from proof_r1_formal.proof.answer import binding_findings
from proof_r1_formal.proof.context import ProblemContext
from proof_r1_formal.proof.report import Code, Finding, ModelReport, RuleReport, StepReport
from proof_r1_formal.rules.check import Match, NoMatch, RuleResult, Undecided, check_rule
from proof_r1_formal.rules.manifest import title
from proof_r1_formal.rules.schema import GOAL_BINDING, Catalogue, Rule
from proof_r1_formal.text.show import show, show_term

# -- the rule check ----------------------------------------------------------------------------------------------------


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


# -- the progress check ------------------------------------------------------------------------------------------------


class AdmittedConclusions:
    """The conclusions admitted so far, found again by semantic key, or by fingerprint once one of them has no key."""

    def __init__(self) -> None:
        self._by_key: dict[SemanticKey | None, list[tuple[str, Formula]]] = {}
        self._by_fingerprint: dict[int, list[tuple[str, Formula]]] = {}
        self._waiting: list[tuple[str, Formula]] = []  # not yet entered by fingerprint

    def add(self, action_id: str, formula: Formula) -> None:
        """Remember an admitted conclusion."""
        self._by_key.setdefault(semantic_key(formula), []).append((action_id, formula))
        self._waiting.append((action_id, formula))

    def remove_last(self, formula: Formula) -> None:
        """Forget the conclusion that was added last, which is ``formula``."""
        key = semantic_key(formula)
        self._by_key[key].pop()
        if not self._by_key[key]:  # an entry for None says that some conclusion has no key
            del self._by_key[key]
        if self._waiting:
            self._waiting.pop()
        else:
            self._by_fingerprint[single(formula)].pop()

    def candidates(self, formula: Formula) -> Sequence[tuple[str, Formula]]:
        """The admitted conclusions that may be equivalent to ``formula``, with the ids of their actions."""
        key = semantic_key(formula)
        if key is not None and None not in self._by_key:
            return self._by_key.get(key, ())
        for name, admitted in self._waiting:
            self._by_fingerprint.setdefault(single(admitted), []).append((name, admitted))
        self._waiting.clear()
        alike = self._by_fingerprint.get(single(formula), ())
        return [(name, admitted) for name, admitted in alike if not fingerprints_differ(formula, admitted)]


def progress_findings(
    conclusion: Formula,
    dependencies: Mapping[str, Formula],
    admitted: AdmittedConclusions,
    oracle: Oracle,
    *,
    exempt: str | None = None,
) -> tuple[Finding, ...]:
    """Why the conclusion is not progress; empty if it is. A question that stays undecided is a reason, too.

    Args:
        conclusion: of the action.
        dependencies: id -> formula, those that resolve.
        admitted: conclusions of earlier admitted actions.
        oracle: answers the questions of equivalence.
        exempt: id of a dependency that the conclusion may be equivalent to (a quantifier negation's principal premise).
    """
    answer = oracle.valid(conclusion)
    if not isinstance(answer, Refuted):
        return (_finding(answer, Code.TAUTOLOGY, "the conclusion is a tautology"),)
    for name, formula in dependencies.items():
        if name != exempt:
            answer = oracle.equivalent(conclusion, formula)
            if not isinstance(answer, Refuted):
                restates = f"the conclusion only restates its dependency {name}"
                return (_finding(answer, Code.RESTATES_DEPENDENCY, restates, name),)
    for name, formula in admitted.candidates(conclusion):
        if name != exempt:
            answer = oracle.equivalent(conclusion, formula)
            if not isinstance(answer, Refuted):
                return (_finding(answer, Code.REPEATS_CONCLUSION, f"the conclusion repeats that of {name}", name),)
    return ()


def _finding(answer: Entailed | Unknown, code: Code, message: str, *names: str) -> Finding:
    """The finding on progress after an answer other than a clear no."""
    if isinstance(answer, Entailed):
        return Finding(code, message, names)
    undecided = f"whether {message} stayed undecided ({answer.reason})"
    return Finding(Code.PROGRESS_UNDECIDED, undecided, names, broken=answer.reason is Reason.BROKEN)


# -- all four checks ---------------------------------------------------------------------------------------------------


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

    def check(self, action: Action, state: State, *, fits: bool, terminal: bool) -> Verdict:
        """The verdicts on an action in a state. The state is not changed.

        Args:
            action: with the problem's sorts written into its conclusion.
            state: after the earlier actions.
            fits: whether the problem has every symbol of the conclusion, used in the same way.
            terminal: whether the action binds the answer.
        """
        verdict = Verdict(action.findings)
        self._schema_check(action, state, verdict, fits=fits)
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

    def _schema_check(self, action: Action, state: State, verdict: Verdict, *, fits: bool) -> None:
        """Check what only the problem and the earlier actions can tell."""
        symbols = state.symbols
        if action.id is not None and action.id in state.ids:
            taken = "a premise" if action.id in self._context.premises else "an earlier action"
            verdict.findings.append(Finding(Code.DUPLICATE_ID, f"id {action.id!r} is already {taken}"))
        clashes = Code.SYMBOL_CLASH in {finding.code for finding in action.findings}
        if action.formula is not None and not (fits or clashes):
            try:  # the admitted conclusions may have brought the same symbol, used in another way
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
