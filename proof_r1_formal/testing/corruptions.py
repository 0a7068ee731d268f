"""Hypothesis strategy for attempts with one named flaw.

In: a strategy for attempts. Out: :class:`Corrupted`, an attempt with the flaw, and what it was made of.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Self, TypeVar

from hypothesis import reject
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from hypothesis.vendor.pretty import RepresentationPrinter

from proof_r1_formal.data.problem import Problem
from proof_r1_formal.kernel.syntax import Atom, Exists, ForAll, Formula, Implies, Not, Or, const
from proof_r1_formal.proof.action import FIELDS, MAX_DEPENDENCIES
from proof_r1_formal.proof.report import Code
from proof_r1_formal.rules.catalogue import TRAIN
from proof_r1_formal.rules.schema import GOAL_BINDING, Catalogue
from proof_r1_formal.testing.attempts import Attempt, Json, completion_of, valid_attempts
from proof_r1_formal.testing.mutations import Flaw, flawed, known, replace_step

_T = TypeVar("_T")


class Corruption(StrEnum):
    """What is wrong with a corrupted attempt. Those of the kinds of ``Flaw`` have the same names."""

    finding: Code | None

    def __new__(cls, text: str, finding: Code | None = None) -> Self:
        """A member; without a finding, the corruption may be harmless."""
        member = str.__new__(cls, text)
        member._value_, member.finding = text, finding
        return member

    # what an action rests on
    DROPPED_DEPENDENCY = "a dependency is left out"
    OTHER_DEPENDENCY = "another premise or earlier action stands in place of a dependency"
    UNKNOWN_DEPENDENCY = "a dependency names nothing", Code.MISSING_DEPENDENCY
    LATER_DEPENDENCY = "a dependency is the action itself or a later one", Code.MISSING_DEPENDENCY
    TOO_MANY_DEPENDENCIES = "five dependencies or more", Code.TOO_MANY_DEPENDENCIES
    # what it says
    OTHER_RULE = "another rule of the catalogue"
    UNKNOWN_RULE = "a rule that the catalogue does not have", Code.UNKNOWN_RULE
    NEGATED_CONCLUSION = "the negation of the conclusion", Code.NOT_ENTAILED
    CONVERSE = "the conclusion, or a premise that the action depends on, with an implication turned round"
    WEAKENED_CONCLUSION = "the conclusion or something else"
    TAUTOLOGY = "the conclusion or its negation", Code.TAUTOLOGY
    REPEATED_STEP = "the action once more, under another id", Code.REPEATS_CONCLUSION
    UNPARSABLE_CONCLUSION = "a conclusion that does not parse", Code.UNPARSABLE_CONCLUSION
    SYMBOL_CLASH = "a predicate with one argument too many", Code.SYMBOL_CLASH
    OTHER_OPTION = "the binding under the id of an option with another formula", Code.BINDING_MISMATCH
    # how it is written
    DUPLICATE_ID = "the id of a premise or of an earlier action", Code.DUPLICATE_ID
    EXTRA_FIELD = "a fifth field", Code.EXTRA_FIELD
    MISSING_FIELD = "one of the four fields is left out", Code.MISSING_FIELD
    WRONG_TYPE = "a field with a value of another type", Code.WRONG_TYPE
    NOT_A_LIST = "dependencies that are not a list", Code.NOT_A_LIST
    NOT_AN_OBJECT = "something else in place of the action", Code.NOT_AN_OBJECT
    BAD_JSON = "the summary is not JSON", Code.MALFORMED
    TRUNCATED = "the completion ends inside the summary", Code.MALFORMED


FINDINGS: Mapping[Corruption, Code] = MappingProxyType({one: one.finding for one in Corruption if one.finding})
"""The finding of the corrupted action, given sound rules. Corruptions that may be harmless are not listed."""


@dataclass(frozen=True, slots=True, repr=False)
class Corrupted:
    """An attempt with one flaw.

    Attributes:
        corruption: which.
        original: the attempt without it.
        index: of the action that has it; 0 if the completion cannot be read.
        attempt: with the flaw, if well-formed actions can have it; else the original.
        text: the completion, if it is not the one of the attempt.
    """

    corruption: Corruption
    original: Attempt
    index: int
    attempt: Attempt
    text: str | None = None

    @property
    def problem(self) -> Problem:
        """The problem; it differs from the original one if a premise has the flaw."""
        return self.attempt.problem

    @property
    def completion(self) -> str:
        """The text of the corrupted attempt."""
        return self.attempt.completion if self.text is None else self.text

    def __repr__(self) -> str:
        shown = repr(self.attempt) if self.text is None else f"{self.attempt!r}\n  written as {self.text}"
        return f"{self.corruption.name} at action {self.index} of {shown}"

    def _repr_pretty_(self, printer: RepresentationPrinter, _: bool) -> None:
        printer.text(repr(self))  # what Hypothesis shows


def corrupted_attempts(
    attempts: SearchStrategy[Attempt] | None = None,
    *,
    catalogue: Catalogue = TRAIN,
    corruptions: Collection[Corruption] = tuple(Corruption),
) -> SearchStrategy[Corrupted]:
    """Attempts with one flaw each.

    Args:
        attempts: what to corrupt; valid ones if None.
        catalogue: of those attempts.
        corruptions: which flaws there may be.
    """
    sound = valid_attempts(catalogue) if attempts is None else attempts
    flaws = st.sampled_from([corruption for corruption in Corruption if corruption in corruptions])

    @st.composite
    def corrupted(draw: DrawFn) -> Corrupted:
        attempt = draw(sound)
        corruption = draw(flaws)
        inferences = [index for index, step in enumerate(attempt.steps) if step.rule != GOAL_BINDING]
        index = draw(st.sampled_from(inferences))
        if corruption is Corruption.OTHER_OPTION:
            index = len(attempt.steps) - 1
        if (flawed_attempt := _changed_steps(draw, attempt, index, corruption, catalogue)) is not None:
            index += corruption is Corruption.REPEATED_STEP
            return Corrupted(corruption, attempt, index, flawed_attempt)
        records: list[Json] = [step.record() for step in attempt.steps]
        records[index] = _changed_record(draw, attempt, index, corruption)
        text = completion_of(records)
        if corruption in (Corruption.BAD_JSON, Corruption.TRUNCATED):
            text, index = _changed_text(draw, text, corruption), 0
        return Corrupted(corruption, attempt, index, attempt, text)

    return corrupted()


def _changed_steps(
    draw: DrawFn, attempt: Attempt, index: int, corruption: Corruption, catalogue: Catalogue
) -> Attempt | None:
    """The attempt with other well-formed actions; None if the corruption is none of that kind."""
    problem, step = attempt.problem, attempt.steps[index]
    if (flaw := Flaw.__members__.get(corruption.name)) is not None:
        choices = list(flawed(problem, attempt.steps, index, flaw, catalogue))
        return replace(attempt, steps=_one_of(draw, choices))
    match corruption:
        case Corruption.TOO_MANY_DEPENDENCIES:
            more = [f"extra{n}" for n in range(MAX_DEPENDENCIES + 1 - len(step.dependencies))]
            step = replace(step, dependencies=(*step.dependencies, *more))
        case Corruption.UNKNOWN_RULE:
            step = replace(step, rule="NO_SUCH_RULE")
        case Corruption.WEAKENED_CONCLUSION:
            premises = [premise.formula for premise in problem.premises]
            step = replace(step, conclusion=Or(step.conclusion, _one_of(draw, [*premises, *map(Not, premises)])))
        case Corruption.TAUTOLOGY:
            step = replace(step, conclusion=Or(step.conclusion, Not(step.conclusion)))
        case Corruption.SYMBOL_CLASH:
            predicate, sorts = _one_of(draw, list(problem.signature().predicates.items()))
            surplus = Atom(predicate, (const("surplus"),) * (len(sorts) + 1))
            step = replace(step, conclusion=Or(step.conclusion, surplus))
        case Corruption.DUPLICATE_ID:
            step = replace(step, id=_one_of(draw, known(problem, attempt.steps[:index])))
        case Corruption.CONVERSE:
            return _with_converse(draw, attempt, index)
        case _:
            return None
    return replace(attempt, steps=replace_step(attempt.steps, index, step))


def _with_converse(draw: DrawFn, attempt: Attempt, index: int) -> Attempt:
    step, premises = attempt.steps[index], attempt.problem.premises
    choices: list[Attempt] = []
    if (turned := _converse(step.conclusion)) is not None:
        choices.append(replace(attempt, steps=replace_step(attempt.steps, index, replace(step, conclusion=turned))))
    for position, premise in enumerate(premises):
        if premise.id in step.dependencies and (turned := _converse(premise.formula)) is not None:
            others = replace_step(premises, position, replace(premise, formula=turned))
            choices.append(replace(attempt, problem=replace(attempt.problem, premises=others)))
    return _one_of(draw, choices)


def _converse(formula: Formula) -> Formula | None:
    """The formula with the implication under its leading quantifiers turned round, or None."""
    match formula:
        case Implies(left, right):
            return Implies(right, left)
        case ForAll(variable, body) | Exists(variable, body):
            turned = _converse(body)
            return None if turned is None else type(formula)(variable, turned)
        case _:
            return None


def _changed_record(draw: DrawFn, attempt: Attempt, index: int, corruption: Corruption) -> Json:
    """The record of an action that is not well formed, or the record itself if the text is to be changed."""
    record = attempt.steps[index].record()
    field = draw(st.sampled_from(FIELDS))
    match corruption:
        case Corruption.UNPARSABLE_CONCLUSION:
            return record | {"conclusion": f"{record['conclusion']} {draw(st.sampled_from(('∧', ')', '(', '∀x')))}"}
        case Corruption.EXTRA_FIELD:
            return record | {"note": "obvious"}
        case Corruption.MISSING_FIELD:
            return {key: value for key, value in record.items() if key != field}
        case Corruption.WRONG_TYPE:
            items: list[Json] = [[1], [""], [None]]
            wrong: list[Json] = [None, 1, True, "", {}, *items]
            return record | {field: draw(st.sampled_from(items if field == "dependencies" else wrong))}
        case Corruption.NOT_A_LIST:
            return record | {"dependencies": draw(st.sampled_from([None, 1, True, "h1", {}]))}
        case Corruption.NOT_AN_OBJECT:
            others: list[Json] = [None, 1, "s1", list(record.values())]
            return draw(st.sampled_from(others))
        case _:
            return record


def _changed_text(draw: DrawFn, text: str, corruption: Corruption) -> str:
    opening, closing = text.index("["), text.rindex("]")
    if corruption is Corruption.TRUNCATED:
        return text[: draw(st.integers(opening, len(text) - 1))]
    changes: dict[str, str] = {
        "no opening bracket": text[:opening] + text[opening + 1 :],
        "no closing bracket": text[:closing] + text[closing + 1 :],
        "a trailing comma": f"{text[:closing]},{text[closing:]}",
        "single quotes": text.replace('"', "'"),
        "two arrays": f"{text[: closing + 1]}[]{text[closing + 1 :]}",
        "more than JSON": f"{text[:closing]}, NaN{text[closing:]}",
    }
    return changes[draw(st.sampled_from(sorted(changes)))]


def _one_of(draw: DrawFn, choices: Sequence[_T]) -> _T:
    """One of the choices; without any, the attempt cannot be corrupted in this way."""
    return draw(st.sampled_from(choices)) if choices else reject()
