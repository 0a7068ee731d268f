"""Problems from a seed: English, formulas, the right answer with its evidence, and the intended proof.

In: :class:`GeneratorSettings`. Out: :class:`Generated` problems, without end and without duplicates. A problem depends
only on the settings and its index, not on other problems, the machine or the number of workers.

A problem is built around an intended proof (``generate.skeleton``), without one of its premises if the answer is
Uncertain, and with distractors. The verifier and the embedded engine check the result independently; a problem whose
label they do not confirm is discarded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, count
from random import Random
from typing import Literal, TypeAlias, assert_never

import msgspec

from proof_r1_formal.data.problem import (
    FALSE,
    GOAL_FALSE,
    GOAL_TRUE,
    THREE_WAY,
    TRUE,
    UNCERTAIN,
    Premise,
    Problem,
    three_way_options,
)
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.generate.moves import FOLIO_MOVES, TRAIN_MOVES
from proof_r1_formal.generate.sentences import Writer
from proof_r1_formal.generate.shape import is_shallow, structural_key
from proof_r1_formal.generate.skeleton import Distractors, Grower, Node, steps_of, without_a_link
from proof_r1_formal.generate.synthesize import Proved, Uncertain
from proof_r1_formal.generate.vocabulary import VOCABULARY, Vocabulary
from proof_r1_formal.kernel.answer import Refuted
from proof_r1_formal.kernel.model import Structure
from proof_r1_formal.kernel.syntax import BOTTOM, Formula, Not
from proof_r1_formal.kernel.transform import negate
from proof_r1_formal.proof.report import ModelReport
from proof_r1_formal.proof.step import VERIFIED
from proof_r1_formal.proof.trajectory import summary
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.catalogue import catalogue
from proof_r1_formal.text.show import show
from proof_r1_formal.workers import PROCESSES, ordered_map

Difficulty: TypeAlias = Literal["easy", "medium", "hard", "mixed"]
System: TypeAlias = Literal["train", "folio"]
Range: TypeAlias = tuple[int, int]
"""The least and the greatest number."""

_SYSTEMS = {"train": TRAIN_MOVES, "folio": FOLIO_MOVES}

STEPS: dict[str, Range] = {"easy": (1, 2), "medium": (3, 5), "hard": (6, 9)}
"""Number of steps of the proofs of a difficulty, as in ProverQA."""
DISTRACTORS: dict[str, Range] = {"easy": (0, 3), "medium": (0, 5), "hard": (1, 13)}
"""Number of distractors of the problems of a difficulty."""
OTHERS = 3
"""Maximum number of people besides the person of a problem."""
_OWN_THEME = 0.75
"""Share of predicates from the problem's own theme, as long as the theme has unused ones; the others are traits."""
ATTEMPTS = 1000
"""Maximum number of attempts at the problem of an index. Only narrow settings need more than a few."""
_MAX_DUPLICATES = 1000
"""Number of consecutive duplicates after which generation ends with an error."""
CHUNK = 16
"""Number of problems that a worker draws at a time."""


class ExhaustedError(ProofR1Error):
    """Settings that allow no further problem, however often they are tried."""


@dataclass(frozen=True, slots=True)
class GeneratorSettings:
    """Which problems to generate.

    Attributes:
        seed: of all random choices.
        difficulty: sets steps and distractors; ``mixed`` draws one for each problem.
        system: name of the rule catalogue. All problems of ``folio`` require rules that ``train`` lacks.
        steps: number of steps of the intended proof without the terminal one; that of the difficulty if None.
        distractors: maximum number of premises that the proof does not need; that of the difficulty if None.
        answers: labels of the right options, drawn with equal probability; a repeated label has the double probability.
        vocabulary: the names and predicates; ``Vocabulary.split`` makes two disjoint ones.
        routes: number of proofs of the goal that share no premise and have the same number of steps.

    Raises:
        ProofR1Error: a range or the number of routes is invalid, or an answer, the difficulty or the system is unknown.
    """

    seed: int = 0
    difficulty: Difficulty = "mixed"
    system: System = "train"
    steps: Range | None = None
    distractors: Range | None = None
    answers: tuple[str, ...] = (TRUE, FALSE, UNCERTAIN)
    vocabulary: Vocabulary = VOCABULARY
    routes: int = 1

    def __post_init__(self) -> None:
        for name, least, given in (("steps", 1, self.steps), ("distractors", 0, self.distractors)):
            if given is not None and given[0] > given[1]:
                raise ProofR1Error(f"the range {given[0]}-{given[1]} of {name} is reversed: give {given[1]}-{given[0]}")
            if given is not None and given[0] < least:
                raise ProofR1Error(f"{name} from {given[0]} to {given[1]} were asked for; {least} is the least")
        if self.routes < 1:
            raise ProofR1Error(f"{self.routes} routes were asked for; 1 is the least")
        if not self.answers or not set(self.answers) <= {TRUE, FALSE, UNCERTAIN}:
            asked = ", ".join(map(repr, self.answers)) or "none"
            raise ProofR1Error(f"answers are {TRUE}, {FALSE} and {UNCERTAIN}, but those asked for are: {asked}")
        if self.difficulty not in (*STEPS, "mixed"):
            raise ProofR1Error(f"Unknown difficulty {self.difficulty!r}. Known: {', '.join(STEPS)}, mixed")
        if self.system not in _SYSTEMS:
            raise ProofR1Error(f"Unknown rule system {self.system!r}. Known: {', '.join(_SYSTEMS)}")


@dataclass(frozen=True, slots=True)
class Generated:
    """A problem, the one of an index among those of its settings, with the evidence for its answer.

    Attributes:
        problem: with the intended proof, if the answer is True or False.
        model: a structure in which all premises are true.
        evidence: the verified proof, or a model of the premises with the goal false and one with it true.
        key: 16 bytes, equal for problems that differ only in names and order.
    """

    index: int
    problem: Problem
    model: Structure
    evidence: Proved | Uncertain
    key: bytes


def encode_evidence(generated: Generated) -> bytes:
    """The evidence for the answer as one line of JSON, without the newline.

    A model in which all premises are true, and the report of the intended proof, or for the id of each option a model
    of the premises in which its formula is false.
    """
    evidence: dict[str, object]
    match generated.evidence:
        case Proved(_, _, report):
            evidence = {"proof": report}
        case Uncertain(models):
            evidence = {"countermodels": {option: ModelReport.of(each) for option, each in models.items()}}
        case other:
            assert_never(other)
    problem, model = generated.problem, ModelReport.of(generated.model)
    return msgspec.json.encode({"id": problem.id, "answer": problem.answer, "model": model, **evidence})


def generate_problems(
    settings: GeneratorSettings,
    *,
    start: int = 0,
    seen: Iterable[bytes] = (),
    workers: int = 1,
    executor: str = PROCESSES,
) -> Iterator[Generated]:
    """Certified problems, without end. No two are equal up to names and the order of premises.

    Args:
        start: the first index; to continue an earlier run, its last index plus 1.
        seen: keys of earlier problems.
        workers, executor: see :func:`proof_r1_formal.workers.worker_pool`.

    Raises:
        ExhaustedError: the settings allow no further problem, or the vocabulary is too small.
        ProofR1Error: the workers cannot start.
    """
    known = set(seen)
    chunks = ((settings, range(first, first + CHUNK)) for first in count(start, CHUNK))
    in_a_row = 0
    for generated in chain.from_iterable(ordered_map(_draw_chunk, chunks, workers, executor=executor)):
        if generated.key in known:
            in_a_row += 1
            if in_a_row > _MAX_DUPLICATES:
                raise ExhaustedError(
                    f"after {len(known)} problems, these settings give nothing but duplicates; "
                    "ask for fewer problems, or allow more steps, distractors or answers"
                )
            continue
        in_a_row = 0
        known.add(generated.key)
        yield generated


def _draw_chunk(task: tuple[GeneratorSettings, range]) -> list[Generated]:
    settings, indices = task
    return [draw_problem(settings, index) for index in indices]


def draw_problem(settings: GeneratorSettings, index: int) -> Generated:
    """The problem of an index.

    Raises:
        ExhaustedError: the settings allow no such problem, or the vocabulary is too small.
    """
    draft = _Draft(settings, index, Random(f"{settings.seed} {index}"))
    for attempt in range(ATTEMPTS):
        drawn = draft.attempt(Random(f"{settings.seed} {index} {attempt}"))
        if drawn is not None:
            return drawn
    raise ExhaustedError(f"no problem {index} came out of {ATTEMPTS} attempts; the settings ask for what is too rare")


@cache
def _verifier(system: System) -> Verifier:
    return Verifier(rules=catalogue(system), evaluation=False)


class _Draft:
    """The properties of a problem that are drawn once: redrawing them at each attempt would bias their frequencies."""

    def __init__(self, settings: GeneratorSettings, index: int, source: Random) -> None:
        level = source.choice(tuple(STEPS)) if settings.difficulty == "mixed" else settings.difficulty
        self._settings = settings
        self._index = index
        self._answer = source.choice(settings.answers)
        self._steps = source.randint(*(settings.steps or STEPS[level]))
        self._difficulty = next((name for name, (_, most) in STEPS.items() if self._steps <= most), "hard")
        self._distractors = source.randint(*(settings.distractors or DISTRACTORS[self._difficulty]))

    def attempt(self, source: Random) -> Generated | None:
        """The certified problem; None if the distractors invalidate it, or it does not fit the settings."""
        vocabulary = self._settings.vocabulary
        person, *others = source.sample([each.name for each in vocabulary.people], 1 + source.randint(0, OTHERS))
        grower = Grower(_SYSTEMS[self._settings.system], source, person, _predicates(vocabulary, source))
        proved = grower.root()
        trees = self._trees(grower, proved)
        if not trees:
            return None
        whole = leaves = [leaf for tree in trees for leaf in tree.leaves()]
        if self._answer == UNCERTAIN:
            leaves = [leaf for tree in trees for leaf in without_a_link(tree, source)]
        kept = list(dict.fromkeys([leaf.formula for leaf in leaves]))
        # Problems without a proof are not to be known by their size.
        missing = len({leaf.formula for leaf in whole}) - len(kept)
        taken = {node.formula for tree in trees for node in tree.nodes()}
        distracting = Distractors(trees[0], person, others, grower, source).draw(self._distractors + missing, taken)
        formulas = list(dict.fromkeys([*kept, *distracting]))
        source.shuffle(formulas)
        refuted = self._answer == FALSE or (self._answer == UNCERTAIN and source.random() < 0.5)
        problem = self._problem(tuple(formulas), negate(proved) if refuted else proved, source)
        return self._open(problem) if self._answer == UNCERTAIN else self._proved(problem, trees)

    def _trees(self, grower: Grower, proved: Formula) -> tuple[Node, ...]:
        """A tree for each route; none if one cannot be grown, or two of them share a premise."""
        trees = [grower.grow(proved, self._steps) for _ in range(self._settings.routes)]
        whole = tuple([tree for tree in trees if tree is not None])
        leaves = [leaf.formula for tree in whole for leaf in {leaf.formula: leaf for leaf in tree.leaves()}.values()]
        return whole if len(whole) == len(trees) and len(set(leaves)) == len(leaves) else ()

    def _open(self, problem: Problem) -> Generated | None:
        """The problem if its answer is Uncertain, and not just because nothing leads to the goal."""
        goal = problem.options[0].formula
        if is_shallow(problem):
            return None
        against, without = (self._countermodel(problem, claim) for claim in (goal, Not(goal)))
        if against is None or without is None:
            return None
        return self._generated(problem, against, Uncertain({GOAL_TRUE: against, GOAL_FALSE: without}))

    def _proved(self, problem: Problem, trees: Sequence[Node]) -> Generated | None:
        """The problem with its proofs if the premises are consistent."""
        model = self._countermodel(problem, BOTTOM)
        if model is None:
            return None
        option = problem.option(problem.answer)
        assert option is not None
        ids = {premise.formula: premise.id for premise in problem.premises}
        proofs = tuple([steps_of(tree, ids, option.id, option.formula) for tree in trees])
        reports = [_verifier(self._settings.system).verify(problem, summary(steps)) for steps in proofs]
        if any(action.signal != VERIFIED for report in reports for action in report.actions):
            raise ProofR1Error(f"the intended proof of problem {problem.id} does not hold: a move must be wrong")
        return self._generated(replace(problem, proofs=proofs), model, Proved(option.id, proofs[0], reports[0]))

    def _generated(self, problem: Problem, model: Structure, evidence: Proved | Uncertain) -> Generated:
        key = structural_key(problem.options[0].formula, [premise.formula for premise in problem.premises])
        return Generated(self._index, problem, model, evidence, key)

    def _countermodel(self, problem: Problem, claim: Formula) -> Structure | None:
        """A structure, checked by the reference evaluator, in which the premises are true and the claim is false."""
        premises = tuple([premise.formula for premise in problem.premises])
        answer = _verifier(self._settings.system).oracle.entails(premises, claim)
        return answer.model if isinstance(answer, Refuted) else None

    def _problem(self, formulas: tuple[Formula, ...], goal: Formula, source: Random) -> Problem:
        writer = Writer(self._settings.vocabulary, source)
        premises = [Premise(f"h{n}", f, show(f), writer.sentence(f)) for n, f in enumerate(formulas, 1)]
        return Problem(
            id=f"{self._settings.system}-{self._settings.seed}/{self._index}",
            premises=tuple(premises),
            options=three_way_options(goal),
            answer=THREE_WAY[self._answer.lower()],
            question=f"Is the following statement true, false or uncertain? {writer.sentence(goal)}",
            difficulty=self._difficulty,
        )


def _predicates(vocabulary: Vocabulary, source: Random) -> Iterator[str]:
    """The names of predicates in a random order: those of one theme among traits, then those of the other themes."""
    theme, *others = source.sample(vocabulary.themes, len(vocabulary.themes))
    own = source.sample(theme, len(theme))
    traits = source.sample(vocabulary.traits, len(vocabulary.traits))
    while own or traits:
        yield (own if own and (not traits or source.random() < _OWN_THEME) else traits).pop().symbol
    for other in others:
        yield from [predicate.symbol for predicate in source.sample(other, len(other))]
    problem = f"the vocabulary has too few predicates, {len(vocabulary.predicates)}, for so many steps and distractors"
    raise ExhaustedError(f"{problem}; ask for fewer")
