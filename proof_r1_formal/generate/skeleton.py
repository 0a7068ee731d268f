"""Skeletons: intended proofs, grown backwards from their conclusions, and premises that they do not need.

In: a system of moves, names for predicates and the person, a number of steps. Out: a tree whose inner nodes are steps
and whose leaves are premises. Every predicate of a move is new, so no part of a tree proves another part, and the
leaves are consistent.

Distractors resemble the premises of a tree: the same formulas about other people, rules that would apply if one more
fact were known, and unrelated facts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from random import Random

from proof_r1_formal.data.problem import ReferenceStep
from proof_r1_formal.generate.moves import PERSON, Move, MoveSystem
from proof_r1_formal.generate.shape import shape
from proof_r1_formal.kernel.syntax import And, App, Atom, Exists, ForAll, Formula, Implies, Not, Or, Xor, var
from proof_r1_formal.kernel.transform import constants, map_terms, rename, subformulas
from proof_r1_formal.rules.schema import GOAL_BINDING
from proof_r1_formal.text.show import show

_X = var("x")


@dataclass(frozen=True, slots=True)
class Node:
    """A formula of an intended proof.

    Attributes:
        rule: the rule of the step that concludes it; empty for a premise.
        below: the dependencies of the step.
        principal: whether it is the principal premise of the step above it.
    """

    formula: Formula
    rule: str = ""
    below: tuple[Node, ...] = ()
    principal: bool = False

    def nodes(self) -> Iterator[Node]:
        """The nodes of the tree, each after those below it."""
        for node in self.below:
            yield from node.nodes()
        yield self

    def leaves(self) -> tuple[Node, ...]:
        """The premises, from left to right."""
        return tuple([node for node in self.nodes() if not node.rule])


class Grower:
    """Grows trees about the person of a name; predicates are taken from an iterator with more than are needed."""

    def __init__(self, system: MoveSystem, source: Random, person: str, predicates: Iterator[str]) -> None:
        self._system = system
        self._source = source
        self._person = person
        self._predicates = predicates

    def root(self) -> Formula:
        """A formula to prove."""
        forms, weights = zip(*self._system.roots, strict=True)
        (pattern,) = self._source.choices(forms, weights)
        return self._instance(pattern, {})

    def fact(self) -> Formula:
        """A fact about the person with a new predicate."""
        fact = Atom(next(self._predicates), (App(self._person, ()),))
        return fact if self._source.random() < 0.6 else Not(fact)

    def grow(self, goal: Formula, steps: int, above: frozenset[Formula] = frozenset()) -> Node | None:
        """A tree of this many steps that proves the goal and uses no formula above it, or None."""
        if goal in above:
            return None
        if not steps:
            return None if _compound(goal) else Node(goal)
        moves = [move for move in self._system.to_prove(goal) if self._possible(move, steps - 1)]
        while moves:
            (move,) = self._source.choices(moves, [move.weight for move in moves])
            node = self._apply(move, goal, steps - 1, above)
            if node is not None:
                return node
            moves.remove(move)
        return None

    def _possible(self, move: Move, steps: int) -> bool:
        provable = [need for need in move.needs if self._system.to_prove(need)]
        return sum(map(_compound, move.needs)) <= steps and (not steps or bool(provable))

    def _apply(self, move: Move, goal: Formula, steps: int, above: frozenset[Formula]) -> Node | None:
        """The goal as conclusion of the move, with that number of steps below it."""
        bound = zip(shape(move.conclusion).symbols, shape(goal).symbols, strict=True)
        names = {pattern: name for (is_predicate, pattern), (_, name) in bound if is_predicate}
        below = []
        if move.given is not None:
            given = self._turned(self._instance(move.given, names))
            if self._source.random() < move.general:  # it is said of everybody
                given = ForAll(_X, map_terms(given, lambda term: _X if term is App(self._person, ()) else term))
            below.append(Node(given, principal=True))
        needs = [self._instance(need, names) for need in move.needs]
        for need, share in zip(needs, self._shares(needs, steps), strict=True):
            node = self.grow(need, share, above | {goal})
            if node is None:
                return None
            below.append(node)
        return Node(goal, move.rule, tuple(below))

    def _shares(self, needs: list[Formula], steps: int) -> list[int]:
        """How many steps each need is proved in."""
        shares = [int(_compound(need)) for need in needs]
        open_to = [index for index, need in enumerate(needs) if self._system.to_prove(need)]
        for _ in range(steps - sum(shares)):
            shares[self._source.choice(open_to)] += 1
        return shares

    def _instance(self, pattern: Formula, names: dict[str, str]) -> Formula:
        """The pattern with names; ``names`` takes up what is new."""
        for is_predicate, name in shape(pattern).symbols:
            if is_predicate and name not in names:
                names[name] = next(self._predicates)
        return rename(pattern, names, {PERSON: self._person})

    def _turned(self, formula: Formula) -> Formula:
        """The formula with the sides of ∧, ∨ and ⊕ in any order."""
        match formula:
            case Implies(left, right):
                return Implies(self._turned(left), self._turned(right))
            case And(left, right) | Or(left, right) | Xor(left, right) if self._source.random() < 0.5:
                return type(formula)(right, left)
            case _:
                return formula


def _compound(formula: Formula) -> bool:
    """Whether it is said of the person in so many parts that it would be odd as a premise."""
    if isinstance(formula, Not):
        return not isinstance(formula.body, Atom | Exists | ForAll)
    return isinstance(formula, And | Xor)


def steps_of(tree: Node, premises: Mapping[Formula, str], option_id: str, goal: Formula) -> tuple[ReferenceStep, ...]:
    """The steps of a proof tree, whose leaves have ids, in order, and the terminal one that binds the option's goal."""
    ids = dict(premises)
    numbers = count(1)
    steps = []
    for node in tree.nodes():
        if node.rule and node.formula not in ids:
            ids[node.formula] = f"s{next(numbers)}"
            dependencies = tuple([ids[part.formula] for part in node.below])
            steps.append(ReferenceStep(ids[node.formula], dependencies, show(node.formula), node.rule))
    return (*steps, ReferenceStep(option_id, (ids[tree.formula],), show(goal), GOAL_BINDING))


# -- distractors ------------------------------------------------------------------------------------------------------

_KINDS = {"other": 6, "branch": 3, "fact": 1}
"""The kinds of distractors, with their relative frequencies."""


class Distractors:
    """Draws distractors for the tree of a proof about a person, some of them about others, if there are any."""

    def __init__(self, tree: Node, person: str, others: Sequence[str], grower: Grower, source: Random) -> None:
        self._nodes = tuple(tree.nodes())
        self._leaves = [leaf.formula for leaf in tree.leaves()]
        self._person = person
        self._others = others
        self._grower = grower
        self._source = source
        known = {part for node in self._nodes for part in subformulas(node.formula) if isinstance(part, Atom)}
        self._atoms = sorted((a for a in known if a.arguments == (App(person, ()),)), key=lambda atom: atom.predicate)

    def draw(self, count: int, taken: set[Formula]) -> list[Formula]:
        """About this many new premises; fewer if no others can be made."""
        found: dict[Formula, None] = {}
        kinds = [kind for kind in _KINDS if kind != "other" or self._others]
        for _ in range(3 * count):
            (kind,) = self._source.choices(kinds, [_KINDS[each] for each in kinds])
            match kind:
                case "other":
                    drawn = self._of_others()
                case "branch":
                    drawn = self._branch()
                case _:
                    drawn = [self._grower.fact()]
            found.update(dict.fromkeys(formula for formula in drawn if formula not in taken))
            if len(found) >= count:
                break
        return list(found)[:count]

    def _of_others(self) -> list[Formula]:
        """A premise of the proof, said of somebody else."""
        formula = self._source.choice(self._leaves)
        return [rename(formula, {}, {self._person: self._source.choice(self._others)})] if constants(formula) else []

    def _branch(self) -> list[Formula]:
        """The premises of a would-be proof of something in the tree, or of its negation, but for one of its facts."""
        if not self._atoms:
            return []
        target: Formula = self._source.choice(self._atoms)
        if self._source.random() < 0.5:
            target = Not(target)
        branch = self._grower.grow(target, 1 if self._source.random() < 0.7 else 2)
        if branch is None:
            return []
        return [leaf.formula for leaf in without_a_link(branch, self._source)]


def without_a_link(tree: Node, source: Random) -> list[Node]:
    """The leaves of the tree without one that the proof requires. The premise of the last step is never left out."""
    leaves = list(tree.leaves())
    links = [index for index, leaf in enumerate(leaves) if not (leaf.principal and leaf in tree.below)]
    if links:
        del leaves[source.choice(links)]
    return leaves
