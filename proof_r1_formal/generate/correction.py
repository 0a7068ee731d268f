"""Corrections: a model's completion up to its first wrong step, and an expert's continuation in the same layout.

In: a problem and a completion. Out: a :class:`Correction`: how much of the completion stays as it is, byte for byte,
and the text that follows, so that the whole is a proof of the right option which passes all checks. Use it to train a
model on the states that it reaches itself (``credit.methods``), or to show a person how a proof could go on.

The completion stays as far as its last action before which all actions pass all four checks. The steps after it are
those of :meth:`~proof_r1_formal.generate.synthesize.Prover.continue_proof`. They are written as the model writes: with
its spaces and line breaks, its order of keys, its kind of ids and its notation, as far as its own text shows them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from proof_r1_formal.data.problem import Problem, ReferenceStep
from proof_r1_formal.errors import ParseError
from proof_r1_formal.generate.synthesize import GaveUp, Proved, Prover, Reason, Uncertain
from proof_r1_formal.proof.action import FIELDS, Action, NotAnArrayError, array_start, next_action
from proof_r1_formal.proof.report import TraceReport
from proof_r1_formal.proof.step import VERIFIED
from proof_r1_formal.proof.thoughts import after_thoughts, end_of_thoughts
from proof_r1_formal.proof.trajectory import completion, summary
from proof_r1_formal.proof.verify import Verifier, VerifierSession
from proof_r1_formal.text.parse import parse_formula
from proof_r1_formal.text.show import OutputNotation, show

_OPENING, _CLOSING, _THOUGHT, _GAP = "<summary>", "</summary>", "<think>", "\n\n"


@dataclass(frozen=True, slots=True)
class Correction:
    """A completion that was corrected.

    Attributes:
        kept: the beginning of the completion that stays.
        added: the text that follows.
        accepted: number of actions in ``kept``.
        proof: the steps of ``added``, with the verdicts on the whole proof.
    """

    kept: str
    added: str
    accepted: int
    proof: Proved

    @property
    def text(self) -> str:
        """The whole completion."""
        return self.kept + self.added


def correct(
    problem: Problem, text: str, prover: Prover, *, report: TraceReport | None = None
) -> Correction | GaveUp | Uncertain | None:
    """Correct a completion.

    Args:
        problem: the question.
        text: the completion.
        prover: continues the proof; its verifier decides which actions pass all checks.
        report: of that verifier on the completion, if it is known; else it verifies.

    Returns:
        None if nothing is wrong: the completion binds the right option, and all its actions pass all checks. What the
        prover found if it found no continuation.

    Raises:
        SignatureError: the problem uses a symbol in two ways.
        SolverError: the verifier's solver is missing or broken.
    """
    report = prover.verifier.verify(problem, text) if report is None else report
    right = report.answer is not None and report.answer_correct is not False
    if report.parsed and right and all(step.signal == VERIFIED for step in report.actions):
        return None
    written = _read(problem, text, prover.verifier)
    found = prover.continue_proof(problem, [_as_step(action) for action in written.actions])
    if not isinstance(found, Proved):
        return found
    if not all(step.signal == VERIFIED for step in found.report.actions):  # the engine's proof in other words
        return GaveUp(Reason.NO_PROOF, found.answer, cost=found.cost)
    kept = text[: written.end]
    return Correction(kept, _Layout.of(text, written).write(found.steps, problem, kept), len(written.actions), found)


# -- what stays -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Written:
    """The part of a completion that stays.

    Attributes:
        end: the character at which it ends.
        actions: those that pass all checks, before the first that does not.
        array: the character after ``[``; None if no array has begun.
        fenced: whether the array is in a Markdown fence.
    """

    end: int
    actions: tuple[Action, ...] = ()
    array: int | None = None
    fenced: bool = False


def _read(problem: Problem, text: str, verifier: Verifier) -> _Written:
    """The part that stays. The text may end anywhere."""
    after_thought = after_thoughts(text)
    if after_thought is None:
        return _Written(0)
    opening = text.find(_OPENING, after_thought)
    begun = None if opening < 0 else array_start(text, opening + len(_OPENING))
    if begun is None:
        return _Written(after_thought if opening < 0 else opening)
    array, fenced = begun
    # The verifier's summary ends at the first tag, even where that is part of a name.
    text = text[: closing if (closing := text.find(_CLOSING, array)) >= 0 else None]
    session = VerifierSession(problem, verifier)
    actions: list[Action] = []
    end = array
    try:
        while (action := next_action(text, end, first=not actions)) is not None:
            if problem.option(action.id) is not None or session.push(action).signal != VERIFIED:
                break
            actions.append(action)
            end = action.span[1]
    except NotAnArrayError:
        pass
    return _Written(end, tuple(actions), array, fenced)


def _as_step(action: Action) -> ReferenceStep:
    """An action that passed all checks, so that no part of it is missing."""
    assert action.id is not None
    assert action.conclusion is not None
    assert action.rule is not None
    return ReferenceStep(action.id, action.dependencies, action.conclusion, action.rule)


# -- how it goes on ---------------------------------------------------------------------------------------------------

_Separators: TypeAlias = tuple[str, str]
_STYLES: tuple[tuple[bool, int | None, _Separators], ...] = tuple(
    product((False, True), (None, 2, 4, 1), ((", ", ": "), (",", ":"), (",", ": ")))
)
"""How elements are written: whether all is ASCII, the indentation, and the separators of ``json.dumps``."""
_COMMA = re.compile(r"[ \t\r\n]*,[ \t\r\n]*")
_NOTATIONS: tuple[OutputNotation, ...] = ("unicode", "ascii", "juxtaposed", "prefix")


@dataclass(frozen=True, slots=True)
class _Layout:
    """How the elements of an array are written.

    Attributes:
        before_first, between, after_last: the text around elements.
        keys: their order.
        ascii, indent, separators: of ``json.dumps``.
        margin: the spaces before the lines of an element.
        notation: of conclusions.
        fenced: whether a Markdown fence is to be closed.
        begun: whether the array has begun.
        elements: how many elements it has.
        thinks: whether the completion begins with a thought in the format of the contract.
    """

    before_first: str
    between: str
    after_last: str
    keys: Sequence[str]
    ascii: bool
    indent: int | None
    separators: _Separators
    margin: str
    notation: OutputNotation
    fenced: bool
    begun: bool
    elements: int
    thinks: bool

    @classmethod
    def of(cls, text: str, written: _Written) -> _Layout:
        """The layout of what stays; what it does not show is written as :func:`summary` writes it."""
        actions, begun = written.actions, written.array is not None
        first = text[written.array : actions[0].span[0]] if actions else "\n" if begun else ""
        raw = text[slice(*actions[-1].span)] if actions else ""
        margin = first.rpartition("\n")[2] if "\n" in first else ""
        ascii_, indent, separators = _style(raw, margin)
        between = f",{first}" if first else separators[0]
        if len(actions) > 1:
            between = text[actions[-2].span[1] : actions[-1].span[0]]
        elif actions and (following := _COMMA.match(text, written.end)):
            between = following[0]
        keys = tuple(json.loads(raw)) if raw else FIELDS
        last = "\n" if "\n" in first else ""
        notation = _notation([action.conclusion or "" for action in actions])
        style = (keys, ascii_, indent, separators, margin, notation)
        thinks = text.lstrip().startswith(_THOUGHT)
        return cls(first, between, last, *style, written.fenced, begun, len(actions), thinks)

    def write(self, steps: Sequence[ReferenceStep], problem: Problem, kept: str) -> str:
        """The text that follows."""
        if not self.begun:
            if not kept:
                return completion(problem, steps) if self.thinks else summary(steps)
            return f"{end_of_thoughts(kept)}{'' if kept[-1].isspace() else _GAP}{summary(steps)}"
        elements = [self._element(step) for step in steps]
        start = self.between if self.elements else self.before_first
        fence = "\n```\n" if self.fenced else ""
        return f"{start}{self.between.join(elements)}{self.after_last}]{fence}{_CLOSING}"

    def _element(self, step: ReferenceStep) -> str:
        conclusion = step.conclusion
        if self.notation != "unicode":
            conclusion = show(parse_formula(conclusion), self.notation)
        values = dict(zip(FIELDS, (step.id, step.dependencies, conclusion, step.rule), strict=True))
        return _dumped({key: values[key] for key in self.keys}, self.ascii, self.indent, self.separators, self.margin)


def _dumped(value: Mapping[str, object], ascii_: bool, indent: int | None, separators: _Separators, margin: str) -> str:
    """One element as JSON. No formula looks like ``</summary>``, because ``<`` is escaped."""
    text = json.dumps(value, ensure_ascii=ascii_, indent=indent, separators=separators)
    return text.replace("<", "\\u003c").replace("\n", f"\n{margin}")


def _style(raw: str, margin: str) -> tuple[bool, int | None, _Separators]:
    """The first style that writes an element as the model wrote it; the first of all if none does."""
    if raw:
        value = json.loads(raw)
        for style in _STYLES:
            if _dumped(value, *style, margin) == raw:
                return style
    return _STYLES[0]


def _notation(conclusions: Iterable[str]) -> OutputNotation:
    """The notation in which all conclusions are written as they are; the usual one if there is none."""
    try:
        formulas = {text: parse_formula(text) for text in conclusions}
    except ParseError:
        return _NOTATIONS[0]
    return next((n for n in _NOTATIONS if all(show(f, n) == text for text, f in formulas.items())), _NOTATIONS[0])
