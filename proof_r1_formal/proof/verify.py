"""The verifier: a problem and a completion to a report with four verdicts per action and the closure of the answer.

A :class:`Verifier` has the settings and the caches of answers. For each completion it runs one pass
(``proof.session``). To check actions before the completion is finished, use a :class:`VerifierSession`.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import RLock
from typing import NoReturn, get_args

from proof_r1_formal.data.problem import Problem
from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.engine.oracle import Answers, Oracle
from proof_r1_formal.engine.solver import Solver
from proof_r1_formal.errors import SolverError, require_type
from proof_r1_formal.kernel.answer import BatchKernel, EvidenceLevel
from proof_r1_formal.kernel.compiling import mypyc_attr
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.proof.action import Trace, read_completion
from proof_r1_formal.proof.context import ProblemContext
from proof_r1_formal.proof.report import RuleReport, TraceReport
from proof_r1_formal.proof.session import Obligation, Session
from proof_r1_formal.proof.step import RuleChecker
from proof_r1_formal.rules.catalogue import TRAIN
from proof_r1_formal.rules.check import RuleResult
from proof_r1_formal.rules.manifest import require_proved
from proof_r1_formal.rules.schema import Catalogue

INQUIRY_STEPS = 250_000
"""Budget of an inquiry: a quarter of what the verification of a trace may cost."""

_REMEMBERED_PROBLEMS = 256


@mypyc_attr(allow_interpreted_subclasses=True)
class Verifier:
    """Verifies completions with one solver and one rule catalogue. Verdicts do not depend on earlier completions.

    Threads may share a verifier: it verifies one completion at a time. A session does not lock its verifier. Use
    :func:`~proof_r1_formal.proof.batch.verify_many` with several workers to use several cores.

    Args:
        solver: decides entailment; the embedded engine if None.
        rules: the rules that actions may name.
        evaluation: whether a terminal action without the id of an option may select the option with its formula; set it
            to false in training.
        aliases: whether other spellings of rule names are accepted; leave it false in training.
        atomic: whether dependencies must state the minor premises of an instance; by default they need only entail
            them.
        evidence: ``checked`` rechecks the proof or countermodel of each verdict on entailment, ``kernel`` also has a
            kernel check it, ``none`` requests no evidence.
        kernel: the kernel for ``kernel`` evidence.

    Raises:
        CatalogueError: a schema of the catalogue is not a theorem in its manifest.
        DataError: the manifest cannot be read.
        SolverError: kernel evidence is requested without a kernel.
        TypeError: the solver is not a solver, or the rules are not a catalogue.
        ValueError: the level of evidence is unknown.
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
        kernel: BatchKernel | None = None,
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
            given = "kernel=KernelEvidence(LeanKernel.find()), or to Settings find_kernel=FindLean(), of assistants"
            raise SolverError("lean", f"evidence='kernel' needs the kernel that checks it: give {given}")
        self.kernel = kernel if evidence == "kernel" else None
        solver = EmbeddedSolver() if solver is None else solver
        tables = isinstance(solver, EmbeddedSolver)
        self.oracle = Oracle(Answers(solver, tables=tables, evidence=evidence, kernel=self.kernel))
        self.rule_checker = RuleChecker(rules, self.oracle, aliases=aliases, atomic=atomic)
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
        """The name of the rules in reports."""
        return self.rule_checker.system

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

    def match_rule(
        self, rule: str, dependencies: tuple[Formula, ...], conclusion: Formula, *, terminal: bool, budget: Oracle
    ) -> tuple[RuleResult, RuleReport | None]:
        """See :meth:`RuleChecker.match`."""
        return self.rule_checker.match(rule, dependencies, conclusion, terminal=terminal, budget=budget)

    def verify(self, problem: Problem, completion: str, *, sample: int = 0) -> TraceReport:
        """Check every action of a completion.

        Args:
            problem: the question with its formal premises.
            completion: the model's whole answer, as text.
            sample: number of the completion among those of the problem, for the report.

        Raises:
            SignatureError: the problem itself uses a symbol in two ways.
            ProofR1Error: two parts of the problem have one id, or its answer is the id of no option.
            SolverError: the solver is missing or broken.
            TypeError: an argument, or a part of the problem, has another type.
        """
        require_type(completion, str, "completion", "give the text of the model's answer")
        with self._lock:
            session, parsed = self._run(problem, completion)
            return session.report(sample=sample, parsed=parsed)

    def entailments(self, problem: Problem, completion: str) -> tuple[Obligation, ...]:
        """The entailment questions of the actions of a completion, with their answers."""
        with self._lock:
            return self._run(problem, completion)[0].entailments

    def obligations(self, problem: Problem, completion: str) -> tuple[Obligation, ...]:
        """The questions that the verdict on a completion's answer rests on, with their answers."""
        with self._lock:
            return self._run(problem, completion)[0].obligations

    def cost(self, problem: Problem, completion: str) -> int:
        """The cost of verifying a completion, in steps. Above ``TRACE_STEPS``, later checks stay undecided."""
        with self._lock:
            session, parsed = self._run(problem, completion)
            return session.cost(parsed=parsed)

    def read(self, problem: Problem, completion: str) -> tuple[Problem, Trace]:
        """The problem and the actions in the form that is checked: all formulas have the problem's sorts.

        Raises:
            SignatureError: the problem itself uses a symbol in two ways.
        """
        with self._lock:
            context = self.context(problem)
            return context.problem, context.read(completion)

    def _run(self, problem: Problem, completion: str) -> tuple[Session, bool]:
        """A session to which all actions were pushed, and whether the completion is parsed."""
        session = VerifierSession(problem, self)
        trace = read_completion(completion)  # the session writes the sorts into the conclusions
        session.extend(trace.actions)
        return session, trace.parsed

    def without_kernel(self) -> Verifier:
        """A verifier with the same solver and rules that checks evidence itself."""
        return Verifier(
            self.oracle.solver, rules=self.rules, evaluation=self.evaluation, aliases=self.aliases, atomic=self.atomic
        )


class VerifierSession(Session):
    """Verifies the actions of one trace one at a time. The reports equal those of ``Verifier.verify``, byte for byte.

    >>> from proof_r1_formal.data.problem import Premise, Problem, three_way_options
    >>> from proof_r1_formal.text.parse import parse_formula
    >>> from proof_r1_formal.proof.action import read_action
    >>> premises = (Premise("h1", parse_formula("P(a) ∧ Q(a)")),)
    >>> session = VerifierSession(Problem("1", premises, three_way_options(parse_formula("P(a)"))))
    >>> step = '{"id": "s1", "dependencies": ["h1"], "conclusion": "P(a)", "rule": "CONJUNCTION_ELIMINATION"}'
    >>> session.push(read_action(step)).signal
    1.0
    """

    def __init__(self, problem: Problem, verifier: Verifier | None = None) -> None:
        """A session without actions.

        Args:
            problem: the question with its formal premises.
            verifier: several sessions may share it; one with default settings if None.

        Raises:
            SignatureError: the problem itself uses a symbol in two ways.
        """
        verifier = Verifier() if verifier is None else verifier
        context = verifier.context(problem)
        super().__init__(context, verifier.rule_checker, verifier.oracle, evaluation=verifier.evaluation)
