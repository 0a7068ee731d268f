"""The engine's proofs as inferences: a checked proof term, line by line, as linear steps of closed formulas.

In: a proof term, its premises and conclusion. Out: the :class:`Node` objects of a derivation, each a closed formula
with the nodes that it follows from. No node has an open supposition: what a line says under suppositions, of constants
that the proof brought in, is said by ``∀x (H → C)`` (``generate.closing``). So a witness needs no name: its property is
a supposition, until existential elimination discharges it. Which rule a node is an instance of is not decided here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from proof_r1_formal.engine.lemmas import formula_of
from proof_r1_formal.errors import ProofError
from proof_r1_formal.generate.closing import closed
from proof_r1_formal.kernel import term as t
from proof_r1_formal.kernel.checker import constant_sorts
from proof_r1_formal.kernel.signature import symbols
from proof_r1_formal.kernel.signed import FALSUM, TRUTH_TABLES, Signed, sides, signed
from proof_r1_formal.kernel.syntax import (
    And,
    Connective,
    Eq,
    Exists,
    ForAll,
    Formula,
    Implies,
    Or,
    Quantified,
    Term,
    Top,
)
from proof_r1_formal.kernel.transform import alpha_normal, instantiate, negate
from proof_r1_formal.rules.forms import conjunctive_parts, normal_form
from proof_r1_formal.text.equivalence import regroup


@dataclass(slots=True)
class Node:
    """A closed formula and the nodes that it follows from; a premise follows from none.

    Attributes:
        formula: closed.
        dependencies: numbers of earlier nodes.
    """

    formula: Formula
    dependencies: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Entry:
    """What a line says: by a node, or, without one, by a supposition or by logic alone.

    ``clash`` holds the two entries of a contradiction.
    """

    says: Signed
    node: int | None
    suppositions: frozenset[int] = frozenset()
    clash: tuple[_Entry, _Entry] | None = None


@dataclass(slots=True)
class Derivation:
    """The nodes of a proof, the premises first; the last says the conclusion.

    Attributes:
        nodes: each after those that it follows from.
        end: the number of the node that says the conclusion.
    """

    nodes: list[Node] = field(default_factory=list)
    end: int = 0


def derivation(proof: t.Proof, premises: Sequence[Formula], conclusion: Formula) -> Derivation | None:
    """The derivation that a checked proof is; None if its premises contradict each other, or it applies a theorem.

    Args:
        proof: that the checker accepts.
        premises, conclusion: closed formulas.
    """
    reader = _Reader(proof, premises, conclusion)
    known = [_Entry(signed(formula), number) for number, formula in enumerate(premises)]
    try:
        end = reader.discharged(reader.block(proof, known), 0)
    except ProofError:
        return None
    if end.clash is not None or end.node is None or end.suppositions:
        return None
    last = reader.nodes[end.node]
    if regroup(last.formula) is not regroup(conclusion):  # the same in other words
        reader.nodes.append(Node(conclusion, (end.node,)))
        return Derivation(reader.nodes, len(reader.nodes) - 1)
    return Derivation(reader.nodes, end.node)


class _Reader:
    """Reads the lines of one proof. What is supposed counts as its conjuncts, each a supposition with a number."""

    def __init__(self, proof: t.Proof, premises: Sequence[Formula], conclusion: Formula) -> None:
        self.nodes = [Node(formula, ()) for formula in premises]
        self._numbers: dict[Formula, int] = {regroup(f): n for n, f in reversed(list(enumerate(premises)))}
        self._sorts = constant_sorts(proof, premises, conclusion)
        given = (*premises, conclusion)
        self._taken = frozenset([name for formula in given for name, _ in symbols(formula).uses])
        self._suppositions: list[Formula] = []
        self._groups: list[range] = []  # for each supposition those that were made with it
        self._witnessed: dict[int, _Entry] = {}  # supposition -> the ∃ whose witness it is about

    def block(self, block: t.Block, known: list[_Entry]) -> _Entry:
        """What the last line of a block says, or its first contradiction."""
        outside = len(known)
        entry = _FREE
        for line in block:
            entry = self._entry(line, known)
            known.append(entry)
            if entry.clash is not None:
                break
        del known[outside:]
        return entry

    def discharged(self, entry: _Entry, first: int) -> _Entry:
        """The same without the suppositions about witnesses, from a number on, by existential elimination."""
        while entry.clash is None and (inner := [s for s in entry.suppositions if s >= first and s in self._witnessed]):
            last = max(inner)
            existential = self._witnessed[last]
            suppositions = entry.suppositions.difference(self._groups[last]) | existential.suppositions
            entry = self._node(entry.says, suppositions, (existential, entry))
        return entry

    def _refuted(self, clash: tuple[_Entry, _Entry], first: int, says: Signed) -> _Entry:
        """What says that the suppositions from a number on lead to a contradiction; one that does not need them."""
        one, other = self._at_one_part(*clash)
        while inner := [s for s in one.suppositions | other.suppositions if s >= first]:
            last = max(inner)
            group = self._groups[last]
            outside = (one.suppositions | other.suppositions).difference(group)
            existential = self._witnessed.get(last)
            opposite = says if existential is None else existential.says.opposite()
            entry = self._opposite(group, outside, opposite, one, other)
            if existential is None:
                return entry
            one, other = existential, entry
        return _Entry(FALSUM, None, one.suppositions | other.suppositions, (one, other))

    def _at_one_part(self, one: _Entry, other: _Entry) -> tuple[_Entry, _Entry]:
        """The same clash, where suppositions together contradict a node, at one of them."""
        if one.node is None:
            one, other = other, one
        while one.node is not None and other.node is None and len(other.suppositions) > 1:
            match one.says.formula, one.says.sign:
                case (Or(left, right), True) | (Implies(left, right), True) | (And(left, right), False):
                    pass
                case _:
                    break
            first, last = signed(left), signed(right)
            if isinstance(one.says.formula, Or):
                first = first.opposite()
            if isinstance(one.says.formula, And):
                last = last.opposite()
            given = self._supposing(first, other.suppositions)
            rest = self._supposing(last.opposite(), other.suppositions)
            if given is None or rest is None:
                break
            one = self._node(last, one.suppositions | given, (one,))
            other = _Entry(last.opposite(), None, rest)
        return one, other

    def _opposite(self, group: range, outside: frozenset[int], says: Signed, one: _Entry, other: _Entry) -> _Entry:
        """The opposite of a group of suppositions, written as an implication from all of them but one."""
        bare = [s for entry in (one, other) if entry.node is None for s in entry.suppositions if s in group]
        denied = bare[0] if bare else max(s for s in group if s in one.suppositions or s in other.suppositions)
        suppositions = outside | frozenset(group) - (frozenset() if bare else {denied})  # ¬C → C says C, see _node
        statement = negate(self._suppositions[denied])
        entry = self._node(signed(statement), suppositions, (one, other))
        return _Entry(says, entry.node, outside)

    def _supposed(self, formula: Formula) -> tuple[int, _Entry]:
        """The number of the first supposition, and the entry of what is supposed."""
        first = len(self._suppositions)
        self._suppositions += conjunctive_parts(formula)
        group = range(first, len(self._suppositions))
        self._groups += [group] * len(group)
        return first, _Entry(signed(formula), None, frozenset(group))

    def _node(
        self, says: Signed, suppositions: frozenset[int], given: Sequence[_Entry], written: Formula | None = None
    ) -> _Entry:
        """An entry whose node says the statement under the suppositions."""
        statement = formula_of(says) if written is None else written
        dependencies = tuple(dict.fromkeys([entry.node for entry in given if entry.node is not None]))
        number = self._numbered(self._closed(statement, sorted(suppositions)), dependencies)
        opposite = normal_form(negate(statement))
        others = [s for s in sorted(suppositions) if normal_form(self._suppositions[s]) is not opposite]
        if len(others) < len(suppositions):  # ¬C → C says C
            number = self._numbered(self._closed(statement, others), (number,))
        return _Entry(says, number, suppositions)

    def _numbered(self, formula: Formula, dependencies: tuple[int, ...]) -> int:
        """The number of the node that says a formula, which is new if there is none."""
        key = regroup(formula)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.nodes)
            self.nodes.append(Node(formula, dependencies))
        return number

    def _closed(self, statement: Formula, suppositions: Sequence[int]) -> Formula:
        supposed = [self._suppositions[number] for number in suppositions]
        return closed(statement, supposed, self._sorts, self._taken)

    def _supposing(self, says: Signed, suppositions: frozenset[int]) -> frozenset[int] | None:
        """The suppositions that the statement is made of; None if it is made of something else, too."""
        known = {normal_form(self._suppositions[number]): number for number in sorted(suppositions)}
        parts = [known.get(normal_form(part)) for part in conjunctive_parts(formula_of(says))]
        numbers = frozenset([number for number in parts if number is not None])
        return numbers if None not in parts else None

    # -- lines --------------------------------------------------------------------------------------------------------

    def _entry(self, line: t.Line, known: list[_Entry]) -> _Entry:
        match line:
            case t.Repeat(premise):
                return known[premise]
            case t.Contradiction(first, second):
                one, other = known[first], known[second]
                return _Entry(FALSUM, None, one.suppositions | other.suppositions, (one, other))
            case t.Eliminate(main, side, other):
                given = [known[main], *([known[other]] if other is not None else ())]
                return self._from(_eliminated(given[0].says, side, [entry.says for entry in given[1:]]), given)
            case t.Introduce(formula, premises):
                given = [known[number] for number in premises]
                says = Signed(alpha_normal(formula), _introduced(formula, [entry.says for entry in given]))
                return self._from(says, given, _in_parts(says))
            case t.Instance(main, term):
                return self._from(_instance(known[main].says, term), (known[main],))
            case t.Witness(main, constant):
                first, entry = self._supposed(formula_of(_instance(known[main].says, constant)))
                self._witnessed.update(dict.fromkeys(self._groups[first], known[main]))
                return entry
            case t.Generalise(formula, premise, _):
                says = signed(formula)
                if isinstance(formula, ForAll):
                    written = Exists(formula.variable, negate(formula.body))
                    return self._from(says.opposite(), (known[premise],), written)
                return self._from(says, (known[premise],))
            case t.Arbitrary(formula, _, block):
                first = len(self._suppositions)
                entry = self.discharged(self.block(block, known), first)
                if entry.clash is not None:
                    return entry
                says = signed(formula)
                return _Entry(says if isinstance(formula, ForAll) else says.opposite(), entry.node, entry.suppositions)
            case t.Suppose(Implies(left, _) as formula, block):
                return self._suppose(formula, left, block, known)
            case t.Absurd(formula, block):
                first, supposed = self._supposed(formula)
                known.append(supposed)
                entry = self.block(block, known)
                known.pop()
                if entry.clash is None:
                    raise ProofError("a block of a reductio shows no contradiction")
                return self._refuted(entry.clash, first, supposed.says.opposite())
            case t.Leibniz(formula):
                return _Entry(signed(formula), None)
            case t.Reflexivity(term):
                return self._node(signed(Eq(term, term)), frozenset(), ())
            case t.Truth(formula):
                return _Entry(Signed(formula, isinstance(formula, Top)), None)
            case t.Apply() | t.Suppose():
                raise ProofError("the proof applies a theorem")

    def _suppose(self, formula: Implies, left: Formula, block: t.Block, known: list[_Entry]) -> _Entry:
        says = signed(formula)
        first, supposed = self._supposed(left)
        group = supposed.suppositions
        known.append(supposed)
        entry = self.discharged(self.block(block, known), first + len(group))
        known.pop()
        if entry.clash is not None:
            entry = self._refuted(entry.clash, first, supposed.says.opposite())
            return entry if entry.clash is not None else self._from(says, (entry,))
        if group.isdisjoint(entry.suppositions):
            return self._from(says, (entry,))
        if entry.node is None or not group <= entry.suppositions:
            entry = self._node(entry.says, entry.suppositions | group, (entry,))
        return _Entry(says, entry.node, entry.suppositions - group)  # H ∧ A → B says H → (A → B)

    def _from(self, says: Signed, given: Sequence[_Entry], written: Formula | None = None) -> _Entry:
        """The entry of a line that follows from others; one that follows from logic alone has no node."""
        suppositions = frozenset[int]().union(*[entry.suppositions for entry in given])
        if all(entry.node is None for entry in given):
            supposed = self._supposing(says, suppositions)
            if supposed is not None:
                return _Entry(says, None, supposed)
            if not suppositions:
                return _Entry(says, None)
        return self._node(says, suppositions, given, written)


_FREE = _Entry(FALSUM.opposite(), None)


def _instance(says: Signed, term: Term) -> Signed:
    quantified = says.formula
    assert isinstance(quantified, Quantified)
    part = signed(instantiate(quantified, term))
    return part if says.sign else part.opposite()


def _eliminated(main: Signed, side: str, others: Sequence[Signed]) -> Signed:
    """The value of a side that the truth table of a connective forces."""
    formula = main.formula
    assert isinstance(formula, Connective)
    rows = [row for row in _rows(formula, others) if row[2] == main.sign]
    place = 0 if side == "left" else 1
    part = sides(formula)[place]
    return part if rows[0][place] else part.opposite()


def _introduced(formula: Formula, given: Sequence[Signed]) -> bool:
    assert isinstance(formula, Connective)
    return _rows(formula, given)[0][2]


def _rows(formula: Connective, given: Sequence[Signed]) -> list[tuple[bool, bool, bool]]:
    """The rows of the truth table in which the statements about its sides hold."""
    rows = list(TRUTH_TABLES[type(formula)])
    for says in given:
        for place, side in enumerate(sides(formula)):
            if side.formula is says.formula:
                rows = [row for row in rows if row[place] == (side.sign == says.sign)]
    return rows


def _in_parts(says: Signed) -> Formula | None:
    """The ∧ that a statement of another form is introduced as; None if it is not."""
    match says.formula:
        case Or(left, right) if not says.sign:
            return And(negate(left), negate(right))
        case Implies(left, right) if not says.sign:
            return And(left, negate(right))
    return None
