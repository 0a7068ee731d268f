"""Formulas in parts and in normal form: what RuleCheck compares where a rule needs a formula to be written down.

In: formulas. Out: whether formulas that are written down state another one in parts, or are together exactly its parts;
a negation normal form.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, reduce
from typing import assert_never

from proof_r1_formal.kernel.syntax import (
    BOTTOM,
    TOP,
    And,
    Atom,
    Bottom,
    Eq,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Top,
    Xor,
)
from proof_r1_formal.text.equivalence import conjuncts, miniscope, regroup


def is_stated(formula: Formula, is_said: Callable[[Formula], bool], *, sums: bool, unruled: bool) -> bool:
    """Whether the formula is said itself, or in parts: the conjuncts of ∧, ¬∨ and ¬→, each of them stated.

    Args:
        formula: what is looked for.
        is_said: whether a formula stands somewhere by itself.
        sums: whether the operands of a ⊕ whose truth values are stated state it, too.
        unruled: whether stated operands also state what no rule introduces: ∨, → and ¬∧ by one of them, ↔ and ¬⊕ by
            both.
    """
    if is_said(formula):
        return True

    def all_stated(*parts: Formula, sums: bool = False) -> bool:
        return all(is_stated(part, is_said, sums=sums, unruled=unruled) for part in parts)

    match formula:
        case Xor(left, right) if sums:
            return all_stated(left, Not(right), sums=True) or all_stated(Not(left), right, sums=True)
        case Not(Xor(left, right)) if sums:
            return all_stated(left, right, sums=True) or all_stated(Not(left), Not(right), sums=True)
        case Iff(left, right) | Not(Xor(left, right)) if unruled:
            return all_stated(left, right) or all_stated(Not(left), Not(right))
        case Or(left, right) if unruled:
            return all_stated(left) or all_stated(right)
        case Implies(left, right) if unruled:
            return all_stated(Not(left)) or all_stated(right)
        case Not(And(left, right)) if unruled:
            return all_stated(Not(left)) or all_stated(Not(right))
        case _:
            parts = conjunctive_parts(formula)
            return parts != (formula,) and all_stated(*parts, sums=sums and len(parts) == 1)


def conjunctive_parts(formula: Formula) -> tuple[Formula, ...]:
    """The conjuncts of the formula, where ¬∨ and ¬→ count as ∧; of another formula itself, without ¬¬ in front."""
    match formula:
        case Not(Not(body)):
            return conjunctive_parts(body)
        case And(left, right):
            return (*conjunctive_parts(left), *conjunctive_parts(right))
        case Not(Or(left, right)):
            return (*conjunctive_parts(Not(left)), *conjunctive_parts(Not(right)))
        case Not(Implies(left, right)):
            return (*conjunctive_parts(left), *conjunctive_parts(Not(right)))
        case _:
            return (formula,)


def covers(
    wanted: tuple[Formula, ...], given: tuple[Formula, ...], is_part: Callable[[Formula, Formula], bool]
) -> bool:
    """Whether some given formulas, one at least for each that is wanted, are together exactly the wanted conjuncts.

    Args:
        wanted: formulas that count as their conjuncts.
        given: each is used once at most, as one conjunct or as several.
        is_part: whether a given formula is a conjunct in other words; asked once for each pair that is tried.
    """
    parts = tuple([part for formula in wanted for part in conjuncts(formula)])
    return _covers(parts, given, len(wanted), is_part)


def _covers(
    parts: tuple[Formula, ...], given: tuple[Formula, ...], least: int, is_part: Callable[[Formula, Formula], bool]
) -> bool:
    """Whether the given formulas, at least ``least`` of them, are together exactly the parts."""
    if not parts:
        return least <= 0
    for index, formula in enumerate(given):
        rest = parts[1:] if is_part(formula, parts[0]) else _without(parts, conjuncts(formula))
        if rest is not None and _covers(rest, (*given[:index], *given[index + 1 :]), least - 1, is_part):
            return True
    return False


def _without(parts: tuple[Formula, ...], removed: tuple[Formula, ...]) -> tuple[Formula, ...] | None:
    """The parts without the removed ones, compared up to bound names and regrouping; None if one is not among them."""
    keys = [regroup(part) for part in parts]
    rest = list(parts)
    for formula in removed:
        key = regroup(formula)
        if key not in keys:
            return None
        position = keys.index(key)
        del keys[position], rest[position]
    return tuple(rest)


@lru_cache(maxsize=1 << 14)
def normal_form(formula: Formula) -> Formula:
    """A representative up to bound names, regrouping, and moving ¬ inwards; linear in the formula's size.

    → becomes ∨, ↔ becomes ¬⊕, and ¬ stands before atoms, equations and ⊕ only; the operands of ⊕ have no ¬ in front.
    """
    return regroup(_normal(regroup(formula), positive=True))


def plain_form(formula: Formula) -> Formula:
    """The normal form with each quantifier as far inside as it can stand."""
    return regroup(miniscope(normal_form(formula)))


def _normal(formula: Formula, *, positive: bool) -> Formula:
    match formula:
        case Top() | Bottom():
            return TOP if isinstance(formula, Top) == positive else BOTTOM
        case Atom() | Eq():
            return formula if positive else Not(formula)
        case Not(body):
            return _normal(body, positive=not positive)
        case And(left, right) | Or(left, right):
            join = And if isinstance(formula, And) == positive else Or
            return join(_normal(left, positive=positive), _normal(right, positive=positive))
        case Implies(left, right):
            join = Or if positive else And
            return join(_normal(left, positive=not positive), _normal(right, positive=positive))
        case Xor() | Iff():
            return _sum(formula, positive=positive)
        case ForAll(variable, body) | Exists(variable, body):
            quantifier = ForAll if isinstance(formula, ForAll) == positive else Exists
            return quantifier(variable, _normal(body, positive=positive))
    assert_never(formula)


def _sum(formula: Xor | Iff, *, positive: bool) -> Formula:
    """The normal form of A ⊕ B or A ↔ B: a ⊕ of sorted operands, with at most one ¬, in front of all."""
    operands: list[Formula] = []
    stack: list[Formula] = [formula]
    while stack:
        match stack.pop():
            case Xor(left, right):
                stack += (right, left)
            case Iff(left, right):
                stack += (right, left)
                positive = not positive
            case Not(body):
                stack.append(body)
                positive = not positive
            case operand:
                operands.append(_normal(operand, positive=True))
    whole = reduce(Xor, sorted([regroup(operand) for operand in operands], key=repr))
    return whole if positive else Not(whole)
