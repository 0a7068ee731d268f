"""Proof terms for people: natural deduction with numbered lines, blocks and reasons, in the manner of Fitch.

In: a proof that the checker accepts, or the steps of an answer with one proof each, and the premises under their names.
Out: one row per line, the premises first. Pairs of negations are left out, as proof terms do; bound variables are named
``x``, ``y``, …, and constants that the package made ``c1``, ``c2``, …. Rows are for reading: what counts is the
checker's word on the proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count
from typing import TypeAlias, assert_never

import msgspec

from proof_r1_formal.engine.lemmas import formula_of
from proof_r1_formal.engine.lines import statement
from proof_r1_formal.kernel import term as t
from proof_r1_formal.kernel.signature import symbols
from proof_r1_formal.kernel.signed import FALSUM, Signed, signed
from proof_r1_formal.kernel.syntax import App, Eq, Formula, Implies, Term
from proof_r1_formal.kernel.transform import alpha_normal, rename, rename_term
from proof_r1_formal.text.show import SYMBOLS, rename_bound, show, show_term

_OWN = "␣"  # the beginning of the names that the package makes


class Row(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One line of a proof.

    Attributes:
        number: from 1; 0 for a constant that a block is about.
        depth: how many blocks are around it.
        text: the formula.
        reason: the name of a premise, ``assumption``, or the inference.
        uses: numbers of the lines that it follows from.
        block: the first and the last number of the block that it follows from, if it does from one.
    """

    number: int
    depth: int
    text: str
    reason: str
    uses: tuple[int, ...] = ()
    block: tuple[int, int] | None = None


def fitch(proof: t.Proof, premises: Sequence[tuple[str, Formula]]) -> tuple[Row, ...]:
    """The rows of a proof that the checker accepts, from the premises of its order, each with its name.

    >>> from proof_r1_formal.text.parse import parse_formula
    >>> from proof_r1_formal.kernel.syntax import App
    >>> from proof_r1_formal.kernel.term import Eliminate, Instance
    >>> proof = (Instance(0, App("tom", ())), Eliminate(2, "right", 1))
    >>> given = [("h1", parse_formula("all x. (cat(x) -> shy(x))")), ("h2", parse_formula("cat(tom)"))]
    >>> for row in fitch(proof, given):
    ...     print(row.number, row.text, "--", row.reason, *row.uses)
    1 ∀x (cat(x) → shy(x)) -- h1
    2 cat(tom) -- h2
    3 cat(tom) → shy(tom) -- ∀ elimination, tom 1
    4 shy(tom) -- → elimination 3 2

    Raises:
        ProofError: a proof is not one of the calculus.
    """
    return _rows(premises, [(range(len(premises)), proof, None)])


def derivation(
    premises: Mapping[str, Formula], steps: Sequence[tuple[str, Sequence[str], Formula, t.Proof]]
) -> tuple[Row, ...]:
    """The rows of an answer; the reason for what a step concludes begins with the step's id.

    Of each step: its id, what it depends on, its conclusion, and the proof from them.

    Raises:
        ProofError: a proof is not one of the calculus.
    """
    places = {id_: place for place, id_ in enumerate([*premises, *[step[0] for step in steps]])}
    parts = [([places[each] for each in given], proof, (id_, formula)) for id_, given, formula, proof in steps]
    return _rows(list(premises.items()), parts)


_Part: TypeAlias = tuple[Sequence[int], t.Proof, tuple[str, Formula] | None]
"""A proof, the places of its premises among all premises and conclusions, and what is concluded, with its id."""


def _rows(premises: Sequence[tuple[str, Formula]], parts: Sequence[_Part]) -> tuple[Row, ...]:
    taken = set[str]().union(*[symbols(formula).functions for _, formula in premises])
    while True:
        writer = _Writer(taken)
        for name, formula in premises:
            writer.add(signed(formula), name, text=show(formula))
        writer.parts(parts)
        if not writer.met & writer.own:
            return tuple(writer.rows)
        taken |= writer.met  # a line further down uses a name that was thought to be free


class _Writer:
    """The rows so far, and what holds at the current place."""

    def __init__(self, taken: Iterable[str]) -> None:
        self.rows: list[Row] = []
        self.constants: dict[str, str] = {}  # the names of the package's own constants in this proof
        self.own: set[str] = set()  # those in all proofs
        self.met: set[str] = set()  # the names of other constants
        self._known: list[tuple[Signed, int]] = []  # what each line says, and the number that it is shown under
        self._taken = set(taken)  # names that the package's own constants do not get
        self._numbers = count(1)
        self._depth = 0

    def add(
        self,
        says: Signed,
        reason: str,
        uses: Sequence[int] = (),
        *,
        block: tuple[int, int] | None = None,
        text: str | None = None,
    ) -> None:
        """A row, and what it says becomes known; ``uses`` are the proof's own numbers."""
        number = next(self._numbers)
        shown = tuple([self._known[use][1] for use in uses])
        self._known.append((says, number))
        self.rows.append(Row(number, self._depth, text or self._text(formula_of(says)), reason, shown, block))

    def parts(self, parts: Sequence[_Part]) -> None:
        """The rows of proofs, each from premises and from what the ones before it conclude."""
        shown = list(self._known)
        for places, proof, concluded in parts:
            self._known = [shown[place] for place in places]
            self.constants = {}
            self.block(proof)
            if concluded is not None:  # the last row is written in the words of the step
                id_, formula = concluded
                last = self.rows[-1]
                if self._known[-1][0] == FALSUM != signed(formula):  # a contradiction shows anything
                    self.add(signed(formula), f"{id_}: ⊥ elimination", (len(self._known) - 1,), text=show(formula))
                else:
                    self.rows[-1] = msgspec.structs.replace(last, text=show(formula), reason=f"{id_}: {last.reason}")
            shown.append(self._known[-1])

    def block(self, lines: t.Block) -> None:
        """The rows of lines."""
        for line in lines:
            self._line(line)

    def _inner(self, lines: t.Block, *, assumed: Signed | None = None, constant: App | None = None) -> tuple[int, int]:
        """The rows of a block, the numbers of its first and last; what it says is not known outside."""
        outside, start = len(self._known), len(self.rows)
        self._depth += 1
        if assumed is not None:
            self.add(assumed, "assumption")
        if constant is not None:
            self.rows.append(Row(0, self._depth, self._term(constant), "arbitrary"))
        self.block(lines)
        self._depth -= 1
        del self._known[outside:]
        numbers = [row.number for row in self.rows[start:] if row.number]
        return numbers[0], numbers[-1]

    def _line(self, line: t.Line) -> None:
        says = statement(line, lambda number: self._known[number][0])
        match line:
            case t.Repeat(premise):
                self.add(says, "again", (premise,))
            case t.Eliminate(main, _, other):
                self.add(says, f"{self._symbol(main)} elimination", (main, *([] if other is None else [other])))
            case t.Introduce(_, premises):
                self.add(says, f"{_symbol(says)} introduction", premises)
            case t.Instance(main, term):
                self.add(says, f"{self._symbol(main)} elimination, {self._term(term)}", (main,))
            case t.Witness(main, constant):
                self.add(says, f"{self._symbol(main)} witness {self._term(constant)}", (main,))
            case t.Generalise(_, premise, term):
                self.add(says, f"{_symbol(says)} introduction, {self._term(term)}", (premise,))
            case t.Arbitrary(_, constant, block):
                self.add(says, f"{_symbol(says)} introduction", block=self._inner(block, constant=constant))
            case t.Suppose(formula, block):
                whole = alpha_normal(formula)
                assert isinstance(whole, Implies)
                self.add(says, "→ introduction", block=self._inner(block, assumed=signed(whole.left)))
            case t.Absurd(formula, block):
                self.add(says, "reductio ad absurdum", block=self._inner(block, assumed=signed(formula)))
            case t.Contradiction(first, second):
                self.add(says, "contradiction", (first, second))
            case t.Truth():
                self.add(says, "truth")
            case t.Reflexivity():
                self.add(says, "reflexivity")
            case t.Leibniz():
                self.add(says, "equals for equals")
            case t.Apply(theorem, _, premises):
                self.add(says, f"theorem {theorem.name}", premises)
            case _:
                assert_never(line)

    def _symbol(self, number: int) -> str:
        return _symbol(self._known[number][0])

    # -- names --------------------------------------------------------------------------------------------------------

    def _text(self, formula: Formula) -> str:
        names = self._names(symbols(formula).functions)
        taken = frozenset(names.values()) | symbols(formula).functions
        return show(rename_bound(rename(formula, {}, names), taken, _letter))

    def _term(self, term: Term) -> str:
        return show_term(rename_term(term, self._names(symbols(Eq(term, term)).functions)))

    def _names(self, functions: Iterable[str]) -> dict[str, str]:
        """A readable name for each of the package's own constants among the names."""
        for name in sorted(functions):
            if not name.startswith(_OWN):
                self.met.add(name)
            elif name not in self.constants:
                fresh = next(c for c in (f"c{n}" for n in count(1)) if c not in self._taken)
                self._taken.add(fresh)
                self.own.add(fresh)
                self.constants[name] = fresh
        return self.constants


def _symbol(says: Signed) -> str:
    return f"{'' if says.sign else '¬'}{SYMBOLS[type(says.formula)]}"


def _letter(_: str, taken: frozenset[str]) -> str:
    """The first letter that is not taken: bound variables of normal forms do not have the names that were written."""
    letters = chain("xyzuvw", (f"x{number}" for number in count(1)))
    return next(letter for letter in letters if letter not in taken)
