"""Finite structures and the reference evaluator: what every formula of this package means.

In: a formula and a structure. Out: true or false. Everything else (solvers, rules, proofs) is tested against this
page, so it is short, has no cleverness, and imports nothing but the syntax.

A structure interprets each sort by the elements ``0 … n-1`` (n ≥ 1), each predicate by the set of tuples where it
holds, and each function (a constant is a function of no arguments) by its table. It is checked when it is made, so
there is none with an element that a quantifier would not reach or a function without a value.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any, TypeAlias

from proof_r1_formal.kernel.compiling import mypyc_attr
from proof_r1_formal.kernel.errors import StructureError
from proof_r1_formal.kernel.syntax import (
    And,
    Atom,
    Binary,
    Binder,
    Eq,
    Exists,
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

Element: TypeAlias = int
Assignment: TypeAlias = Mapping[Var, Element]


@mypyc_attr(native_class=False)
@dataclass(frozen=True, slots=True)
class Structure:
    """A finite many-sorted structure.

    Which sorts the arguments of a symbol have follows from formulas, not from the structure. So elements are checked
    here against the largest domain, and tables for having a value at every tuple of some sorts;
    ``kernel.answer.is_countermodel`` knows the sorts and checks against those.

    Attributes:
        domains: sort name -> number of elements (≥ 1); the elements are ``0 … n-1``.
        predicates: predicate name -> the argument tuples of which it is true.
        functions: function name -> argument tuple -> value; a constant has the one entry ``()``.

    Raises:
        StructureError: an element is not an ``int`` from 0 up to the size of the largest domain (``True`` is not an
            element), a domain is empty, the tuples of a symbol have different lengths, or a function has no value
            somewhere.
    """

    domains: Mapping[str, int]
    predicates: Mapping[str, frozenset[tuple[Element, ...]]] = field(default_factory=dict)
    functions: Mapping[str, Mapping[tuple[Element, ...], Element]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        domains: Any = self.domains  # whose parts may be of any type, as those of the others
        predicates: Any = self.predicates
        functions: Any = self.functions
        for sort, size in domains.items():
            if type(size) is not int:
                raise StructureError(f"sort {sort!r} has {size!r} elements; the number must be an int")
            if size < 1:
                raise StructureError(f"sort {sort!r} has no element; domains are non-empty")
        largest = max(domains.values(), default=0)
        for name, rows in predicates.items():
            if not isinstance(rows, frozenset):
                raise StructureError(f"the tuples of predicate {name!r} must be a frozenset, not {type(rows).__name__}")
            _require_tuples(name, rows, largest)
        sizes = {*domains.values()}
        for name, table in functions.items():
            _require_tuples(name, table, largest)
            _require_elements(name, table.values(), largest)
            lengths = [1 + max(column) for column in zip(*table, strict=True)]  # of the smallest box around it
            if len(table) != prod(lengths) or not sizes.issuperset(lengths):
                raise StructureError(f"function {name!r} must have a value at every tuple of elements of its sorts")


def _require_tuples(name: str, tuples: Collection[Any], largest: int) -> None:
    length: int | None = None
    for row in tuples:
        if type(row) is not tuple:
            raise StructureError(f"{row!r}, in the table of {name!r}, must be a tuple of elements")
        _require_elements(name, row, largest)
        if length is None:
            length = len(row)
        elif length != len(row):
            raise StructureError(f"the tuples of {name!r} must have one length")


def _require_elements(name: str, elements: Iterable[Any], largest: int) -> None:
    for element in elements:
        if type(element) is not int or not 0 <= element < largest:
            raise StructureError(
                f"{element!r}, in the table of {name!r}, is not an element of the domain; elements are ints from 0, "
                f"fewer than {largest} here"
            )


def evaluate(formula: Formula, structure: Structure, assignment: Assignment | None = None) -> bool:
    """The truth value of ``formula`` in ``structure``, its free variables read from ``assignment``.

    Raises:
        StructureError: the structure does not interpret a symbol, a sort or a free variable that the value needs.
    """
    values = {} if assignment is None else assignment
    if isinstance(formula, Atom):
        rows = structure.predicates.get(formula.predicate)
        if rows is None:
            raise StructureError(f"the structure does not interpret predicate {formula.predicate!r}")
        return tuple([value_of(term, structure, values) for term in formula.arguments]) in rows
    if isinstance(formula, Not):
        return not evaluate(formula.body, structure, values)
    if isinstance(formula, Implies):
        return not evaluate(formula.left, structure, values) or evaluate(formula.right, structure, values)
    if isinstance(formula, And):
        return evaluate(formula.left, structure, values) and evaluate(formula.right, structure, values)
    if isinstance(formula, Or):
        return evaluate(formula.left, structure, values) or evaluate(formula.right, structure, values)
    if isinstance(formula, Binder):
        wanted = isinstance(formula, Exists)  # the value of one element that decides
        for element in _elements(formula.variable, structure):
            if evaluate(formula.body, structure, {**values, formula.variable: element}) == wanted:
                return wanted
        return not wanted
    if isinstance(formula, Xor):
        return evaluate(formula.left, structure, values) != evaluate(formula.right, structure, values)
    if isinstance(formula, Iff):
        return evaluate(formula.left, structure, values) == evaluate(formula.right, structure, values)
    if isinstance(formula, Eq):
        return value_of(formula.left, structure, values) == value_of(formula.right, structure, values)
    return isinstance(formula, Top)


def value_of(term: Term, structure: Structure, assignment: Assignment) -> Element:
    """The element that ``term`` denotes.

    Raises:
        StructureError: a symbol, an argument tuple or a variable has no value.
    """
    if isinstance(term, Var):
        if term not in assignment:
            raise StructureError(f"variable {term.name!r} has no value")
        return assignment[term]
    values = tuple([value_of(argument, structure, assignment) for argument in term.arguments]) if term.arguments else ()
    try:
        return structure.functions[term.function][values]
    except KeyError:
        raise StructureError(f"the structure does not interpret {term.function!r} at {values}") from None


def evaluation_steps(formula: Formula, structure: Structure) -> int:
    """The most subformulas that :func:`evaluate` visits: each as often as there are values for the variables around it.

    Raises:
        StructureError: the structure has no domain for a sort.
    """
    if not formula.quantifiers:
        return formula.size
    total = 0
    pending = [(formula, 1)]
    while pending:
        part, times = pending.pop()
        if not part.quantifiers:
            total += times * part.size
            continue
        total += times
        if isinstance(part, Binder):
            pending.append((part.body, times * len(_elements(part.variable, structure))))
        elif isinstance(part, Not):
            pending.append((part.body, times))
        elif isinstance(part, Binary):
            pending += ((part.left, times), (part.right, times))
    return total


def _elements(variable: Var, structure: Structure) -> range:
    try:
        return range(structure.domains[variable.sort])
    except KeyError:
        raise StructureError(f"the structure has no domain for sort {variable.sort!r}") from None
