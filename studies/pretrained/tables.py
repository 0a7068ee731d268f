"""Tables and tests of the study, from its records alone: ``python -m studies.pretrained.tables RECORDS`` prints them.

In: the folder of the records. Out: in Markdown, the scores of each model, and for each part the comparisons that
``PLAN.md`` sets. What is not there yet is left out; a comparison says how many warm-ups it has.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from proof_r1_formal.evaluation.measures import Measure, Row, Sample
from proof_r1_formal.evaluation.paired import Difference, compare_rates, holm
from proof_r1_formal.evaluation.tables import Cell, Column, Style, Table, to_markdown
from studies.pretrained.run import ABLATIONS, ARMS, FILES, PARTS, TESTED, read_records
from studies.pretrained.score import SAMPLES, STEP_RATES, Record

OURS = ("hardened", "paper")
OTHERS = ("sft", "expert_iteration", "grpo", "prosfi")
RESAMPLES = 10_000
PRIMARY = Measure.RULE_VERIFIED


@dataclass(frozen=True, slots=True)
class Scored:
    """A record, and the run of the plan that it belongs to: ``warm-up`` or an arm, its rate, its warm-up."""

    arm: str
    rate: str
    warm_up: int
    record: Record


def read(folder: Path) -> list[Scored]:
    """The records of a folder, in the order of the plan."""
    paths = [path for path in sorted(folder.glob("*.json")) if not path.name.endswith(".log.json")]
    found = [_placed(record) for path in paths for record in read_records(path)]
    order = ["warm-up", *ARMS, *ABLATIONS]
    return sorted(found, key=lambda one: (order.index(one.arm), one.warm_up))


def _placed(record: Record) -> Scored:
    name, _, number = record.run.rpartition("-")
    for rate in [part.rate for part in PARTS]:
        if name.endswith(f"-{rate}"):
            return Scored(name.removesuffix(f"-{rate}"), rate, int(number), record)
    return Scored(name, "", int(number), record)


# -- tests ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Comparison:
    """One of the comparisons of the plan, with the p-value corrected for all of them in this part."""

    rate: str
    ours: str
    other: str
    warm_ups: int
    difference: Difference
    corrected: float


def comparisons(scored: Sequence[Scored]) -> list[Comparison]:
    """The comparisons whose runs are there, of each part, over the warm-ups that both arms have."""
    rates = [part.rate for part in PARTS]
    return [one for rate in rates for one in _comparisons(rate, [one for one in scored if one.rate == rate])]


def _comparisons(rate: str, scored: Sequence[Scored]) -> list[Comparison]:
    rows = _tested(scored)
    made = []
    for ours in OURS:
        for other in OTHERS:
            common = sorted({number for arm, number in rows if (ours, number) in rows and (other, number) in rows})
            if common:
                first, second = (_joined([rows[arm, number] for number in common]) for arm in (ours, other))
                made.append((ours, other, len(common), _difference(first, second)))
    corrected = holm([difference.p for *_, difference in made])
    return [Comparison(rate, *one, corrected=p) for one, p in zip(made, corrected, strict=True)]


def gains(scored: Sequence[Scored]) -> Iterator[tuple[Scored, Difference]]:
    """Each run with its difference to its warm-up. ``PLAN.md`` does not set these comparisons."""
    rows = _tested(scored)
    first = {(one.arm, one.rate, one.warm_up): one for one in scored if one.rate}
    for (arm, rate, number), one in first.items():
        mine = _tested([other for other in scored if other.rate == rate])
        if (arm, number) in mine and ("warm-up", number) in rows:
            yield one, _difference(mine[arm, number], rows["warm-up", number])


def _tested(scored: Sequence[Scored]) -> dict[tuple[str, int], dict[Sample, Row]]:
    """Arm and warm-up -> the samples on the files of the tests, if all these files were scored."""
    rows: defaultdict[tuple[str, int], dict[str, dict[Sample, Row]]] = defaultdict(dict)
    for one in scored:
        if one.record.file in TESTED and one.record.rules == "train":
            found = one.record.rows(first=one.warm_up * SAMPLES)
            rows[one.arm, one.warm_up][one.record.file] = {
                (f"{one.record.file} {name}", sample): row for (name, sample), row in found.items()
            }
    return {run: _joined(list(files.values())) for run, files in rows.items() if len(files) == len(TESTED)}


def _joined(parts: Sequence[Mapping[Sample, Row]]) -> dict[Sample, Row]:
    return {sample: row for part in parts for sample, row in part.items()}


def _difference(first: dict[Sample, Row], second: dict[Sample, Row]) -> Difference:
    return compare_rates(first, second, [PRIMARY], resamples=RESAMPLES)[PRIMARY]


# -- tables -----------------------------------------------------------------------------------------------------------

NAMES = (Column("model", Style.TEXT), Column("rate", Style.TEXT), Column("warm-up", Style.COUNT))
SHARES = tuple(
    [Column(f"{name} (%)", Style.PERCENT) for name in (PRIMARY.value.lower(), "right", f"pass@{SAMPLES}", "FVR", "RVR")]
)
MEANS = (
    Column("actions", Style.LENGTH),
    Column("useless", Style.RATIO),
    Column("tokens", Style.LENGTH),
    Column("entropy", Style.RATIO),
)


def tables(scored: Sequence[Scored]) -> Iterator[Table]:
    """The scores on each file, those on ``tuning`` for the rules of training only, and the comparisons."""
    for rules in ("train", "folio --atomic"):
        for file in (*FILES, "tuning"):
            rows = [_row(one) for one in scored if (one.record.rules, one.record.file) == (rules, file)]
            if rows and (file != "tuning" or rules == "train"):
                yield Table(f"{file}, rules {rules}", (*NAMES, *SHARES, *MEANS), tuple(rows))
    sides = (*[Column(name, Style.TEXT) for name in ("rate", "arm", "against")], Column("warm-ups", Style.COUNT))
    results = (Column("difference (%)", Style.PERCENT), Column("p, corrected", Style.PROBABILITY))
    rows = [
        (one.rate, one.ours, one.other, one.warm_ups, one.difference.of, one.corrected) for one in comparisons(scored)
    ]
    yield Table("Right and rule-verified answers on same and longer", (*sides, *results), tuple(rows))
    gained = [(one.arm, one.rate, one.warm_up, difference.of) for one, difference in gains(scored)]
    yield Table("The same against the warm-up (not set before, not corrected)", (*NAMES, results[0]), tuple(gained))


def _row(scored: Scored) -> tuple[Cell, ...]:
    record = scored.record
    right = record.columns["Avg"]
    solved = [any(right[place : place + SAMPLES]) for place in range(0, len(right), SAMPLES)]
    shares = (record.mean(PRIMARY.value), record.mean("Avg"), fmean(solved), *map(record.rate, STEP_RATES))
    return (scored.arm, scored.rate, scored.warm_up, *shares, *[record.mean(column.name) for column in MEANS])


if __name__ == "__main__":
    sys.stdout.write("\n".join(map(to_markdown, tables(read(Path(sys.argv[1]))))))
