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
from typing import NamedTuple, TypeAlias, assert_never

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

_MAX_ARITY = 6
_MAX_QUANTIFIERS = 6  # nested; the work doubles with each

_Values: TypeAlias = dict[Var, int]


class Fingerprint(NamedTuple):
    """Where a formula is true: bit i is for structure i.

    Attributes:
        single: in the structures of one element.
        double: in those of two elements; None if the formula is too large to evaluate cheaply there.
    """

    single: int
    double: int | None

    def differs(self, other: Fingerprint) -> bool:
        """Whether some structure tells the two formulas apart."""
        both_known = self.double is not None and other.double is not None
        return self.single != other.single or (both_known and self.double != other.double)

    def is_true_everywhere(self) -> bool:
        """Whether no structure falsifies the formula."""
        return self.single == EVERYWHERE and self.double in (EVERYWHERE, None)

    def is_false_everywhere(self) -> bool:
        """Whether no structure satisfies the formula."""
        return self.single == 0 and self.double in (0, None)


class _TooLargeError(Exception):
    """The formula is beyond the bounds of cheap evaluation."""


@once
def fingerprint(formula: Formula) -> Fingerprint:
    """The fingerprint of a closed formula."""
    single = _truth(formula, {}, None)
    try:
        return Fingerprint(single, _truth(formula, {}, _MAX_QUANTIFIERS))
    except _TooLargeError:
        return Fingerprint(single, None)


def _truth(formula: Formula, values: _Values, quantifiers: int | None) -> int:
    """Where the formula is true; ``quantifiers`` is how many may still be nested, None for one element."""
    match formula:
        case Top():
            return EVERYWHERE
        case Bottom():
            return 0
        case Atom(predicate, arguments):
            return _lookup("predicate", predicate, arguments, values, single=quantifiers is None)
        case Eq(left, right):
            return EVERYWHERE if quantifiers is None else EVERYWHERE ^ _value(left, values) ^ _value(right, values)
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
            if quantifiers is None:
                return _truth(body, values, None)
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
            return _lookup("function", function, arguments, values, single=False)
    assert_never(term)


def _lookup(kind: str, name: str, arguments: tuple[Term, ...], values: _Values, *, single: bool) -> int:
    """The table of a symbol, read at the arguments' values in all structures at once."""
    if single:
        return _random_bits(f"{kind} of one", name, (0,) * len(arguments))
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
