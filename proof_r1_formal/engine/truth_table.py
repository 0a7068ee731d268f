"""Truth values as the bits of integers: truth tables, semantic keys, and fingerprints.

A truth table over n atoms has 2ⁿ rows. The truth values of a formula in all of them are the bits of one integer: bit i
is for the row in which the atom of index k is true exactly if i has bit k. The *semantic key* of a formula of few atoms
is read off its table.

A *fingerprint* is the truth values of any closed formula in fixed small structures. Formulas with different
fingerprints are not equivalent, and a formula whose fingerprint has a 0 is not valid: the structure at that bit is a
counterexample. Equal fingerprints prove nothing. So a fingerprint answers most negative questions about equivalence,
validity and entailment without a solver, and never a positive one. The structures interpret every symbol
pseudo-randomly by a hash of its name, so they are the same in every process.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache, reduce
from hashlib import blake2b
from itertools import product
from operator import and_
from typing import Final, TypeAlias

from proof_r1_formal.kernel.syntax import (
    And,
    App,
    Atom,
    Binary,
    Binder,
    Bottom,
    Eq,
    ForAll,
    Formula,
    Implies,
    Not,
    Or,
    Term,
    Top,
    Var,
    Xor,
    once,
)

FEW_ATOMS: Final = 6
"""The atoms of a small table, whose 64 rows fit a machine word."""
MAX_ATOMS: Final = 12
"""The most atoms of a table."""

ROWS: Final = {atoms: (1 << (1 << atoms)) - 1 for atoms in (FEW_ATOMS, MAX_ATOMS)}
"""For each number of atoms the bits of a formula that is true in every row."""
COLUMNS: Final = {
    atoms: tuple([every // ((1 << (1 << index)) + 1) << (1 << index) for index in range(atoms)])
    for atoms, every in ROWS.items()
}
"""For each number of atoms the bits of the atom at each index."""

_FIRST: Final = COLUMNS[FEW_ATOMS][0]
_SECOND: Final = COLUMNS[FEW_ATOMS][1]

Ground: TypeAlias = Atom | Eq
"""A formula that has a column in truth tables."""


class TooManyAtomsError(Exception):
    """A truth table is full."""


class Table:
    """The truth values of formulas without quantifiers, in a table whose atoms are those that it is asked about.

    Args:
        width: the most atoms it takes, ``FEW_ATOMS`` or ``MAX_ATOMS``.

    Attributes:
        every: the bits of a formula that is true in every row.
        atoms: the atoms, equations among them, with their bits; in order of first occurrence.
        equations: whether there is an equation among them, other than of a term with itself.
    """

    __slots__ = ("_columns", "_known", "atoms", "equations", "every")

    def __init__(self, width: int = MAX_ATOMS) -> None:
        self.every = ROWS[width]
        self.atoms: dict[Ground, int] = {}
        self.equations = False
        self._columns = COLUMNS[width]
        self._known: dict[Formula, int] = {}

    def ground(self, formula: Formula) -> int:
        """The rows in which a formula without quantifiers is true.

        Raises:
            TooManyAtomsError: there are more atoms than the table takes.
        """
        if isinstance(formula, Atom):
            column = self.atoms.get(formula)
            return self._column(formula) if column is None else column
        if isinstance(formula, Not):
            return self.every ^ self.ground(formula.body)
        known = self._known.get(formula)
        if known is None:
            known = self._known[formula] = self._compound(formula)
        return known

    def _compound(self, formula: Formula) -> int:
        if isinstance(formula, Binary):
            return combine(formula, self.ground(formula.left), self.ground(formula.right), self.every)
        if isinstance(formula, Eq):
            return self._equation(formula)
        return self.every if isinstance(formula, Top) else 0

    def _equation(self, equation: Eq) -> int:
        if equation.left is equation.right:
            return self.every
        self.equations = True
        canonical = canonical_equation(equation)
        column = self.atoms.get(canonical)
        return self._column(canonical) if column is None else column

    def _column(self, atom: Ground) -> int:
        if len(self.atoms) == len(self._columns):
            raise TooManyAtomsError
        column = self.atoms[atom] = self._columns[len(self.atoms)]
        return column


def combine(formula: Binary, left: int, right: int, every: int) -> int:
    """The rows in which a binary formula is true, from those of its sides and all rows."""
    if isinstance(formula, Implies):
        return (every ^ left) | right
    if isinstance(formula, And):
        return left & right
    if isinstance(formula, Or):
        return left | right
    return left ^ right if isinstance(formula, Xor) else every ^ left ^ right


@once
def canonical_equation(equation: Eq) -> Eq:
    """The equation or its mirror image, the same one for both."""
    return min(equation, Eq(equation.right, equation.left), key=repr)


SemanticKey: TypeAlias = tuple[tuple[Atom, ...], int]
"""The meaning of a formula without quantifiers and equations: equal exactly for equivalent ones.

These are the atoms that its truth depends on, in an order of this process, and the rows of the smallest table over them
in which it is true.
"""
TAUTOLOGY: Final[SemanticKey] = ((), ROWS[FEW_ATOMS])
CONTRADICTION: Final[SemanticKey] = ((), 0)


def semantic_key(formula: Formula) -> SemanticKey | None:
    """The semantic key; None for a formula with a quantifier or an equation, or with more than ``MAX_ATOMS`` atoms."""
    if formula.quantifiers:
        return None
    if isinstance(formula, Atom):
        return (formula,), _FIRST  # not kept, as an atom would hold itself
    memo = formula.memo
    if "semantic_key" not in memo:
        memo["semantic_key"] = _semantic_key(formula)
    known: SemanticKey | None = memo["semantic_key"]
    return known


def _semantic_key(formula: Formula) -> SemanticKey | None:
    if isinstance(formula, Not):
        body = semantic_key(formula.body)
        return None if body is None else (body[0], ROWS[_width(body[0])] ^ body[1])
    if isinstance(formula, Binary):
        one, other = formula.left, formula.right
        if isinstance(one, Atom) and isinstance(other, Atom) and one is not other:  # as in most formulas
            if id(one) < id(other):
                return (one, other), combine(formula, _FIRST, _SECOND, ROWS[FEW_ATOMS])
            return (other, one), combine(formula, _SECOND, _FIRST, ROWS[FEW_ATOMS])
    atoms = _atoms(formula)
    if atoms is None:
        return None
    width = _width(atoms)
    columns = dict(zip(sorted(atoms, key=id), COLUMNS[width], strict=False))
    truth = _truth(formula, columns, ROWS[width])
    if formula.size == 2 * len(atoms) - 1:  # no ¬, no atom twice: the truth depends on each
        return tuple(columns), truth
    essential = tuple([atom for atom, column in columns.items() if _depends(truth, column, ROWS[width])])
    if len(essential) < len(atoms):
        width = _width(essential)
        columns = dict.fromkeys(atoms, 0) | dict(zip(essential, COLUMNS[width], strict=False))
        truth = _truth(formula, columns, ROWS[width])
    return essential, truth


def _atoms(formula: Formula) -> set[Atom] | None:
    """The atoms of a formula without quantifiers; None if a table has no room for them, or for an equation."""
    found: set[Atom] = set()
    pending = [formula]
    while pending:
        part = pending.pop()
        if isinstance(part, Atom):
            found.add(part)
            if len(found) > MAX_ATOMS:  # before the rest of a long formula is read
                return None
        elif isinstance(part, Binary):
            pending += (part.left, part.right)
        elif isinstance(part, Not):
            pending.append(part.body)
        elif isinstance(part, Eq) and part.left is not part.right:
            return None
    return found


def _truth(formula: Formula, columns: Mapping[Atom, int], every: int) -> int:
    """The rows in which a formula without quantifiers is true, whose equations have one term on both sides."""
    if isinstance(formula, Atom):
        return columns[formula]
    if isinstance(formula, Not):
        return every ^ _truth(formula.body, columns, every)
    if isinstance(formula, Binary):
        return combine(formula, _truth(formula.left, columns, every), _truth(formula.right, columns, every), every)
    return 0 if isinstance(formula, Bottom) else every


def _width(atoms: Collection[Atom]) -> int:
    return FEW_ATOMS if len(atoms) <= FEW_ATOMS else MAX_ATOMS


def _depends(truth: int, column: int, every: int) -> bool:
    """Whether the truth values differ between the rows in which an atom is true and the same rows with it false."""
    shift = (column & -column).bit_length() - 1
    return (truth & column) >> shift != truth & (every ^ column)


def table_entails(dependencies: Iterable[Formula], conclusion: Formula) -> bool | None:
    """Whether formulas entail another one; None where there is a quantifier, an equation or no room for the atoms."""
    table = Table()
    rows = table.every
    try:
        for formula in dependencies:
            if formula.quantifiers:
                return None
            rows &= table.ground(formula)
        holds = None if conclusion.quantifiers else not rows & ~table.ground(conclusion)
    except TooManyAtomsError:
        return None
    return None if table.equations else holds


# -- fingerprints ------------------------------------------------------------------------------------------------------


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
    return _bits(formula, {}, single=True)


@once
def double(formula: Formula) -> int | None:
    """Where it is true in those of two elements; None if it is too large to evaluate cheaply there."""
    return _bits(formula, {}, single=False) if _visits(formula) <= _MAX_VISITS else None


def fingerprints_differ(first: Formula, second: Formula) -> bool:
    """Whether a structure tells two closed formulas apart; those of two elements are tried last."""
    if single(first) != single(second):
        return True
    one, other = double(first), double(second)
    return one is not None and other is not None and one != other


def fingerprints_refute(dependencies: Sequence[Formula], conclusion: Formula) -> bool:
    """Whether the dependencies are all true, and the conclusion is false, in one of the structures."""
    formulas = (*dependencies, Not(conclusion))
    if reduce(and_, map(single, formulas)):
        return True
    found = EVERYWHERE
    for formula in formulas:
        known = double(formula)
        if known is None:
            return False
        found &= known
    return found != 0


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
    """How many parts and table rows :func:`_bits` reads in two elements: twice as many below each quantifier."""
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


def _bits(formula: Formula, values: _Values, *, single: bool) -> int:
    """Where the formula is true, in the structures of a single element or in those of two."""
    if isinstance(formula, Atom):
        return _lookup("predicate", formula.predicate, formula.arguments, values, single=single)
    if isinstance(formula, Not):
        return EVERYWHERE ^ _bits(formula.body, values, single=single)
    if isinstance(formula, Binary):
        left = _bits(formula.left, values, single=single)
        return combine(formula, left, _bits(formula.right, values, single=single), EVERYWHERE)
    if isinstance(formula, Binder):
        if single:
            return _bits(formula.body, values, single=True)
        first = _bits(formula.body, {**values, formula.variable: 0}, single=False)
        second = _bits(formula.body, {**values, formula.variable: EVERYWHERE}, single=False)
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
