"""Diversity of problems: a key that is invariant under renaming and reordering, and statistics.

In: problems. Out: keys; a :class:`Statistics`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, TypeVar

from proof_r1_formal.data.problem import GOAL_UNCERTAIN, Problem
from proof_r1_formal.generate.shape import Symbol, shape
from proof_r1_formal.kernel.syntax import Atom, Formula, Var
from proof_r1_formal.kernel.transform import constants, rename, subformulas
from proof_r1_formal.rules.schema import GOAL_BINDING
from proof_r1_formal.text.show import show

KEY_BYTES = 16

_Look = TypeVar("_Look", bound=tuple[Any, ...])


def structural_key(goal: Formula, premises: Iterable[Formula]) -> bytes:
    """A key of 16 bytes that is equal for problems that differ in names and in the order of premises only.

    Symbols are distinguished by their positions, repeatedly, until no more of them can be distinguished (colour
    refinement: Weisfeiler and Leman, 1968). Different symmetric problems may share a key. They are rare here, and
    dropping one as a duplicate is harmless.
    """
    shapes = [("goal", shape(goal)), *[("premise", shape(premise)) for premise in premises]]
    colours: dict[Symbol, int] = {symbol: int(symbol[0]) for _, each in shapes for symbol in each.symbols}
    while True:
        looks = [(role, each.text, tuple([colours[symbol] for symbol in each.symbols])) for role, each in shapes]
        places: dict[Symbol, list[tuple[int, int]]] = {symbol: [] for symbol in colours}
        ranks = _ranks(looks)
        for look, (_, each) in zip(looks, shapes, strict=True):
            for position, symbol in enumerate(each.symbols):
                places[symbol].append((ranks[look], position))
        seen = {symbol: (colour, tuple(sorted(places[symbol]))) for symbol, colour in colours.items()}
        finer = _ranks(seen.values())
        if len(finer) == len(set(colours.values())):
            return blake2b(repr(sorted(looks)).encode(), digest_size=KEY_BYTES).digest()
        colours = {symbol: finer[look] for symbol, look in seen.items()}


def _ranks(items: Iterable[_Look]) -> dict[_Look, int]:
    """The place of each different item among them in order."""
    return {item: rank for rank, item in enumerate(sorted(set(items)))}


def pattern(formula: Formula) -> str:
    """The formula with A, B, … for its predicates and a, b, … for its constants: ``A(a) → B(a)``."""
    predicates: dict[str, str] = {}
    names: dict[str, str] = {}
    for is_predicate, name in shape(formula).symbols:
        letters, first = (predicates, "A") if is_predicate else (names, "a")
        letters[name] = chr(ord(first) + len(letters)) if len(letters) < 26 else f"{first}{len(letters)}"
    return show(rename(formula, predicates, names))


def is_shallow(problem: Problem) -> bool:
    """Whether a predicate of the goal occurs in plain facts only.

    Only a premise with several atoms counts as more, if one of its atoms is the goal's or matches it with variables.
    """
    goal = problem.options[0].formula
    linking = [parts for premise in problem.premises if len(parts := _atoms(premise.formula)) > 1]
    return not all(any(_meets(part, atom) for parts in linking for part in parts) for atom in _atoms(goal))


def _atoms(formula: Formula) -> list[Atom]:
    return [part for part in subformulas(formula) if isinstance(part, Atom)]


def _meets(part: Atom, atom: Atom) -> bool:
    return part.predicate == atom.predicate and all(
        mine is theirs or isinstance(mine, Var) or isinstance(theirs, Var)
        for mine, theirs in zip(part.arguments, atom.arguments, strict=True)
    )


@dataclass(slots=True)
class Statistics:
    """Counts over problems; filled by :meth:`add`.

    Attributes:
        problems: how many there are.
        answers: id of the right option -> problems.
        difficulties: problems of each.
        premises: number of premises -> problems.
        steps: number of steps of the shortest reference proof, the terminal one left out -> problems that have one.
        rules: steps of the reference proofs, the terminal ones left out, by rule.
        patterns: premises by :func:`pattern`.
        goals: goals by :func:`pattern`.
        people: number of constants -> problems.
        shallow: problems whose answer is Uncertain that are shallow (:func:`is_shallow`).
        skeletons: keys of the premises that a reference proof uses, with its goal.
    """

    problems: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    difficulties: Counter[str] = field(default_factory=Counter)
    premises: Counter[int] = field(default_factory=Counter)
    steps: Counter[int] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    patterns: Counter[str] = field(default_factory=Counter)
    goals: Counter[str] = field(default_factory=Counter)
    people: Counter[int] = field(default_factory=Counter)
    shallow: int = 0
    skeletons: set[bytes] = field(default_factory=set)

    def add(self, problem: Problem) -> None:
        """Count a problem."""
        self.problems += 1
        self.answers[problem.answer or ""] += 1
        self.difficulties[problem.difficulty] += 1
        self.premises[len(problem.premises)] += 1
        goal = problem.options[0].formula
        self.goals[pattern(goal)] += 1
        self.patterns.update(pattern(premise.formula) for premise in problem.premises)
        self.people[len({constant for formula in problem.formulas() for constant in constants(formula)})] += 1
        if problem.answer == GOAL_UNCERTAIN:
            self.shallow += is_shallow(problem)
        if problem.proofs:
            shortest = [step for step in min(problem.proofs, key=len) if step.rule != GOAL_BINDING]
            self.steps[len(shortest)] += 1
            self.rules.update(step.rule for step in shortest)
            used = {dependency for step in shortest for dependency in step.dependencies}
            self.skeletons.add(structural_key(goal, [p.formula for p in problem.premises if p.id in used]))
