"""The results of the MCP server's tools: plain data with named fields, for programs, and the same in words.

The classes of results have no slots: the SDK, which makes their schemas, would take these for defaults of the fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from proof_r1_formal.data.problem import ReferenceStep
from proof_r1_formal.proof.report import Finding, StepReport
from proof_r1_formal.proof.step import VERIFIED

_R = TypeVar("_R")


@dataclass(frozen=True, slots=True)
class Answered(Generic[_R]):
    """The result of a tool, and the same in words."""

    result: _R
    text: str


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason for a verdict: its code, a sentence, and the ids of what it is about."""

    code: str
    message: str
    about: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StepCheck:
    """The verdicts on one step.

    Attributes:
        id: of the step.
        accepted: whether all four checks pass, so later steps may use it as a step by rules.
        well_formed, entailed, rule, progress: the four checks.
        evidence: of the verdict on entailment; ``checked`` if a proof or countermodel was rechecked.
        reasons: why a check fails, and notes.
        countermodel: a structure in which the dependencies hold and the conclusion does not, if one was found.
    """

    id: str | None
    accepted: bool
    well_formed: bool
    entailed: bool
    rule: bool
    progress: bool
    evidence: str | None
    reasons: tuple[Reason, ...]
    countermodel: str | None


@dataclass(frozen=True)
class ProofCheck:
    """The verdict on a proof.

    Attributes:
        verified: whether checked evidence shows the answer.
        rule_verified: whether, in addition, every step that it depends on is an instance of its rule.
        answer: that the last step states; null if it states none.
        first_failing: id of the first step that fails a check, but for a verified Uncertain, which no rule concludes;
            null if there is none.
        steps: the verdicts on all steps, in order.
        reasons: why the answer is not verified, or not rule-verified.
        cost: of the checks, in steps; above 1,000,000 later checks stay undecided.
    """

    verified: bool
    rule_verified: bool
    answer: str | None
    first_failing: str | None
    steps: tuple[StepCheck, ...]
    reasons: tuple[Reason, ...]
    cost: int


@dataclass(frozen=True)
class StepVerdict:
    """The verdict on a step after others: its checks, the usable ids before it, and the cost of all, in steps."""

    step: StepCheck
    usable: tuple[str, ...]
    cost: int


@dataclass(frozen=True)
class ProofFound:
    """The result of a search for a proof.

    Attributes:
        result: ``proved``; ``uncertain`` if neither the goal nor its negation follows; or ``gave up``.
        answer: ``True`` if the goal is proved, ``False`` if its negation is.
        steps: of the proof, the last of which states the answer.
        countermodels: answer -> a model of the premises in which its formula is false.
        reason: why the search gave up; empty otherwise.
        cost: of the search and of the questions beside it, in the search's steps.
    """

    result: Literal["proved", "uncertain", "gave up"]
    answer: str | None
    steps: tuple[ReferenceStep, ...]
    countermodels: dict[str, str]
    reason: str
    cost: int


@dataclass(frozen=True)
class Entailment:
    """Whether premises entail a conclusion.

    Attributes:
        result: ``entailed`` and ``countermodel`` only with evidence that was rechecked; else ``undecided``.
        model: the countermodel in words, if there is one.
        domains: its sorts -> number of elements, which are 0, 1, …
        predicates: its predicates -> the tuples of which each is true.
        functions: its functions and constants -> pairs of arguments and value.
        reason: why it is undecided; empty otherwise.
        cost: in steps.
    """

    result: Literal["entailed", "countermodel", "undecided"]
    model: str | None
    domains: dict[str, int]
    predicates: dict[str, tuple[tuple[int, ...], ...]]
    functions: dict[str, tuple[tuple[tuple[int, ...], int], ...]]
    reason: str
    cost: int


@dataclass(frozen=True)
class ParsedFormula:
    """A formula that was read: in the package's notation, fully bracketed, as SMT-LIB; its symbols; the repairs."""

    formula: str
    prefix: str
    smtlib: str
    predicates: tuple[str, ...]
    functions: tuple[str, ...]
    repairs: tuple[str, ...]


@dataclass(frozen=True)
class Certified:
    """A theorem made from a proof.

    Attributes:
        certificate: whether there is one.
        reason: why there is none; empty otherwise.
        is_theorem: whether Lean's kernel accepts it; null if no kernel was asked.
        kernel: its name and version; null if none was asked.
        faults: one sentence for each theorem that the kernel rejects.
        lean: the certificate as a Lean file; null without one.
        isabelle: the certificate as an Isabelle theory; null without one.
    """

    certificate: bool
    reason: str
    is_theorem: bool | None
    kernel: str | None
    faults: tuple[str, ...]
    lean: str | None
    isabelle: str | None


def reasons_of(findings: Sequence[Finding]) -> tuple[Reason, ...]:
    """The findings of a report as plain data."""
    return tuple([Reason(finding.code.value, finding.message, finding.dependencies) for finding in findings])


def step_check(step: StepReport) -> StepCheck:
    """The report on a step as plain data."""
    return StepCheck(
        id=step.id,
        accepted=step.signal == VERIFIED,
        well_formed=step.schema,
        entailed=step.semantic,
        rule=step.rule,
        progress=step.progress,
        evidence=step.evidence,
        reasons=reasons_of(step.findings),
        countermodel=None if step.countermodel is None else step.countermodel.in_words(),
    )


def step_in_words(check: StepCheck) -> str:
    """The verdicts on a step and the reasons, a line each."""
    name = check.id or "a step without an id"
    parts = {"form": check.well_formed, "entailment": check.entailed, "rule": check.rule, "progress": check.progress}
    failed = [part for part, passed in parts.items() if not passed]
    lines = [f"{name}: {'accepted' if check.accepted else 'fails ' + ', '.join(failed)}"]
    lines += [f"  {reason.code}: {reason.message}" for reason in check.reasons]
    lines += [] if check.countermodel is None else [f"  countermodel: {check.countermodel}"]
    return "\n".join(lines)
