"""The data of the experiment: files of problems, and the sloppy proofs that the warm-up learns from.

In: what to draw. Out: files; those that are there already are left as they are. No problem that a policy is scored on
is, but for names and the order of premises, one that something was learned from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random

from proof_r1_formal import Catalogue, Completion, Problem, read_problems, write_problems
from proof_r1_formal.data.completions import write_completions
from proof_r1_formal.generate import generate_problems, summary
from proof_r1_formal.generate.diversity import structural_key
from training.experiments.plan import HELD_OUT, Draw
from training.experiments.slips import sloppy


def write_draws(draws: Mapping[str, tuple[Draw, ...]], folder: Path, *, workers: int = 1) -> dict[str, Path]:
    """Write the files of problems, those to be scored on first.

    Args:
        draws: by name.
        folder: where to.
        workers: processes that generate.

    Returns:
        The files by name.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = {name: folder / f"{name}.jsonl" for name in sorted(draws, key=lambda name: name not in HELD_OUT)}
    reserved: set[bytes] = set()
    for name, path in paths.items():
        if not path.exists():
            problems = _drawn(draws[name], reserved, workers)
            write_problems(path, [replace(p, difficulty=name) for p in problems] if name in HELD_OUT else problems)
        if name in HELD_OUT:
            reserved.update(map(_key, read_problems(path).problems.values()))
    return paths


def _drawn(parts: Iterable[Draw], reserved: set[bytes], workers: int) -> Iterator[Problem]:
    """The problems of a file, without their English, which nobody reads here."""
    for part in parts:
        for generated in islice(generate_problems(part.settings, seen=reserved, workers=workers), part.count):
            problem = generated.problem
            premises = tuple([replace(premise, text="") for premise in problem.premises])
            yield replace(problem, premises=premises, question="")


def _key(problem: Problem) -> bytes:
    return structural_key(problem.options[0].formula, [premise.formula for premise in problem.premises])


def write_sloppy(problems: Iterable[Problem], rules: Catalogue, chance: float, path: Path) -> None:
    """Write a completion with slips for each problem, unless the file is there.

    Args:
        problems: with reference proofs.
        rules: from which wrong names are taken.
        chance: of a slip, for each step.
        path: of the file.
    """
    if path.exists():
        return
    completions = [
        Completion(
            problem_id=problem.id,
            completion=summary(sloppy(problem, problem.proofs[0], rules, chance, Random(f"sloppy {problem.id}"))),
        )
        for problem in problems
    ]
    new = path.with_suffix(".new")
    write_completions(new, completions)
    new.rename(path)
