"""The pilot: which rate, and how many answers to a problem, the first arms of the study learn with.

    python -m studies.teaching.pilot FOLDER

makes short runs of these arms from warm-up 1 with every setting, and prints how many answers to ``tuning`` are right
and rule-verified. The best setting of an arm, of equal ones the first, is what ``run.ARMS`` has. Of the arms without
a pilot, ``sft_long`` has the setting of ``sft``, ``contrast`` that of ``taught``, the others that of ``hardened``.
FOLDER is the one of ``run``. The runs go to ``pilot`` in it, and no other run starts from them. Two processes may work
at it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import msgspec
import torch

from proof_r1_formal.evaluation.measures import Measure
from studies.teaching.records import Record
from studies.teaching.run import ARMS, FIRST, Arm, Run, work

SEED, UPDATES = 99, 30
FILES = {"tuning": 150}
SAMPLES = 4
RATES = ("1e-4", "3e-4", "1e-3")
FEWER_ANSWERS = {"taught": 2}
"""Beside 8 answers to a problem: 4, or these."""


def settings(name: str) -> Iterator[Arm]:
    """The settings of an arm that are tried."""
    arm = ARMS[name]
    answers = (arm.answers, FEWER_ANSWERS.get(name, 4)) if arm.answers else (0,)
    for rate, number in product(RATES, answers):
        yield replace(arm, rate=rate, answers=number, updates=UPDATES)


def plan() -> Iterator[Run]:
    """The runs of the pilot."""
    for name in list(ARMS)[:FIRST]:
        for arm in settings(name):
            yield Run(f"{name}-{arm.rate}-{arm.answers}", arm, "warm-up-1", "reinforcement", SEED, FILES, SAMPLES)


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
    runs = list(plan())
    work(folder, runs)
    for run in runs:
        record = msgspec.json.decode(run.record(folder).read_bytes(), type=Record)
        scores = record.scores["tuning"]
        proved = sum(scores[Measure.RULE_VERIFIED.value]) / sum(scores["answers"])
        line = f"| {run.name} | {proved:.1%} | {record.seconds:.0f} |\n"
        sys.stdout.write(line)


if __name__ == "__main__":
    main()
