"""A formula's truth values in fixed small structures, all evaluated at once as the bits of integers.

In: a closed formula. Out: its fingerprint. Formulas with different fingerprints are *not* equivalent, and a formula
whose fingerprint has a 0 is *not* valid: the structure at that bit is a counterexample. Equal fingerprints prove
nothing. So a fingerprint answers most negative questions about equivalence and validity without a solver, and never a
positive one.

The structures interpret every symbol pseudo-randomly by a hash of its name, so they are the same in every process.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from itertools import product
from typing import TypeAlias, assert_never

from proof_r1_formal.logic.syntax import (
    And,
    App,
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
    Term,
    Top,
    Var,
    Xor,
    once,
)

WIDTH = 128
"""How many structures of each size there are."""
EVERYWHERE = (1 << WIDTH) - 1
"""The bits of a formula that is true in all of them."""

MAX_VISITS = 1 << 14
"""The most subformulas and table rows that are read for the structures of two elements."""
VISITS_PER_STEP = 8
"""How many of them are read at the price of one step (``solvers.base``)."""

_Values: TypeAlias = dict[Var, int]


@once
def single(formula: Formula) -> int:
    """Where a closed formula is true in the structures of one element."""
    return _truth(formula, {}, single=True)


@once
def double(formula: Formula) -> int | None:
    """Where it is true in those of two elements; None if it is too large to evaluate cheaply there."""
    return _truth(formula, {}, single=False) if _visits(formula) <= MAX_VISITS else None


def fingerprints_differ(first: Formula, second: Formula) -> bool:
    """Whether a structure tells two closed formulas apart; those of two elements are tried last."""
    if single(first) != single(second):
        return True
    one, other = double(first), double(second)
    return one is not None and other is not None and one != other


def true_everywhere(formula: Formula) -> bool:
    """Whether none of the structures falsifies a closed formula."""
    return single(formula) == EVERYWHERE and double(formula) in (EVERYWHERE, None)


def false_everywhere(formula: Formula) -> bool:
    """Whether none of the structures satisfies a closed formula."""
    return single(formula) == 0 and double(formula) in (0, None)


def fingerprint_price(formula: Formula) -> int:
    """What the fingerprint of a formula costs, in the steps of ``solvers.base``."""
    return min(_visits(formula), MAX_VISITS) // VISITS_PER_STEP


@once
def _visits(formula: Formula) -> int:
    """How many parts and table rows :func:`_truth` reads in two elements: twice as many below each quantifier."""
    total = 0
    pending: list[tuple[Formula | Term, int]] = [(formula, 1)]
    while pending:
        part, times = pending.pop()
        total += times
        match part:
            case Top() | Bottom() | Var():
                pass
            case Atom(_, arguments) | App(_, arguments):
                total += times << len(arguments)
                pending += [(argument, times) for argument in arguments]
            case Not(body):
                pending.append((body, times))
            case ForAll(_, body) | Exists(_, body):
                pending.append((body, 2 * times))
            case _:
                pending += ((part.left, times), (part.right, times))
    return total


def _truth(formula: Formula, values: _Values, *, single: bool) -> int:
    """Where the formula is true, in the structures of a single element or in those of two."""
    match formula:
        case Top():
            return EVERYWHERE
        case Bottom():
            return 0
        case Atom(predicate, arguments):
            return _lookup("predicate", predicate, arguments, values, single=single)
        case Eq(left, right):
            return EVERYWHERE if single else EVERYWHERE ^ _value(left, values) ^ _value(right, values)
        case Not(body):
            return EVERYWHERE ^ _truth(body, values, single=single)
        case And(left, right):
            return _truth(left, values, single=single) & _truth(right, values, single=single)
        case Or(left, right):
            return _truth(left, values, single=single) | _truth(right, values, single=single)
        case Xor(left, right):
            return _truth(left, values, single=single) ^ _truth(right, values, single=single)
        case Implies(left, right):
            return (EVERYWHERE ^ _truth(left, values, single=single)) | _truth(right, values, single=single)
        case Iff(left, right):
            return EVERYWHERE ^ _truth(left, values, single=single) ^ _truth(right, values, single=single)
        case ForAll(variable, body) | Exists(variable, body):
            if single:
                return _truth(body, values, single=True)
            first = _truth(body, {**values, variable: 0}, single=False)
            second = _truth(body, {**values, variable: EVERYWHERE}, single=False)
            return first & second if isinstance(formula, ForAll) else first | second
    assert_never(formula)


def _value(term: Term, values: _Values) -> int:
    """Bit i: which of the elements 0 and 1 the term denotes in structure i."""
    match term:
        case Var():
            return values[term]
        case App(function, arguments):
            return _lookup("function", function, arguments, values, single=False)
    assert_never(term)


def _lookup(kind: str, name: str, arguments: tuple[Term, ...], values: _Values, *, single: bool) -> int:
    """The table of a symbol, read at the arguments' values in all structures at once."""
    if single:
        return _random_bits(f"{kind} of one", name, (0,) * len(arguments))
    points = [_value(argument, values) for argument in arguments]
    result = 0
    for elements in product((0, 1), repeat=len(points)):
        where = EVERYWHERE
        for element, point in zip(elements, points, strict=True):
            where &= point if element else EVERYWHERE ^ point
            if not where:
                break
        if where:
            result |= where & _random_bits(kind, name, elements)
    return result


@lru_cache(maxsize=1 << 16)
def _random_bits(kind: str, name: str, elements: tuple[int, ...]) -> int:
    key = f"{kind} {len(elements)} {''.join(map(str, elements))} {name}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(key, digest_size=WIDTH // 8).digest(), "big")
