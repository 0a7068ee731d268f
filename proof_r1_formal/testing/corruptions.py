"""Hypothesis strategies for attempts with one named flaw, and for completions: other layouts, and valid to garbage.

In: a strategy for attempts. Out: :class:`Corrupted`, an attempt with the flaw, and what it was made of; texts.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import get_args

from hypothesis import reject
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from hypothesis.vendor.pretty import RepresentationPrinter

from proof_r1_formal.data.problem import Problem
from proof_r1_formal.proof.action import FIELDS
from proof_r1_formal.proof.report import Code
from proof_r1_formal.rules.catalogue import TRAIN
from proof_r1_formal.rules.schema import GOAL_BINDING, Catalogue
from proof_r1_formal.testing.attempts import Attempt, Json, completion_of, valid_attempts
from proof_r1_formal.testing.mutations import Flaw, converse, flawed, replace_step
from proof_r1_formal.text.show import OutputNotation

FINDINGS: Mapping[Flaw, Code] = MappingProxyType({one: one.finding for one in Flaw if one.finding})
"""The finding of the corrupted action, given sound rules. Flaws that may be harmless are not listed."""


@dataclass(frozen=True, slots=True, repr=False)
class Corrupted:
    """An attempt with one flaw, and the original without it.

    Attributes:
        index: of the action that has it; 0 if the completion cannot be read.
        attempt: with the flaw, if well-formed actions can have it; else the original.
        text: the completion, if it is not the one of the attempt.
    """

    flaw: Flaw
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
        return f"{self.flaw.name} at action {self.index} of {shown}"

    def _repr_pretty_(self, printer: RepresentationPrinter, _: bool) -> None:
        printer.text(repr(self))  # what Hypothesis shows


def corrupted_attempts(
    attempts: SearchStrategy[Attempt] | None = None,
    *,
    catalogue: Catalogue = TRAIN,
    flaws: Collection[Flaw] = tuple(Flaw),
) -> SearchStrategy[Corrupted]:
    """Attempts of a catalogue with one of the flaws each, made from valid ones unless others are given."""
    sound = valid_attempts(catalogue) if attempts is None else attempts
    kinds = st.sampled_from([flaw for flaw in Flaw if flaw in flaws])

    @st.composite
    def corrupted(draw: DrawFn) -> Corrupted:
        attempt, flaw = draw(sound), draw(kinds)
        binding = flaw is Flaw.OTHER_OPTION
        places = [index for index, step in enumerate(attempt.steps) if (step.rule == GOAL_BINDING) == binding]
        index = draw(st.sampled_from(places)) if places else reject()
        if texts := list(_texts([step.record() for step in attempt.steps], index, flaw)):
            unreadable = flaw in (Flaw.BAD_JSON, Flaw.TRUNCATED)
            return Corrupted(flaw, attempt, 0 if unreadable else index, attempt, draw(st.sampled_from(texts)))
        ways = [replace(attempt, steps=way) for way in flawed(attempt.problem, attempt.steps, index, flaw, catalogue)]
        if flaw is Flaw.CONVERSE:
            ways += _with_turned_premises(attempt, index)
        changed = draw(st.sampled_from(ways)) if ways else reject()
        return Corrupted(flaw, attempt, index + (flaw is Flaw.REPEATED_STEP), changed)

    return corrupted()


def _with_turned_premises(attempt: Attempt, index: int) -> Iterator[Attempt]:
    premises = attempt.problem.premises
    for place, premise in enumerate(premises):
        if premise.id in attempt.steps[index].dependencies and (turned := converse(premise.formula)) is not None:
            others = replace_step(premises, place, replace(premise, formula=turned))
            yield replace(attempt, problem=replace(attempt.problem, premises=others))


def _texts(records: Sequence[Mapping[str, Json]], index: int, flaw: Flaw) -> Iterator[str]:
    """Every way to write the actions so that one has the flaw, if it is one in how they are written."""
    for other in _other_records(dict(records[index]), flaw):
        yield completion_of([*records[:index], other, *records[index + 1 :]])
    text = completion_of(records)
    opening, closing = text.index("["), text.rindex("]")
    if flaw is Flaw.TRUNCATED:
        yield from [text[:length] for length in range(opening, len(text))]
    elif flaw is Flaw.BAD_JSON:
        yield text[:closing] + text[closing + 1 :]
        yield text[:opening] + text[opening + 1 :]
        yield f"{text[:closing]},{text[closing:]}"
        yield f"{text[:closing]}, NaN{text[closing:]}"
        yield f"{text[: closing + 1]}[]{text[closing + 1 :]}"
        yield text.replace('"', "'")


def _other_records(record: dict[str, Json], flaw: Flaw) -> Iterator[Json]:
    """Every record that is not well formed, in the way of the flaw."""
    items: list[Json] = [[1], [""], [None]]
    wrong: list[Json] = [None, 1, True, "", {}, *items]
    match flaw:
        case Flaw.UNPARSABLE_CONCLUSION:
            yield from [record | {"conclusion": f"{record['conclusion']} {sign}"} for sign in ("∧", ")", "(", "∀x")]
        case Flaw.EXTRA_FIELD:
            yield record | {"note": "obvious"}
        case Flaw.MISSING_FIELD:
            yield from [{key: value for key, value in record.items() if key != field} for field in FIELDS]
        case Flaw.WRONG_TYPE:
            for field in FIELDS:
                yield from [record | {field: value} for value in (items if field == "dependencies" else wrong)]
        case Flaw.NOT_A_LIST:
            yield from [record | {"dependencies": value} for value in (*wrong[:3], "h1", {})]
        case Flaw.NOT_AN_OBJECT:
            yield from [None, 1, "s1", list(record.values())]


# -- completions ------------------------------------------------------------------------------------------------------


@st.composite
def layouts(draw: DrawFn, attempt: Attempt) -> str:
    """Other ways of writing the same actions: thoughts, a fence, white space, order of fields, escapes, notations."""
    notation = draw(st.sampled_from(get_args(OutputNotation)))
    order = draw(st.permutations(FIELDS))
    records = [{field: step.record(notation)[field] for field in order} for step in attempt.steps]
    body = json.dumps(records, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from((None, 1, "\t"))))
    body = draw(st.sampled_from(("{}", "\n{}\r\n", "```json\n{}\n```", "\n```\n{}```"))).format(body)
    thoughts = ("", "So:\n", "<think>P?</think>", "<think><summary>[]</summary></think>\n", "</think>")
    before, after = draw(st.sampled_from(thoughts)), draw(st.sampled_from(("", "\n", " That is all.")))
    return f"{before}<summary>{body}</summary>{after}"


def completions(catalogue: Catalogue = TRAIN) -> SearchStrategy[str]:
    """Completions from valid to garbage: other JSON, tags in any order, any text."""
    valid = valid_attempts(catalogue)
    json_values: SearchStrategy[Json] = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(FIELDS) | st.text(), inner),
        max_leaves=8,
    )
    pieces = ("<summary>", "</summary>", "<think>", "</think>", "[", "]", "{", "}", '"id"', '"', ":", ",", "```", "\n")
    return st.one_of(
        valid.flatmap(layouts),
        corrupted_attempts(valid, catalogue=catalogue).map(lambda corrupted: corrupted.completion),
        st.lists(json_values, max_size=4).map(completion_of),
        json_values.map(lambda value: f"<summary>{json.dumps(value)}</summary>"),
        st.lists(st.sampled_from(pieces) | any_text(), max_size=12).map("".join),
        any_text(),
    )


def any_text() -> SearchStrategy[str]:
    """Any text, unpaired surrogates and control characters too."""
    return st.text(st.characters(), max_size=20) | st.text(st.characters(categories=("Cs", "Cc", "Cf")), max_size=5)
