"""Compares generated problems with ProverQA: ``python -m studies.bench.generation FOLDER_OF_DATA``.

Writes the tables and pictures in ``docs/generation/``; ``docs/generation.md`` shows them.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TypeVar

from proof_r1_formal.data import read_problems
from proof_r1_formal.data.problem import FALSE, GOAL_UNCERTAIN, THREE_WAY, TRUE, UNCERTAIN, Problem
from proof_r1_formal.evaluation.drawing import Picture, bars, write_pictures
from proof_r1_formal.evaluation.tables import Column, Style, Table, to_markdown
from proof_r1_formal.generate import GeneratorSettings, generate_problems
from proof_r1_formal.generate.problems import STEPS, Difficulty
from proof_r1_formal.generate.shape import is_shallow, pattern, structural_key
from proof_r1_formal.kernel.transform import constants
from proof_r1_formal.rules.schema import GOAL_BINDING

SEED = 1
DIFFICULTIES: tuple[Difficulty, ...] = ("easy", "medium", "hard")

HEAD = f"""# Generated problems beside ProverQA

`make generation DATA=FOLDER` writes this page and the pictures beside it. ProverQA: 300 problems of each difficulty;
steps, rules and skeletons are those of the 450 reference proofs that there are, none of them of an Uncertain problem.
Ours: seed {SEED}, the default settings of each difficulty.
"""


MOST_SHAPES = 24
"""Maximum number of rows of the table of shapes; it shows the most frequent ones."""


@dataclass(slots=True)
class Statistics:
    """Counts over problems; filled by :meth:`add`.

    Attributes:
        problems: how many there are.
        answers: id of the right option -> problems.
        premises: number of premises -> problems.
        steps: number of steps of the shortest reference proof, the terminal one left out -> problems that have one.
        rules: steps of the reference proofs, the terminal ones left out, by rule.
        patterns: premises by :func:`~proof_r1_formal.generate.shape.pattern`.
        people: number of constants -> problems.
        shallow: problems whose answer is Uncertain that are shallow (``is_shallow``).
        skeletons: keys of the premises that a reference proof uses, with its goal.
    """

    problems: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    premises: Counter[int] = field(default_factory=Counter)
    steps: Counter[int] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    patterns: Counter[str] = field(default_factory=Counter)
    people: Counter[int] = field(default_factory=Counter)
    shallow: int = 0
    skeletons: set[bytes] = field(default_factory=set)

    def add(self, problem: Problem) -> None:
        """Count a problem."""
        self.problems += 1
        self.answers[problem.answer or ""] += 1
        self.premises[len(problem.premises)] += 1
        self.patterns.update(pattern(premise.formula) for premise in problem.premises)
        self.people[len({constant for formula in problem.formulas() for constant in constants(formula)})] += 1
        if problem.answer == GOAL_UNCERTAIN:
            self.shallow += is_shallow(problem)
        if problem.proofs:
            shortest = [step for step in min(problem.proofs, key=len) if step.rule != GOAL_BINDING]
            self.steps[len(shortest)] += 1
            self.rules.update(step.rule for step in shortest)
            used = {dependency for step in shortest for dependency in step.dependencies}
            goal = problem.options[0].formula
            self.skeletons.add(structural_key(goal, [p.formula for p in problem.premises if p.id in used]))


def comparison(sets: Mapping[str, Statistics]) -> tuple[Table, ...]:
    """Tables of properties of the problems, of the rules of their proofs, and of the shapes of their premises."""
    columns = (Column("", Style.TEXT), *[Column(name, Style.COUNT) for name in sets])

    def row(name: str, cell: Callable[[Statistics], str]) -> tuple[str, ...]:
        return (name, *[cell(one) for one in sets.values()])

    def answered(label: str) -> tuple[str, ...]:
        return row(f"answer {label}", lambda one: share(one.answers[THREE_WAY[label.lower()]], one.problems))

    def shares(title: str, counts: Callable[[Statistics], Counter[str]]) -> Table:
        """The shares of everything that is counted, the most frequent first."""

        def counted(name: str) -> tuple[str, ...]:
            return row(name, lambda one: share(counts(one)[name], counts(one).total()))

        together: Counter[str] = sum(map(counts, sets.values()), Counter())
        return Table(title, columns, tuple([counted(name) for name, _ in together.most_common(MOST_SHAPES)]))

    properties = (
        row("problems", lambda one: f"{one.problems}"),
        *map(answered, (TRUE, FALSE, UNCERTAIN)),
        row("premises, mean", lambda one: _mean(one.premises)),
        row("people, mean", lambda one: _mean(one.people)),
        row("steps of proofs, mean", lambda one: _mean(one.steps)),
        row("different skeletons of proofs", lambda one: f"{len(one.skeletons)} of {one.steps.total()}"),
        row("Uncertain, and nothing leads to the goal", lambda one: share(one.shallow, one.answers[GOAL_UNCERTAIN])),
    )
    return (
        Table("Problems", columns, properties),
        shares("Steps by rule, the terminal ones left out", lambda one: one.rules),
        shares("Premises by shape", lambda one: one.patterns),
    )


def share(part: int, whole: int) -> str:
    """A share in percent; a dash if the total is 0."""
    return f"{100 * part / whole:.1f} %" if whole else "–"


def _mean(counts: Counter[int]) -> str:
    total = counts.total()
    return f"{sum(value * count for value, count in counts.items()) / total:.1f}" if total else "–"


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


# -- pictures ---------------------------------------------------------------------------------------------------------

_Key = TypeVar("_Key", int, str)
_NAMES = ("ProverQA", "generated")


def pictures(sets: Mapping[str, Statistics]) -> dict[str, Picture]:
    """Shares of problems and of steps, ProverQA beside ours; the sets are those of :func:`main`."""
    theirs, ours = ([sets[f"{difficulty}, {side}"] for difficulty in DIFFICULTIES] for side in ("ProverQA", "ours"))
    drawn = {}
    for difficulty, first, second in zip(DIFFICULTIES, theirs, ours, strict=True):
        steps, premises = _by_number(first.steps, second.steps), _by_number(first.premises, second.premises)
        drawn[f"steps-{difficulty}"] = bars(f"share of proofs by steps, {difficulty} (%)", steps)
        drawn[f"premises-{difficulty}"] = bars(f"share of problems by premises, {difficulty} (%)", premises)
    rules = _by_name([one.rules for one in theirs], [one.rules for one in ours])
    shapes = _by_name([one.patterns for one in theirs], [one.patterns for one in ours])
    drawn["rules"] = bars("share of steps by rule, mean of three difficulties (%)", rules)
    drawn["shapes"] = bars("share of premises by shape, mean of three difficulties (%)", shapes)
    return drawn


def _by_number(first: Counter[int], second: Counter[int]) -> dict[str, dict[str, float]]:
    """The shares of every number from the least to the greatest."""
    shares = [_shares(one) for one in (first, second)]
    numbers = range(min(*first, *second), max(*first, *second) + 1)
    return {f"{number}": _row([one.get(number, 0.0) for one in shares]) for number in numbers}


def _by_name(first: Sequence[Counter[str]], second: Sequence[Counter[str]]) -> dict[str, dict[str, float]]:
    """The means over sets of the share of each thing, the most frequent of ProverQA first."""
    means = []
    for side in (first, second):
        mean: defaultdict[str, float] = defaultdict(float)
        for one in side:
            for name, part in _shares(one).items():
                mean[name] += part / len(side)
        means.append(mean)
    theirs_first = sorted(means[0].keys() | means[1].keys(), key=lambda name: (-means[0].get(name, 0.0), name))
    return {name: _row([mean.get(name, 0.0) for mean in means]) for name in theirs_first[:MOST_SHAPES]}


def _row(shares: Sequence[float]) -> dict[str, float]:
    return {name: 100 * one for name, one in zip(_NAMES, shares, strict=True)}


def _shares(counts: Counter[_Key]) -> dict[_Key, float]:
    return {key: count / counts.total() for key, count in counts.items()}


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
    write_pictures(pictures(sets), options.out)
    tables = "\n".join(map(to_markdown, comparison(sets)))
    (options.out / "tables.md").write_text(f"{HEAD}\n{tables}", encoding="utf-8")


if __name__ == "__main__":
    main()
