"""Tables and tests of the study, from its records alone: ``python -m studies.pretrained.tables RECORDS`` prints them.

In: the folder of the records. Out: in Markdown, the scores of each model, for each part the comparisons that
``PLAN.md`` sets, and the two explanations that it tests. What is not there yet is left out; a comparison says which
warm-ups it has.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import TypeAlias

from proof_r1_formal.evaluation.measures import Measure, Row, Sample
from proof_r1_formal.evaluation.paired import Difference, compare_rates, holm
from proof_r1_formal.evaluation.tables import Cell, Column, Style, Table, to_markdown
from studies.pretrained.run import ABLATIONS, ARMS, EXPLANATIONS, PARTS, Part, part_of, read_records
from studies.pretrained.score import GREEDY, SAMPLES, STEP_RATES, Record

OURS = ("hardened", "paper")
OTHERS = ("sft", "expert_iteration", "grpo", "prosfi")
RESAMPLES = 10_000
PRIMARY = Measure.RULE_VERIFIED
Run: TypeAlias = tuple[str, str, int]
"""Arm, rate (empty for a warm-up), and number of the warm-up."""


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
    order = ["warm-up", *ARMS, *ABLATIONS, *EXPLANATIONS]
    return sorted(found, key=lambda one: (order.index(one.arm), one.warm_up, float(one.rate or 0)))


def _placed(record: Record) -> Scored:
    name, _, number = record.run.rpartition("-")
    for rate in sorted({rate for part in PARTS for rate in part.rates}):
        if name.endswith(f"-{rate}"):
            return Scored(name.removesuffix(f"-{rate}"), rate, int(number), record)
    return Scored(name, "", int(number), record)


# -- tests ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Comparison:
    """One of the comparisons of the plan, with the p-value corrected for all of them in this part.

    Attributes:
        warm_ups: that both arms start from.
        ours, other: the arms, each with its rate.
        difference: of the primary score, ``ours`` − ``other``.
        corrected: Holm's p-value.
    """

    warm_ups: tuple[int, ...]
    ours: str
    other: str
    difference: Difference
    corrected: float


def comparisons(scored: Sequence[Scored]) -> list[Comparison]:
    """The comparisons whose runs are there, of each part, over the warm-ups that both arms have."""
    rows = _tested(scored)
    return [one for part in PARTS for one in _comparisons(part, rows, best_rates(part, scored))]


def best_rates(part: Part, scored: Sequence[Scored]) -> dict[str, str]:
    """For each arm of a part the rate with the highest primary score on ``tuning``; of equal ones, the lowest rate."""
    if len(part.rates) == 1:
        return dict.fromkeys(ARMS, part.rates[0])
    found: dict[str, tuple[float, str]] = {}
    for one in sorted(scored, key=lambda one: float(one.rate or 0)):
        if one.rate and one.warm_up in part.warm_ups and (one.record.file, one.record.rules) == ("tuning", "train"):
            value = one.record.mean(PRIMARY.value)
            if one.arm not in found or value > found[one.arm][0]:
                found[one.arm] = value, one.rate
    return {arm: rate for arm, (_, rate) in found.items()}


def _comparisons(
    part: Part, rows: Mapping[Run, Mapping[Sample, Row]], rates: Mapping[str, str]
) -> Iterator[Comparison]:
    made: list[tuple[tuple[int, ...], str, str, Difference]] = []
    for ours in OURS:
        for other in OTHERS:
            arms = [(arm, rates.get(arm, "")) for arm in (ours, other)]
            common = tuple([number for number in part.warm_ups if all((*arm, number) in rows for arm in arms)])
            if common:
                first, second = (_joined([rows[*arm, number] for number in common]) for arm in arms)
                left, right = map(" ".join, arms)
                made.append((common, left, right, _difference(first, second)))
    corrected = holm([difference.p for *_, difference in made])
    for (common, left, right, difference), p in zip(made, corrected, strict=True):
        yield Comparison(common, left, right, difference, p)


@dataclass(frozen=True, slots=True)
class Contrast:
    """The sum of the primary scores of some arms, less that of as many others.

    Attributes:
        name: of what is compared.
        plus, minus: arms at the one rate of ``EXPLAINED``, or ``warm-up``; with ``GREEDY``, their greedy answers.
    """

    name: str
    plus: tuple[str, ...]
    minus: tuple[str, ...]


EXPLAINED = PARTS[2]
"""The part whose results the fourth part of ``PLAN.md`` explains."""
TESTED = (
    Contrast(
        "expert_iteration − hardened, less the same of greedy answers",
        ("expert_iteration", f"hardened{GREEDY}"),
        ("hardened", f"expert_iteration{GREEDY}"),
    ),
    Contrast("strict − hardened", ("strict",), ("hardened",)),
)
_GREEDY = (
    ("expert_iteration", "hardened"),
    ("sft", "hardened"),
    *[(arm, "warm-up") for arm in ("expert_iteration", "sft", "hardened")],
)
REPORTED = (
    *[Contrast(f"strict − {other}", ("strict",), (other,)) for other in ("expert_iteration", "sft")],
    *[Contrast(f"{one} − {other}, greedy", (f"{one}{GREEDY}",), (f"{other}{GREEDY}",)) for one, other in _GREEDY],
)
"""Without a test."""
Explanation: TypeAlias = tuple[Contrast, tuple[int, ...], Difference, float | None]
"""A contrast, its warm-ups, the difference, and Holm's p-value if it is tested."""


def explanations(scored: Sequence[Scored]) -> list[Explanation]:
    """The contrasts whose runs are there, over the warm-ups that all their arms have."""
    rows = {
        (f"{arm}{ending}", number): found
        for ending in ("", GREEDY)
        for (arm, _, number), found in _tested(scored, ending).items()
        if number in EXPLAINED.warm_ups
    }
    made: list[tuple[Contrast, tuple[int, ...], Difference]] = []
    for one in (*TESTED, *REPORTED):
        arms = (*one.plus, *one.minus)
        common = tuple([number for number in EXPLAINED.warm_ups if all((arm, number) in rows for arm in arms)])
        if common:
            plus, minus = (
                _joined([rows[arm, number] for arm in side for number in common]) for side in (one.plus, one.minus)
            )
            made.append((one, common, _times(len(one.plus), _difference(plus, minus))))
    corrected = iter(holm([difference.p for one, _, difference in made if one in TESTED]))
    return [(*found, next(corrected) if found[0] in TESTED else None) for found in made]


def _times(count: int, mean: Difference) -> Difference:
    """The difference of sums, from that of means over ``count`` arms: the p-value is the same."""
    low, high = mean.of.interval or (0.0, 0.0)
    value = count * mean.of.value
    return replace(mean, of=replace(mean.of, value=value, numerator=value, interval=(count * low, count * high)))


def gains(scored: Sequence[Scored]) -> Iterator[tuple[Run, Difference]]:
    """Each run with its difference to its warm-up. ``PLAN.md`` does not set these comparisons."""
    rows = _tested(scored)
    for (arm, rate, number), mine in rows.items():
        if rate and (first := rows.get(("warm-up", "", number))):
            yield (arm, rate, number), _difference(mine, first)


def _tested(scored: Sequence[Scored], ending: str = "") -> dict[Run, dict[Sample, Row]]:
    """The samples of each run on the files of the tests, if all these files were scored.

    With ``GREEDY`` its greedy answers to them. These have negative numbers, so the same problem may have both.
    """
    rows: defaultdict[Run, list[dict[Sample, Row]]] = defaultdict(list)
    for one in scored:
        files = [f"{file}{ending}" for file in part_of(one.warm_up).tested]
        if one.record.file in files and one.record.rules == "train":
            found = one.record.rows(first=one.warm_up * (-SAMPLES if ending else SAMPLES))
            file = one.record.file.removesuffix(ending)
            named = {(f"{file} {name}", sample): row for (name, sample), row in found.items()}
            rows[one.arm, one.rate, one.warm_up].append(named)
    return {run: _joined(files) for run, files in rows.items() if len(files) == len(part_of(run[2]).tested)}


def _joined(parts: Sequence[Mapping[Sample, Row]]) -> dict[Sample, Row]:
    return {sample: row for part in parts for sample, row in part.items()}


def _difference(first: Mapping[Sample, Row], second: Mapping[Sample, Row]) -> Difference:
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
    sampled = [file for part in PARTS for file in part.files if file != "tuning"]
    files = dict.fromkeys([*sampled, *[f"{file}{GREEDY}" for part in PARTS for file in part.greedy], "tuning"])
    for rules in ("train", "folio --atomic"):
        for file in files:
            rows = [_row(one) for one in scored if (one.record.rules, one.record.file) == (rules, file)]
            if rows and (file != "tuning" or rules == "train"):
                yield Table(f"{file}, rules {rules}", (*NAMES, *SHARES, *MEANS), tuple(rows))
    sides = tuple([Column(name, Style.TEXT) for name in ("warm-ups", "arm", "against")])
    results = (Column("difference (%)", Style.PERCENT), Column("p, corrected", Style.PROBABILITY))
    rows = [
        (", ".join(map(str, one.warm_ups)), one.ours, one.other, one.difference.of, one.corrected)
        for one in comparisons(scored)
    ]
    yield Table("Right and rule-verified answers on the files of the tests", (*sides, *results), tuple(rows))
    explained = [
        (one.name, ", ".join(map(str, warm_ups)), difference.of, p)
        for one, warm_ups, difference, p in explanations(scored)
    ]
    if explained:
        heads = (Column("right and rule-verified answers", Style.TEXT), sides[0])
        yield Table("Why hardened teaches less than imitation", (*heads, *results), tuple(explained))
    gained = [(*run, difference.of) for run, difference in gains(scored)]
    yield Table("The same against the warm-up (not set before, not corrected)", (*NAMES, results[0]), tuple(gained))


def _row(scored: Scored) -> tuple[Cell, ...]:
    record = scored.record
    right = record.columns["Avg"]
    solved = [any(right[place : place + SAMPLES]) for place in range(0, len(right), SAMPLES)]
    shares = (record.mean(PRIMARY.value), record.mean("Avg"), fmean(solved), *map(record.rate, STEP_RATES))
    return (scored.arm, scored.rate, scored.warm_up, *shares, *[record.mean(column.name) for column in MEANS])


def main() -> None:
    """Print the tables of the folder of the command line."""
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m studies.pretrained.tables RECORDS")
    scored = read(Path(sys.argv[1]))
    if not scored:
        raise SystemExit(f"{sys.argv[1]}: no folder with records of the study (RUN.FILE.json)")
    sys.stdout.write("\n".join(map(to_markdown, tables(scored))))


if __name__ == "__main__":
    main()
