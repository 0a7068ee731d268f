"""The tables of the study ``longer``, made from its records alone: ``python -m training.experiments.longer_tables``.

In: the records in ``docs/experiments/longer``. Out: ``docs/experiments/longer.md``. ± is the standard deviation over
seeds. Intervals are 95 % percentile bootstraps in which seeds and problems are both drawn with replacement, the same
ones for both arms of a difference.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
    parts: Callable[[Outputs], tuple[Sequence[int], Sequence[int]]]

    def value(self, outputs: Outputs) -> float:
        """The score; 0 of nothing."""
        over, under = self.parts(outputs)
        return sum(over) / sum(under) if sum(under) else 0.0


def per_answer(outputs: Outputs) -> list[int]:
    """The number of answers to each problem."""
    return [outputs.samples] * len(outputs.right)


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
"""What the tests are about."""

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


def differences_table(title: str, arms: Arms, outputs: str) -> Table:
    """By how many points ``proof_r1`` is above each other arm, and each of these above the warm-up, with intervals."""
    others = [arm for arm in arms if arm != OURS]
    above = [(arm, WARM_UP) for arm in others if WARM_UP in arms and arm != WARM_UP]
    rows: list[tuple[Cell, ...]] = []
    for one, other in [*[(OURS, arm) for arm in others], *above]:
        ours, theirs = paired(arms[one], arms[other])
        texts = [_difference(score, ours, theirs, outputs) for score in PRIMARY]
        rows.append((f"{one} − {other}", len(ours), *texts))
    columns = [Column(score.name, Style.TEXT) for score in PRIMARY]
    return Table(title, (Column("difference", Style.TEXT), Column("seeds", Style.COUNT), *columns), tuple(rows))


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
    source = Random(0)
    seed_weights = _weights(source, seeds, resamples)
    problem_weights = _weights(source, problems, resamples)
    scores = [_resampled(score, side, seed_weights, problem_weights) for side in sides]
    drawn = sorted((scores[0] - scores[1]).tolist())
    cut = int(resamples * TAIL)
    point = _pooled(score, sides[0]) - _pooled(score, sides[1])
    return point, drawn[cut], drawn[-1 - cut]


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
    point, low, high = interval(score, ours, theirs, outputs)
    return f"{100 * point:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"


# -- the page ---------------------------------------------------------------------------------------------------------

FILES = {"longer": "Proofs of 4–6 steps", "short": "Proofs of 1–3 steps"}
CURVE_STYLES = {"rvr": Style.PERCENT, "entropy": Style.RATIO, "padding": Style.RATIO, "silent": Style.PERCENT}


def page(records: Sequence[Record]) -> str:
    """All tables in Markdown."""
    return "\n".join(["# Tables of the study `longer`", "", *_sections(by_arm(records))])


def _sections(arms: Arms) -> Iterator[str]:
    rates = {arm: of[0].learning_rate for arm, of in arms.items() if arm != WARM_UP}
    yield "Learning rates: " + ", ".join([f"{arm} {rate:g}" for arm, rate in rates.items()]) + "\n"
    for file, about in FILES.items():
        for decoding in ("sampled", "greedy"):
            yield to_markdown(scores_table(f"{about}, {decoding}", arms, f"{file}/{decoding}"))
            if OURS in arms:
                yield to_markdown(differences_table(f"{about}, {decoding}: points", arms, f"{file}/{decoding}"))
    for name, style in CURVE_STYLES.items():
        yield to_markdown(curve_table(f"{name} over the steps of training", arms, name, style))


def by_arm(records: Sequence[Record]) -> Arms:
    """The records of each arm; the warm-up first, then ours."""
    names = sorted({record.arm for record in records}, key=lambda arm: (arm != WARM_UP, arm != OURS, arm))
    return {name: sorted([one for one in records if one.arm == name], key=lambda record: record.seed) for name in names}


def main() -> None:
    """Write the page."""
    parser = ArgumentParser(prog="python -m training.experiments.longer_tables", description="Make the tables.")
    parser.add_argument("--records", type=Path, default=Path("docs/experiments/longer"))
    parser.add_argument("--out", type=Path, default=Path("docs/experiments/longer.md"))
    given = parser.parse_args()
    given.out.write_text(page(read_records(given.records)), encoding="utf-8")


if __name__ == "__main__":
    main()
