"""Verification of an answer while it is written: each step is verified as soon as it is finished.

In: a text that grows. Out: for each finished step, whether it stays or is taken back, and why. How the text grows is
not known here: local models and endpoints share this.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Literal, TypeAlias

from proof_r1_formal.proof.action import Action, NotAnArrayError, array_start, next_action
from proof_r1_formal.proof.report import NOTES, Code, Finding, StepReport
from proof_r1_formal.proof.thoughts import after_thoughts
from proof_r1_formal.proof.verify import VerifierSession

END = "</summary>"
"""A completion ends here."""
Standard: TypeAlias = Literal["semantic", "rule"]
"""The checks that a step must pass to stay: entailment; or all four."""
Feedback: TypeAlias = Literal["none", "finding"]
"""The part of a step taken back that the model still sees: nothing; or the step, and why it failed."""
SUMMARY = "<summary>"
REPLACED = "Another step follows in its place."


@dataclass(frozen=True, slots=True)
class Guide:
    """Verification of each step of a completion, and the consequence of a failure.

    Attributes:
        session: verifies the steps; it has no actions before the completion starts.
        tries: how often a step that fails is sampled again.
        standard: the condition for a step that is not the binding.
        keep: whether a step that fails every time stays; otherwise the completion ends there, unfinished.
        feedback: what the model sees of a step that was taken back.
    """

    session: VerifierSession
    tries: int = 4
    standard: Standard = "rule"
    keep: bool = True
    feedback: Feedback = "none"

    def accepts(self, step: StepReport) -> bool:
        """Whether the step that was pushed last stays; a binding stays only if the whole answer is verified."""
        if step.terminal:
            return self.session.report().verified
        return step.signal == 1.0 if self.standard == "rule" else step.semantic


@dataclass(frozen=True, slots=True)
class Commit:
    """A step that stays, and the whole completion if the step ends a verified answer."""

    answer: str | None


@dataclass(frozen=True, slots=True)
class Rollback:
    """A step that is taken back.

    Attributes:
        begin, end: the characters of the step, or of all that follows a step if it is not one.
        findings: why it failed.
        over: whether it was the last try, so that the completion ends here.
    """

    begin: int
    end: int
    findings: tuple[Finding, ...]
    over: bool

    @property
    def remark(self) -> str:
        """The remark after a step where the model is to know why it failed."""
        reasons = "; ".join([finding.message for finding in self.findings if finding.code not in NOTES])
        return f" /* rejected: {reasons}. {REPLACED} */"


class Watch:
    """Follows a text and verifies its steps.

    Attributes:
        accepted: number of steps that stay and do not fail.
        start: the character after the last step that stays; that after ``<summary>[`` before the first, None before
            the text has come there.
    """

    def __init__(self, guide: Guide) -> None:
        self.guide = guide
        self.start: int | None = None
        self.accepted = self._failed = 0
        self._steps: list[Action] = []
        self._closing = END
        self._there = [self]  # the watch whose steps are in the session; all forks share this list

    @property
    def steps(self) -> tuple[Action, ...]:
        """The steps that stay."""
        return tuple(self._steps)

    def fork(self) -> Watch:
        """A copy for another continuation of the text; both use the same session."""
        new = copy(self)
        new._steps = self._steps[:]
        return new

    def resume(self) -> None:
        """Put the steps of this text into the session if a fork used it; the verifier has their verdicts cached."""
        there, self._there[0] = self._there[0], self
        if there is not self:
            for _ in there._steps:
                self.guide.session.pop()
            self.guide.session.extend(self._steps)

    def opened(self, text: str) -> bool:
        """Whether the summary's array has begun. One in thoughts is a draft as soon as the thoughts end after it."""
        if self.start is not None and (after_thoughts(text) or 0) > self.start:
            self.resume()
            for _ in self._steps:
                self.guide.session.pop()
            self.start, self.accepted, self._failed, self._steps = None, 0, 0, []
        place = _summary(text)
        if self.start is None and place < len(text) and (found := array_start(text, place + len(SUMMARY))) is not None:
            self.start, fenced = found
            self._closing = f"\n```\n{END}" if fenced else END
        return self.start is not None

    def look(self, text: str) -> Commit | Rollback | None:
        """The next step, if it is finished.

        Args:
            text: as it is now, without the steps that were taken back.
        """
        if not self.opened(text):
            return None
        assert self.start is not None
        guide = self.guide
        try:
            action = next_action(text, self.start, first=not self._steps)
        except NotAnArrayError as error:  # no reader would read what is kept after this
            self._failed += 1
            malformed = (Finding(Code.MALFORMED, str(error)),)
            return Rollback(self.start, len(text), malformed, self._failed > guide.tries)
        if action is None:
            return None
        self.resume()
        begin, end = action.span
        step = guide.session.push(action)
        accepted = guide.accepts(step)
        if accepted or (self._failed >= guide.tries and guide.keep):
            self._failed, self.accepted, self.start = 0, self.accepted + accepted, end
            self._steps.append(action)
            verified = step.terminal and guide.session.report().verified
            return Commit(f"{text[:end]}\n]{self._closing}" if verified else None)  # nothing else may follow
        findings = (step.findings or guide.session.report().findings) if step.terminal else step.findings
        guide.session.pop()
        self._failed += 1
        return Rollback(begin, end, findings, self._failed > guide.tries)


def _summary(text: str) -> int:
    """The place of ``<summary>``, not that in thoughts; the end of the text if it is not there."""
    answer = after_thoughts(text)
    place = -1 if answer is None else text.find(SUMMARY, answer)
    return len(text) if place < 0 else place
