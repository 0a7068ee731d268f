"""Diagnosis of errors: the rules of which steps are instances, and the first errors of traces.

In: a verifier, a problem, a completion and the report on it. Out: a :class:`Misnamed` for every step that is entailed
but not a verified instance of its declared rule, and the first step that does not pass all checks; a
:class:`Diagnosis` counts them over many completions.

The step is checked against every rule of the catalogue, with every subset of its dependencies, as they stand in the
semantic state. This distinguishes a step that names the wrong rule from one that failed only because a dependency is
not an instance of *its* rule. One budget pays for all steps of a trace; those that it does not reach are counted so.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import combinations
from typing import NamedTuple

from proof_r1_formal.data.problem import Option, Problem
from proof_r1_formal.engine.oracle import Oracle
from proof_r1_formal.evaluation.outcomes import rule_name
from proof_r1_formal.kernel.answer import Entailed
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.proof.answer import states
from proof_r1_formal.proof.report import NOTES, Code, StepReport, TraceReport
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.check import Match
from proof_r1_formal.rules.schema import GOAL_BINDING, INVALID_RULE, Catalogue

EXAMPLES = 3
"""Number of examples for each kind of error."""
_RULE_CODES = frozenset(
    {
        Code.RULE_UNTRUSTED_DEPENDENCY,
        Code.UNKNOWN_RULE,
        Code.NO_RULE_MATCH,
        Code.RULE_UNDECIDED,
        Code.BINDING_MISMATCH,
        Code.BINDING_UNDECIDED,
    }
)


# -- one step ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Alternative:
    """A rule of which the step is an instance with some of its dependencies, and with none fewer.

    Attributes:
        rule: its name.
        dependencies: ids, in the order in which the step declares them.
    """

    rule: str
    dependencies: tuple[str, ...]


class Remedy(StrEnum):
    """The change that would make a step pass its rule check."""

    DEPENDENCIES_VERIFIED = "the declared rule with rule-verified dependencies"
    FEWER_DEPENDENCIES = "the declared rule with fewer dependencies"
    ANOTHER_RULE = "another rule"
    SEVERAL_STEPS = "no single rule"
    UNDECIDED = "not found: the budget is spent"


@dataclass(frozen=True, slots=True)
class Misnamed:
    """An entailed step that is not a verified instance of its rule.

    Attributes:
        action: its number in the trace, from 0.
        declared: the rule it names, or ``INVALID_RULE``.
        reason: why the rule check failed.
        alternatives: rules that would have passed, in the catalogue's order; not all of them if the budget is spent.
        actual: the one of them that the step most likely means: its own, or else the one that needs most of the
            dependencies; None without one, or if the budget is spent.
        remedy: the change that would make it pass.
    """

    action: int
    declared: str
    reason: Code
    alternatives: tuple[Alternative, ...]
    actual: str | None
    remedy: Remedy


def misnamed_steps(verifier: Verifier, problem: Problem, completion: str, report: TraceReport) -> tuple[Misnamed, ...]:
    """The entailed steps whose rule check failed, each with the alternatives that would pass.

    The report is the verifier's, on the completion of the problem.
    """
    if all(step.rule or not step.semantic for step in report.actions):
        return ()
    problem, trace = verifier.read(problem, completion)
    known = {premise.id: premise.formula for premise in problem.premises}
    inquiry = verifier.inquiry()
    found = []
    for index, (action, step) in enumerate(zip(trace.actions, report.actions, strict=True)):
        if not step.semantic or action.id is None or action.formula is None:
            continue
        if not step.rule:
            dependencies = {name: known[name] for name in action.dependencies}
            option = problem.option(action.id)
            alternatives = tuple(_alternatives(verifier, inquiry, option, action.formula, dependencies, step.terminal))
            found.append(_diagnose(index, step, alternatives, verifier.rules, over=inquiry.spent is not None))
        known[action.id] = action.formula
    return tuple(found)


def _alternatives(
    verifier: Verifier,
    inquiry: Oracle,
    option: Option | None,
    conclusion: Formula,
    dependencies: dict[str, Formula],
    terminal: bool,
) -> Iterator[Alternative]:
    subsets = [of for size in range(1, len(dependencies) + 1) for of in combinations(dependencies, size)]
    formulas = {of: tuple([dependencies[name] for name in of]) for of in subsets}
    # Rules are sound, so only what entails the conclusion can be the dependencies of an instance.
    entailing = [of for of in subsets if isinstance(inquiry.entails(formulas[of], conclusion), Entailed)]
    for rule in verifier.rules.rules:
        if rule.name == GOAL_BINDING and not states(conclusion, option, inquiry):
            continue
        least: list[tuple[str, ...]] = []
        for of in entailing:  # the small ones first
            if any(set(smaller) <= set(of) for smaller in least):
                continue
            matched, _ = verifier.match_rule(rule.name, formulas[of], conclusion, terminal=terminal, budget=inquiry)
            if isinstance(matched, Match):
                least.append(of)
                yield Alternative(rule.name, of)


def _diagnose(
    index: int, step: StepReport, alternatives: tuple[Alternative, ...], rules: Catalogue, *, over: bool
) -> Misnamed:
    declared = rule_name(step, rules)
    own = [one for one in alternatives if one.rule == declared]
    # max() takes the first of equals, so the catalogue's order decides between rules that need as many.
    actual = max(own or alternatives, key=lambda one: len(one.dependencies), default=None)
    reason = next(finding.code for finding in step.findings if finding.code in _RULE_CODES)
    if over or step.evidence == "unsupported":  # no rule is the remedy for a step without a proof
        actual, remedy = None, Remedy.UNDECIDED
    elif own:
        untrusted = reason is Code.RULE_UNTRUSTED_DEPENDENCY
        remedy = Remedy.DEPENDENCIES_VERIFIED if untrusted else Remedy.FEWER_DEPENDENCIES
    else:
        remedy = Remedy.SEVERAL_STEPS if actual is None else Remedy.ANOTHER_RULE
    return Misnamed(index, declared, reason, alternatives, None if actual is None else actual.rule, remedy)


def misnamed_record(report: TraceReport, misnamed: Misnamed) -> dict[str, object]:
    """A misnamed step as JSON: where it is, what it says, and every rule and dependencies that would have passed."""
    step = report.actions[misnamed.action]
    return {
        "problem_id": report.problem_id,
        "sample": report.sample,
        "action": misnamed.action,
        "id": step.id,
        "declared_rule": step.declared_rule,
        "dependencies": step.dependencies,
        "conclusion": step.conclusion,
        "reason": misnamed.reason.value,
        "alternatives": [{"rule": one.rule, "dependencies": one.dependencies} for one in misnamed.alternatives],
        "actual_rule": misnamed.actual,
        "remedy": misnamed.remedy.value,
    }


def first_error(report: TraceReport) -> tuple[int, Code] | None:
    """The first step that does not pass all four checks, by its number, and the first reason; None if all pass."""
    for index, step in enumerate(report.actions):
        if step.signal < 1.0:
            return index, next(f.code for f in step.findings if f.code not in NOTES)
    return None


# -- many completions -------------------------------------------------------------------------------------------------


class Example(NamedTuple):
    """A step that an error was found in: where it is, and the step, or what is wrong with an unparsed completion."""

    place: str
    step: str


@dataclass(slots=True)
class Diagnosis:
    """Counts of errors of many completions.

    Attributes:
        outputs: how many there are.
        flawless: those in which every action passes all four checks.
        confusion: misnamed steps by the rule they declare and the one they are an instance of, if there is one.
        remedies: misnamed steps by why their rule check failed, and by what would have made them pass.
        first_errors: outputs by the reason of their first error and the rule that the step declares.
        examples: the first few of each kind of first error.
    """

    outputs: int = 0
    flawless: int = 0
    confusion: Counter[tuple[str, str | None]] = field(default_factory=Counter)
    remedies: Counter[tuple[Code, Remedy]] = field(default_factory=Counter)
    first_errors: Counter[tuple[Code, str]] = field(default_factory=Counter)
    examples: defaultdict[tuple[Code, str], list[Example]] = field(default_factory=lambda: defaultdict(list))

    def add(self, report: TraceReport, misnamed: Iterable[Misnamed], rules: Catalogue) -> None:
        """Count a completion, by the report on it, its misnamed steps, and the rules by which it was verified."""
        self.outputs += 1
        for one in misnamed:
            self.confusion[one.declared, one.actual] += 1
            self.remedies[one.reason, one.remedy] += 1
        first = first_error(report)
        if first is None:
            self.flawless += bool(report.actions)
            return
        index, code = first
        step = report.actions[index]
        kind = (code, rule_name(step, rules) if report.parsed else INVALID_RULE)
        self.first_errors[kind] += 1
        if len(self.examples[kind]) < EXAMPLES:
            said = f"{step.conclusion or '–'} from {', '.join(step.dependencies) or 'nothing'}"
            place = f"{report.problem_id}, sample {report.sample}, step {index + 1}"
            self.examples[kind].append(Example(place, said if report.parsed else step.findings[0].message))

    def merge(self, other: Diagnosis) -> None:
        """Count what ``other`` has counted."""
        self.outputs += other.outputs
        self.flawless += other.flawless
        self.confusion += other.confusion
        self.remedies += other.remedies
        self.first_errors += other.first_errors
        for kind, examples in other.examples.items():
            self.examples[kind] = [*self.examples[kind], *examples][:EXAMPLES]
