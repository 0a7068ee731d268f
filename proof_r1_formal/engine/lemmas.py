"""The lemmas of ``theories/`` that lines of proof terms apply, for every proof assistant that has them.

In: a line and what its premises say. Out: a lemma's name, and its premises and conclusion as the formulas are written.

A line says that a formula is true or false, and never that a formula beginning with ¬ is. Proof assistants have the
formulas as they are written, so pairs of negations are taken off and put back between the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from proof_r1_formal.errors import ProofError
from proof_r1_formal.kernel.signed import TRUTH_TABLES, Signed, signed
from proof_r1_formal.kernel.syntax import App, Atom, Binary, Connective, Eq, Formula, Implies, Not, Term

# -- truth tables -----------------------------------------------------------------------------------------------------


class Elimination(NamedTuple):
    """A lemma, by name, from a binary formula, and perhaps a formula about one side, to the other or its negation."""

    lemma: str
    other: Formula | None
    conclusion: Formula


class Introduction(NamedTuple):
    """A lemma, by name, from the sides of a binary formula to the formula or, by the sign, to its negation.

    The premises are those of the line that it takes, by number, each with the formula as which it takes it.
    """

    lemma: str
    premises: tuple[tuple[int, Formula], ...]
    sign: bool


def elimination(main: Signed, side: str, other: Signed | None) -> Elimination | None:
    """The lemma of an elimination; None if ``other`` says the conclusion itself.

    Args:
        main: what the line about the binary formula says.
        side: ``left`` or ``right``, the one that is concluded.
        other: what the line about the other side says, if there is one.

    Raises:
        ProofError: the side's value does not follow.
    """
    formula, sign = main.formula, main.sign
    if not isinstance(formula, Binary):
        raise ProofError("only binary formulas have sides")
    part, rest = (formula.left, formula.right) if side == "left" else (formula.right, formula.left)
    if other is not None and other.formula is signed(part).formula:
        return None
    value = None if other is None else other.sign == signed(rest).sign
    place = 0 if side == "left" else 1
    for taken in (None, value):
        rows = [row for row in TRUTH_TABLES[type(formula)] if row[2] == sign and taken in (None, row[1 - place])]
        if len({row[place] for row in rows}) == 1:
            name = f"{type(formula).__name__.lower()}_{_word(sign)}_{side}"
            conclusion = part if rows[0][place] else Not(part)
            if taken is None:
                return Elimination(name, None, conclusion)
            return Elimination(f"{name}_of_{_word(taken)}", rest if taken else Not(rest), conclusion)
    raise ProofError(f"the value of the {side} side is not determined")


def introduction(formula: Connective, premises: Sequence[Signed]) -> Introduction:
    """The lemma that introduces a formula, from what the lines about its sides say.

    Raises:
        ProofError: the formula's value does not follow.
    """
    values: list[bool | None] = [None, None]
    numbers = [0, 0]
    sides = (formula.left, formula.right)
    for number, what in enumerate(premises):
        for place, side in enumerate(sides):
            if what.formula is signed(side).formula:
                values[place], numbers[place] = what.sign == signed(side).sign, number
    lemma = lemma_of_introduction(type(formula), values[0], values[1])
    if lemma is None:
        raise ProofError("the value of the formula is not determined by its sides")
    taken = [place for place, word in enumerate(lemma.split("_of_")[1].split("_")) if word != "any"]
    given = [(numbers[place], sides[place] if values[place] else Not(sides[place])) for place in taken]
    rows = TRUTH_TABLES[type(formula)]
    shown = {row[2] for row in rows if all(v in (None, r) for v, r in zip(values, row[:2], strict=True))}.pop()
    return Introduction(lemma, tuple(given), shown)


def lemma_of_introduction(kind: type[Connective], left: bool | None, right: bool | None) -> str | None:
    """The lemma that gives the value of the whole from as few sides as will do."""
    for one, other in ((left, None), (None, right), (left, right)):
        rows = [row for row in TRUTH_TABLES[kind] if one in (None, row[0]) and other in (None, row[1])]
        if len({row[2] for row in rows}) == 1:
            return f"{kind.__name__.lower()}_of_{_word(one)}_{_word(other)}"
    return None


def _word(value: bool | None) -> str:
    return "any" if value is None else str(value).lower()


# -- formulas as written ----------------------------------------------------------------------------------------------


def formula_of(says: Signed) -> Formula:
    """The statement of a line, as a formula."""
    return says.formula if says.sign else Not(says.formula)


def negation_pairs(formula: Formula) -> int:
    """How many pairs of negations a formula begins with."""
    count = 0
    while isinstance(formula, Not):
        count += 1
        formula = formula.body
    return count // 2


# -- equality ---------------------------------------------------------------------------------------------------------


def along_equation(formula: Formula, forward: Term, backward: Term) -> Formula:
    """A, in an instance s = t → (A → B) of Leibniz's law, with other terms at the places where B differs.

    ``forward`` is the term where A has s and B has t, ``backward`` that where A has t and B has s.

    Raises:
        ProofError: it is none.
    """

    def visit(one: Term, other: Term) -> Term:
        if one is other:
            return one
        if (one, other) in places:
            return places[one, other]
        assert isinstance(one, App) and isinstance(other, App)
        return one.on(tuple(map(visit, one.arguments, other.arguments)))

    match formula:
        case Implies(Eq(left, right), Implies(before, after)):
            places = {(right, left): backward, (left, right): forward}
            match before, after:
                case Atom(predicate, first), Atom(_, second):
                    return Atom(predicate, tuple(map(visit, first, second)))
                case Eq(a, b), Eq(c, d):
                    return Eq(visit(a, c), visit(b, d))
    raise ProofError("no instance of Leibniz's law")
