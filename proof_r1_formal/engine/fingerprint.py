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
from typing import Final, TypeAlias

from proof_r1_formal.engine.truth_table import combine
from proof_r1_formal.kernel.syntax import App, Atom, Binary, Binder, Bottom, Eq, ForAll, Formula, Not, Term, Var, once

WIDTH: Final = 128
"""How many structures of each size there are."""
EVERYWHERE: Final = (1 << WIDTH) - 1
"""The bits of a formula that is true in all of them."""

_MAX_VISITS: Final = 1 << 14
"""The most subformulas and table rows that are read for the structures of two elements."""
VISITS_PER_STEP: Final = 8
"""How many of them are read at the price of one step (``kernel.answer``)."""

_Values: TypeAlias = dict[Var, int]


@once
def single(formula: Formula) -> int:
    """Where a closed formula is true in the structures of one element."""
    return _truth(formula, {}, single=True)


@once
def double(formula: Formula) -> int | None:
    """Where it is true in those of two elements; None if it is too large to evaluate cheaply there."""
    return _truth(formula, {}, single=False) if _visits(formula) <= _MAX_VISITS else None


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
    """The price of the fingerprint of a formula, in the steps of ``kernel.answer``."""
    return min(_visits(formula), _MAX_VISITS) // VISITS_PER_STEP


def _visits(part: Formula | Term) -> int:
    """How many parts and table rows :func:`_truth` reads in two elements: twice as many below each quantifier."""
    known: int | None = part.memo.get("visits")  # not by ``once``, which would take two frames for each level
    if known is None:
        known = 1
        if isinstance(part, Atom | App):
            known += 1 << sum([isinstance(argument, App) for argument in part.arguments])
            for argument in part.arguments:
                known += _visits(argument)
        elif isinstance(part, Not):
            known += _visits(part.body)
        elif isinstance(part, Binary | Eq):
            known += _visits(part.left) + _visits(part.right)
        elif isinstance(part, Binder):
            known += 2 * _visits(part.body)
        part.memo["visits"] = known
    return known


def _truth(formula: Formula, values: _Values, *, single: bool) -> int:
    """Where the formula is true, in the structures of a single element or in those of two."""
    if isinstance(formula, Atom):
        return _lookup("predicate", formula.predicate, formula.arguments, values, single=single)
    if isinstance(formula, Not):
        return EVERYWHERE ^ _truth(formula.body, values, single=single)
    if isinstance(formula, Binary):
        left = _truth(formula.left, values, single=single)
        return combine(formula, left, _truth(formula.right, values, single=single), EVERYWHERE)
    if isinstance(formula, Binder):
        if single:
            return _truth(formula.body, values, single=True)
        first = _truth(formula.body, {**values, formula.variable: 0}, single=False)
        second = _truth(formula.body, {**values, formula.variable: EVERYWHERE}, single=False)
        return first & second if isinstance(formula, ForAll) else first | second
    if isinstance(formula, Eq) and not single:
        return EVERYWHERE ^ _value(formula.left, values) ^ _value(formula.right, values)
    return 0 if isinstance(formula, Bottom) else EVERYWHERE


def _value(term: Term, values: _Values) -> int:
    """Bit i: which of the elements 0 and 1 the term denotes in structure i."""
    if isinstance(term, Var):
        return values[term]
    return _lookup("function", term.function, term.arguments, values, single=False)


_ELEMENTS: Final = {0: (0,), EVERYWHERE: (1,)}
"""The bits of a term that denotes the same element in all structures, as a bound variable does -> that element."""


def _lookup(kind: str, name: str, arguments: tuple[Term, ...], values: _Values, *, single: bool) -> int:
    """The table of a symbol, read at the arguments' values in all structures at once."""
    if single:
        return _random_bits(f"{kind} of one", name, (0,) * len(arguments))
    points = [_value(argument, values) for argument in arguments]
    result = 0
    for elements in product(*[_ELEMENTS.get(point, (0, 1)) for point in points]):
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
