"""Records of runs: all that tables need, small enough to be committed.

A record holds, for each held-out file and decoding, a few counts per problem (sums over its samples), so that means and
bootstrap intervals over problems and seeds can be computed again; and the curve of training, in means over
ten steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean

import msgspec

from proof_r1_formal import Problem, ProofR1Error, Settings, Verifier, read_problems
from proof_r1_formal.credit.terms import is_leap, padding, useless
from proof_r1_formal.metrics.measures import Measure
from proof_r1_formal.metrics.outcomes import output_row
from training.common.logs import StepRecord, read_log
from training.config import Config
from training.experiments.longer_plan import SCORED, Sizes
from training.experiments.runs import Answer, answers, trained_policy
from training.experiments.useless import droppable

EVERY = 10
"""Steps that a point of a curve is the mean of."""

MANY_OF = 50
"""The number of problems of a file, from its start, that pass@k is about."""

CURVES: Mapping[str, Callable[[StepRecord], float]] = {
    "rvr": lambda r: r.rvr,
    "correct": lambda r: r.correct,
    "silent": lambda r: r.silent,
    "entropy": lambda r: r.entropy,
    "kl": lambda r: r.kl,
    "actions": lambda r: r.actions,
    "padding": lambda r: r.padding,
    "useless": lambda r: r.useless,
    "leaps": lambda r: r.leaps,
    "cut": lambda r: r.cut,
    "tokens": lambda r: r.tokens,
}
"""The parts of a step's record that are kept; see :class:`training.common.logs.StepRecord`."""


class Outputs(msgspec.Struct, frozen=True, kw_only=True):
    """Sums over the samples of each problem, in the order of the file.

    Attributes:
        samples: of each problem.
        entropy: of the policy over its own completions, in nats per token, over all problems.
        right, verified: answers that are right; that are also rule-verified.
        parsed: outputs that are parsed.
        entailed, entailed_of: numerator and denominator of FVR.
        instances, instances_of: of RVR.
        actions, padding: all actions; entailed ones on which no checked proof of the answer rests.
        tokens: of the completions.
        useless: actions of ``padding`` that pass all four checks; empty in older records, like those below.
        leaps: answers for which ``proof_r1_formal.credit.terms.is_leap`` is true.
        droppable, droppable_of: steps that right answers can do without, used ones among them, and the number of these
            answers, see :func:`training.experiments.useless.droppable`.
        outside: actions outside the declared closure of the answer; all actions if there is no answer.
    """

    samples: int
    entropy: float
    right: list[int]
    verified: list[int]
    parsed: list[int]
    entailed: list[int]
    entailed_of: list[int]
    instances: list[int]
    instances_of: list[int]
    actions: list[int]
    padding: list[int]
    tokens: list[int]
    useless: list[int] = []
    leaps: list[int] = []
    droppable: list[int] = []
    droppable_of: list[int] = []
    outside: list[int] = []


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A run.

    Attributes:
        arm, seed: which.
        learning_rate, steps: of its optimiser.
        outputs: by ``file/decoding``: each file of ``SCORED`` in the study, greedy and sampled; ``many`` for pass@k.
        curve: name in ``CURVES`` -> means over ``EVERY`` steps; empty for SFT.
    """

    arm: str
    seed: int
    learning_rate: float
    steps: int
    outputs: dict[str, Outputs]
    curve: dict[str, list[float]]


def record_of(config: Config, sizes: Sizes, paths: Mapping[str, Path], *, arm: str, seed: int, many: int = 0) -> Record:
    """Score what a finished run has trained.

    Args:
        config: of the run.
        sizes: of what is sampled.
        paths: of the held-out files.
        arm, seed: see :class:`Record`.
        many: completions per problem for pass@k; 0 for none.
    """
    policy, state = trained_policy(config)
    atomic = Settings(rules=config.data.rules, atomic=True).verifier()
    problems = {name: list(read_problems(paths[name]).values()) for name in SCORED if name in paths}
    outputs: dict[str, Outputs] = {}

    def score(name: str, chosen: Sequence[Problem], decoding: str, temperature: float, samples: int) -> None:
        file = Path(config.output) / "held-out" / f"{name}-{decoding}.jsonl"
        given = answers(policy, chosen, config, temperature, samples, file)
        outputs[f"{name}/{decoding}"] = outputs_of(chosen, given, samples, atomic)

    for name, chosen in problems.items():
        score(name, chosen, "greedy", 0.0, 1)
        score(name, chosen, "sampled", 1.0, sizes.samples)
        if many:
            score(name, chosen[:MANY_OF], "many", 1.0, many)
    return Record(
        arm=arm,
        seed=seed,
        learning_rate=config.optimiser.learning_rate,
        steps=state.step,
        outputs=outputs,
        curve=curve_of([r for r in read_log(Path(config.output) / "log.jsonl") if isinstance(r, StepRecord)]),
    )


def outputs_of(problems: Sequence[Problem], given: Iterable[Answer], samples: int, atomic: Verifier) -> Outputs:
    """The sums of answers, of which each problem has so many; the verifier looks for steps that they can do without."""
    by_problem: dict[str, list[Answer]] = {problem.id: [] for problem in problems}
    for answer in given:
        by_problem[answer.problem.id].append(answer)
    if any(len(of) != samples for of in by_problem.values()):
        raise ProofR1Error(f"a problem has not {samples} answers; its prompt may be too long")
    parts = [[output_row(one.report, None, None) for one in of] for of in by_problem.values()]

    def column(measure: Measure, place: int) -> list[int]:
        return [int(sum([row[measure][place] for row in rows if measure in row])) for rows in parts]

    def total(count: Callable[[Answer], int]) -> list[int]:
        return [sum(map(count, of)) for of in by_problem.values()]

    spare = [[n for a in of if (n := droppable(a.problem, a.report, atomic)) is not None] for of in by_problem.values()]
    everything = [one for of in by_problem.values() for one in of]
    return Outputs(
        samples=samples,
        entropy=round(sum([one.entropy for one in everything]) / sum([one.tokens for one in everything]), 5),
        right=column(Measure.AVG, 0),
        verified=column(Measure.RULE_VERIFIED, 0),
        parsed=column(Measure.PARSED, 0),
        entailed=column(Measure.FVR, 0),
        entailed_of=column(Measure.FVR, 1),
        instances=column(Measure.RVR, 0),
        instances_of=column(Measure.RVR, 1),
        actions=total(lambda one: len(one.report.actions)),
        padding=total(lambda one: padding(one.report)),
        tokens=total(lambda one: one.tokens),
        useless=total(lambda one: useless(one.report)),
        leaps=total(lambda one: is_leap(one.report)),
        droppable=[sum(found) for found in spare],
        droppable_of=[len(found) for found in spare],
        outside=total(lambda one: sum([not step.in_closure for step in one.report.actions])),
    )


def curve_of(steps: Sequence[StepRecord]) -> dict[str, list[float]]:
    """The means over each ``EVERY`` steps."""
    groups = [steps[start : start + EVERY] for start in range(0, len(steps), EVERY)]
    return {name: [round(fmean(map(value, group)), 4) for group in groups] for name, value in CURVES.items() if groups}


def write_record(path: Path, record: Record) -> None:
    """Write a record whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_bytes(msgspec.json.encode(record) + b"\n")
    new.rename(path)


def read_records(folder: Path) -> list[Record]:
    """The records in a folder and those below it, in the order of their paths.

    Raises:
        ProofR1Error: one of them cannot be read.
    """
    found = []
    for path in sorted(folder.rglob("*.json")):
        try:
            found.append(msgspec.json.decode(path.read_bytes(), type=Record))
        except (OSError, msgspec.DecodeError) as error:
            raise ProofR1Error(f"{path}: the record cannot be read: {error}") from error
    return found
