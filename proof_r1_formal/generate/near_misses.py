"""Near misses: a proof with one flaw of a named kind.

In: a problem and a verified proof, as reference steps. Out: the same proof with one wrong step. A :class:`NearMiss` is
verified: it fails at the intended action, in the intended verdicts. Other actions fail only if they depend on that
action.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random
from types import MappingProxyType
from typing import assert_never

from proof_r1_formal.data.problem import Problem, ReferenceStep
from proof_r1_formal.kernel.transform import negate
from proof_r1_formal.proof.action import MAX_DEPENDENCIES
from proof_r1_formal.proof.report import Code, StepReport, TraceReport
from proof_r1_formal.proof.step import VERIFIED
from proof_r1_formal.proof.trajectory import Proof, summary
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.schema import GOAL_BINDING
from proof_r1_formal.text.parse import parse_formula
from proof_r1_formal.text.show import show


class Flaw(StrEnum):
    """What is wrong with one step of a near miss."""

    DROPPED_DEPENDENCY = "a dependency is left out"
    OTHER_DEPENDENCY = "another premise or earlier step stands in place of a dependency"
    UNKNOWN_DEPENDENCY = "a dependency names nothing"
    LATER_DEPENDENCY = "a dependency is the step itself"
    NEGATED_CONCLUSION = "the negation of the conclusion"
    OTHER_RULE = "another rule of the catalogue"
    SKIPPED_STEP = "the dependencies of an earlier step stand in its place"
    REPEATED_STEP = "a step once more, under another id"
    OTHER_OPTION = "the answer is bound under the id of an option with another formula"


@dataclass(frozen=True, slots=True)
class Failure:
    """The verdicts of a flawed action that are false (all others are true), and a finding that it has."""

    verdicts: frozenset[str]
    code: Code


_NOT_ENTAILED = frozenset({"semantic", "rule"})  # a step that is not entailed is not an instance of a sound rule

FAILURES: Mapping[Flaw, Failure] = MappingProxyType(
    {
        Flaw.DROPPED_DEPENDENCY: Failure(_NOT_ENTAILED, Code.NOT_ENTAILED),
        Flaw.OTHER_DEPENDENCY: Failure(_NOT_ENTAILED, Code.NOT_ENTAILED),
        Flaw.UNKNOWN_DEPENDENCY: Failure(_NOT_ENTAILED, Code.MISSING_DEPENDENCY),
        Flaw.LATER_DEPENDENCY: Failure(_NOT_ENTAILED, Code.MISSING_DEPENDENCY),
        Flaw.NEGATED_CONCLUSION: Failure(_NOT_ENTAILED, Code.NOT_ENTAILED),
        Flaw.OTHER_RULE: Failure(frozenset({"rule"}), Code.NO_RULE_MATCH),
        Flaw.SKIPPED_STEP: Failure(frozenset({"rule"}), Code.NO_RULE_MATCH),
        Flaw.REPEATED_STEP: Failure(frozenset({"progress"}), Code.REPEATS_CONCLUSION),
        Flaw.OTHER_OPTION: Failure(frozenset({"rule", "progress"}), Code.BINDING_MISMATCH),
    }
)
"""How the flawed action of each kind of near miss fails."""

_CASCADES = frozenset({Code.UNTRUSTED_DEPENDENCY, Code.RULE_UNTRUSTED_DEPENDENCY})


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A proof with one flaw.

    Attributes:
        flaw: its kind.
        index: of the step that has it.
        proof: with the flaw.
        report: the verdicts on it.
    """

    flaw: Flaw
    index: int
    proof: tuple[ReferenceStep, ...]
    report: TraceReport


def near_misses(
    problem: Problem, proof: Proof, verifier: Verifier, *, flaws: Collection[Flaw] = tuple(Flaw), seed: int = 0
) -> Iterator[NearMiss]:
    """At most one near miss of each kind; kinds that are impossible for the proof are left out.

    Args:
        problem: of the proof.
        proof: that passes all checks, the terminal step included.
        verifier: checks that a change has the intended effect.
        flaws: the requested kinds.
        seed: of the random choices.
    """
    for flaw in Flaw:
        if flaw in flaws:
            choices = list(_changes(problem, proof, flaw, verifier))
            Random(f"{seed} {flaw.name} {problem.id}").shuffle(choices)
            for index, changed in choices:
                report = verifier.verify(problem, summary(changed))
                if _fails_as_meant(report, index, FAILURES[flaw]):
                    yield NearMiss(flaw, index, changed, report)
                    break


def _fails_as_meant(report: TraceReport, index: int, failure: Failure) -> bool:
    """Whether the action fails so, and every other passes or fails only because of its dependencies."""
    action = report.actions[index]
    verdicts: Mapping[str, bool] = {
        "schema": action.schema,
        "semantic": action.semantic,
        "rule": action.rule,
        "progress": action.progress,
    }
    failing = {name for name, passed in verdicts.items() if not passed}
    others = (other for position, other in enumerate(report.actions) if position != index)
    return (
        failing == failure.verdicts
        and any(finding.code is failure.code for finding in action.findings)
        and all(other.signal == VERIFIED or _cascades(other) for other in others)
    )


def _cascades(action: StepReport) -> bool:
    codes = {finding.code for finding in action.findings}
    return action.schema and action.progress and not codes.isdisjoint(_CASCADES) and codes <= _CASCADES


def _changes(
    problem: Problem, proof: Proof, flaw: Flaw, verifier: Verifier
) -> Iterator[tuple[int, tuple[ReferenceStep, ...]]]:
    """Every way to give a proof a flaw of a kind, with the index of the step that has it."""
    for index, step in enumerate(proof):
        binds = step.rule == GOAL_BINDING
        for changed in _changed_steps(problem, proof[:index], step, flaw, verifier):
            if binds == (flaw is Flaw.OTHER_OPTION):
                yield index, (*proof[:index], changed, *proof[index + 1 :])
        if flaw is Flaw.REPEATED_STEP and not binds:
            again = replace(step, id=f"{step.id}_again")
            yield index + 1, (*proof[: index + 1], again, *proof[index + 1 :])


def _changed_steps(
    problem: Problem, earlier: Proof, step: ReferenceStep, flaw: Flaw, verifier: Verifier
) -> Iterator[ReferenceStep]:
    """Every way to give a step a flaw of a kind."""
    names = step.dependencies
    known = [*[premise.id for premise in problem.premises], *[before.id for before in earlier]]

    def without(name: str, *instead: str) -> ReferenceStep:
        position = names.index(name)
        return replace(step, dependencies=tuple(dict.fromkeys((*names[:position], *instead, *names[position + 1 :]))))

    match flaw:
        case Flaw.DROPPED_DEPENDENCY:
            yield from (without(name) for name in names)
        case Flaw.OTHER_DEPENDENCY:
            yield from (without(name, other) for name in names for other in known if other not in names)
        case Flaw.UNKNOWN_DEPENDENCY:
            yield from (without(name, f"{name}x") for name in names)
        case Flaw.LATER_DEPENDENCY:
            yield from (without(name, step.id) for name in names)
        case Flaw.NEGATED_CONCLUSION:
            yield replace(step, conclusion=show(negate(parse_formula(step.conclusion))))
        case Flaw.OTHER_RULE:
            others = (rule.name for rule in verifier.rules.rules if rule.name != step.rule)
            yield from (replace(step, rule=other) for other in others)
        case Flaw.SKIPPED_STEP:
            below = {before.id: before.dependencies for before in earlier}
            skipping = (without(name, *below[name]) for name in names if name in below)
            yield from (changed for changed in skipping if len(changed.dependencies) <= MAX_DEPENDENCIES)
        case Flaw.REPEATED_STEP:
            return
        case Flaw.OTHER_OPTION:
            yield from (replace(step, id=option.id) for option in problem.options if option.id != step.id)
        case _:
            assert_never(flaw)
