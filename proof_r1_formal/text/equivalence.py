"""Formulas that plainly say the same: up to bound names, the grouping of ∧ and ∨, and where quantifiers stand.

In: formulas. Out: a representative of all that differ so, or whether two do. All is linear but for sorting.
"""

from __future__ import annotations

from functools import reduce
from typing import assert_never

from proof_r1_formal.kernel.syntax import (
    And,
    Atom,
    Binary,
    Binder,
    Bottom,
    Eq,
    Exists,
    ForAll,
    Formula,
    Implies,
    Not,
    Or,
    Top,
    Var,
    Xor,
    once,
)
from proof_r1_formal.kernel.transform import alpha_normal


def conjuncts(formula: Formula) -> tuple[Formula, ...]:
    """The operands of the outermost ∧, however nested, in order; the formula itself if it is no ∧."""
    return operands(formula, And)


def operands(formula: Formula, connective: type[And | Or | Xor]) -> tuple[Formula, ...]:
    """The operands of the outermost connective of that kind, as :func:`conjuncts` are those of ∧."""
    found: list[Formula] = []
    stack: list[Formula] = [formula]
    while stack:
        current = stack.pop()
        if isinstance(current, connective):
            stack.append(current.right)
            stack.append(current.left)
        else:
            found.append(current)
    return tuple(found)


@once
def regroup(formula: Formula) -> Formula:
    """A representative up to bound names and up to regrouping and reordering of ∧ and of ∨, at every depth.

    Operands that repeat stay. The order is that of a text key, so it does not depend on the process.
    """
    return _regroup(alpha_normal(formula))


def _regroup(formula: Formula) -> Formula:
    if isinstance(formula, (And, Or)):
        connective = type(formula)
        return reduce(connective, sorted([_regroup(f) for f in operands(formula, connective)], key=_order))
    if isinstance(formula, Binary):
        return type(formula)(_regroup(formula.left), _regroup(formula.right))
    if isinstance(formula, Not):
        return Not(_regroup(formula.body))
    if isinstance(formula, Binder):
        return type(formula)(formula.variable, _regroup(formula.body))
    return formula


def surely_equivalent(first: Formula, second: Formula) -> bool:
    """Whether closed formulas differ only in bound names, the grouping of ∧ and ∨, and where quantifiers stand."""
    return first is second or regroup(miniscope(first)) is regroup(miniscope(second))


@once
def miniscope(formula: Formula) -> Formula:
    """An equivalent formula in which every quantifier stands as far inside as it can.

    A quantifier moves past what its variable does not occur in, and divides where it distributes: ∀ over ∧, ∃ over ∨
    and →. One that binds nothing disappears, because domains are not empty.
    """
    if isinstance(formula, Not):
        return Not(miniscope(formula.body))
    if isinstance(formula, Binary):
        return type(formula)(miniscope(formula.left), miniscope(formula.right))
    if isinstance(formula, Binder):
        return _inwards(type(formula), formula.variable, miniscope(formula.body))
    return formula


def _inwards(quantifier: type[ForAll | Exists], variable: Var, body: Formula) -> Formula:
    """The quantified body, both of whose parts are miniscoped."""
    if variable not in body.free:
        return body
    other: type[ForAll | Exists] = Exists if quantifier is ForAll else ForAll
    if isinstance(body, Not):
        return Not(_inwards(other, variable, body.body))
    if isinstance(body, (And, Or, Implies)):
        universal = isinstance(body, And)  # ∀ distributes over it, else ∃
        if universal == (quantifier is ForAll) or variable not in body.left.free or variable not in body.right.free:
            left = _inwards(other if isinstance(body, Implies) else quantifier, variable, body.left)
            return type(body)(left, _inwards(quantifier, variable, body.right))
    return quantifier(variable, body)


@once
def _order(formula: Formula) -> str:
    """A text that orders formulas the same way in every process."""
    match formula:
        case Not(body):
            return f"Not({_order(body)})"
        case Binary(left, right):
            return f"{type(formula).__name__}({_order(left)},{_order(right)})"
        case Binder(variable, body):
            return f"{type(formula).__name__}({variable!r},{_order(body)})"
        case Top() | Bottom() | Atom() | Eq():
            return repr(formula)
    assert_never(formula)
