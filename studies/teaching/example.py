"""The problems of ``make small``: four propositions, one of which follows, in formulas with names of two characters.

In: a seed and a number. Out: problems of ``studies.pretrained.problems`` with other names, drawn for each problem: a
predicate is a capital letter and a digit, a constant a small letter and a digit. So a small model can copy a name that
it has not seen from its two characters. The proofs are the prover's, as corrections are.

    python -m studies.teaching.example FOLDER
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice, product
from pathlib import Path
from random import Random
from string import ascii_uppercase

from proof_r1_formal import Problem, Verifier, read_problems, write_problems
from proof_r1_formal.data.problem import Premise
from proof_r1_formal.generate import Proved, Prover
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.kernel.transform import rename
from studies.pretrained.problems import SEEN, Draw, key
from studies.pretrained.problems import problems as with_words

_PREDICATES = [f"{letter}{digit}" for letter, digit in product(ascii_uppercase, range(10))]
_CONSTANTS = [f"{letter}{digit}" for letter, digit in product("abcdefgijklmn", range(10))]  # h, s: ids


@dataclass(frozen=True, slots=True)
class Names:
    """Names of predicates and of constants."""

    predicates: tuple[str, ...]
    constants: tuple[str, ...]


def _halves() -> tuple[Names, Names]:
    """Three quarters of all names, and the others. Each letter and each digit is in both."""
    parts: tuple[tuple[list[str], list[str]], ...] = (([], []), ([], []))
    for kind, names in enumerate((_PREDICATES, _CONSTANTS)):
        for number, name in enumerate(names):
            parts[(number * 7 // 10 + number) % 4 == 0][kind].append(name)
    seen, new = [Names(tuple(predicates), tuple(constants)) for predicates, constants in parts]
    return seen, new


TRAINING, OTHER = _halves()
"""The names of training, and those of the test on other names."""


@dataclass(frozen=True, slots=True)
class File:
    """A file of problems.

    Attributes:
        draw: number, seed, steps and distractors.
        names: which its problems have.
        variants: how often each problem stands in it, each time with other names and another order of premises.
    """

    draw: Draw
    names: Names = TRAINING
    variants: int = 1


_ONE_STEP = ((1, 1), (0, 1))
FILES: Mapping[str, File] = {
    "test": File(Draw(100, 7101, *_ONE_STEP)),
    "reinforcement": File(Draw(500, 7102, *_ONE_STEP)),
    "warm-up": File(Draw(3_000, 7103, *_ONE_STEP), variants=6),
    "names": File(Draw(100, 7104, *_ONE_STEP), OTHER),
}
"""The files by name: a proof has one step, so that a CPU learns it in minutes. No file contains a problem of an earlier
one under other names."""


def write_files(folder: Path, files: Mapping[str, File] = FILES) -> None:
    """Write the files that are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    seen: set[bytes] = set()
    prover = Prover(Verifier())
    for name, file in files.items():
        path = folder / f"{name}.jsonl"
        if not path.exists():
            print(f"{path}: {file.draw.count * file.variants:,} problems", flush=True)  # noqa: T201
            write_problems(path, _problems(name, file, seen, prover))
        seen.update(map(key, read_problems(path).values()))


def _problems(name: str, file: File, seen: set[bytes], prover: Prover) -> Iterator[Problem]:
    source = Random(f"{file.draw.seed} names")
    draw = replace(file.draw, vocabulary=SEEN)
    for made in islice(with_words(name, draw, seen, 1), draw.count):
        for variant in range(file.variants):
            yield renamed(replace(made, id=f"{made.id}.{variant}"), file.names, source, prover)


def renamed(problem: Problem, names: Names, source: Random, prover: Prover) -> Problem:
    """The problem with other names and another order of premises, and the prover's proof.

    Raises:
        AssertionError: the prover finds no proof of the right option.
    """
    used = Signature.infer(problem.formulas())
    predicates = _drawn(sorted(used.predicates), names.predicates, source)
    constants = _drawn(sorted(used.functions), names.constants, source)

    def other(formula: Formula) -> Formula:
        return rename(formula, predicates, constants)

    order = source.sample(problem.premises, len(problem.premises))
    premises = tuple([Premise(f"h{number}", other(one.formula)) for number, one in enumerate(order, 1)])
    options = tuple([replace(one, label=one.id, formula=other(one.formula)) for one in problem.options])
    made = replace(problem, premises=premises, options=options, proofs=(), question="")
    found = prover.prove(made)
    assert isinstance(found, Proved), problem.id
    assert found.answer == problem.answer, problem.id
    return replace(made, proofs=(found.steps,))


def _drawn(old: list[str], names: tuple[str, ...], source: Random) -> dict[str, str]:
    return dict(zip(old, source.sample(names, len(old)), strict=True))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m studies.teaching.example FOLDER")
    write_files(Path(sys.argv[1]))
