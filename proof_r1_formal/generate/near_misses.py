"""Near misses: a proof with one flaw of a named kind.

In: a problem and a verified proof, as reference steps. Out: the same proof with one wrong step. A :class:`NearMiss` is
verified: it fails at the intended action, in the intended verdicts. Other actions fail only if they depend on that
action.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from types import MappingProxyType

from proof_r1_formal.data.problem import Problem, ReferenceStep
from proof_r1_formal.proof.report import Code, StepReport, TraceReport
from proof_r1_formal.proof.step import VERIFIED
from proof_r1_formal.proof.trajectory import Proof, summary
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.schema import GOAL_BINDING, Catalogue
from proof_r1_formal.testing.mutations import Flaw, flawed


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
    problem: Problem, proof: Proof, verifier: Verifier, *, flaws: Collection[Flaw] = tuple(FAILURES), seed: int = 0
) -> Iterator[NearMiss]:
    """At most one near miss of each kind; kinds that are impossible for the proof are left out.

    Args:
        problem: of the proof.
        proof: that passes all checks, the terminal step included.
        verifier: checks that a change has the intended effect.
        flaws: the requested kinds, of those in ``FAILURES``.
        seed: of the random choices.
    """
    for flaw in FAILURES:
        if flaw in flaws:
            choices = list(_changes(problem, proof, flaw, verifier.rules))
            Random(f"{seed} {flaw.name} {problem.id}").shuffle(choices)
            for index, changed in choices:
                report = verifier.verify(problem, summary(changed))
                if _fails_as_meant(report, index, FAILURES[flaw]):
                    yield NearMiss(flaw, index, changed, report)
                    break


def _fails_as_meant(report: TraceReport, index: int, failure: Failure) -> bool:
    """Whether the action fails so, and every other passes or fails only because of its dependencies."""
    action = report.actions[index]
    failing = {name for name in ("schema", "semantic", "rule", "progress") if not getattr(action, name)}
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
    problem: Problem, proof: Proof, flaw: Flaw, rules: Catalogue
) -> Iterator[tuple[int, tuple[ReferenceStep, ...]]]:
    """Every way to give a proof a flaw of a kind, with the index of the step that has it."""
    for index, step in enumerate(proof):
        if (step.rule == GOAL_BINDING) == (flaw is Flaw.OTHER_OPTION):
            for changed in flawed(problem, proof, index, flaw, rules):
                yield index + (flaw is Flaw.REPEATED_STEP), changed
