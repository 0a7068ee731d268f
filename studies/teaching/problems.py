"""The problems of the study, and of ``make small``: a literal and its negation, one of which follows.

In: a seed and a number. Out: problems of facts and rules, with the prover's proofs; a predicate is one of 22 letters,
and there is one individual. A draw derives a literal from a fact in as many steps as asked for, each by an implication,
its contrapositive or a disjunction, and adds premises that do not bear on it. A problem is kept where the shortest
proof has just as many steps. So a step has several premises to choose among and one of three rules, and none but a few
of its choices are on the way to an option. The proofs are the prover's, so that all arms of the study imitate one
expert.

    python -m studies.teaching.problems FOLDER [small]

With ``small``, the files are those of ``make small``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from random import Random
from string import ascii_uppercase

from proof_r1_formal import Problem, Verifier, read_problems, write_problems
from proof_r1_formal.data.problem import Option, Premise, ReferenceStep
from proof_r1_formal.generate import Proved, Prover
from proof_r1_formal.kernel.answer import Refuted
from proof_r1_formal.kernel.syntax import Formula, Implies, Or, atom, const
from proof_r1_formal.kernel.transform import negate
from proof_r1_formal.text.show import show
from studies.pretrained.problems import key

IDS = ("A", "B")
PREDICATES = tuple(ascii_uppercase[4:])
"""A token each, so that a small model finds where a predicate stands by one comparison. No option has such an id."""
INDIVIDUAL = const("a")


@dataclass(frozen=True, slots=True)
class File:
    """A file of problems.

    Attributes:
        count: number of problems.
        seed: of their random choices.
        steps: least and greatest number of steps of the shortest proof without the last one.
        distractors: least and greatest number of premises that were added to the derivation.
    """

    count: int
    seed: int
    steps: tuple[int, int] = (1, 3)
    distractors: tuple[int, int] = (1, 2)


FILES: Mapping[str, File] = {
    "same": File(300, 7001),
    "longer": File(300, 7002, (4, 4)),
    "tuning": File(150, 7004),
    "reinforcement": File(1_500, 7005),
    "warm-up": File(24_000, 7006, (1, 4)),
}
"""The files by name. But for the warm-up, no two problems are the same under other names or in another order.

No arm learns from a problem of four steps, but the warm-ups do."""
SMALL: Mapping[str, File] = {
    "test": File(100, 7101),
    "reinforcement": File(500, 7102),
    "warm-up": File(8_000, 7103),
}
"""The files of ``make small``."""
WARM_UP = "warm-up"
"""This file may have a problem twice. It shares none with the others."""


def write_files(folder: Path, files: Mapping[str, File] = FILES) -> None:
    """Write the files that are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    kept: set[bytes] = set()
    for name, file in files.items():
        path = folder / f"{name}.jsonl"
        if not path.exists():
            print(f"{path}: {file.count:,} problems", flush=True)  # noqa: T201
            write_problems(path, islice(_new(problems(name, file), kept, once=name != WARM_UP), file.count))
        if name != WARM_UP:
            kept.update(map(key, read_problems(path).values()))


def _new(drawn: Iterator[Problem], kept: set[bytes], *, once: bool) -> Iterator[Problem]:
    """The problems whose keys are not kept; with ``once``, each of them a single time."""
    seen = set(kept)
    for problem in drawn:
        if (form := key(problem)) not in seen:
            yield problem
            if once:
                seen.add(form)


def problems(name: str, file: File) -> Iterator[Problem]:
    """Problems without end; their ids have the name of the file."""
    verifier = Verifier()
    prover = Prover(verifier)
    number = 0
    while True:
        number += 1
        source = Random(f"{file.seed} {number}")
        steps = source.randint(*file.steps)
        found = _problem(f"{name}/{number}", steps, source.randint(*file.distractors), source, verifier, prover)
        if found is not None:
            yield found


def _problem(
    name: str, steps: int, distractors: int, source: Random, verifier: Verifier, prover: Prover
) -> Problem | None:
    """A problem whose shortest proof has so many steps; None where the draw has another."""
    fresh = iter([atom(one, INDIVIDUAL) for one in source.sample(PREDICATES, 1 + steps + 2 * distractors)])
    derived = [_signed(next(fresh), source)]
    premises: list[Formula] = [derived[0]]
    for _ in range(steps):
        derived.append(_signed(next(fresh), source))
        premises.append(_rule(derived[-2], derived[-1], source))
    known = [*derived, *map(negate, derived)]
    for _ in range(distractors):
        new = _signed(next(fresh), source)
        kind = source.random()
        other = source.choice(known) if kind < 0.7 else _signed(next(fresh), source)
        first, second = (new, other) if source.random() < 0.5 else (other, new)
        premises.append(new if kind > 0.85 else _rule(first, second, source))
        known += [new, negate(new)]
    source.shuffle(premises)
    goal = derived[-1]
    if not isinstance(verifier.oracle.entails(tuple(premises), negate(goal)), Refuted):
        return None  # the premises contradict each other
    formulas = [goal, negate(goal)]
    source.shuffle(formulas)
    made = Problem(
        id=name,
        premises=_premises(premises),
        options=tuple([Option(i, show(one), one) for i, one in zip(IDS, formulas, strict=True)]),
        answer=IDS[formulas.index(goal)],
    )
    found = prover.prove(made)
    if not isinstance(found, Proved) or len(found.steps) != steps + 1:
        return None
    made = replace(made, premises=_in_order_of_use(made, found.steps))
    found = prover.prove(made)  # of two proofs of one length, the order of premises may choose
    assert isinstance(found, Proved), made.id
    return replace(made, proofs=(found.steps,))


def _premises(formulas: Iterable[Formula]) -> tuple[Premise, ...]:
    return tuple([Premise(f"h{place}", one, show(one)) for place, one in enumerate(formulas, 1)])


def _in_order_of_use(problem: Problem, steps: tuple[ReferenceStep, ...]) -> tuple[Premise, ...]:
    """The premises in the order in which the steps use them; the others stay where they are."""
    used = {name: None for step in steps for name in step.dependencies}
    formulas = {premise.id: premise.formula for premise in problem.premises}
    ordered = iter([formulas[name] for name in used if name in formulas])
    return _premises([next(ordered) if one.id in used else one.formula for one in problem.premises])


def _signed(one: Formula, source: Random) -> Formula:
    return one if source.random() < 0.6 else negate(one)


def _rule(given: Formula, follows: Formula, source: Random) -> Formula:
    """A premise by which the second follows from the first: an implication, its contrapositive or a disjunction."""
    kind = source.random()
    if kind < 0.5:
        return Implies(given, follows)
    if kind < 0.75:
        return Implies(negate(follows), negate(given))
    pair = [negate(given), follows]
    source.shuffle(pair)
    return Or(*pair)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["small"]):
        raise SystemExit("usage: python -m studies.teaching.problems FOLDER [small]")
    write_files(Path(sys.argv[1]), SMALL if sys.argv[2:] else FILES)
