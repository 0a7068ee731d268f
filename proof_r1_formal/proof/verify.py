"""The verifier: a problem and a completion to a report with four verdicts per action and the closure of the answer.

This is the only orchestrator. It keeps two maps that start empty, the *semantic state* and the stricter *rule state*.
An action is admitted to the first if it is well formed and entailed by its dependencies, all of them admitted before,
and to the second if it is also an instance of its rule over that state. A later action can use only what was admitted.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Literal, TypeAlias

from msgspec import structs

from proof_r1_formal.data.problem import UNCERTAIN, Problem
from proof_r1_formal.errors import SignatureError, SolverError
from proof_r1_formal.evidence.confirm import Confirmed, Evidence, confirm
from proof_r1_formal.evidence.embedded import EmbeddedSolver
from proof_r1_formal.evidence.kernel import KernelEvidence
from proof_r1_formal.evidence.lean import HINT
from proof_r1_formal.logic.pattern import Lambda
from proof_r1_formal.logic.show import show, show_term
from proof_r1_formal.logic.signature import SignatureBuilder
from proof_r1_formal.logic.syntax import Formula, Not, Var
from proof_r1_formal.proof.action import Action, Trace, read_completion
from proof_r1_formal.proof.answer import (
    Consistency,
    Openness,
    answer_findings,
    binding_findings,
    is_verified,
    selected_option,
    terminal_index,
)
from proof_r1_formal.proof.closure import Closure, closure_of
from proof_r1_formal.proof.progress import AdmittedConclusions, progress_findings
from proof_r1_formal.proof.report import Code, Finding, ModelReport, RuleReport, StepReport, TraceReport
from proof_r1_formal.proof.sorts import conclusions_with_sorts, with_sorts
from proof_r1_formal.rules.catalogue import TRAIN
from proof_r1_formal.rules.check import Match, NoMatch, RuleResult, Undecided, check_rule
from proof_r1_formal.rules.manifest import require_proved
from proof_r1_formal.rules.schema import GOAL_BINDING, Catalogue, Rule
from proof_r1_formal.solvers.base import Answer, Entailed, Query, Refuted, Solver, Unknown
from proof_r1_formal.solvers.oracle import QUESTION, Metered, Oracle

MALFORMED, UNSUPPORTED, UNRULED, VERIFIED = 0.0, 0.1, 0.3, 1.0
"""The four signals: not well formed; not entailed; entailed but no rule instance or no progress; all four checks."""

QUANTIFIER_NEGATION = "QUANTIFIER_NEGATION"

TRACE_STEPS = 1_000_000
"""What all questions and rule checks of a trace may cost together; what is left then stays undecided."""
CHECK_STEPS = 400_000
"""What the questions of one rule check may cost."""

_REMEMBERED_PROBLEMS = 256
_REMEMBERED_STEPS = 1 << 14

EvidenceLevel: TypeAlias = Literal["none", "checked", "kernel"]
"""Whether the evidence of verdicts on entailment is checked again: by what is simpler than what found it, or by Lean's
kernel, too."""


class Verifier:
    """Verifies completions with one solver and one rule catalogue; verdicts do not depend on what it verified before.

    Args:
        solver: decides entailment; the embedded engine if None.
        rules: the rules that actions may name.
        evaluation: whether an answer may also be selected by its formula when the terminal action's id is no option's;
            never in training.
        aliases: whether other spellings of rule names count; never in training.
        atomic: whether an instance of a rule counts only if dependencies state its minor premises; being entailed is
            not enough then.
        evidence: whether the proof or countermodel of each entailment verdict is ``checked``, also by a ``kernel``, or
            ``none`` is asked for.
        kernel: which kernel that is.

    Raises:
        CatalogueError: a schema of the catalogue is no theorem in its manifest.
        DataError: the manifest cannot be read.
        SolverError: kernel evidence is wanted, and there is no kernel.
    """

    def __init__(
        self,
        solver: Solver | None = None,
        *,
        rules: Catalogue = TRAIN,
        evaluation: bool = True,
        aliases: bool = False,
        atomic: bool = False,
        evidence: EvidenceLevel = "checked",
        kernel: KernelEvidence | None = None,
    ) -> None:
        require_proved(rules)
        self.rules = rules
        self.evaluation = evaluation
        self.aliases = aliases
        self.atomic = atomic
        self.evidence = evidence
        if evidence == "kernel" and kernel is None:
            raise SolverError("lean", f"there is no kernel to check evidence with; {HINT}")
        self.kernel = kernel if evidence == "kernel" else None
        solver = EmbeddedSolver() if solver is None else solver
        self.oracle = Oracle(solver, tables=isinstance(solver, EmbeddedSolver))
        self.justify = lru_cache(maxsize=_REMEMBERED_STEPS)(self._justified)
        self.match_rule = lru_cache(maxsize=_REMEMBERED_STEPS)(self._matched_rule)
        self._prepared: OrderedDict[int, _Prepared] = OrderedDict()

    def verify(self, problem: Problem, completion: str, *, sample: int = 0) -> TraceReport:
        """Check every action of a completion.

        Args:
            problem: the question with its formal premises.
            completion: the model's whole answer, as text.
            sample: number of the completion among those of the problem, for the report.

        Raises:
            SignatureError: the problem itself uses a symbol in two ways.
            SolverError: the solver is missing or broken.
        """
        return self._run(problem, completion).report(sample)

    def entailments(self, problem: Problem, completion: str) -> tuple[tuple[Query, Answer], ...]:
        """The questions of entailment that the actions of a completion raise, with the answers that count."""
        run = self._run(problem, completion)
        run.report(0)
        return tuple(run.entailments)

    def price(self, problem: Problem, completion: str) -> int:
        """What verifying a completion costs, in steps; past ``TRACE_STEPS``, what is left of it stays undecided."""
        run = self._run(problem, completion)
        run.report(0)
        return run.steps

    def read(self, problem: Problem, completion: str) -> tuple[Problem, Trace]:
        """The problem and the actions as they are checked: with the problem's sorts written into all formulas.

        Raises:
            SignatureError: the problem itself uses a symbol in two ways.
        """
        prepared = self._prepare(problem)
        return prepared.problem, prepared.read(completion)

    def _run(self, problem: Problem, completion: str) -> _Run:
        prepared = self._prepare(problem)
        return _Run(self, prepared, prepared.read(completion))

    def without_kernel(self) -> Verifier:
        """A verifier with the same solver and rules that checks evidence itself."""
        return Verifier(
            self.oracle.solver,
            rules=self.rules,
            evaluation=self.evaluation,
            aliases=self.aliases,
            atomic=self.atomic,
        )

    @property
    def rule_system(self) -> str:
        """What reports say of the rules: the title of the catalogue, and ``atomic`` if steps must be."""
        return f"{self.rules.title}, atomic" if self.atomic else self.rules.title

    def _justified(self, dependencies: tuple[Formula, ...], conclusion: Formula) -> Confirmed:
        """Whether the dependencies entail the conclusion, the evidence being checked."""
        query = Query(dependencies, conclusion)
        answer = self.oracle.solver.decide(query)
        if self.evidence == "none":
            return Confirmed(answer)
        return confirm(query, answer, self.kernel)

    def _matched_rule(
        self, rule: str, dependencies: tuple[Formula, ...], conclusion: Formula, terminal: bool
    ) -> tuple[RuleResult, RuleReport | None, int]:
        """The instance of the rule that a step is, the instance as text (without ids), and the price of the check."""
        known = self.rules.find(rule)
        assert known is not None
        oracle = Metered(self.oracle, CHECK_STEPS, "rule check")
        result = check_rule(known, dependencies, conclusion, oracle, terminal=terminal)
        return result, _rule_report(result) if isinstance(result, Match) else None, oracle.charged

    def _prepare(self, problem: Problem) -> _Prepared:
        prepared = self._prepared.get(id(problem))
        if prepared is None:
            prepared = _Prepared(problem, self.oracle)
            if len(self._prepared) >= _REMEMBERED_PROBLEMS:
                self._prepared.popitem(last=False)
            self._prepared[id(problem)] = prepared
        return prepared


class _Prepared:
    """What all completions of a problem share. It holds the problem as given, whose identity so stays its own."""

    def __init__(self, problem: Problem, oracle: Oracle) -> None:
        self.given = problem
        self.problem, self.symbols = with_sorts(problem)
        self.premises = {premise.id: premise.formula for premise in self.problem.premises}
        self._oracle = oracle

    def read(self, completion: str) -> Trace:
        """The actions with the problem's sorts written into their conclusions."""
        return conclusions_with_sorts(read_completion(completion), self.symbols)

    @cached_property
    def contradiction(self) -> Answer:
        """Whether the premises contradict each other. Each trace of the problem is charged for it, before all else."""
        return self._oracle.inconsistent(tuple(self.premises.values()))

    @property
    def consistency(self) -> Consistency:
        """Whether the premises have a model."""
        match self.contradiction:
            case Refuted():
                return "consistent"
            case Entailed():
                return "inconsistent"
            case Unknown():
                return "undecided"

    def uncertain(self, goal: Formula, oracle: Oracle) -> Openness:
        """Whether the premises leave the goal open: verified by a countermodel to it and one to its negation."""
        premises = tuple(self.premises.values())
        answers = (oracle.entails(premises, goal), oracle.entails(premises, Not(goal)))
        if any(isinstance(answer, Entailed) for answer in answers):
            return "refuted"
        if all(isinstance(answer, Refuted) and answer.model is not None for answer in answers):
            return "verified"
        return "undecided"


@dataclass(slots=True)
class _Verdict:
    """The verdicts on one action while they are being found."""

    schema: bool = False
    semantic: bool = False
    rule: bool = False
    progress: bool = False
    findings: list[Finding] = field(default_factory=list)
    instance: RuleReport | None = None
    countermodel: ModelReport | None = None
    evidence: Evidence | None = None
    used: tuple[str, ...] | None = None

    @property
    def mismatched(self) -> bool:
        """Whether it is the terminal action, and does not state the option that it names."""
        return any(finding.code is Code.BINDING_MISMATCH for finding in self.findings)

    @property
    def signal(self) -> float:
        if not self.schema:
            return MALFORMED
        if not self.semantic:
            return UNSUPPORTED
        return VERIFIED if self.rule and self.progress else UNRULED


class _Run:
    """One pass over one trace."""

    def __init__(self, verifier: Verifier, prepared: _Prepared, trace: Trace) -> None:
        self._verifier = verifier
        self._oracle = Metered(verifier.oracle, TRACE_STEPS, "trace")
        self._oracle.charge(QUESTION + prepared.contradiction.steps)
        self._prepared = prepared
        self._problem = prepared.problem
        self._trace = trace
        self._symbols = prepared.symbols
        self._semantic_state = dict(prepared.premises)
        self._rule_state = dict(prepared.premises)
        self._admitted = AdmittedConclusions()
        self._seen_ids = set(prepared.premises)
        self._terminal = terminal_index(prepared.problem, trace, self._named_rule)
        self.entailments: list[tuple[Query, Answer]] = []

    def report(self, sample: int) -> TraceReport:
        """Check the actions in order and put the report together."""
        verdicts = [self._check(index, action) for index, action in enumerate(self._trace.actions)]
        premises, actions = self._prepared.premises, self._trace.actions
        closure = closure_of(premises, [(a.id, a.dependencies) for a in actions], self._terminal)
        used = [(a.id, a.dependencies if v.used is None else v.used) for a, v in zip(actions, verdicts, strict=True)]
        inside = set(closure.actions)
        steps = tuple(
            StepReport(
                id=action.id,
                span=action.span,
                declared_rule=action.rule,
                dependencies=action.dependencies,
                conclusion=action.conclusion,
                schema=verdict.schema,
                semantic=verdict.semantic,
                rule=verdict.rule,
                progress=verdict.progress,
                in_closure=index in inside,
                terminal=index == self._terminal,
                signal=verdict.signal,
                findings=tuple(verdict.findings),
                instance=verdict.instance,
                countermodel=verdict.countermodel,
                evidence=verdict.evidence,
                used=verdict.used,
            )
            for index, (action, verdict) in enumerate(zip(self._trace.actions, verdicts, strict=True))
        )
        by_formula = self._verifier.evaluation
        option = selected_option(self._problem, self._trace, self._oracle, by_formula=by_formula)
        uncertain: Openness | None = None
        if option is not None and option.label == UNCERTAIN:
            uncertain = self._prepared.uncertain(option.formula, self._oracle)
        consistency = self._prepared.consistency
        findings = answer_findings(option, steps, consistency, uncertain)
        reference = self._problem.answer
        return TraceReport(
            problem_id=self._problem.id,
            sample=sample,
            parsed=self._trace.parsed,
            answer=None if option is None else option.id,
            answer_correct=None if reference is None else option is not None and option.id == reference,
            actions=steps,
            closure=self._names(closure),
            used_closure=self._names(closure_of(premises, used, self._terminal)),
            consistency=consistency,
            uncertain=uncertain,
            verified=is_verified(findings),
            rule_verified=not findings and uncertain is None,
            findings=findings,
            rules=self._verifier.rule_system,
            solver=self._oracle.solver.name,
        )

    @property
    def steps(self) -> int:
        """What the trace was charged so far."""
        return self._oracle.charged

    def _names(self, closure: Closure) -> tuple[str, ...]:
        return (*closure.premises, *[self._trace.actions[index].id or "" for index in closure.actions])

    # -- one action ---------------------------------------------------------------------------------------------------

    def _check(self, index: int, action: Action) -> _Verdict:
        verdict = _Verdict(findings=list(action.findings))
        symbols = self._schema_check(action, verdict)
        if not verdict.schema or action.formula is None or action.id is None:
            return verdict
        terminal = index == self._terminal
        answer = self._entailment_check(action, action.formula, verdict)
        if terminal:
            verdict.findings.extend(binding_findings(self._problem, action.id, action.formula, self._oracle))
        matched = self._rule_check(action, action.formula, answer, verdict, terminal=terminal)
        self._progress_check(action, action.formula, matched, verdict, terminal=terminal)
        if verdict.semantic:
            self._symbols = symbols
            self._semantic_state[action.id] = action.formula
            self._admitted.add(action.id, action.formula)
            if verdict.rule:
                self._rule_state[action.id] = action.formula
        return verdict

    def _schema_check(self, action: Action, verdict: _Verdict) -> SignatureBuilder:
        """Check what only the problem and the earlier actions can tell; return the symbols known if it is admitted."""
        symbols = self._symbols
        if action.id is not None:
            if action.id in self._seen_ids:
                taken = "a premise" if action.id in self._prepared.premises else "an earlier action"
                verdict.findings.append(Finding(Code.DUPLICATE_ID, f"id {action.id!r} is already {taken}"))
            self._seen_ids.add(action.id)
        if action.formula is not None:
            try:
                symbols = symbols.extended(action.formula)
            except SignatureError as error:
                verdict.findings.append(Finding(Code.SYMBOL_CLASH, str(error)))
        verdict.schema = not verdict.findings
        return symbols

    def _entailment_check(self, action: Action, formula: Formula, verdict: _Verdict) -> Answer | None:
        """Whether the admitted dependencies entail the conclusion; None if a dependency is not admitted."""
        lacking = [name for name in action.dependencies if name not in self._semantic_state]
        verdict.findings.extend([self._unresolved(action, name) for name in lacking])
        if lacking:
            return None
        dependencies = tuple([self._semantic_state[name] for name in action.dependencies])
        confirmed = self._justified(dependencies, formula)
        answer = confirmed.answer
        self.entailments.append((Query(dependencies, formula), answer))
        if self._verifier.evidence != "none" and not isinstance(answer, Unknown):
            verdict.evidence = confirmed.evidence
        match answer:
            case Entailed():
                verdict.semantic = True
                if confirmed.used is not None:
                    verdict.used = tuple([n for i, n in enumerate(action.dependencies) if i in confirmed.used])
                    unused = tuple([n for i, n in enumerate(action.dependencies) if i not in confirmed.used])
                    if unused:
                        problem = f"the conclusion follows without {', '.join(unused)}"
                        verdict.findings.append(Finding(Code.UNUSED_DEPENDENCY, problem, unused))
            case Refuted(model):
                verdict.findings.append(Finding(Code.NOT_ENTAILED, "the dependencies do not entail the conclusion"))
                verdict.countermodel = None if model is None else ModelReport.of(model)
            case Unknown(reason, detail):
                problem = f"whether the dependencies entail the conclusion stayed undecided ({reason}: {detail})"
                verdict.findings.append(Finding(Code.UNDECIDED, problem))
        return answer

    def _unresolved(self, action: Action, name: str) -> Finding:
        """Why a dependency does not resolve: an earlier action is not admitted, or there is no such earlier action."""
        if name == action.id:
            return Finding(Code.MISSING_DEPENDENCY, f"dependency {name!r} is this action itself", (name,))
        if name in self._seen_ids:
            return Finding(Code.UNTRUSTED_DEPENDENCY, f"the earlier action {name!r} is not admitted", (name,))
        return Finding(Code.MISSING_DEPENDENCY, f"{name!r} names no premise and no earlier action", (name,))

    def _justified(self, dependencies: tuple[Formula, ...], conclusion: Formula) -> Confirmed:
        """The answer with its evidence, at the trace's expense."""
        if self._oracle.spent is None:
            confirmed = self._verifier.justify(dependencies, conclusion)
            self._oracle.charge(QUESTION + confirmed.answer.steps)
        return confirmed if self._oracle.spent is None else Confirmed(self._oracle.spent)

    def _named_rule(self, action: Action) -> Rule | None:
        return self._verifier.rules.find(action.rule or "", aliases=self._verifier.aliases)

    def _rule_check(
        self, action: Action, formula: Formula, answer: Answer | None, verdict: _Verdict, *, terminal: bool
    ) -> Match | None:
        rule = self._named_rule(action)
        if rule is None:
            problem = f"there is no rule {action.rule!r} in the catalogue {self._verifier.rules.name!r}"
            verdict.findings.append(Finding(Code.UNKNOWN_RULE, problem))
            return None
        if answer is None:
            return None
        lacking = tuple([name for name in action.dependencies if name not in self._rule_state])
        if lacking:
            problem = f"not verified as instances of their own rules: {', '.join(lacking)}"
            verdict.findings.append(Finding(Code.RULE_UNTRUSTED_DEPENDENCY, problem, lacking))
            return None
        if isinstance(answer, Refuted):  # an instance of a sound rule would be entailed
            verdict.findings.append(Finding(Code.NO_RULE_MATCH, f"a refuted step is no instance of {rule.name}"))
            return None
        dependencies = tuple([self._rule_state[name] for name in action.dependencies])
        report = None
        if self._oracle.spent is None:
            result, report, steps = self._verifier.match_rule(rule.name, dependencies, formula, terminal)
            self._oracle.charge(steps)
        if self._oracle.spent is not None:
            result = Undecided(self._oracle.spent.detail)
        match result:
            case Match() as matched:
                if rule.name == GOAL_BINDING and verdict.mismatched:
                    return None
                if matched.unstated:
                    verdict.findings.append(_compound(matched))
                    if self._verifier.atomic:
                        problem = f"the step is no instance of {rule.name} whose premises are stated"
                        verdict.findings.append(Finding(Code.NO_RULE_MATCH, problem))
                        return None
                verdict.rule = True
                principal = tuple([action.dependencies[anchor.dependency] for anchor in matched.principal])
                verdict.instance = None if report is None else structs.replace(report, principal=principal)
                return matched
            case NoMatch():
                problem = f"the step is no instance of {rule.name}"
                if rule.name == GOAL_BINDING:
                    problem += "; the last action binds an option's formula that is one of its dependencies"
                verdict.findings.append(Finding(Code.NO_RULE_MATCH, problem))
            case Undecided(reason):
                verdict.findings.append(Finding(Code.RULE_UNDECIDED, f"{rule.name}: {reason}"))
        return None

    def _progress_check(
        self, action: Action, formula: Formula, matched: Match | None, verdict: _Verdict, *, terminal: bool
    ) -> None:
        rule = self._named_rule(action)
        named = None if rule is None else rule.name
        if terminal and named == GOAL_BINDING:  # it restates by nature
            verdict.progress = not verdict.mismatched
            return
        exempt = None
        if matched is not None and named == QUANTIFIER_NEGATION:
            exempt = action.dependencies[matched.principal[0].dependency]
        known = {name: self._semantic_state[name] for name in action.dependencies if name in self._semantic_state}
        findings = progress_findings(formula, known, self._admitted, self._oracle, exempt=exempt)
        verdict.findings.extend(findings)
        verdict.progress = not findings and not verdict.mismatched


# -- plain data for reports -------------------------------------------------------------------------------------------


def _compound(matched: Match) -> Finding:
    shown = ", ".join([show(formula) for formula in matched.unstated])
    return Finding(Code.COMPOUND_STEP, f"two inferences in one: the dependencies entail {shown}, but none states it")


def _rule_report(matched: Match) -> RuleReport:
    """The instance as text, but for the ids of dependencies."""
    substitution: dict[str, str] = {}
    for name, value in matched.substitution.items():
        match value:
            case Lambda(variables, body):
                binder = "".join(f"λ{variable.name}. " for variable in variables)
                substitution[name] = f"{binder}{show(body)}"
            case Var():  # the name of a bound variable says nothing
                pass
            case term:
                substitution[name] = show_term(term)
    minor = tuple([show(formula) for formula in matched.minor])
    return RuleReport(schema=matched.schema.name, substitution=substitution, principal=(), minor=minor)
