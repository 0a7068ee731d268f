"""Wrong proofs from right ones: every way to give one step of a proof a flaw that has a name, and single changes.

In: a problem, the steps of a proof, and the index of one of them. Out: the changed steps. Near misses, corrupted
attempts, drawn traces and edits of rollouts are made of these. The steps are those of a reference proof, whose
conclusions are text, or of an attempt, whose conclusions are formulas.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self, TypeVar

from proof_r1_formal.data.problem import Problem, ReferenceStep
from proof_r1_formal.kernel.signature import symbols
from proof_r1_formal.kernel.syntax import Atom, Exists, ForAll, Formula, Implies, Not, Or, const
from proof_r1_formal.kernel.transform import negate
from proof_r1_formal.proof.action import FIELDS, MAX_DEPENDENCIES
from proof_r1_formal.proof.report import Code
from proof_r1_formal.rules.schema import Catalogue
from proof_r1_formal.text.parse import parse_formula
from proof_r1_formal.text.show import OutputNotation, show


@dataclass(frozen=True, slots=True)
class Step:
    """A well-formed action as data."""

    id: str
    dependencies: tuple[str, ...]
    conclusion: Formula
    rule: str

    def record(self, notation: OutputNotation = "unicode") -> dict[str, str | tuple[str, ...]]:
        """The element of the summary's array."""
        values = (self.id, self.dependencies, show(self.conclusion, notation), self.rule)
        return dict(zip(FIELDS, values, strict=True))


S = TypeVar("S", bound=Step | ReferenceStep)
T = TypeVar("T")


class Flaw(StrEnum):
    """A flaw of one step of a proof."""

    finding: Code | None

    def __new__(cls, text: str, finding: Code | None = None) -> Self:
        """A member, and the finding of a step with the flaw, given sound rules; without one, it may be harmless."""
        member = str.__new__(cls, text)
        member._value_, member.finding = text, finding
        return member

    # what a step rests on
    DROPPED_DEPENDENCY = "a dependency is left out"
    OTHER_DEPENDENCY = "another premise or earlier step stands in place of a dependency"
    UNKNOWN_DEPENDENCY = "a dependency names nothing", Code.MISSING_DEPENDENCY
    LATER_DEPENDENCY = "a dependency is the step itself or a later one", Code.MISSING_DEPENDENCY
    TOO_MANY_DEPENDENCIES = "five dependencies or more", Code.TOO_MANY_DEPENDENCIES
    SKIPPED_STEP = "the dependencies of an earlier step stand in its place"
    # what it says
    OTHER_RULE = "another rule of the catalogue"
    UNKNOWN_RULE = "a rule that the catalogue does not have", Code.UNKNOWN_RULE
    NEGATED_CONCLUSION = "the negation of the conclusion", Code.NOT_ENTAILED
    CONVERSE = "the conclusion, or a premise that the step depends on, with an implication turned round"
    WEAKENED_CONCLUSION = "the conclusion or something else"
    TAUTOLOGY = "the conclusion or its negation", Code.TAUTOLOGY
    REPEATED_STEP = "the step once more, under another id", Code.REPEATS_CONCLUSION
    SYMBOL_CLASH = "a predicate with one argument too many", Code.SYMBOL_CLASH
    OTHER_OPTION = "the answer is bound under the id of an option with another formula", Code.BINDING_MISMATCH
    DUPLICATE_ID = "the id of a premise or of an earlier step", Code.DUPLICATE_ID
    # how it is written
    UNPARSABLE_CONCLUSION = "a conclusion that does not parse", Code.UNPARSABLE_CONCLUSION
    EXTRA_FIELD = "a fifth field", Code.EXTRA_FIELD
    MISSING_FIELD = "one of the four fields is left out", Code.MISSING_FIELD
    WRONG_TYPE = "a field with a value of another type", Code.WRONG_TYPE
    NOT_A_LIST = "dependencies that are not a list", Code.NOT_A_LIST
    NOT_AN_OBJECT = "something else in place of the step", Code.NOT_AN_OBJECT
    BAD_JSON = "the summary is not JSON", Code.MALFORMED
    TRUNCATED = "the completion ends inside the summary", Code.MALFORMED


def flawed(problem: Problem, steps: Sequence[S], index: int, flaw: Flaw, rules: Catalogue) -> Iterator[tuple[S, ...]]:
    """Every way to give a step of a proof a flaw of a kind; REPEATED_STEP gives it to a new step after that one.

    For a flaw in how a step is written, this yields nothing; ``corruptions`` makes those.
    """
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
        case Flaw.TOO_MANY_DEPENDENCIES:
            more = [f"extra{number}" for number in range(MAX_DEPENDENCIES + 1 - len(names))]
            yield replace(step, dependencies=(*names, *more))
        case Flaw.SKIPPED_STEP:
            below = {earlier.id: earlier.dependencies for earlier in steps[:index]}
            skipping = [rewire(step, name, *below[name]) for name in names if name in below]
            yield from [other for other in skipping if len(other.dependencies) <= MAX_DEPENDENCIES]
        case Flaw.OTHER_RULE:
            yield from [replace(step, rule=rule.name) for rule in rules.rules if rule.name != step.rule]
        case Flaw.UNKNOWN_RULE:
            yield replace(step, rule="NO_SUCH_RULE")
        case Flaw.OTHER_OPTION:
            if (own := problem.option(step.id)) is not None:
                yield from [replace(step, id=o.id) for o in problem.options if o.formula is not own.formula]
        case Flaw.DUPLICATE_ID:
            yield from [replace(step, id=name) for name in known(problem, steps[:index])]
        case _:
            if isinstance(step, Step):
                yield from [replace(step, conclusion=c) for c in _other_conclusions(problem, step.conclusion, flaw)]
            else:
                said = parse_formula(step.conclusion)
                yield from [replace(step, conclusion=show(c)) for c in _other_conclusions(problem, said, flaw)]


def _other_conclusions(problem: Problem, conclusion: Formula, flaw: Flaw) -> Iterator[Formula]:
    match flaw:
        case Flaw.NEGATED_CONCLUSION:
            yield negate(conclusion)
        case Flaw.CONVERSE if (turned := converse(conclusion)) is not None:
            yield turned
        case Flaw.WEAKENED_CONCLUSION:
            for premise in problem.premises:
                yield from [Or(conclusion, premise.formula), Or(conclusion, Not(premise.formula))]
        case Flaw.TAUTOLOGY:
            yield Or(conclusion, Not(conclusion))
        case Flaw.SYMBOL_CLASH:
            for name, (kind, arity) in dict.fromkeys(use for f in problem.formulas() for use in symbols(f).uses):
                if kind == "predicate":
                    yield Or(conclusion, Atom(name, (const("surplus"),) * (arity + 1)))


def converse(formula: Formula) -> Formula | None:
    """The formula with the implication under its leading quantifiers turned round, or None."""
    match formula:
        case Implies(left, right):
            return Implies(right, left)
        case ForAll(variable, body) | Exists(variable, body):
            turned = converse(body)
            return None if turned is None else type(formula)(variable, turned)
        case _:
            return None


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
