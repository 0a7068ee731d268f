"""Measures and results as plain data: scores, outcomes of steps, reasons for exclusion.

:func:`~proof_r1_formal.evaluation.metrics.evaluate_metrics` fills them in.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

CONFIDENCE = 0.95
"""The level of the bootstrap intervals."""
LEAST_RESAMPLES = 40
"""Minimum number of resamples of an interval: at least one must lie outside at each end."""

Eligibility: TypeAlias = Literal["own-fault", "reference"]
"""Which failed steps the denominators of FVR and RVR leave out.

``own-fault`` leaves out a step that depends on an earlier action that was not admitted. It counts a step with a
dependency that names nothing, the step itself or a later action. ``reference`` leaves out both, as the method's
reference implementation does: there a step that cites a name that does not exist is in no denominator.
"""

Contract: TypeAlias = Literal["per-action", "strict"]
"""The price of an action that is not well formed.

``per-action``: that action. ``strict``: the whole output, if an action is not an object, lacks a field or has
dependencies that are not a list of at most four: its answer counts as wrong, and it has no steps and length 0, as in
the method's reference implementation. RGD then counts outputs that are not parsed, too, with length 0; ``per-action``
leaves them out of RGD.
"""


class Measure(StrEnum):
    """A score; see the members' comments for its two sums."""

    AVG = "Avg"  # right answers / outputs with a reference answer
    PASS = "Pass"  # problems with a right answer among the samples / problems with a reference answer
    FVR = "FVR"  # entailed steps / eligible steps of parsed outputs, see Eligibility
    STRICT_FVR = "Strict FVR"  # entailed steps / steps of parsed outputs
    RVR = "RVR"  # entailed steps that are instances of their rule / eligible steps, at the level of rules
    STRICT_RVR = "Strict RVR"  # entailed steps that are instances of their rule / steps of parsed outputs
    COMPOUND = "Compound"  # those of them that have the finding COMPOUND_STEP / entailed steps that are instances
    RGD = "RGD"  # |log(generated steps / reference steps)|, each at least 1 / parsed outputs with a reference proof
    VERIFIED = "Right and verified"  # right and verified answers / outputs with a reference answer
    RULE_VERIFIED = "Right and rule-verified"  # right and rule-verified answers / the same
    PARSED = "Parsed"  # outputs that are parsed / outputs
    LENGTH_RATIO = "Length ratio"  # generated steps / reference steps, over outputs with a reference proof
    RESPONSE_LENGTH = "Response length"  # length of the outputs / outputs whose length is given


RATES = (Measure.FVR, Measure.STRICT_FVR, Measure.RVR, Measure.STRICT_RVR)
"""The scores that are 0 if no step of the outputs is eligible, as the paper defines; without outputs there is none."""


class StepOutcome(StrEnum):
    """The outcome of an action, exactly one each: verified, a failed inference, a cascade, or other."""

    VERIFIED = "verified"
    NOT_ENTAILED = "not entailed"
    UNTRUSTED_DEPENDENCY = "untrusted dependency"
    MALFORMED_SUMMARY = "other: malformed summary"
    MALFORMED_STEP = "other: malformed step"
    UNPARSABLE_FORMULA = "other: unparsable formula"
    DUPLICATE_ID = "other: duplicate id"
    MISSING_DEPENDENCY = "other: missing dependency"
    UNDECIDED = "other: undecided"


class Exclusion(StrEnum):
    """Why an output is left out: of everything, or only of the scores in parentheses."""

    UNKNOWN_PROBLEM = "unknown problem id"
    DUPLICATE_SAMPLE = "second output for the same problem and sample"
    INCONSISTENT_PREMISES = "inconsistent premises"
    UNCERTAIN = "label is Uncertain (counted apart)"
    NO_REFERENCE_ANSWER = "no reference answer (Avg, Pass, right and verified)"
    NO_REFERENCE_PROOF = "no reference proof (RGD, length ratio)"
    NOT_PARSED = "not parsed (RGD)"
    NO_LENGTH = "no response length (response length)"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A score: its two sums, their quotient, and how far to trust it.

    Attributes:
        value: numerator / denominator; 0, and no score at all, if the denominator is: see ``is_defined``.
        spread: see the module; None where it is not defined.
        interval: percentile bootstrap over problems at the level ``CONFIDENCE``, if it was asked for.
    """

    value: float
    numerator: float
    denominator: float
    spread: float | None = None
    interval: tuple[float, float] | None = None

    @property
    def is_defined(self) -> bool:
        """Whether there is a score: something was counted."""
        return self.denominator != 0


@dataclass(frozen=True, slots=True)
class Rate(Estimate):
    """A score in ``RATES`` of a group with outputs."""

    @property
    def is_defined(self) -> bool:
        """Always: the rate of an empty set is 0."""
        return True


@dataclass(frozen=True, slots=True)
class RuleCounts:
    """Of the steps that declare one rule, how many pass each of the four checks."""

    steps: int
    schema: int
    semantic: int
    rule: int
    progress: int


@dataclass(frozen=True, slots=True)
class UncertainCounts:
    """The outputs on problems whose label is Uncertain; the last three count outputs that select that option.

    Attributes:
        right: outputs that answer Uncertain.
        verified: both countermodels were found, and the answer is verified.
        refuted: the premises do entail the goal or its negation.
        undecided: neither is known.
    """

    outputs: int
    right: int
    verified: int
    refuted: int
    undecided: int


@dataclass(frozen=True, slots=True)
class Group:
    """The result on one difficulty, or on all.

    Attributes:
        problems: with at least one output that counts.
        outputs: outputs that count.
        incomplete: problems with some of the K samples but not all.
        absent: problems without any output (those labelled Uncertain apart).
        scores: one for every measure.
        steps: every action of the outputs that count, by what became of it.
        rules: by declared rule, names sorted; without the stand-in actions of outputs that are not parsed. Names
            that no schema-valid step shows to be known are together under ``INVALID_RULE``.
    """

    problems: int
    outputs: int
    incomplete: int
    absent: int
    scores: dict[Measure, Estimate]
    steps: dict[StepOutcome, int]
    rules: dict[str, RuleCounts]
    uncertain: UncertainCounts


@dataclass(frozen=True, slots=True)
class Metrics:
    """The result of :func:`evaluate_metrics`.

    Attributes:
        samples: K.
        eligibility: which failed steps FVR and RVR leave out.
        contract: what an action that is not well formed costs.
        discarded: parsed outputs that count as not parsed under the strict contract.
        length_unit: what RESPONSE_LENGTH counts: characters.
        difficulties: easy, medium, hard, then others in the order in which the problems first name them.
        excluded: a count for every reason, zeros included.
    """

    samples: int
    eligibility: Eligibility
    contract: Contract
    discarded: int
    length_unit: str
    overall: Group
    difficulties: dict[str, Group]
    excluded: dict[Exclusion, int]


Sample: TypeAlias = tuple[str, int]
"""Id of a problem and number of a sample: names one output."""
Part: TypeAlias = tuple[float, float]
"""A contribution to the numerator and to the denominator of a score."""
Row: TypeAlias = dict[Measure, Part]
"""The parts of one output or problem; a score that it does not take part in is absent."""
