"""Verdicts on actions and traces as plain data, to and from JSON, and the rewards that follow from them.

The JSON schema of :class:`TraceReport` is published in ``docs/report.schema.json``. Two equal reports have equal bytes.

One module, because a report gives its rewards and shows itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from math import fsum
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

import msgspec

from proof_r1_formal.kernel.answer import Evidence, EvidenceLevel
from proof_r1_formal.kernel.model import Structure
from proof_r1_formal.text.show import show

if TYPE_CHECKING:
    from rich.console import RenderableType

    from proof_r1_formal.data.problem import Problem
    from proof_r1_formal.proof.display import Action

RewardName: TypeAlias = Literal["answer", "sound", "signals"]


# check_bundle.py lists the codes again
class Code(StrEnum):
    """The subject of a finding."""

    # schema
    MALFORMED = "MALFORMED"
    NOT_AN_OBJECT = "NOT_AN_OBJECT"
    MISSING_FIELD = "MISSING_FIELD"
    EXTRA_FIELD = "EXTRA_FIELD"
    DUPLICATE_KEY = "DUPLICATE_KEY"
    WRONG_TYPE = "WRONG_TYPE"
    NOT_A_LIST = "NOT_A_LIST"
    TOO_MANY_DEPENDENCIES = "TOO_MANY_DEPENDENCIES"
    DUPLICATE_ID = "DUPLICATE_ID"
    UNPARSABLE_CONCLUSION = "UNPARSABLE_CONCLUSION"
    SYMBOL_CLASH = "SYMBOL_CLASH"
    # entailment
    MISSING_DEPENDENCY = "MISSING_DEPENDENCY"
    UNTRUSTED_DEPENDENCY = "UNTRUSTED_DEPENDENCY"
    NOT_ENTAILED = "NOT_ENTAILED"
    UNDECIDED = "UNDECIDED"
    UNUSED_DEPENDENCY = "UNUSED_DEPENDENCY"
    # rule
    RULE_UNTRUSTED_DEPENDENCY = "RULE_UNTRUSTED_DEPENDENCY"
    UNKNOWN_RULE = "UNKNOWN_RULE"
    NO_RULE_MATCH = "NO_RULE_MATCH"
    RULE_UNDECIDED = "RULE_UNDECIDED"
    COMPOUND_STEP = "COMPOUND_STEP"
    # progress
    TAUTOLOGY = "TAUTOLOGY"
    REPEATS_CONCLUSION = "REPEATS_CONCLUSION"
    RESTATES_DEPENDENCY = "RESTATES_DEPENDENCY"
    BINDING_MISMATCH = "BINDING_MISMATCH"
    BINDING_UNDECIDED = "BINDING_UNDECIDED"
    PROGRESS_UNDECIDED = "PROGRESS_UNDECIDED"
    # answer
    NO_BINDING = "NO_BINDING"
    INCONSISTENT_PREMISES = "INCONSISTENT_PREMISES"
    NOT_UNCERTAIN = "NOT_UNCERTAIN"
    UNVERIFIED_STEP = "UNVERIFIED_STEP"
    UNSUPPORTED_STEP = "UNSUPPORTED_STEP"
    UNRULED_STEP = "UNRULED_STEP"


NOTES = frozenset({Code.UNUSED_DEPENDENCY, Code.COMPOUND_STEP})
"""Findings that make no verdict false."""


class Finding(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One reason for a verdict.

    Attributes:
        code: what it is about.
        message: a sentence for people.
        dependencies: ids of the dependencies (of an action) or of the actions (of an answer) that it is about.
        broken: whether a question is undecided because the solver is broken.
    """

    code: Code
    message: str
    dependencies: tuple[str, ...] = ()
    broken: bool = False


class ModelReport(msgspec.Struct, frozen=True, gc=False):
    """A finite structure as JSON: sizes of the domains, tuples where predicates hold, tables of functions."""

    domains: dict[str, int]
    predicates: dict[str, tuple[tuple[int, ...], ...]]
    functions: dict[str, tuple[tuple[tuple[int, ...], int], ...]]

    @classmethod
    def of(cls, model: Structure) -> ModelReport:
        """The structure as plain data."""
        return cls(
            dict(model.domains),
            {name: tuple(sorted(rows)) for name, rows in model.predicates.items()},
            {name: tuple(sorted(table.items())) for name, table in model.functions.items()},
        )

    def in_words(self) -> str:
        """The structure in one line: domains, tables of functions, true atoms."""
        domains = ", ".join(f"{sort} = {{{', '.join(map(str, range(size)))}}}" for sort, size in self.domains.items())
        facts = ", ".join([f"{name}{_arguments(row)}" for name, rows in self.predicates.items() for row in rows])
        values = [
            f"{name}{_arguments(point)} = {value}" for name, table in self.functions.items() for point, value in table
        ]
        return "; ".join([domains, *values, f"true atoms: {facts or 'none'}"])


def _arguments(point: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, point))})" if point else ""


class RuleReport(msgspec.Struct, frozen=True, gc=False):
    """The instance of the rule that an action is.

    Attributes:
        schema: name of the schema that matched.
        substitution: pattern variable -> formula or term, as text.
        principal: ids of the dependencies that the principal patterns are anchored in.
        minor: the minor obligations, as text; the other dependencies entail them.
    """

    schema: str
    substitution: dict[str, str]
    principal: tuple[str, ...]
    minor: tuple[str, ...]


class _Report(msgspec.Struct, frozen=True, gc=False):
    """What reports on actions and on completions have in common."""

    def to_dict(self) -> dict[str, object]:
        """The report as JSON's types, with the keys that it has in a file of reports."""
        return cast(dict[str, object], msgspec.json.decode(msgspec.json.encode(self)))

    def _repr_html_(self) -> str:
        from proof_r1_formal.data.display import html

        return html(self)  # type: ignore[arg-type]  # both have __rich__


class StepReport(_Report, frozen=True, gc=False):
    """The verdicts on one action.

    Attributes:
        id: as written; None if the element has no usable id.
        span: character offsets [start, end) of the element in the completion.
        declared_rule: as written, or None.
        dependencies: as written, repeats removed.
        conclusion: as written, or None.
        schema, semantic, rule, progress: the four verdicts.
        in_closure: whether the answer depends on the action (declared closure).
        terminal: whether the action binds the answer.
        signal: 0.0, 0.1, 0.3 or 1.0.
        findings: why a verdict is false; those in ``NOTES`` make none false.
        instance: how the rule matched, if it did.
        countermodel: a structure in which the step fails, if it was refuted with one.
        evidence: ``checked`` if the evidence of the verdict on entailment was rechecked, ``kernel`` if Lean's kernel
            also accepted it, ``unsupported`` if only the solver supports the verdict; None without such a verdict, or
            if no evidence was requested.
        engine: what decided entailment: ``propagation``, ``tableau``, ``instances``, ``grounding``, ``small
            domains``, ``one element``, ``z3`` or another solver; None if undecided.
        used: the dependencies that the checked proof uses; None without one.
    """

    id: str | None
    span: tuple[int, int]
    declared_rule: str | None
    dependencies: tuple[str, ...]
    conclusion: str | None
    schema: bool
    semantic: bool
    rule: bool
    progress: bool
    in_closure: bool
    terminal: bool
    signal: float
    findings: tuple[Finding, ...] = ()
    instance: RuleReport | None = None
    countermodel: ModelReport | None = None
    evidence: Evidence | None = None
    engine: str | None = None
    used: tuple[str, ...] | None = None

    def explain(self) -> str:
        """The verdicts and the reasons for them, as text."""
        name = self.id or "action without an id"
        checks = {"schema": self.schema, "semantic": self.semantic, "rule": self.rule, "progress": self.progress}
        verdicts = ", ".join([f"{check} {'yes' if passed else 'no'}" for check, passed in checks.items()])
        place = "in the closure" if self.in_closure else "outside the closure"
        reasons = [f"\n  {finding.code.value}: {finding.message}" for finding in self.findings]
        return f"{name} ({place}): {verdicts}; signal {self.signal}{''.join(reasons)}"

    def __rich__(self) -> RenderableType:
        from proof_r1_formal.proof import display  # it needs Rich

        return display.step(_shown(self))


class TraceReport(_Report, frozen=True, gc=False):
    """The verdicts on one completion.

    Attributes:
        problem_id, sample: which completion.
        parsed: whether it has a summary that is one JSON array and nothing else.
        answer: id of the selected option, if one is selected.
        answer_correct: whether that is the reference answer; None where the problem has none.
        actions: one report per action, in order; a completion that is not parsed has a single MALFORMED one.
        closure: ids of the premises and actions that the answer depends on, premises first, each in order.
        used_closure: the same along the dependencies that checked proofs use (declared ones where there is no proof).
        consistency: whether the premises have a model.
        uncertain: for a trace that selects the Uncertain option, whether two countermodels confirm it; else None.
        verified: whether the answer is verified, see :func:`~proof_r1_formal.proof.answer.answer_findings`. It rests on
            checked evidence alone, unless ``evidence`` is ``none``.
        rule_verified: whether, in addition, every action of its closure is an instance of its rule.
        findings: why the answer is not verified, or not rule-verified.
        rules: name of the rule catalogue.
        solver: name of the solver.
        evidence: how evidence was rechecked. With ``none``, no answer has evidence.
    """

    problem_id: str
    sample: int
    parsed: bool
    answer: str | None
    answer_correct: bool | None
    actions: tuple[StepReport, ...]
    closure: tuple[str, ...]
    used_closure: tuple[str, ...]
    consistency: Literal["consistent", "inconsistent", "undecided"]
    uncertain: Literal["verified", "refuted", "undecided"] | None
    verified: bool
    rule_verified: bool
    findings: tuple[Finding, ...]
    rules: str
    solver: str
    evidence: EvidenceLevel

    @property
    def unsupported(self) -> int:
        """The number of actions whose verdict on entailment has no evidence."""
        return sum(action.evidence == "unsupported" for action in self.actions)

    @property
    def level(self) -> str:
        """How far the answer is verified, in words; they say where no evidence was checked."""
        level = "rule-verified" if self.rule_verified else "verified" if self.verified else "not verified"
        return f"{level} (no evidence checked)" if self.verified and self.evidence == "none" else level

    @property
    def broken(self) -> int:
        """The number of questions that are undecided because the solver is broken."""
        findings = [*self.findings, *[finding for action in self.actions for finding in action.findings]]
        return sum(finding.broken for finding in findings)

    def reward(self, name: RewardName = "sound") -> float:
        """The reward of the completion, one of :data:`REWARDS`.

        Raises:
            ValueError: no reward has this name.
        """
        return reward_named(name)(self)

    def explain(self) -> str:
        """The answer and each action that has findings, with the reasons, as text."""
        right = {True: "right", False: "wrong", None: "without a reference answer"}[self.answer_correct]
        answer = "selects no option" if self.answer is None else f"selects {self.answer}: {right}, {self.level}"
        passed = sum(step.signal == 1.0 for step in self.actions)
        lines = [
            f"{self.problem_id}, sample {self.sample}: the completion {answer}.",
            *[f"  {finding.code.value}: {finding.message}" for finding in self.findings],
            f"{passed} of {len(self.actions)} actions pass all checks.",
            *[step.explain() for step in self.actions if step.findings],
        ]
        return "\n".join(lines)

    def renderable(self, problem: Problem | None = None) -> RenderableType:
        """The report as a Rich renderable: actions with verdicts and reasons, and the closure of the answer as a tree.

        Args:
            problem: whose question and premises are shown with it.
        """
        from proof_r1_formal.proof import display  # it needs Rich

        premises = [] if problem is None else [(p.id, show(p.formula), p.text) for p in problem.premises]
        idle = [name for name in self.closure if name not in self.used_closure]
        return display.trace(self._heading(problem), premises, list(map(_shown, self.actions)), self.closure, idle)

    def _heading(self, problem: Problem | None) -> str:
        option = None if problem is None else problem.option(self.answer)
        label = self.answer if option is None else option.label
        answer = "no option selected" if label is None else f"answer {label}"
        correct = {True: "right", False: "wrong", None: ""}[self.answer_correct]
        judged = "" if label is None else f" ({', '.join([word for word in (correct, self.level) if word])})"
        lines = [f"{self.problem_id}, sample {self.sample}: {answer}{judged}"]
        if problem is not None and problem.question:
            lines.append(problem.question)
        if self.consistency != "consistent":
            lines.append(f"The premises are {self.consistency}.")
        if self.findings and label is not None:
            level = "rule-verified" if self.verified else "verified"
            lines.append(f"The answer is not {level}: {'; '.join([finding.message for finding in self.findings])}")
        evidence = [step.evidence for step in self.actions if step.evidence is not None]
        if evidence:
            counts = ", ".join(f"{evidence.count(level)} {level}" for level in dict.fromkeys(evidence))
            lines.append(f"Evidence of verdicts on entailment: {counts}")
        return "\n".join(lines)

    def __rich__(self) -> RenderableType:
        return self.renderable()


def _shown(report: StepReport) -> Action:
    from proof_r1_formal.proof.display import Action

    reasons = [f"{finding.message}  [{finding.code.value}]" for finding in report.findings]
    if report.findings and report.countermodel is not None:
        reasons.append(f"countermodel: {report.countermodel.in_words()}")
    return Action(
        report.id,
        report.dependencies,
        report.conclusion,
        report.declared_rule,
        (report.schema, report.semantic, report.rule, report.progress),
        report.in_closure,
        report.signal,
        tuple(reasons),
    )


# -- files of reports --------------------------------------------------------------------------------------------------


_ENCODER = msgspec.json.Encoder(order="deterministic")
_DECODER = msgspec.json.Decoder(TraceReport)


def encode(report: TraceReport) -> bytes:
    """The report as one line of JSON, without the newline."""
    return _ENCODER.encode(report)


def decode(line: bytes | str) -> TraceReport:
    """The report of a line of JSON.

    Raises:
        msgspec.ValidationError: the line is JSON but not a report; msgspec.DecodeError: it is not JSON.
    """
    return _DECODER.decode(line)


# -- rewards: one per completion, for trainers without credit per action (``credit.terms`` gives that) -----------------


Reward: TypeAlias = Callable[[TraceReport], float]


def answer_reward(report: TraceReport) -> float:
    """1.0 for the right answer in a summary that parses, 0.1 for a summary that parses, else 0."""
    if not report.parsed:
        return 0.0
    return 1.0 if report.answer_correct else 0.1


def sound_answer_reward(report: TraceReport) -> float:
    """1.0 for a right and verified answer without a false step, 0.3 for a right answer, 0.1 for a summary that parses.

    Every action must be entailed, including those outside the closure. A right answer Uncertain has 0.3: the verifier's
    own countermodels verify it, whatever the actions are, so a guess would have 1.0.
    """
    if not report.parsed:
        return 0.0
    if not report.answer_correct:
        return 0.1
    proved = report.verified and report.uncertain is None
    sound = proved and all(step.semantic for step in report.actions if not step.terminal)
    return 1.0 if sound else 0.3


def mean_signal(report: TraceReport) -> float:
    """The mean signal of the actions; 0 without an action. It ignores the answer."""
    signals = [step.signal for step in report.actions]
    return fsum(signals) / len(signals) if signals else 0.0


REWARDS: Mapping[RewardName, Reward] = MappingProxyType(
    {"answer": answer_reward, "sound": sound_answer_reward, "signals": mean_signal}
)
"""The rewards by name."""


def reward_named(name: str) -> Reward:
    """The reward of that name.

    Raises:
        ValueError: no reward has this name.
    """
    found = {str(known): reward for known, reward in REWARDS.items()}.get(name)
    if found is None:
        raise ValueError(f"unknown reward {name!r}; available: {', '.join(REWARDS)}")
    return found


class Scored(msgspec.Struct, frozen=True):
    """A reward, with values for logs.

    Attributes:
        reward: of the completion.
        parsed: whether its summary parses.
        right: whether it selects the right option.
        verified: whether its answer is verified, see :class:`~proof_r1_formal.proof.report.TraceReport`.
    """

    reward: float
    parsed: bool
    right: bool
    verified: bool


def score(report: TraceReport, reward: RewardName) -> Scored:
    """The reward of that name for a completion."""
    return Scored(reward_named(reward)(report), report.parsed, bool(report.answer_correct), report.verified)
