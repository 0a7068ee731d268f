"""The tables of ``longer`` and ``distractors``, from records alone: ``python -m training.experiments.longer_tables``.

In: the records in ``docs/experiments/longer``, or in another folder. Out: ``docs/experiments/longer.md``, beside the
folder. ± is the standard deviation over seeds. Intervals are 95 % percentile bootstraps in which seeds and problems are
both drawn with replacement, the same ones for both arms of a difference.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import comb
from pathlib import Path
from random import Random
from statistics import fmean

import torch
from torch import Tensor

from proof_r1_formal.metrics.tables import Cell, Column, Style, Table, to_markdown
from training.experiments.longer import WARM_UP
from training.experiments.records import EVERY, Outputs, Record, read_records
from training.experiments.report import estimate

OURS = "proof_r1"
RESAMPLES = 4000
TAIL = 0.025


@dataclass(frozen=True, slots=True)
class Score:
    """A quotient of two sums over problems.

    Attributes:
        name: of its column.
        style: of the column.
        parts: outputs -> numerator and denominator of each problem.
    """

    name: str
    style: Style
    parts: Callable[[Outputs], tuple[Sequence[float], Sequence[int]]]

    def value(self, outputs: Outputs) -> float:
        """The score; 0 of nothing."""
        over, under = self.parts(outputs)
        return sum(over) / sum(under) if sum(under) else 0.0


def per_answer(outputs: Outputs) -> list[int]:
    """The number of answers to each problem."""
    return [outputs.samples] * len(outputs.right)


def pass_at(k: int, good: int, samples: int) -> float:
    """The chance that one of k of these samples, drawn without replacement, is good: an unbiased estimate of pass@k.

    k is at most the number of samples.
    Source: Chen et al., Evaluating Large Language Models Trained on Code, 2021, equation 1.
    """
    return 1 - comb(samples - good, k) / comb(samples, k)


RVR = Score("RVR (%)", Style.PERCENT, lambda o: (o.instances, o.instances_of))
VERIFIED = Score("right and rule-verified (%)", Style.PERCENT, lambda o: (o.verified, per_answer(o)))
SCORES = (
    Score("Avg (%)", Style.PERCENT, lambda o: (o.right, per_answer(o))),
    Score("FVR (%)", Style.PERCENT, lambda o: (o.entailed, o.entailed_of)),
    RVR,
    VERIFIED,
    Score("parsed (%)", Style.PERCENT, lambda o: (o.parsed, per_answer(o))),
    Score("actions", Style.LENGTH, lambda o: (o.actions, per_answer(o))),
    Score("padding", Style.RATIO, lambda o: (o.padding, per_answer(o))),
    Score("tokens", Style.LENGTH, lambda o: (o.tokens, per_answer(o))),
)
PRIMARY = (RVR, VERIFIED)
"""What the tests of ``longer`` are about."""
OUTSIDE = Score("outside closure", Style.RATIO, lambda o: (o.outside, per_answer(o)))
USELESS = Score("useless", Style.RATIO, lambda o: (o.useless, per_answer(o)))

Arms = Mapping[str, Sequence[Record]]
"""Arm -> its records, by seed; the warm-up first, the others in the order of the study."""


# -- tables -----------------------------------------------------------------------------------------------------------


def scores_table(title: str, arms: Arms, outputs: str, scores: Sequence[Score] = SCORES) -> Table:
    """The scores of every arm: means ± standard deviation over seeds."""

    def row(arm: str, records: Sequence[Record]) -> tuple[Cell, ...]:
        of = [record.outputs[outputs] for record in records]
        values = [[score.value(one) for one in of] for score in scores]
        return (arm, len(of), *map(estimate, [*values, [one.entropy for one in of]]))

    columns = [Column(score.name, score.style) for score in scores]
    return Table(
        title,
        (Column("arm", Style.TEXT), Column("seeds", Style.COUNT), *columns, Column("entropy", Style.RATIO)),
        tuple([row(arm, records) for arm, records in arms.items()]),
    )


def pairs_of(arms: Arms, ours: str) -> list[tuple[str, str]]:
    """Our arm with each other one, then each of these with the warm-up."""
    others = [arm for arm in arms if arm != ours]
    above = [(arm, WARM_UP) for arm in others if WARM_UP in arms and arm != WARM_UP]
    return [*[(ours, arm) for arm in others], *above]


def differences_table(
    title: str, arms: Arms, pairs: Sequence[tuple[str, str]], columns: Sequence[tuple[str, Score, str]]
) -> Table:
    """How far the first arm of each pair is above the second one, with intervals; shares are in points.

    Args:
        title: of the table.
        arms: all.
        pairs: that are compared.
        columns: title, score and outputs of each.
    """
    rows: list[tuple[Cell, ...]] = []
    for one, other in pairs:
        ours, theirs = paired(arms[one], arms[other])
        texts = [_difference(score, ours, theirs, outputs) for _, score, outputs in columns]
        rows.append((f"{one} − {other}", len(ours), *texts))
    given = [Column(name, Style.TEXT) for name, _, _ in columns]
    return Table(title, (Column("difference", Style.TEXT), Column("seeds", Style.COUNT), *given), tuple(rows))


def curve_table(title: str, arms: Arms, name: str, style: Style) -> Table:
    """A curve of training, in means over seeds of each stretch of steps."""
    curves = {arm: [one.curve[name] for one in records if one.curve] for arm, records in arms.items()}
    given = {arm: of for arm, of in curves.items() if of}
    longest = max([len(curve) for of in given.values() for curve in of], default=0)
    columns = [Column(f"{EVERY * place + 1}–{EVERY * (place + 1)}", style) for place in range(longest)]

    def cell(of: Sequence[Sequence[float]], place: int) -> Cell:
        return estimate([fmean([curve[place] for curve in of])]) if all(place < len(curve) for curve in of) else None

    rows = tuple([(arm, *[cell(of, place) for place in range(longest)]) for arm, of in given.items()])
    return Table(title, (Column("arm", Style.TEXT), *columns), rows)


# -- differences ------------------------------------------------------------------------------------------------------


def paired(ours: Sequence[Record], theirs: Sequence[Record]) -> tuple[list[Record], list[Record]]:
    """The records of the seeds that both arms have; the warm-up, which has one, stands beside each seed."""
    if theirs[0].arm == WARM_UP:
        return list(ours), [theirs[0]] * len(ours)
    by_seed = {record.seed: record for record in theirs}
    both = [record for record in ours if record.seed in by_seed]
    return both, [by_seed[record.seed] for record in both]


def interval(
    score: Score, ours: Sequence[Record], theirs: Sequence[Record], outputs: str, *, resamples: int = RESAMPLES
) -> tuple[float, float, float]:
    """The difference of a score, and the ends of its interval.

    Args:
        score: which.
        ours, theirs: records of the same seeds, in the same order.
        outputs: on which problems, and how decoded.
        resamples: of seeds and problems.
    """
    sides = [[record.outputs[outputs] for record in side] for side in (ours, theirs)]
    seeds, problems = len(sides[0]), len(sides[0][0].right)
    seed_weights, problem_weights = _weights_of(seeds, problems, resamples)
    scores = [_resampled(score, side, seed_weights, problem_weights) for side in sides]
    drawn = sorted((scores[0] - scores[1]).tolist())
    cut = int(resamples * TAIL)
    point = _pooled(score, sides[0]) - _pooled(score, sides[1])
    return point, drawn[cut], drawn[-1 - cut]


@cache
def _weights_of(seeds: int, problems: int, resamples: int) -> tuple[Tensor, Tensor]:
    source = Random(0)
    return _weights(source, seeds, resamples), _weights(source, problems, resamples)


def _weights(source: Random, count: int, resamples: int) -> Tensor:
    """How often each of so many items is drawn in each resample."""
    rows = []
    for _ in range(resamples):
        row = [0.0] * count
        for item in source.choices(range(count), k=count):
            row[item] += 1.0
        rows.append(row)
    return torch.tensor(rows, dtype=torch.float64)


def _resampled(score: Score, side: Sequence[Outputs], seeds: Tensor, problems: Tensor) -> Tensor:
    parts = [score.parts(one) for one in side]
    over, under = (torch.tensor([part[place] for part in parts], dtype=torch.float64) for place in (0, 1))
    total = ((seeds @ under) * problems).sum(1)
    return ((seeds @ over) * problems).sum(1) / total.clamp(min=1.0)


def _pooled(score: Score, side: Sequence[Outputs]) -> float:
    parts = [score.parts(one) for one in side]
    under = sum([sum(part[1]) for part in parts])
    return sum([sum(part[0]) for part in parts]) / under if under else 0.0


def _difference(score: Score, ours: Sequence[Record], theirs: Sequence[Record], outputs: str) -> str:
    if not ours:
        return "no common seed"
    scale, digits = (100, 1) if score.style is Style.PERCENT else (1, 3)
    point, low, high = [f"{scale * value:+.{digits}f}" for value in interval(score, ours, theirs, outputs)]
    return f"{point} [{low}, {high}]"


# -- the page ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Layout:
    """What is on the page of a study.

    Attributes:
        files: name -> what is in the file.
        scores: columns of the tables of scores.
        primary: what the tests are about.
        curves: name -> style.
    """

    files: Mapping[str, str]
    scores: Sequence[Score]
    primary: Sequence[Score]
    curves: Mapping[str, Style]


LONGER = Layout(
    {"longer": "Proofs of 4–6 steps", "short": "Proofs of 1–3 steps"},
    SCORES,
    PRIMARY,
    {"rvr": Style.PERCENT, "entropy": Style.RATIO, "padding": Style.RATIO, "silent": Style.PERCENT},
)
LAYOUTS = {
    "longer": LONGER,
    "distractors": Layout(
        {"short": "With distractors", "paths": "With two proofs"},
        (*SCORES, OUTSIDE, USELESS),
        (*PRIMARY, OUTSIDE),
        {**LONGER.curves, "useless": Style.RATIO, "tokens": Style.LENGTH},
    ),
}
"""By the name of the folder of records."""
TRIES = (1, 2, 4, 8, 16, 32)
"""The k of pass@k."""
PASSED: Mapping[str, Callable[[Outputs], Sequence[int]]] = {
    "right": lambda o: o.right,
    "right and rule-verified": lambda o: o.verified,
}


def page(records: Sequence[Record], study: str = "longer") -> str:
    """All tables in Markdown."""
    arms, layout = by_arm(records), LAYOUTS[study]
    return "\n".join([f"# Tables of the study `{study}`", "", *_sections(arms, layout), *_passes(arms, layout)])


def _sections(arms: Arms, layout: Layout) -> Iterator[str]:
    rates = {arm: of[0].learning_rate for arm, of in arms.items() if arm != WARM_UP}
    yield "Learning rates: " + ", ".join([f"{arm} {rate:g}" for arm, rate in rates.items()]) + "\n"
    for file, about in layout.files.items():
        for decoding in ("sampled", "greedy"):
            outputs = f"{file}/{decoding}"
            yield to_markdown(scores_table(f"{about}, {decoding}", arms, outputs, layout.scores))
            if OURS in arms:
                columns = [(score.name, score, outputs) for score in layout.primary]
                yield to_markdown(
                    differences_table(f"{about}, {decoding}: differences", arms, pairs_of(arms, OURS), columns)
                )
    for name, style in layout.curves.items():
        yield to_markdown(curve_table(f"{name} over the steps of training", arms, name, style))


def _passes(arms: Arms, layout: Layout) -> Iterator[str]:
    """pass@k of the records that have enough samples, and how far it is above that of the warm-up."""
    for file, about in layout.files.items():
        outputs = f"{file}/many"
        sampled = {arm: some for arm, of in arms.items() if (some := [one for one in of if outputs in one.outputs])}
        pairs = [(arm, WARM_UP) for arm in sampled if arm != WARM_UP]
        most = min([one.outputs[outputs].samples for of in sampled.values() for one in of], default=0)
        for kind, counts in PASSED.items() if sampled else ():
            scores = [_pass_score(k, counts) for k in TRIES if k <= most]
            yield to_markdown(scores_table(f"{about}: {kind}, pass@k (%)", sampled, outputs, scores))
            columns = [(score.name, score, outputs) for score in scores]
            yield to_markdown(differences_table(f"{about}: {kind}, differences", sampled, pairs, columns))


def _pass_score(k: int, counts: Callable[[Outputs], Sequence[int]]) -> Score:
    return Score(
        f"k = {k}",
        Style.PERCENT,
        lambda o: ([pass_at(k, good, o.samples) for good in counts(o)], [1] * len(counts(o))),
    )


def by_arm(records: Sequence[Record]) -> Arms:
    """The records of each arm; the warm-up first, then ours."""
    names = sorted({record.arm for record in records}, key=lambda arm: (arm != WARM_UP, arm != OURS, arm))
    return {name: sorted([one for one in records if one.arm == name], key=lambda record: record.seed) for name in names}


def main() -> None:
    """Write the page."""
    parser = ArgumentParser(prog="python -m training.experiments.longer_tables", description="Make the tables.")
    parser.add_argument("--records", type=Path, default=Path("docs/experiments/longer"))
    records = parser.parse_args().records
    records.with_suffix(".md").write_text(page(read_records(records), records.name), encoding="utf-8")


if __name__ == "__main__":
    main()
