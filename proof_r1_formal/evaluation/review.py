"""Review: which steps a model judges blind, what it sees of them, and how far it agrees with the verdicts.

In: reports on completions, and replies. Out: a stratified sample of steps, a chat for each, its :class:`Judgement`,
and their :class:`Agreement` with the verdicts. ``integrations.inspect_review`` asks the model. The reviewer sees what a
step depends on and what it concludes: not the verdict, the rule, the system, the problem or the other steps.

Strata are the system, what the verifier says of a step, and the difficulty of its problem. The sample has as many steps
of each as possible, so rare verdicts are judged, too. A judged step has a weight: for how many steps of its stratum it
stands. The *weighted* agreement estimates the agreement over all steps. Agreement is over determinate verdicts, as in
the paper; an uncertain judgement of such a step is a disagreement.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import msgspec

from proof_r1_formal.data.problem import Problem
from proof_r1_formal.evaluation.measures import Estimate, StepOutcome
from proof_r1_formal.evaluation.outcomes import step_outcome
from proof_r1_formal.evaluation.tables import Cell, Column, Style, Table
from proof_r1_formal.models.prompts import Message
from proof_r1_formal.models.replies import json_object
from proof_r1_formal.proof.context import with_sorts
from proof_r1_formal.proof.report import StepReport, TraceReport
from proof_r1_formal.text.parse import parse_formula
from proof_r1_formal.text.show import show


class Verdict(StrEnum):
    """A verdict on a step, in the reviewer's words."""

    VALID = "valid"
    INVALID = "invalid"
    UNCERTAIN = "uncertain"


class Level(StrEnum):
    """The verifier's result for a step."""

    RULE_VERIFIED = "entailed, an instance of its rule"
    ENTAILED = "entailed only"
    NOT_ENTAILED = "not entailed"
    UNDECIDED = "undecided"

    @property
    def verdict(self) -> Verdict:
        """The same, as a reviewer would say it."""
        match self:
            case Level.RULE_VERIFIED | Level.ENTAILED:
                return Verdict.VALID
            case Level.NOT_ENTAILED:
                return Verdict.INVALID
            case Level.UNDECIDED:
                return Verdict.UNCERTAIN


class Stratum(NamedTuple):
    """A part of the steps."""

    system: str
    level: Level
    difficulty: str


class Reviewed(msgspec.Struct, frozen=True):
    """A step that is to be judged.

    Attributes:
        problem_id, sample, action: where it is; the action by its number, from 0.
        stratum: which part of the steps it is from.
        dependencies, conclusion: formulas; all that is shown.
    """

    problem_id: str
    sample: int
    action: int
    stratum: Stratum
    dependencies: tuple[str, ...]
    conclusion: str

    @property
    def name(self) -> str:
        """A unique name of the step."""
        return f"{self.stratum.system}: {self.problem_id}, sample {self.sample}, step {self.action + 1}"


# -- which steps ------------------------------------------------------------------------------------------------------


def reviewable(system: str, problems: Mapping[str, Problem], reports: Iterable[TraceReport]) -> Iterator[Reviewed]:
    """The steps of a system on whose entailment there is a verdict; not those that fail by form or by a dependency."""
    for report in reports:
        problem, symbols = with_sorts(problems[report.problem_id])
        known = {premise.id: show(premise.formula) for premise in problem.premises}
        for index, step in enumerate(report.actions):
            level = _level(step) if report.parsed else None
            if level is None or step.conclusion is None:
                continue
            conclusion = show(symbols.sorted(parse_formula(step.conclusion)))
            dependencies = tuple([known[name] for name in step.dependencies])
            stratum = Stratum(system, level, problem.difficulty)
            yield Reviewed(report.problem_id, report.sample, index, stratum, dependencies, conclusion)
            if step.semantic and step.id is not None:
                known[step.id] = conclusion


def _level(step: StepReport) -> Level | None:
    match step_outcome(step):
        case StepOutcome.VERIFIED:
            return Level.RULE_VERIFIED if step.rule else Level.ENTAILED
        case StepOutcome.NOT_ENTAILED:
            return Level.NOT_ENTAILED
        case StepOutcome.UNDECIDED:
            return Level.UNDECIDED
        case _:
            return None


@dataclass(frozen=True, slots=True)
class Drawn:
    """A stratified sample.

    Attributes:
        steps: in an order that shows nothing of the strata.
        sizes: how many steps each stratum has in all.
    """

    steps: tuple[Reviewed, ...]
    sizes: Mapping[Stratum, int]


def stratified(steps: Iterable[Reviewed], size: int, *, seed: int = 0) -> Drawn:
    """Draw steps, as many from each stratum as from the others; a small stratum gives all that it has.

    Args:
        steps: all there are; no two have the same name.
        size: how many to draw, or all if there are fewer.
        seed: of the draw.
    """
    strata: defaultdict[Stratum, list[Reviewed]] = defaultdict(list)
    for step in steps:
        strata[step.stratum].append(step)
    rng = random.Random(seed)
    drawn: list[Reviewed] = []
    left = size
    smallest_first = sorted(strata, key=lambda stratum: (len(strata[stratum]), stratum))
    for number, stratum in enumerate(smallest_first):
        share = min(len(strata[stratum]), left // (len(strata) - number))
        drawn += rng.sample(sorted(strata[stratum], key=_name), share)  # sorted: the order of the steps must not show
        left -= share
    rng.shuffle(drawn)
    return Drawn(tuple(drawn), {stratum: len(strata[stratum]) for stratum in sorted(strata)})


def _name(step: Reviewed) -> str:
    return step.name


# -- what is asked ----------------------------------------------------------------------------------------------------


class Judgement(msgspec.Struct, frozen=True):
    """A reviewer's verdict on a step, with the reason."""

    verdict: Verdict
    reason: str


_INSTRUCTIONS = """\
You review single steps of proofs in classical first-order logic. You are shown formulas that are taken as given and a \
conclusion. Judge only whether the conclusion is true in every interpretation in which all given formulas are true. \
Every domain has at least one element; different names may denote the same thing; predicates mean nothing beyond what \
the formulas say. A variable with a sort, as x in ∀x:Cat, ranges over that sort, and a name is of the sort of the \
arguments that it stands for.

Answer with one JSON object and nothing after it: {"verdict": "valid" | "invalid" | "uncertain", "reason": "…"}. Say \
"valid" if the conclusion follows, with a short derivation as the reason; "invalid" if there is an interpretation in \
which it does not, with that interpretation as the reason; and "uncertain" if you cannot tell, with what is missing."""


def review_chat(step: Reviewed) -> list[Message]:
    """The chat that shows a step to the reviewer."""
    given = "\n".join(f"- {formula}" for formula in step.dependencies) or "(nothing)"
    return [
        {"role": "system", "content": _INSTRUCTIONS},
        {"role": "user", "content": f"Given:\n{given}\n\nConclusion:\n- {step.conclusion}"},
    ]


def read_judgement(text: str) -> Judgement | None:
    """The judgement in the last JSON object after the thoughts, or None."""
    try:
        return msgspec.convert(json_object(text), Judgement)
    except msgspec.ValidationError:
        return None


# -- agreement --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far a reviewer and the verifier agree.

    Attributes:
        raw: judged steps with a determinate verdict on which both say the same / all such steps.
        weighted: the same, each step with its weight.
        kappa, weighted_kappa: Cohen's κ over the same steps, see :func:`cohen`; None if it is not defined.
        unjudged: how many steps were shown whose reply has no judgement.
        pairs: judged steps by stratum and judgement.
        sizes: of each stratum, how many steps it has in all.
        shown: and how many were shown.
    """

    raw: Estimate
    weighted: Estimate
    kappa: float | None
    weighted_kappa: float | None
    unjudged: int
    pairs: Mapping[tuple[Stratum, Verdict], int]
    sizes: Mapping[Stratum, int]
    shown: Mapping[Stratum, int]

    def confusion(self, system: str | None = None) -> dict[tuple[str, str], int]:
        """How many judged steps have which verdict and which judgement; of one system, or of all."""
        counts: Counter[tuple[str, str]] = Counter()
        for (stratum, judgement), count in self.pairs.items():
            if system in (None, stratum.system):
                counts[stratum.level.verdict.value, judgement.value] += count
        return dict(counts)


def agreement(sizes: Mapping[Stratum, int], said: Iterable[tuple[Stratum, Verdict | None]]) -> Agreement:
    """Compare judgements with verdicts.

    The judged steps of a stratum stand for all of it; a stratum of which nothing was judged is in no share.

    Args:
        sizes: how many steps each stratum has in all.
        said: of each shown step the stratum and the judgement, None without one.
    """
    shown: Counter[Stratum] = Counter()
    pairs: Counter[tuple[Stratum, Verdict]] = Counter()
    for stratum, verdict in said:
        shown[stratum] += 1
        if verdict is not None:
            pairs[stratum, verdict] += 1
    judged: Counter[Stratum] = Counter()
    for (stratum, _), count in pairs.items():
        judged[stratum] += count
    raw: Counter[tuple[Verdict, Verdict]] = Counter()
    weighted: defaultdict[tuple[Verdict, Verdict], float] = defaultdict(float)
    for (stratum, verdict), count in pairs.items():
        if stratum.level is not Level.UNDECIDED:
            raw[stratum.level.verdict, verdict] += count
            weighted[stratum.level.verdict, verdict] += count * sizes[stratum] / judged[stratum]
    return Agreement(
        _diagonal(raw),
        _diagonal(weighted),
        cohen(raw),
        cohen(weighted),
        shown.total() - judged.total(),
        dict(pairs),
        sizes,
        dict(shown),
    )


def _diagonal(counts: Mapping[tuple[Verdict, Verdict], float]) -> Estimate:
    same, whole = sum([count for (a, b), count in counts.items() if a == b]), sum(counts.values())
    return Estimate(same / whole if whole else 0.0, same, whole)


def cohen(counts: Mapping[tuple[Verdict, Verdict], float]) -> float | None:
    """Cohen's κ: how far two judges agree beyond what their frequencies of verdicts give by chance.

    Args:
        counts: how often, or with which weight, the first says one thing and the second another.

    Returns:
        (p - e) / (1 - e), with the observed agreement p and the expected one e; None if both always say the same one
        thing, or nothing was judged.
    """
    whole = sum(counts.values())
    if not whole:
        return None
    first, second = ([sum(of for key, of in counts.items() if key[side] == one) for one in Verdict] for side in (0, 1))
    expected = sum([a * b for a, b in zip(first, second, strict=True)]) / whole**2
    return None if expected == 1 else (_diagonal(counts).value - expected) / (1 - expected)


# -- tables -----------------------------------------------------------------------------------------------------------


def review_tables(found: Agreement, reviewer: str) -> tuple[Table, ...]:
    """The table of the paper, what was said of which verdict, and each stratum."""
    total = Counter(dict.fromkeys(Verdict, 0))
    for (_, verdict), count in found.pairs.items():
        total[verdict] += count
    counted = [Column(name, Style.COUNT) for name in ("steps", *Verdict, "no judgement", "agreed", "determinate")]
    shares = [Column("agreement (%)", Style.PERCENT), Column("weighted (%)", Style.PERCENT)]
    kappas = [Column("κ", Style.RATIO), Column("weighted κ", Style.RATIO)]
    row: tuple[Cell, ...] = (
        reviewer,
        sum(found.shown.values()),
        *[total[verdict] for verdict in Verdict],
        found.unjudged,
        int(found.raw.numerator),
        int(found.raw.denominator),
        found.raw,
        found.weighted,
        found.kappa,
        found.weighted_kappa,
    )
    return (
        Table("Independent review", (Column("reviewer", Style.TEXT), *counted, *shares, *kappas), (row,)),
        _confusion_table(found, reviewer),
        _strata_table(found),
    )


def systems(found: Agreement) -> list[str]:
    """The systems whose steps were shown."""
    return sorted({stratum.system for stratum in found.shown})


def _confusion_table(found: Agreement, reviewer: str) -> Table:
    columns = (Column("system", Style.TEXT), Column("verdict", Style.TEXT), *[Column(v, Style.COUNT) for v in Verdict])
    rows = [
        (system, ours.value, *[found.confusion(system).get((ours.value, theirs.value), 0) for theirs in Verdict])
        for system in systems(found)
        for ours in Verdict
    ]
    return Table(f"Verdicts (rows) and judgements of {reviewer}", columns, tuple(rows))


def _strata_table(found: Agreement) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for stratum, size in found.sizes.items():
        said = {verdict: found.pairs.get((stratum, verdict), 0) for verdict in Verdict}
        judged = sum(said.values())
        same = said[stratum.level.verdict]
        share = Estimate(same / judged if judged else 0.0, same, judged)
        rows.append(
            (*stratum, size, found.shown.get(stratum, 0), *said.values(), size / judged if judged else None, share)
        )
    return Table(
        "Agreement by stratum",
        (
            *[Column(name, Style.TEXT) for name in ("system", "verifier", "difficulty")],
            *[Column(name, Style.COUNT) for name in ("steps", "shown", *Verdict)],
            Column("weight", Style.LENGTH),
            Column("agreement (%)", Style.PERCENT),
        ),
        tuple(rows),
    )
