"""Answers to the questions of the checks: is a step entailed, with rechecked evidence; is it an instance of its rule?

A :class:`Judge` has the solver, the rules and the settings, and caches recent answers. It has no state of a trace.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import lru_cache
from threading import RLock
from typing import TYPE_CHECKING, NoReturn, get_args

from proof_r1_formal.compiling import mypyc_attr
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.engine.oracle import Answers, Oracle
from proof_r1_formal.engine.solver import Solver
from proof_r1_formal.errors import SolverError
from proof_r1_formal.kernel.confirm import EvidenceLevel
from proof_r1_formal.kernel.pattern import Lambda
from proof_r1_formal.kernel.syntax import Formula, Var
from proof_r1_formal.proof.action import Action
from proof_r1_formal.proof.context import ProblemContext
from proof_r1_formal.proof.report import RuleReport
from proof_r1_formal.rules.catalogue import TRAIN
from proof_r1_formal.rules.check import Match, RuleResult, Undecided, check_rule
from proof_r1_formal.rules.manifest import require_proved, title
from proof_r1_formal.rules.schema import Catalogue, Rule
from proof_r1_formal.text.show import show, show_term

if TYPE_CHECKING:
    from proof_r1_formal.assistants.lean_evidence import KernelEvidence

CHECK_STEPS = 400_000
"""Budget of the questions of one rule check."""
INQUIRY_STEPS = 250_000
"""Budget of an inquiry: a quarter of what the verification of a trace may cost."""

_REMEMBERED_PROBLEMS = 256
_REMEMBERED_STEPS = 1 << 13


@mypyc_attr(allow_interpreted_subclasses=True)
class Judge:
    """Answers for one solver and one rule catalogue; answers do not depend on earlier ones.

    Its arguments and errors are those of :class:`~proof_r1_formal.proof.verify.Verifier`, which is one.
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
        if evidence not in get_args(EvidenceLevel):
            known = ", ".join(get_args(EvidenceLevel))
            raise ValueError(f"unknown level of evidence {evidence!r}; available: {known}")
        if not (solver is None or hasattr(solver, "decide")):
            raise TypeError(f"solver must have a method decide; get_solver({solver!r}) makes one from its name")
        self.rules = rules
        self.evaluation = evaluation
        self.aliases = aliases
        self.atomic = atomic
        if evidence == "kernel" and kernel is None:
            given = "kernel=KernelEvidence(LeanKernel.find()), both of proof_r1_formal.assistants"
            raise SolverError("lean", f"evidence='kernel' needs the kernel that checks it: give {given}")
        self.kernel = kernel if evidence == "kernel" else None
        solver = EmbeddedSolver() if solver is None else solver
        tables = isinstance(solver, EmbeddedSolver)
        self.oracle = Oracle(Answers(solver, tables=tables, evidence=evidence, kernel=self.kernel))
        self._matched = lru_cache(maxsize=_REMEMBERED_STEPS)(self._matched_rule)
        self._contexts: OrderedDict[int, ProblemContext] = OrderedDict()
        self._lock = RLock()

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} cannot be pickled; make one in each process")

    @property
    def evidence(self) -> EvidenceLevel:
        """How evidence is rechecked."""
        return self.oracle.evidence

    @property
    def rule_system(self) -> str:
        """The name of the rules in reports: the title of the catalogue, and ``atomic`` if steps must be atomic."""
        return f"{title(self.rules)}, atomic" if self.atomic else title(self.rules)

    def context(self, problem: Problem) -> ProblemContext:
        """The data that all completions of a problem share; those of recent problems are cached.

        Raises:
            SignatureError: the problem itself uses a symbol in two ways.
        """
        context = self._contexts.get(id(problem))
        if context is None:
            context = ProblemContext(problem, self.oracle)
            if len(self._contexts) >= _REMEMBERED_PROBLEMS:
                self._contexts.popitem(last=False)
            self._contexts[id(problem)] = context
        return context

    def inquiry(self) -> Oracle:
        """An oracle with a budget of its own, for the questions about a trace that its verification does not ask.

        Which dependency would repair a step? Which rule is it an instance of? Which proof can be shown? No verdict
        depends on the answers.
        """
        return self.oracle.with_budget(INQUIRY_STEPS, "inquiry")

    def rule_of(self, action: Action) -> Rule | None:
        """The rule that an action names; None if the catalogue does not contain it."""
        return self.rules.find(action.rule or "", aliases=self.aliases)

    def match_rule(
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
        result, report, steps = self._matched(rule, dependencies, conclusion, terminal)
        budget.charge(steps)
        return (result, report) if (spent := budget.spent) is None else (Undecided(spent.detail), None)

    def _matched_rule(
        self, rule: str, dependencies: tuple[Formula, ...], conclusion: Formula, terminal: bool
    ) -> tuple[RuleResult, RuleReport | None, int]:
        """The result of :meth:`match_rule`, and the price of the check, which has a budget of its own."""
        known = self.rules.find(rule)
        assert known is not None
        oracle = self.oracle.with_budget(CHECK_STEPS, "rule check")
        result = check_rule(
            known, dependencies, conclusion, oracle, terminal=terminal, hypotheses=self.rules.hypotheses
        )
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
