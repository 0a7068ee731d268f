"""Shared parts of all dataset readers: read formulas, collect errors and notes, and make a problem or a rejection.

In: the values of a record. Out: a :class:`Problem` with notes, or a :class:`Rejected` with every reason found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from proof_r1_formal.data.problem import (
    FALSE,
    LABELS,
    THREE_WAY,
    TRUE,
    Option,
    Premise,
    Problem,
    ReferenceStep,
    Rejected,
)
from proof_r1_formal.data.quality import NOTED, OddityKind, oddities, tell
from proof_r1_formal.data.records import Broken, Json, JsonObject, Record, describe
from proof_r1_formal.errors import ParseError, SignatureError
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.text.conventions import NotationName
from proof_r1_formal.text.parse import parse_formula
from proof_r1_formal.text.show import show

_SHOWN = 80  # characters of a formula that a reason quotes
_OPTION = re.compile(r"\s*([A-Za-z])\s*[).:]\s*(\S+)\s*")  # an answer by letter: "A) True"


class StepRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A step of a reference proof, in every format that has them."""

    id: str
    dependencies: tuple[str, ...]
    conclusion: str
    rule: str


@dataclass(frozen=True, slots=True)
class Origin:
    """The place of a record, and how to read it.

    Attributes:
        stem: name of the file without its suffix.
        line: 1-based line (JSON Lines) or position in the array (JSON).
        repair: whether formulas are repaired.
        notation: the notation of formulas, which settles what notations read differently.
        path: of the file, beside which are those that it includes; None for records and standard input.
    """

    stem: str
    line: int
    repair: bool
    notation: NotationName = "auto"
    path: Path | None = None

    @property
    def fallback_id(self) -> str:
        """The id of a record without an id."""
        return f"{self.stem}/#{self.line}"


class Draft:
    """A record while it is read: reasons to reject it, and notes."""

    def __init__(self, origin: Origin) -> None:
        self._origin = origin
        self._reasons: list[str] = []
        self._notes: list[str] = []

    def reject(self, reason: str) -> None:
        """Reject the record."""
        self._reasons.append(reason)

    def note(self, note: str) -> None:
        """Add a note on an oddity."""
        self._notes.append(note)

    def identifier(self, record: JsonObject, key: str) -> str:
        """The record's own id under ``key``; rejects the record unless that is a whole number or a non-empty text."""
        value = record.get(key)
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            return str(value)
        self.reject(f"{key!r} must be a whole number or a non-empty text; it is {describe_member(record, key)}")
        return f"#{self._origin.line}"

    def text(self, record: JsonObject, key: str) -> str:
        """The text under ``key``; empty, with a note, if it is missing."""
        value = record.get(key)
        if isinstance(value, str):
            return value
        self.note(f"{key!r} must be a text; it is {describe_member(record, key)} and is left empty")
        return ""

    def formula(self, place: str, value: Json) -> Formula | None:
        """The formula of a text, repaired (with notes) if the origin says so; None, with a reason, if it is invalid.

        Reasons and notes name the place of the text in the record.
        """
        if not isinstance(value, str):
            found = "the record has none" if value is None else f"it is {describe(value)}"
            self.reject(f"{place}: expected a formula as text; {found}")
            return None
        notation = self._origin.notation
        try:
            if not self._origin.repair:
                return parse_formula(value, notation=notation)
            repaired = parse_formula(value, repair=True, notation=notation)
        except ParseError as error:
            self._unread(place, error)
            return None
        for repair in repaired.repairs:
            self.note(f"{place}: {repair}")
        return repaired.formula

    def sentence(self, place: str, text: str) -> Formula | None:
        """The formula of a sentence in templated English; None, with a reason, if it is none."""
        from proof_r1_formal.data.english import parse_english

        try:
            return parse_english(text)
        except ParseError as error:
            self._unread(place, error)
            return None

    def _unread(self, place: str, error: ParseError) -> None:
        quoted = error.text if len(error.text) <= _SHOWN else f"{error.text[:_SHOWN]}…"
        self.reject(f"{place}: {error.summary} in {quoted!r}")

    def story(self, record: JsonObject, key: str) -> tuple[Premise, ...]:
        """The premises h1, h2, … of a text in templated English; rejects the record if there is none."""
        from proof_r1_formal.data.english import sentences

        value = record.get(key)
        found = sentences(value) if isinstance(value, str) else ()
        if not found:
            self.reject(f"{key!r} must be a text of sentences; it is {describe_member(record, key)}")
        premises = []
        for count, text in enumerate(found, 1):
            formula = self.sentence(f"premise h{count}", text)
            if formula is not None:
                premises.append(Premise(f"h{count}", formula, show(formula), text))
        return tuple(premises)

    def question_goal(self, record: JsonObject, question: str) -> Formula | None:
        """The formula of the sentence that follows ``question`` under that key."""
        value = record.get("question")
        _, found, sentence = value.partition(question) if isinstance(value, str) else ("", "", "")
        if not found:
            self.reject(f"'question' must be '{question}' and a sentence; it is {describe_member(record, 'question')}")
            return None
        return self.sentence("the goal (question)", sentence.strip())

    def statement(self, record: JsonObject, key: str) -> Formula | None:
        """The formula of the sentence under ``key``."""
        value = record.get(key)
        if isinstance(value, str):
            return self.sentence(f"the goal ({key})", value.strip())
        self.reject(f"{key!r} must be a sentence; it is {describe_member(record, key)}")
        return None

    def label_answer(self, record: JsonObject, key: str, options: Iterable[Option]) -> str | None:
        """The id of the option that a label names, as a text or a truth value; None, with a note, if it names none."""
        label = record.get(key)
        option_id = THREE_WAY.get(str(label).strip().casefold()) if isinstance(label, str | bool) else None
        known = {option.id: option.label for option in options}
        if option_id in known:
            return option_id
        shown = repr(label) if isinstance(label, str) else describe_member(record, key)
        self.note(f"{key!r} is {shown}, which names no option ({', '.join(known.values())}); the answer is unknown")
        return None

    def closed_world(self, what: str) -> None:
        """Note that the label ``what`` is left out, because it is that of a closed world."""
        self.note(f"{what} is left out: in a closed world, what cannot be shown is false; the answer is unknown")

    def letter_answer(self, record: JsonObject, options: Iterable[Option]) -> str | None:
        """The id of the option that the letter under ``answer`` stands for; None, with a note, if there is none."""
        answer, choices = record.get("answer"), record.get("options")
        texts = choices if isinstance(choices, list) else []
        letters = [_OPTION.fullmatch(text) for text in texts if isinstance(text, str)]
        labels = {match[2].casefold() for match in letters if match and match[1] == answer}
        known = {option.id: option.label for option in options}
        if len(labels) == 1 and (option_id := THREE_WAY.get(labels.pop())) in known:
            return option_id
        shown = repr(answer) if isinstance(answer, str) else describe_member(record, "answer")
        wanted = ", ".join(known.values())
        self.note(f"'answer' is {shown}, which is the letter of no option ({wanted}); the answer is unknown")
        return None

    def premises(self, pairs: Iterable[tuple[str, Json]]) -> tuple[Premise, ...]:
        """The premises h1, h2, … of pairs of English and formula; rejects the record if there is none."""
        premises = []
        given = list(pairs)
        for count, (text, source) in enumerate(given, 1):
            formula = self.formula(f"premise h{count}", source)
            if formula is not None and isinstance(source, str):
                premises.append(Premise(f"h{count}", formula, source, text))
        if not given:
            self.reject("the record has no premise")
        return tuple(premises)

    def finish(self, problem: Problem, *, noted: Collection[OddityKind] = NOTED) -> Problem | Rejected:
        """The problem with the notes. A record with reasons against it, or a symbol used in two ways, is rejected.

        Args:
            problem: as read.
            noted: which slips in names become notes.
        """
        if not problem.id.isprintable():
            self.reject(f"the id {problem.id!r} contains a control character")
        self._check_symbols(problem, noted)
        if self._reasons:
            return Rejected(problem.id, self._origin.line, tuple(self._reasons))
        self._note_labels(problem.options)
        return replace(problem, notes=tuple(dict.fromkeys((*problem.notes, *self._notes))))

    def _note_labels(self, options: tuple[Option, ...]) -> None:
        """Note a label that may mean Uncertain: beside True and False, or with the formula of another option."""
        formulas = [option.formula for option in options]
        three_way = any(option.label in (TRUE, FALSE) for option in options)
        for option in options:
            if option.label not in LABELS.values() and (three_way or formulas.count(option.formula) > 1):
                self.note(
                    f"option {option.id} is labelled {option.label!r}, not True, False or Uncertain: a proof of its "
                    "formula makes it the answer"
                )

    def _check_symbols(self, problem: Problem, noted: Collection[OddityKind]) -> None:
        try:
            signature = problem.signature()
        except SignatureError as error:
            self.reject(f"{_place_of_clash(problem)}: {error}")
            return
        for oddity in oddities(problem, signature):
            if oddity.kind in noted:
                self.note(tell(oddity))


def read_parts(
    record: Record | Broken,
    read: Callable[[JsonObject, Origin], Problem | Rejected],
    origin: Origin,
    parts: Callable[[JsonObject], Iterable[JsonObject]] = lambda record: (record,),
) -> Iterator[Problem | Rejected]:
    """Read each part of a record. A record that is not an object is rejected, and so is what has a key twice."""
    match record:
        case Record(_, JsonObject() as members) if repeated := members.repeats():
            yield Rejected(origin.fallback_id, origin.line, (f"the key {repeated[0]!r} occurs twice",))
        case Record(_, JsonObject() as members):
            for number, part in enumerate(parts(members), 1):
                if part is not members and (repeated := part.repeats()):
                    reason = f"the key {repeated[0]!r} occurs twice in its part {number}"
                    yield Rejected(origin.fallback_id, origin.line, (reason,))
                else:
                    yield read(part, origin)
        case Record(_, value):
            yield Rejected(origin.fallback_id, origin.line, (f"a record must be an object, not {describe(value)}",))
        case Broken(_, problem):
            yield Rejected(origin.fallback_id, origin.line, (problem,))


def asks(record: JsonObject, question: str) -> bool:
    """Whether the record tells a story and asks that about it: datasets with the same keys ask different things."""
    value = record.get("question")
    return "context" in record and isinstance(value, str) and question in value


def questions(record: JsonObject, shared: tuple[str, ...]) -> Iterable[JsonObject]:
    """The questions of a record, each as a record with the keys that they share; the record itself if it has none.

    If the questions are in an object and not in an array, each has ``<id of the record>_<key>`` as ``part``.
    """
    value, whole = record.get("questions"), record.get("id")
    items = value if isinstance(value, list) else []
    if isinstance(value, JsonObject) and isinstance(whole, int | str):
        items = [_with((("part", f"{whole}_{key}"),), item) for key, item in value.members]
    common = tuple([member for member in record.members if member[0] in shared])
    return [_with(common, item) for item in items] or (record,)


def _with(members: tuple[tuple[str, Json], ...], value: Json) -> JsonObject:
    """The object with more members; a value that is not an object is replaced by them."""
    return JsonObject((*members, *(value.members if isinstance(value, JsonObject) else ())))


def describe_member(record: JsonObject, key: str) -> str:
    """The kind of the value under ``key``, for messages: ``missing``, ``an array``."""
    return describe(record.get(key)) if key in record else "missing"


def reference_proofs(proofs: Iterable[Iterable[StepRecord]]) -> tuple[tuple[ReferenceStep, ...], ...]:
    """The reference proofs of their records."""
    return tuple(tuple(ReferenceStep(*msgspec.structs.astuple(step)) for step in proof) for proof in proofs)


def _place_of_clash(problem: Problem) -> str:
    """The premise or option with which the symbols begin to clash."""
    places = [f"premise {premise.id}" for premise in problem.premises]
    places += [f"option {option.id}" for option in problem.options]
    formulas = tuple(problem.formulas())
    for count in range(1, len(formulas)):
        try:
            Signature.infer(formulas[:count])
        except SignatureError:
            return places[count - 1]
    return places[-1]
