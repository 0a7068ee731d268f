"""Review: a model judges steps blind, and its judgements are compared with the verdicts.

In: reports on completions, and a model. Out: a stratified sample of steps, a :class:`Judgement` of each, and how far
both agree. The reviewer sees what a step depends on and what it concludes: not the verdict, the rule, the problem or
the other steps. An uncertain judgement on a step with a verdict counts as disagreement.

Strata are what the verifier says of a step, and the difficulty of its problem. The sample has as many steps of each as
possible, so rare verdicts are judged, too; the *weighted* agreement counts every judged step for as many as it stands
for, and so estimates the agreement over all steps.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import msgspec

from proof_r1_formal.data.problem import Problem
from proof_r1_formal.evaluation.heatmap import heatmap
from proof_r1_formal.evaluation.measures import Estimate, StepOutcome
from proof_r1_formal.evaluation.outcomes import is_rule_verified, step_outcome
from proof_r1_formal.evaluation.tables import Column, Style, Table
from proof_r1_formal.models.agents.answers import json_object
from proof_r1_formal.models.chat import CallError, Message, Model, Sampling
from proof_r1_formal.models.journal import Journal
from proof_r1_formal.models.runner import Done, Failed, Task, run
from proof_r1_formal.proof.report import StepReport, TraceReport
from proof_r1_formal.text.show import show


class Verdict(StrEnum):
    """A reviewer's verdict on a step."""

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

    level: Level
    difficulty: str


@dataclass(frozen=True, slots=True)
class Reviewed:
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
        return f"{self.problem_id}, sample {self.sample}, step {self.action + 1}"


# -- which steps ------------------------------------------------------------------------------------------------------


def reviewable(problems: Mapping[str, Problem], reports: Iterable[TraceReport]) -> Iterator[Reviewed]:
    """The steps on whose entailment there is a verdict; not those that fail by their form or by a dependency."""
    for report in reports:
        problem = problems[report.problem_id]
        known = {premise.id: show(premise.formula) for premise in problem.premises}
        for index, step in enumerate(report.actions):
            level = _level(step) if report.parsed else None
            if level is None or step.conclusion is None:
                continue
            dependencies = tuple([known[name] for name in step.dependencies])
            stratum = Stratum(level, problem.difficulty)
            yield Reviewed(report.problem_id, report.sample, index, stratum, dependencies, step.conclusion)
            if step.semantic and step.id is not None:
                known[step.id] = step.conclusion


def _level(step: StepReport) -> Level | None:
    match step_outcome(step):
        case StepOutcome.VERIFIED:
            return Level.RULE_VERIFIED if is_rule_verified(step) else Level.ENTAILED
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
        steps: in the order of the strata.
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
    drawn.sort(key=lambda step: (step.stratum, _name(step)))
    return Drawn(tuple(drawn), {stratum: len(strata[stratum]) for stratum in sorted(strata)})


def _name(step: Reviewed) -> str:
    return step.name


# -- asking -----------------------------------------------------------------------------------------------------------


class Judgement(msgspec.Struct, frozen=True):
    """A reviewer's verdict on a step, with the reason."""

    verdict: Verdict
    reason: str


class Unjudged(msgspec.Struct, frozen=True):
    """The reason for a missing judgement: the call failed, or the reply contains none."""

    problem: str


_INSTRUCTIONS = """\
You review single steps of proofs in classical first-order logic. You are shown formulas that are taken as given and a \
conclusion. Judge only whether the conclusion is true in every interpretation in which all given formulas are true. \
Every domain has at least one element; different names may denote the same thing; predicates mean nothing beyond what \
the formulas say.

Answer with one JSON object and nothing after it: {"verdict": "valid" | "invalid" | "uncertain", "reason": "…"}. Say \
"valid" if the conclusion follows, "invalid" if there is an interpretation in which it does not, with that \
interpretation as the reason, and "uncertain" if you cannot tell."""


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


async def review(
    steps: Sequence[Reviewed],
    model: Model,
    journal: Journal,
    *,
    sampling: Sampling | None = None,
    concurrency: int = 8,
    on_outcome: Callable[[Done[Judgement] | Failed[Judgement]], object] = lambda _: None,
) -> dict[Reviewed, Judgement | Unjudged]:
    """Have a model judge steps.

    The next run repeats failed calls, but not replies without a judgement, which are in the journal.

    Args:
        steps: each is shown alone.
        model: the reviewer.
        journal: of the replies; those in it are not asked for again.
        sampling: of the replies; the likeliest one if None.
        concurrency: the most concurrent calls.
        on_outcome: called with each outcome as soon as it is known.

    Raises:
        ModelError: the model cannot be used.
    """
    how = sampling or Sampling(temperature=0.0, top_p=1.0)
    tasks = [Task(f"review: {step.name}", _judging(step, how)) for step in steps]
    outcomes = await run(tasks, model, journal, concurrency=concurrency, on_outcome=on_outcome)
    return {
        step: outcome.found if isinstance(outcome, Done) else Unjudged(outcome.problem)
        for step, outcome in zip(steps, outcomes, strict=True)
    }


def _judging(step: Reviewed, sampling: Sampling) -> Callable[[Model], Awaitable[Judgement]]:
    async def judge(model: Model) -> Judgement:
        reply = await model.reply(review_chat(step), sampling)
        judgement = read_judgement(reply.text)
        if judgement is None:
            raise CallError("the reply holds no judgement", again=False)
        return judgement

    return judge


# -- agreement --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far a reviewer and the verifier agree, over the steps that were judged.

    Attributes:
        raw: judged steps on which both say the same / judged steps.
        weighted: the same, each step counting for as many of its stratum as were judged and not.
        pairs: judged steps by what the verifier and what the reviewer says.
        strata: of each stratum, how many steps it has, how many were shown, judged, and agreed on.
    """

    raw: Estimate
    weighted: Estimate
    pairs: Mapping[tuple[Verdict, Verdict], int]
    strata: Mapping[Stratum, tuple[int, int, int, int]]


def agreement(drawn: Drawn, judgements: Mapping[Reviewed, Judgement | Unjudged]) -> Agreement:
    """Compare judgements with verdicts; a stratum of which nothing was judged is in no share."""
    pairs: Counter[tuple[Verdict, Verdict]] = Counter()
    strata: dict[Stratum, tuple[int, int, int, int]] = {}
    agreed_weight = weight = 0.0
    for stratum, size in drawn.sizes.items():
        shown = [step for step in drawn.steps if step.stratum == stratum]
        said = [judgement.verdict for step in shown if isinstance(judgement := judgements[step], Judgement)]
        agreed = said.count(stratum.level.verdict)
        pairs.update((stratum.level.verdict, verdict) for verdict in said)
        strata[stratum] = (size, len(shown), len(said), agreed)
        if said:
            agreed_weight += size * agreed / len(said)
            weight += size
    judged, same = pairs.total(), sum(count for (ours, theirs), count in pairs.items() if ours == theirs)
    return Agreement(_share(same, judged), _share(agreed_weight, weight), pairs, strata)


def _share(part: float, whole: float) -> Estimate:
    return Estimate(part / whole if whole else 0.0, part, whole)


def review_tables(found: Agreement, reviewer: str) -> tuple[Table, ...]:
    """Agreement in all, what was said, and stratum by stratum."""
    share = Column("agreement (%)", Style.PERCENT)
    return (
        Table(
            f"Agreement with {reviewer}",
            (Column("steps", Style.TEXT), share),
            (("as judged", found.raw), ("weighted to all steps", found.weighted)),
        ),
        Table(
            f"Verdicts (rows) and judgements of {reviewer}",
            (Column("verdict", Style.TEXT), *[Column(verdict, Style.COUNT) for verdict in Verdict]),
            tuple((ours.value, *[found.pairs.get((ours, theirs), 0) for theirs in Verdict]) for ours in Verdict),
        ),
        Table(
            "Agreement by stratum",
            (
                Column("verifier", Style.TEXT),
                Column("difficulty", Style.TEXT),
                *[Column(name, Style.COUNT) for name in ("steps", "shown", "judged", "agreed")],
                share,
            ),
            tuple(
                (stratum.level.value, stratum.difficulty, *counts, _share(counts[3], counts[2]))
                for stratum, counts in found.strata.items()
            ),
        ),
    )


def review_picture(found: Agreement, reviewer: str) -> str:
    """Verdicts and judgements as a heat map, in SVG."""
    counts = {(ours.value, theirs.value): count for (ours, theirs), count in found.pairs.items()}
    return heatmap("the verifier", reviewer, [verdict.value for verdict in Verdict], counts)
