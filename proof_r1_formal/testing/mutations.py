"""Wrong proofs from right ones: every way to give one step of a proof a flaw that has a name, and single changes.

In: a problem, the steps of a proof, and the index of one of them. Out: the changed steps. Near misses, corrupted
attempts, drawn traces and edits of rollouts are made of these. The steps are those of a reference proof, whose
conclusions are text, or of an attempt, whose conclusions are formulas.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar, assert_never

from proof_r1_formal.data.problem import Problem, ReferenceStep
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.kernel.transform import negate
from proof_r1_formal.proof.action import FIELDS, MAX_DEPENDENCIES
from proof_r1_formal.rules.schema import Catalogue
from proof_r1_formal.text.parse import parse_formula
from proof_r1_formal.text.show import Notation, show


@dataclass(frozen=True, slots=True)
class Step:
    """A well-formed action as data."""

    id: str
    dependencies: tuple[str, ...]
    conclusion: Formula
    rule: str

    def record(self, notation: Notation = "unicode") -> dict[str, str | tuple[str, ...]]:
        """The element of the summary's array."""
        values = (self.id, self.dependencies, show(self.conclusion, notation), self.rule)
        return dict(zip(FIELDS, values, strict=True))


S = TypeVar("S", bound=Step | ReferenceStep)
T = TypeVar("T")


class Flaw(StrEnum):
    """What is wrong with one step of a proof."""

    DROPPED_DEPENDENCY = "a dependency is left out"
    OTHER_DEPENDENCY = "another premise or earlier step stands in place of a dependency"
    UNKNOWN_DEPENDENCY = "a dependency names nothing"
    LATER_DEPENDENCY = "a dependency is the step itself or a later one"
    NEGATED_CONCLUSION = "the negation of the conclusion"
    OTHER_RULE = "another rule of the catalogue"
    SKIPPED_STEP = "the dependencies of an earlier step stand in its place"
    REPEATED_STEP = "a step once more, under another id"
    OTHER_OPTION = "the answer is bound under the id of an option with another formula"


def flawed(problem: Problem, steps: Sequence[S], index: int, flaw: Flaw, rules: Catalogue) -> Iterator[tuple[S, ...]]:
    """Every way to give a step of a proof a flaw of a kind; REPEATED_STEP gives it to a new step behind that one."""
    step = steps[index]
    if flaw is Flaw.REPEATED_STEP:
        yield replace_step(steps, index, step, replace(step, id=f"{step.id}_again"))
        return
    for other in _flawed(problem, steps, index, flaw, rules):
        yield replace_step(steps, index, other)


def _flawed(problem: Problem, steps: Sequence[S], index: int, flaw: Flaw, rules: Catalogue) -> Iterator[S]:
    step, names = steps[index], steps[index].dependencies
    match flaw:
        case Flaw.DROPPED_DEPENDENCY:
            yield from [rewire(step, name) for name in names]
        case Flaw.OTHER_DEPENDENCY:
            others = [other for other in known(problem, steps[:index]) if other not in names]
            yield from [rewire(step, name, other) for name in names for other in others]
        case Flaw.UNKNOWN_DEPENDENCY:
            yield from [rewire(step, name, f"{name}x") for name in names]
        case Flaw.LATER_DEPENDENCY:
            yield from [rewire(step, name, later.id) for name in names for later in steps[index:]]
        case Flaw.NEGATED_CONCLUSION:
            if isinstance(step, Step):
                yield replace(step, conclusion=negate(step.conclusion))
            else:
                yield replace(step, conclusion=show(negate(parse_formula(step.conclusion))))
        case Flaw.OTHER_RULE:
            yield from [replace(step, rule=rule.name) for rule in rules.rules if rule.name != step.rule]
        case Flaw.SKIPPED_STEP:
            below = {earlier.id: earlier.dependencies for earlier in steps[:index]}
            skipping = [rewire(step, name, *below[name]) for name in names if name in below]
            yield from [other for other in skipping if len(other.dependencies) <= MAX_DEPENDENCIES]
        case Flaw.REPEATED_STEP:
            return
        case Flaw.OTHER_OPTION:
            if (own := problem.option(step.id)) is not None:
                yield from [replace(step, id=o.id) for o in problem.options if o.formula is not own.formula]
        case _:
            assert_never(flaw)


# -- one change -------------------------------------------------------------------------------------------------------


def replace_step(steps: Sequence[T], index: int, *instead: T) -> tuple[T, ...]:
    """The steps with others, or none, in place of one."""
    return (*steps[:index], *instead, *steps[index + 1 :])


def insert_steps(steps: Sequence[T], index: int, *new: T) -> tuple[T, ...]:
    """The steps with new ones before the one with this index."""
    return (*steps[:index], *new, *steps[index:])


def rewire(step: S, name: str, *instead: str) -> S:
    """The step with other dependencies, or none, in place of one; each stays once."""
    position = step.dependencies.index(name)
    names = (*step.dependencies[:position], *instead, *step.dependencies[position + 1 :])
    return replace(step, dependencies=tuple(dict.fromkeys(names)))


def known(problem: Problem, steps: Sequence[Step | ReferenceStep]) -> list[str]:
    """The ids of the premises and of the steps."""
    return [*[premise.id for premise in problem.premises], *[step.id for step in steps]]
