"""Compares generated problems with ProverQA: ``python -m studies.bench.generation FOLDER_OF_DATA``.

Writes the tables and pictures in ``docs/generation/``; ``docs/generation.md`` shows them.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import TypeVar

from proof_r1_formal.data import read_problems
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.evaluation.tables import to_markdown
from proof_r1_formal.generate import GeneratorSettings, generate_problems
from proof_r1_formal.generate.problems import STEPS, Difficulty
from proof_r1_formal.generate.statistics import Statistics, comparison
from studies.bench.bars import bars

SEED = 1
DIFFICULTIES: tuple[Difficulty, ...] = ("easy", "medium", "hard")

HEAD = f"""# Generated problems beside ProverQA

`make generation DATA=FOLDER` writes this page and the pictures beside it. ProverQA: 300 problems of each difficulty;
steps, rules and skeletons are those of the 450 reference proofs that there are, none of them of an Uncertain problem.
Ours: seed {SEED}, the default settings of each difficulty.
"""

_Key = TypeVar("_Key", int, str)


def theirs(folder: Path, difficulty: str) -> Statistics:
    """ProverQA's problems of a difficulty, with what is known of their proofs."""
    found = counted(read_problems(folder / "proverqa" / f"{difficulty}.json").values())
    golden = read_problems(folder / "llm_outputs" / "docailab_proverqa_golden_450.jsonl").values()
    proved = counted(problem for problem in golden if problem.difficulty == difficulty)
    found.steps, found.rules, found.skeletons = proved.steps, proved.rules, proved.skeletons
    return found


def ours(difficulty: Difficulty, count: int) -> Statistics:
    """So many generated problems."""
    settings = GeneratorSettings(seed=SEED, difficulty=difficulty)
    return counted(generated.problem for generated in islice(generate_problems(settings), count))


def counted(problems: Iterable[Problem]) -> Statistics:
    """The statistics of problems."""
    statistics = Statistics()
    for problem in problems:
        statistics.add(problem)
    return statistics


def pictures(sets: dict[str, Statistics]) -> dict[str, str]:
    """Name of a file -> picture; the sets are those of :func:`main`."""
    drawn = {}
    for difficulty in DIFFICULTIES:
        pair = (sets[f"{difficulty}, ProverQA"], sets[f"{difficulty}, ours"])
        for what, title, counts in (
            ("steps", "Steps of proofs", lambda one: one.steps),
            ("premises", "Premises", lambda one: one.premises),
        ):
            rows = _by_number(pair, counts)
            drawn[f"{what}-{difficulty}.svg"] = bars(f"{title}, {difficulty}", rows, ("ProverQA", "generated"))
    everything = (
        [sets[f"{difficulty}, ProverQA"] for difficulty in DIFFICULTIES],
        [sets[f"{difficulty}, ours"] for difficulty in DIFFICULTIES],
    )
    for what, title, named in (
        ("rules", "Steps by rule", lambda one: one.rules),
        ("shapes", "Premises by shape", lambda one: one.patterns),
    ):
        first, second = (_mean_shares(side, named) for side in everything)
        labels = sorted(first.keys() | second.keys(), key=lambda label: (-first[label], label))
        rows = {label: (first[label], second[label]) for label in labels}
        drawn[f"{what}.svg"] = bars(f"{title}, mean of the three difficulties", rows, ("ProverQA", "generated"))
    return drawn


def _by_number(
    pair: tuple[Statistics, Statistics], counts: Callable[[Statistics], Counter[int]]
) -> dict[str, tuple[float, float]]:
    """The shares of every number from the least to the greatest."""
    first, second = (_shares(counts(one)) for one in pair)
    numbers = range(min(*first, *second), max(*first, *second) + 1)
    return {f"{number}": (first[number], second[number]) for number in numbers}


def _mean_shares(sets: list[Statistics], counts: Callable[[Statistics], Counter[str]]) -> Mapping[str, float]:
    """The mean over sets of the share of each thing."""
    mean: defaultdict[str, float] = defaultdict(float)
    for one in sets:
        for name, share in _shares(counts(one)).items():
            mean[name] += share / len(sets)
    return mean


def _shares(counts: Counter[_Key]) -> Mapping[_Key, float]:
    return defaultdict(float, {key: count / counts.total() for key, count in counts.items()})


def main() -> None:
    """Compare, and write tables and pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="folder of benchmark data")
    parser.add_argument("--count", type=int, default=1000, help="generated problems of each difficulty")
    parser.add_argument("--out", type=Path, default=Path("docs/generation"))
    options = parser.parse_args()
    sets: dict[str, Statistics] = {}
    for difficulty in DIFFICULTIES:
        sets[f"{difficulty}, ProverQA"] = theirs(options.data, difficulty)
        sets[f"{difficulty}, ours"] = ours(difficulty, options.count)
        sys.stderr.write(f"{difficulty}: steps {STEPS[difficulty]}\n")
    options.out.mkdir(parents=True, exist_ok=True)
    for name, picture in pictures(sets).items():
        (options.out / name).write_text(picture, encoding="utf-8")
    tables = "\n".join(map(to_markdown, comparison(sets)))
    (options.out / "tables.md").write_text(f"{HEAD}\n{tables}", encoding="utf-8")


if __name__ == "__main__":
    main()
