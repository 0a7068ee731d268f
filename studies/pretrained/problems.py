"""The problems of the study: four propositions, one of which the premises entail.

In: a seed and a number. Out: problems in templated English with formulas, each with a verified proof. The proposition
that is entailed is that of a generated problem. The three others are like it, with other predicates, other names, or
negated, and a countermodel shows for each that the premises do not entail it. So a guess is right once in four times,
and neither the form of a proposition nor its place tells which one is entailed.

    python -m studies.pretrained.problems FOLDER
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from random import Random

from proof_r1_formal import Problem, Verifier, read_problems, write_problems
from proof_r1_formal.data.problem import FALSE, TRUE, Option
from proof_r1_formal.errors import EnglishError, ProofR1Error
from proof_r1_formal.generate import GeneratorSettings, generate_problems, summary
from proof_r1_formal.generate.sentences import Writer
from proof_r1_formal.generate.shape import structural_key
from proof_r1_formal.generate.vocabulary import VOCABULARY, Vocabulary
from proof_r1_formal.kernel.answer import Refuted
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.kernel.transform import negate, rename
from proof_r1_formal.text.show import show

IDS = ("A", "B", "C", "D")
TRIES = 60
"""Number of propositions drawn until three are found that the premises do not entail."""
QUESTION = "Which of these statements follows from the premises?"

SEEN, NEW = VOCABULARY.split()
"""The names and predicates of training, and others for the test on new words."""


@dataclass(frozen=True, slots=True)
class Draw:
    """A file of problems.

    Attributes:
        count: number of problems.
        seed: of the generator.
        steps: least and greatest number of steps of the proof without the last one.
        distractors: least and greatest number of premises that the proof does not need.
        vocabulary: names and predicates.
    """

    count: int
    seed: int
    steps: tuple[int, int] = (1, 1)
    distractors: tuple[int, int] = (0, 1)
    vocabulary: Vocabulary = SEEN


DRAWS: Mapping[str, Draw] = {
    "same": Draw(150, 9001),
    "longer": Draw(150, 9002, steps=(2, 2)),
    "words": Draw(150, 9003, vocabulary=NEW),
    "tuning": Draw(80, 9004),
    "warm-up": Draw(4_000, 1001),
    "reinforcement": Draw(1_000, 1002),
    "held-out": Draw(600, 9005),
}
"""The files by name. No file contains a problem of an earlier one under other names."""


def write_draws(folder: Path, *, workers: int = 1) -> None:
    """Write the files that are not there yet.

    Args:
        folder: where to.
        workers: processes that generate.
    """
    folder.mkdir(parents=True, exist_ok=True)
    seen: set[bytes] = set()
    for name, draw in DRAWS.items():
        path = folder / f"{name}.jsonl"
        if not path.exists():
            print(f"{path}: {draw.count:,} problems", flush=True)  # noqa: T201
            write_problems(path, islice(problems(name, draw, seen, workers), draw.count))
        seen.update(map(key, read_problems(path).values()))


def key(problem: Problem) -> bytes:
    """16 bytes, equal for problems that differ only in names and order."""
    option = problem.option(problem.answer)
    assert option is not None
    return structural_key(option.formula, [premise.formula for premise in problem.premises])


def problems(name: str, draw: Draw, seen: set[bytes], workers: int) -> Iterator[Problem]:
    """Problems with four propositions; none has a key of ``seen``, and no two have the same."""
    taken = set(seen)
    settings = GeneratorSettings(
        seed=draw.seed,
        steps=draw.steps,
        distractors=draw.distractors,
        answers=(TRUE, FALSE),
        vocabulary=draw.vocabulary,
    )
    verifier = Verifier()
    for generated in generate_problems(settings, workers=workers):
        source = Random(f"{settings.seed} {generated.index} options")
        problem = with_four_options(generated.problem, draw.vocabulary, verifier, source)
        if problem is not None and key(problem) not in taken:
            taken.add(key(problem))
            yield replace(problem, difficulty=name)


def with_four_options(problem: Problem, vocabulary: Vocabulary, verifier: Verifier, source: Random) -> Problem | None:
    """The problem with four propositions as options; None if too few propositions are found.

    Args:
        problem: with a reference proof of its answer.
        vocabulary: of the problem.
        verifier: decides which propositions are not entailed, and checks the proof.
        source: of random choices.
    """
    right = problem.option(problem.answer)
    assert right is not None
    writer = Writer(vocabulary, source)
    premises = tuple([premise.formula for premise in problem.premises])
    wrong = list(islice(_not_entailed(premises, right.formula, verifier, source), len(IDS) - 1))
    if len(wrong) < len(IDS) - 1:
        return None
    formulas = [right.formula, *wrong]
    source.shuffle(formulas)
    try:
        options = tuple(
            [Option(i, writer.sentence(formula), formula) for i, formula in zip(IDS, formulas, strict=True)]
        )
    except EnglishError:  # a negation that the sentences of generated problems do not have
        return None
    answer = IDS[formulas.index(right.formula)]
    *steps, last = problem.proofs[0]
    proof = (*steps, replace(last, id=answer, conclusion=show(right.formula)))
    made = replace(problem, options=options, answer=answer, question=QUESTION, proofs=(proof,))
    report = verifier.verify(made, summary(proof))
    if not (report.rule_verified and report.answer_correct):
        raise ProofR1Error(f"the proof of problem {problem.id} does not hold for its option {answer}")
    return made


def _not_entailed(
    premises: tuple[Formula, ...], right: Formula, verifier: Verifier, source: Random
) -> Iterator[Formula]:
    """Propositions like the right one that the premises do not entail, no two of them equivalent."""
    signature = Signature.infer((*premises, right))
    predicates, constants = sorted(signature.predicates), sorted(signature.functions)
    used = Signature.infer((right,))
    found = [right]
    for _ in range(TRIES):
        formula = rename(
            right,
            {name: source.choice(predicates) for name in used.predicates},
            {name: source.choice(constants) for name in used.functions},
        )
        if source.random() < 0.5:
            formula = negate(formula)
        if any(not isinstance(verifier.oracle.equivalent(one, formula), Refuted) for one in found):
            continue
        answer = verifier.oracle.entails(premises, formula)
        if isinstance(answer, Refuted):  # by a countermodel that was checked: the verifier counts no other
            found.append(formula)
            yield formula


def main() -> None:
    """Write the files to the folder of the command line."""
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m studies.pretrained.problems FOLDER")
    write_draws(Path(sys.argv[1]))


if __name__ == "__main__":
    main()
