"""The soundness harness: a search for invalid steps that RuleCheck or the verifier accepts.

In: a rule catalogue, a solver, a number of examples and a seed. Out: counts of examples and outcomes, and a
reproducer for each failure. It needs neither pytest nor Hypothesis. The examples depend only on the seed, not on the
number of processes.

Each example is a step under a rule: an instance of one of its schemata, a near miss of one, a query drawn at random, or
a step that is entailed and *no* instance. A failure is

* an accepted step whose conclusion does not follow, by a countermodel that the reference evaluator confirms;
* an accepted step that is not an instance: RuleCheck is tried alone here, as entailment would hide one that accepts
  everything;
* verdicts of the verifier that contradict the solver or each other;
* evidence that Lean's kernel does not accept, in a sample.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from random import Random
from typing import ClassVar, NamedTuple, TypeAlias

import msgspec

from proof_r1_formal.assistants.lean import LeanKernel
from proof_r1_formal.assistants.lean_evidence import KernelEvidence
from proof_r1_formal.data.native import to_json
from proof_r1_formal.data.problem import Problem, ReferenceStep, three_way_options
from proof_r1_formal.engine import get_solver
from proof_r1_formal.engine.oracle import Answers, Oracle
from proof_r1_formal.engine.solver import Solver, checked_signature
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.kernel.answer import Answer, Entailed, EvidenceLevel, Query, Refuted, Unknown, confirm
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.proof.trajectory import summary
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.check import Match, RuleResult, check_rule
from proof_r1_formal.rules.schema import Catalogue, Rule
from proof_r1_formal.testing.formulas import numbered
from proof_r1_formal.testing.generate import Generator
from proof_r1_formal.testing.non_instances import non_instances
from proof_r1_formal.testing.search import Failure, Findings, Search
from proof_r1_formal.text.show import show

RuleCheck: TypeAlias = Callable[[Rule, tuple[Formula, ...], Formula, Oracle], RuleResult]
"""The function under test: whether a step is an instance of a rule."""


class Kind(StrEnum):
    """How an example is made."""

    INSTANCE = "instance"
    NEIGHBOUR = "near miss"
    RANDOM = "random step"
    NON_INSTANCE = "entailed, no instance"


class Trial(NamedTuple):
    """An example: a step under a rule."""

    kind: Kind
    rule: Rule
    query: Query


class StepFindings(Findings):
    """The results of some steps. Outcomes: entailed, refuted or unknown; how many of those have checked evidence.

    The others: entailed non-instances that were rejected, by rule, and how many steps the kernel accepted.
    """

    non_instances: Counter[str] = msgspec.field(default_factory=Counter)
    certified: int = 0


@dataclass(frozen=True)
class Harness(Search[StepFindings]):
    """Settings of the harness: the catalogue, which may be unchecked, the name of the solver, the seed of all choices.

    Attributes:
        kernel_sample: the share of accepted and refuted steps whose evidence Lean's kernel checks.
        lean: Lean program; if None, it is searched for.
        check: RuleCheck, or another function to test.
    """

    size: ClassVar[int] = 500
    rules: Catalogue
    solver: str = "embedded"
    seed: int = 0
    kernel_sample: float = 0.0
    lean: str | None = None
    check: RuleCheck = field(default=check_rule, repr=False)

    def chunk(self, examples: range) -> StepFindings:
        """The results of one chunk of examples."""
        return _Chunk(self, Random(f"{self.seed}/{examples.start // self.size}")).run(len(examples))


class _Chunk:
    """Examples that share a source of random numbers."""

    def __init__(self, harness: Harness, source: Random) -> None:
        self._harness = harness
        self._source = source
        self._generator = Generator(source)
        self._solver: Solver = get_solver(harness.solver)
        self._oracle = Oracle(Answers(self._solver, tables=harness.solver == "embedded"))
        # Another solver gives no proofs, so its answers are tested as they are.
        evidence: EvidenceLevel = "checked" if harness.solver == "embedded" else "none"
        self._verifier = Verifier(self._solver, rules=harness.rules, evidence=evidence)
        self._check = harness.check
        if harness.check is check_rule and harness.rules.hypotheses:
            self._check = partial(check_rule, hypotheses=True)
        self._kernel = self._sampled_kernel()
        self._sample: list[tuple[Trial, Answer]] = []
        self._findings = StepFindings()

    def _sampled_kernel(self) -> KernelEvidence | None:
        if not self._harness.kernel_sample:
            return None
        kernel = LeanKernel.find(self._harness.lean)
        if kernel is None:
            raise ProofR1Error("there is no Lean here to check a sample with")
        return KernelEvidence(kernel)

    def run(self, size: int) -> StepFindings:
        rules = [rule for rule in self._harness.rules.rules if rule.schemata]
        for _ in range(size):
            rule = self._source.choice(rules)
            kind = self._source.choices(list(Kind), (4, 4, 1, 2))[0]
            query = self._query(kind, rule)
            if query is not None:
                self._try(Trial(kind, rule, query))
        self._ask_the_kernel()
        return self._findings

    def _query(self, kind: Kind, rule: Rule) -> Query | None:
        match kind:
            case Kind.RANDOM:
                return self._generator.query()
            case Kind.NON_INSTANCE:
                known = non_instances(self._harness.rules, rule)
                if not all(known):
                    return None
                return self._generator.non_instance(*self._source.choice(self._source.choice(known)))
            case _:
                step = self._generator.instance(self._source.choice(rule.schemata))
                return step if kind is Kind.INSTANCE else self._generator.neighbour(step)

    # -- one example --------------------------------------------------------------------------------------------------

    def _try(self, step: Trial) -> None:
        findings, (kind, rule, query) = self._findings, step
        if isinstance(checked_signature(query), Unknown):  # symbols of two sorts
            return
        findings.examples[kind] += 1
        confirmation = confirm(query, self._solver.decide(query))
        findings.outcomes[type(confirmation.answer).__name__.lower()] += 1
        if confirmation.checked:
            findings.outcomes["with checked evidence"] += 1
        accepted = isinstance(self._check(rule, query.dependencies, query.conclusion, self._oracle), Match)
        if accepted:
            findings.accepted[kind] += 1
        if accepted and isinstance(confirmation.answer, Refuted):
            self._fail("accepted, and does not follow", step)
        if kind is Kind.NON_INSTANCE:
            if accepted:
                self._fail("accepted, but not an instance of the rule", step)
            elif isinstance(confirmation.answer, Entailed):
                findings.non_instances[rule.name] += 1
        self._compare(step, confirmation.answer)
        if self._kernel is not None and confirmation.checked and self._source.random() < self._harness.kernel_sample:
            self._sample.append((step, confirmation.answer))

    def _compare(self, step: Trial, answer: Answer) -> None:
        """The verifier's verdicts on the step, written down and read back, against the solver's answer."""
        try:
            report = self._verifier.verify(*_trace(step)).actions[0]
        except ProofR1Error:  # its formulas make no problem
            return
        if not report.schema:
            return
        if not isinstance(answer, Unknown) and report.semantic != isinstance(answer, Entailed):
            self._fail("the verifier and the solver disagree on entailment", step)
        if report.semantic and isinstance(answer, Refuted):
            self._fail("the verifier admits what does not follow", step)
        if report.rule and not report.semantic:
            self._fail("the verifier accepts the rule of a step that it does not find entailed", step)
        expected = 0.1 if not report.semantic else 1.0 if report.rule and report.progress else 0.3
        if report.signal != expected:
            self._fail(f"the signal is {report.signal}, and should be {expected}", step)

    def _ask_the_kernel(self) -> None:
        if self._kernel is None:
            return
        self._kernel.prepare([(step.query, answer) for step, answer in self._sample])
        for step, answer in self._sample:
            judgement = self._kernel.judge(step.query, answer)
            if judgement is not None and judgement.accepted:
                self._findings.certified += 1
            elif judgement is not None:
                self._fail(f"the kernel does not accept the evidence: {judgement.reason}", step)

    def _fail(self, fault: str, step: Trial) -> None:
        problem, completion = _trace(step)
        self._findings.failures.append(Failure(fault, step.kind, to_json(problem), completion))


def _trace(step: Trial) -> tuple[Problem, str]:
    """The step as the only action of a completion, its dependencies being the premises."""
    conclusion, premises = step.query.conclusion, numbered(step.query.dependencies)
    action = ReferenceStep("s1", tuple([premise.id for premise in premises]), show(conclusion), step.rule.name)
    return Problem("soundness/1", premises, three_way_options(conclusion)), summary([action])
