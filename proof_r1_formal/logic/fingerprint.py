"""A formula's truth values in 128 fixed two-element structures, all evaluated at once as the bits of one integer.

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
)

WIDTH = 128
"""How many structures there are."""
EVERYWHERE = (1 << WIDTH) - 1
"""The fingerprint of a formula that is true in all of them."""

_MAX_ARITY = 6
_MAX_QUANTIFIERS = 6  # nested; the work doubles with each

_Values: TypeAlias = dict[Var, int]


class _TooLargeError(Exception):
    """The formula is beyond the bounds of cheap evaluation."""


@lru_cache(maxsize=1 << 16)
def fingerprint(formula: Formula) -> int | None:
    """Bit i: whether the closed formula is true in structure i. None if it is too large to evaluate cheaply."""
    try:
        return _truth(formula, {}, _MAX_QUANTIFIERS)
    except _TooLargeError:
        return None


def _truth(formula: Formula, values: _Values, quantifiers: int) -> int:
    match formula:
        case Top():
            return EVERYWHERE
        case Bottom():
            return 0
        case Atom(predicate, arguments):
            return _lookup("predicate", predicate, arguments, values)
        case Eq(left, right):
            return EVERYWHERE ^ _value(left, values) ^ _value(right, values)
        case Not(body):
            return EVERYWHERE ^ _truth(body, values, quantifiers)
        case And(left, right):
            return _truth(left, values, quantifiers) & _truth(right, values, quantifiers)
        case Or(left, right):
            return _truth(left, values, quantifiers) | _truth(right, values, quantifiers)
        case Xor(left, right):
            return _truth(left, values, quantifiers) ^ _truth(right, values, quantifiers)
        case Implies(left, right):
            return (EVERYWHERE ^ _truth(left, values, quantifiers)) | _truth(right, values, quantifiers)
        case Iff(left, right):
            return EVERYWHERE ^ _truth(left, values, quantifiers) ^ _truth(right, values, quantifiers)
        case ForAll(variable, body) | Exists(variable, body):
            if quantifiers == 0:
                raise _TooLargeError
            first = _truth(body, {**values, variable: 0}, quantifiers - 1)
            second = _truth(body, {**values, variable: EVERYWHERE}, quantifiers - 1)
            return first & second if isinstance(formula, ForAll) else first | second
    assert_never(formula)


def _value(term: Term, values: _Values) -> int:
    """Bit i: which of the elements 0 and 1 the term denotes in structure i."""
    match term:
        case Var():
            return values[term]
        case App(function, arguments):
            return _lookup("function", function, arguments, values)
    assert_never(term)


def _lookup(kind: str, name: str, arguments: tuple[Term, ...], values: _Values) -> int:
    """The table of a symbol, read at the arguments' values in all structures at once."""
    if len(arguments) > _MAX_ARITY:
        raise _TooLargeError
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
