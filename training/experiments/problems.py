"""The data of the experiment: files of problems, and what the warm-up learns from.

In: what to draw. Out: files; those that are there already are left as they are. No problem that a policy is scored on
is, but for names and the order of premises, one that something was learned from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random

from proof_r1_formal import Catalogue, Completion, Problem, ReferenceStep, read_problems, write_problems
from proof_r1_formal.data.completions import write_completions
from proof_r1_formal.data.problem import FALSE, TRUE
from proof_r1_formal.generate import GeneratorSettings, generate_problems, summary
from proof_r1_formal.generate.diversity import structural_key
from proof_r1_formal.generate.vocabulary import Vocabulary
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.kernel.transform import rename
from proof_r1_formal.models.prompts import short_question
from proof_r1_formal.text.parse import parse_formula
from proof_r1_formal.text.show import show
from training.experiments.plan import HELD_OUT, SEEN, Draw
from training.experiments.slips import sloppy
from training.experiments.useless import with_useless_steps


def write_draws(
    draws: Mapping[str, tuple[Draw, ...]], folder: Path, *, held_out: Collection[str] = HELD_OUT, workers: int = 1
) -> dict[str, Path]:
    """Write the files of problems, those to be scored on first.

    Args:
        draws: by name.
        folder: where to.
        held_out: names of the files to be scored on.
        workers: processes that generate.

    Returns:
        The files by name.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = {name: folder / f"{name}.jsonl" for name in sorted(draws, key=lambda name: name not in held_out)}
    reserved: set[bytes] = set()
    for name, path in paths.items():
        if not path.exists():
            problems = _drawn(draws[name], reserved, workers)
            write_problems(path, [replace(p, difficulty=name) for p in problems] if name in held_out else problems)
        if name in held_out:
            reserved.update(map(_key, read_problems(path).values()))
    return paths


def _drawn(parts: Iterable[Draw], reserved: set[bytes], workers: int) -> Iterator[Problem]:
    """The problems of a file, without their English, which nobody reads here."""
    for part in parts:
        for generated in islice(generate_problems(part.settings, seen=reserved, workers=workers), part.count):
            yield in_order_of_use(generated.problem)


def write_one_step(path: Path, *, count: int = 160) -> None:
    """Write problems that one step solves, for models that are there only to show that everything runs."""
    settings = GeneratorSettings(seed=77, steps=(1, 1), distractors=(0, 0), answers=(TRUE, FALSE), vocabulary=SEEN)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_problems(path, [in_order_of_use(one.problem) for one in islice(generate_problems(settings), count)])


def in_order_of_use(problem: Problem) -> Problem:
    """The problem without its English, its premises in the order in which its proofs use them, others in between.

    Where to look next is then mostly a matter of where one was, which small models learn; in a random order it is a
    search. The premises that no proof needs stay at random places.
    """
    used = list(dict.fromkeys([name for proof in problem.proofs for step in proof for name in step.dependencies]))
    places = iter([premise for name in used for premise in problem.premises if premise.id == name])
    ordered = [next(places) if premise.id in used else premise for premise in problem.premises]
    new = {premise.id: f"h{number}" for number, premise in enumerate(ordered, 1)}
    proofs = tuple([tuple([_renamed(step, new) for step in proof]) for proof in problem.proofs])
    premises = tuple([replace(premise, id=new[premise.id], text="") for premise in ordered])
    return replace(problem, premises=premises, question="", proofs=proofs)


def write_renamed(problems: Iterable[Problem], vocabulary: Vocabulary, times: int, path: Path) -> None:
    """Write each problem so many times, each time with other names and predicates, unless the file is there.

    The same proof under many names teaches to copy what the prompt says; few proofs under one set of names each are
    learned by heart.

    Args:
        problems: whose names and predicates are of the vocabulary.
        vocabulary: from which the new ones are taken.
        times: how often.
        path: of the file.
    """
    if path.exists():
        return
    people = [person.name for person in vocabulary.people]
    words = [predicate.symbol for theme in vocabulary.themes for predicate in theme]
    renamed = []
    for problem in problems:
        for number in range(times):
            source = Random(f"names {problem.id} {number}")
            predicates = dict(zip(words, source.sample(words, len(words)), strict=True))
            constants = dict(zip(people, source.sample(people, len(people)), strict=True))
            renamed.append(_with_names(problem, f"{problem.id}~{number}", predicates, constants))
    write_problems(path, renamed)


def _with_names(problem: Problem, name: str, predicates: Mapping[str, str], constants: Mapping[str, str]) -> Problem:
    def formula(given: Formula) -> Formula:
        return rename(given, predicates, constants)

    return replace(
        problem,
        id=name,
        premises=tuple(
            [replace(p, formula=formula(p.formula), source=show(formula(p.formula))) for p in problem.premises]
        ),
        options=tuple([replace(option, formula=formula(option.formula)) for option in problem.options]),
        proofs=tuple(
            [
                tuple([replace(s, conclusion=show(formula(parse_formula(s.conclusion)))) for s in proof])
                for proof in problem.proofs
            ]
        ),
    )


def _renamed(step: ReferenceStep, names: Mapping[str, str]) -> ReferenceStep:
    return replace(step, dependencies=tuple([names.get(name, name) for name in step.dependencies]))


def _key(problem: Problem) -> bytes:
    return structural_key(problem.options[0].formula, [premise.formula for premise in problem.premises])


def write_reading(problems: Iterable[Problem], share: float, path: Path) -> None:
    """Write what reading is learned from, unless the file is there: for some problems a recital, for others the proof.

    A recital has the lines of the prompt in another order. It teaches to find what an id stands for and to copy it,
    which proofs alone teach a model from scratch only after many more of them.

    Args:
        problems: with reference proofs.
        share: of recitals.
        path: of the file.
    """

    def answer(problem: Problem) -> str:
        source = Random(f"reading {problem.id}")
        if source.random() >= share:
            return summary(problem.proofs[0])
        lines = short_question(problem).splitlines()[:-1]  # the last one is empty
        return "\n".join(source.sample(lines, len(lines)))

    _write_answers({problem.id: answer(problem) for problem in problems}, path)


def write_sloppy(problems: Iterable[Problem], rules: Catalogue, chance: float, path: Path) -> None:
    """Write a completion with slips for each problem, unless the file is there.

    Args:
        problems: with reference proofs.
        rules: from which wrong names are taken.
        chance: of a slip, for each step.
        path: of the file.
    """
    _write_answers(
        {
            problem.id: summary(sloppy(problem, problem.proofs[0], rules, chance, Random(f"sloppy {problem.id}")))
            for problem in problems
        },
        path,
    )


def write_useless(problems: Iterable[Problem], chance: float, path: Path) -> None:
    """Write a proof with useless steps for each problem, unless the file is there.

    Args:
        problems: with reference proofs.
        chance: see :func:`~training.experiments.useless.with_useless_steps`.
        path: of the file.
    """
    _write_answers(
        {
            problem.id: summary(with_useless_steps(problem, problem.proofs[0], chance, Random(f"useless {problem.id}")))
            for problem in problems
        },
        path,
    )


def _write_answers(answers: Mapping[str, str], path: Path) -> None:
    if not path.exists():
        new = path.with_suffix(".new")
        write_completions(new, [Completion(problem_id=name, completion=text) for name, text in answers.items()])
        new.rename(path)
