"""Distractors: premises that a proof does not need.

In: the tree of a planned proof. Out: further premises. They resemble those of the proof: the same formulas about other
people, rules that would apply if one more fact were known, and unrelated facts.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from proof_r1_formal.generate.skeleton import Grower, Node
from proof_r1_formal.kernel.syntax import App, Atom, Formula, Not
from proof_r1_formal.kernel.transform import constants, rename, subformulas

_KINDS = {"other": 6, "branch": 3, "fact": 1}
"""The kinds of distractors, with their relative frequencies."""


class Distractors:
    """Draws distractors for a tree.

    Args:
        tree: the planned proof.
        person: the person of the proof.
        others: other people, perhaps none.
        grower: of branches.
        source: of random numbers.
    """

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
            drawn = (
                self._of_others() if kind == "other" else self._branch() if kind == "branch" else [self._grower.fact()]
            )
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
