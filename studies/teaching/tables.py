"""Tables and tests of the study, from its records alone: ``python -m studies.teaching.tables RECORDS`` prints them.

In: the folder of the records, packed or not. Out: in Markdown, the scores of each arm on each file, what its runs cost,
the six tests of ``PLAN.md``, and the comparisons that decide nothing. The tests are those of ``evaluation.runs``, with
runs paired by seed. A test is made when both its arms have all seeds, and is corrected for all six even before the
others are there.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import TypeAlias

from proof_r1_formal.evaluation.measures import Estimate, Measure
from proof_r1_formal.evaluation.paired import Rows, holm, too_close
from proof_r1_formal.evaluation.runs import RunDifference, compare_runs
from proof_r1_formal.evaluation.study_tables import TOO_CLOSE
from proof_r1_formal.evaluation.tables import Cell, Column, Style, Table, to_markdown
from studies.teaching.records import Record, read_records
from studies.teaching.run import ARMS, FILES, SAMPLES, SEEDS, start_of

PRIMARY = Measure.RULE_VERIFIED
GREEDY = "-greedy"
WARM_UP = "warm-up"
RESAMPLES = 20_000
"""Of a test. Comparisons that decide nothing have a tenth."""

Scores: TypeAlias = Mapping[str, Sequence[float]]
"""Column -> a number for each problem: one file of a record."""
Records: TypeAlias = Mapping[str, Mapping[int, Record]]
"""Arm -> seed (of a warm-up, its number) -> record."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of the plan: ``ours`` − ``other`` in right and rule-verified answers to a file."""

    ours: str
    other: str
    file: str


PAIRS = (("taught", "sft"), ("proof_r1_taught", "sft"), ("proof_r1_taught", "expert_iteration"))
TESTED = tuple([Comparison(*pair, file) for file in ("same", "longer") for pair in PAIRS])
_LONG = (("taught", "sft_long"), ("proof_r1_taught", "sft_long"))
_ABLATION = (("taught", "sft_few"), ("sft_few", "sft"))
_FILES = tuple([f"{file}{ending}" for ending in ("", GREEDY) for file in FILES])
REPORTED = tuple(
    [one for file in _FILES for pair in (*PAIRS, *_LONG, *_ABLATION) if (one := Comparison(*pair, file)) not in TESTED]
)
"""Beside the tests, without a p-value."""


def read(folder: Path) -> Records:
    """The scored records of a folder: warm-ups, then the arms in the order of the plan, then others by name."""
    found: defaultdict[str, dict[int, Record]] = defaultdict(dict)
    for record in read_records(folder):
        arm, _, seed = record.run.rpartition("-")
        if record.scores:
            found[arm][int(seed)] = record
    order = [WARM_UP, *ARMS]
    names = sorted(found, key=lambda arm: (order.index(arm) if arm in order else len(order), arm))
    return {arm: dict(sorted(found[arm].items())) for arm in names}


# -- tests ------------------------------------------------------------------------------------------------------------


def compare(records: Records, one: Comparison, *, resamples: int) -> RunDifference:
    """The comparison over the seeds that both arms have.

    Raises:
        ValueError: there are fewer than two.
    """
    arms = [records.get(arm, {}) for arm in (one.ours, one.other)]
    seeds = arms[0].keys() & arms[1].keys()
    ours, other = ({seed: _rows(arm[seed].scores[one.file]) for seed in seeds} for arm in arms)
    return compare_runs(ours, other, PRIMARY, by_seed=True, resamples=resamples)


def _rows(scores: Scores) -> Rows:
    """The problems of a file by their place, the answers to each as one sample."""
    parts = zip(scores[PRIMARY.value], scores["answers"], strict=True)
    return {(f"{place:06}", 0): {PRIMARY: part} for place, part in enumerate(parts)}


def decisions(
    records: Records, *, resamples: int = RESAMPLES
) -> list[tuple[Comparison, RunDifference | None, float | str | None]]:
    """The six tests of the plan with Holm's p-values; None where an arm lacks a seed.

    A missing test counts as one with p = 1, so that none of the others is decided by too low a bound.
    """
    needed = set(SEEDS)
    found = [
        compare(records, one, resamples=resamples)
        if all(needed <= records.get(arm, {}).keys() for arm in (one.ours, one.other))
        else None
        for one in TESTED
    ]
    corrected = holm([1.0 if one is None else one.p for one in found])
    cells: list[float | str | None] = [
        None if one is None else TOO_CLOSE if too_close(one.p, one.error, family=len(TESTED)) else p
        for one, p in zip(found, corrected, strict=True)
    ]
    return list(zip(TESTED, found, cells, strict=True))


# -- tables -----------------------------------------------------------------------------------------------------------

_ARM = (Column("arm", Style.TEXT), Column("runs", Style.COUNT))
_SHARES = (PRIMARY, Measure.AVG)
_RATES = (Measure.RVR, Measure.FVR)
_MEANS = {"actions": Style.LENGTH, "useless": Style.RATIO, "tokens": Style.LENGTH, "entropy": Style.RATIO}
_SIDES = tuple([Column(name, Style.TEXT) for name in ("arm", "against", "answers to")])
_DIFFERENCE = Column("difference (%)", Style.PERCENT)


_LEARNS_FROM: Mapping[str, str] = {
    WARM_UP: "nothing more",
    "taught": "a prover's corrections of its own proofs",
    "sft": "given proofs",
    "proof_r1_taught": "verdicts on steps, and corrections",
    "expert_iteration": "its own proofs that pass all checks",
    "hardened": "verdicts on steps",
}
"""The arms of the overview."""


def tables(records: Records, *, resamples: int = RESAMPLES) -> Iterator[Table]:
    """All tables; a mean over runs stands with their standard deviation."""
    yield overview(records)
    for file in _FILES:
        yield _scores(records, file)
    yield _costs(records)
    rows: list[tuple[Cell, ...]] = []
    for one, difference, corrected in decisions(records, resamples=resamples):
        runs = min([len(records.get(arm, {})) for arm in (one.ours, one.other)])
        values = (None, None) if difference is None else (_without_spread(difference.of), difference.p)
        rows.append((one.ours, one.other, one.file, runs, *values, corrected))
    probabilities = [Column(name, Style.PROBABILITY) for name in ("p", "p (Holm)")]
    title = "The six tests of right and rule-verified answers"
    yield Table(title, (*_SIDES, _ARM[1], _DIFFERENCE, *probabilities), tuple(rows))
    yield Table("Beside the tests", (*_SIDES, _ARM[1], _DIFFERENCE), tuple(_beside(records, resamples // 10)))


def overview(records: Records) -> Table:
    """The primary score of the first arms on all files, and the RVR of samples of the first.

    A warm-up counts once for each seed that starts from it, so that the row is what all arms started from.
    """
    shares = [Column(f"{file.replace(GREEDY, ', greedy')} (%)", Style.PERCENT) for file in _FILES]
    columns = (*_ARM, Column("learns from", Style.TEXT), *shares, Column("RVR of same (%)", Style.PERCENT))
    rows: list[tuple[Cell, ...]] = []
    for arm, source in _LEARNS_FROM.items():
        made = records.get(arm, {})
        numbers = [start_of(seed) for seed in SEEDS] if arm == WARM_UP else list(made)
        if runs := [made[number] for number in numbers if number in made]:
            of = [[_of_run(run.scores[file]) for run in runs] for file in _FILES]
            proved = [_mean([one[PRIMARY.value] for one in each]) for each in of]
            rows.append((arm, len(made), source, *proved, _mean([one[Measure.RVR.value] for one in of[0]])))
    return Table("Right and rule-verified answers", columns, tuple(rows))


def _scores(records: Records, file: str) -> Table:
    samples = 1 if file.endswith(GREEDY) else SAMPLES
    shares = [Column(f"{one.value.lower()} (%)", Style.PERCENT) for one in _SHARES]
    rates = [Column(f"{one} (%)", Style.PERCENT) for one in _RATES]
    solved = Column(f"pass@{samples} (%)", Style.PERCENT)
    means = [Column(name, style) for name, style in _MEANS.items()]
    rows: list[tuple[Cell, ...]] = [
        (arm, len(runs), *map(_mean, zip(*[_of_run(one.scores[file]).values() for one in runs.values()], strict=True)))
        for arm, runs in records.items()
    ]
    return Table(f"Answers to {file}", (*_ARM, *shares, solved, *rates, *means), tuple(rows))


def _of_run(scores: Scores) -> dict[str, float]:
    """In the order of the columns of :func:`_scores`."""
    answers = sum(scores["answers"])
    found = {one.value: sum(scores[one.value]) / answers for one in _SHARES}
    found[Measure.PASS.value] = fmean([right > 0 for right in scores[Measure.AVG.value]])
    for one in _RATES:
        of = sum(scores[f"{one.value} of"])
        found[one.value] = sum(scores[one.value]) / of if of else 0.0
    return found | {name: sum(scores[name]) / answers for name in _MEANS}


def _costs(records: Records) -> Table:
    columns = (Column("updates", Style.LENGTH), Column("seconds of training", Style.LENGTH))
    rows = [
        (arm, len(runs), _mean([one.updates for one in runs.values()]), _mean([one.seconds for one in runs.values()]))
        for arm, runs in records.items()
    ]
    return Table("Processor time", (*_ARM, *columns), tuple(rows))


def _mean(values: Sequence[float]) -> Estimate:
    """The mean over runs; of several, with their standard deviation."""
    return Estimate(fmean(values), sum(values), len(values), stdev(values) if len(values) > 1 else None)


def _beside(records: Records, resamples: int) -> Iterator[tuple[Cell, ...]]:
    for one in REPORTED:
        common = records.get(one.ours, {}).keys() & records.get(one.other, {}).keys()
        if len(common) > 1:
            difference = compare(records, one, resamples=resamples)
            yield one.ours, one.other, one.file, len(common), _without_spread(difference.of)


def _without_spread(of: Estimate) -> Estimate:
    """With its interval alone, which says the same."""
    return Estimate(of.value, of.numerator, of.denominator, interval=of.interval)


def main() -> None:
    """Print the tables of the folder of the command line."""
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m studies.teaching.tables RECORDS")
    records = read(Path(sys.argv[1]))
    if not records:
        raise SystemExit(f"{sys.argv[1]}: no folder with records of the study (ARM-SEED.json)")
    sys.stdout.write("\n".join(map(to_markdown, tables(records))))


if __name__ == "__main__":
    main()
