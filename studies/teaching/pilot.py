"""The pilot: which rate, and how many answers to a problem, the first arms of the study learn with.

    python -m studies.teaching.pilot FOLDER

makes short runs of these arms from warm-up 1, with every rate and then, at the best one, with fewer answers to a
problem. It prints how many answers to ``tuning`` are right and rule-verified. The best setting of an arm, of equal
ones the first, is what ``run.ARMS`` has. Of the arms without a pilot, ``sft_long`` has the setting of ``sft``,
``contrast`` that of ``taught``, the others that of ``hardened``. FOLDER is the one of ``run``. The runs go to ``pilot``
in it, and no other run starts from them. Two processes may work at it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path

import torch

from proof_r1_formal.evaluation.measures import Measure
from studies.teaching.records import Record, read_records
from studies.teaching.run import ARMS, FIRST, Run, work

SEED, UPDATES = 99, 30
FILES = {"tuning": 150}
SAMPLES = 4
RATES = ("1e-4", "3e-4", "1e-3")
USUAL, FEWER = 8, 4
"""Answers to a problem."""
FEWER_ANSWERS = {"taught": 2}
"""In place of ``FEWER``."""
PILOTED = tuple(ARMS)[:FIRST]


def run_of(name: str, rate: str, answers: int) -> Run:
    """The run of an arm with a setting."""
    arm = replace(ARMS[name], rate=rate, answers=answers, updates=UPDATES)
    return Run(f"{name}-{rate}-{answers}", arm, "warm-up-1", "reinforcement", SEED, FILES, SAMPLES)


def rates() -> dict[str, list[Run]]:
    """For each arm a run with every rate."""
    return {name: [run_of(name, rate, USUAL if ARMS[name].answers else 0) for rate in RATES] for name in PILOTED}


def answers(records: Mapping[str, Record]) -> dict[str, list[Run]]:
    """For each arm with rollouts a run with fewer answers, at the rate that was best."""
    best = {name: chosen(runs, records) for name, runs in rates().items()}
    return {
        name: [run_of(name, run.arm.rate, FEWER_ANSWERS.get(name, FEWER))]
        for name, run in best.items()
        if run.arm.answers
    }


def chosen(runs: Iterable[Run], records: Mapping[str, Record]) -> Run:
    """The run after which most answers are right and rule-verified; of equal ones the first."""
    return max(runs, key=lambda run: proved(records[run.name]))


def proved(record: Record) -> float:
    """The share of right and rule-verified answers."""
    scores = record.scores["tuning"]
    return sum(scores[Measure.RULE_VERIFIED.value]) / sum(scores["answers"])


def _records(folder: Path) -> dict[str, Record]:
    return {record.run: record for record in read_records(folder / "records")}


def main() -> None:
    """Make the runs that are left, and print the table."""
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m studies.teaching.pilot FOLDER")
    torch.set_num_threads(1)
    given = Path(sys.argv[1])
    folder = given / "pilot"
    for part in ("data", "warm-up-1", "records"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    for linked in ("data/reinforcement.jsonl", "data/tuning.jsonl", "warm-up-1/model", "records/warm-up-1.json"):
        if not (folder / linked).exists():
            (folder / linked).symlink_to((given / linked).resolve())
    first = rates()
    work(folder, list(chain.from_iterable(first.values())))
    second = answers(_records(folder))
    work(folder, list(chain.from_iterable(second.values())))
    records = _records(folder)
    for name in PILOTED:
        for run in (*first[name], *second.get(name, [])):
            record = records[run.name]
            sys.stdout.write(f"| {run.name} | {proved(record):.1%} | {record.seconds:.0f} |\n")


if __name__ == "__main__":
    main()
