"""Finite structures and the reference evaluator: what every formula of this package means.

In: a formula and a structure. Out: true or false. Everything else (solvers, rules, proofs) is tested against this
page, so it is short, has no cleverness, and imports nothing but the syntax.

A structure interprets each sort by the elements ``0 … n-1`` (n ≥ 1), each predicate by the set of tuples where it
holds, and each function (a constant is a function of no arguments) by its table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

from proof_r1_formal.errors import StructureError
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

Element: TypeAlias = int
Assignment: TypeAlias = Mapping[Var, Element]


@dataclass(frozen=True, slots=True)
class Structure:
    """A finite many-sorted structure.

    Attributes:
        domains: sort name -> number of elements (≥ 1); the elements are ``0 … n-1``.
        predicates: predicate name -> the argument tuples of which it is true.
        functions: function name -> argument tuple -> value; a constant has the one entry ``()``.
    """

    domains: Mapping[str, int]
    predicates: Mapping[str, frozenset[tuple[Element, ...]]] = field(default_factory=dict)
    functions: Mapping[str, Mapping[tuple[Element, ...], Element]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for sort, size in self.domains.items():
            if size < 1:
                raise StructureError(f"sort {sort!r} has no element; domains are non-empty")


def evaluate(formula: Formula, structure: Structure, assignment: Assignment | None = None) -> bool:
    """The truth value of ``formula`` in ``structure``, its free variables read from ``assignment``.

    Raises:
        StructureError: the structure does not interpret a symbol, a sort or a free variable that the value needs.
    """
    values = {} if assignment is None else assignment
    match formula:
        case Top():
            return True
        case Bottom():
            return False
        case Atom(predicate, arguments):
            if predicate not in structure.predicates:
                raise StructureError(f"the structure does not interpret predicate {predicate!r}")
            return tuple([value_of(term, structure, values) for term in arguments]) in structure.predicates[predicate]
        case Eq(left, right):
            return value_of(left, structure, values) == value_of(right, structure, values)
        case Not(body):
            return not evaluate(body, structure, values)
        case And(left, right):
            return evaluate(left, structure, values) and evaluate(right, structure, values)
        case Or(left, right):
            return evaluate(left, structure, values) or evaluate(right, structure, values)
        case Xor(left, right):
            return evaluate(left, structure, values) != evaluate(right, structure, values)
        case Implies(left, right):
            return not evaluate(left, structure, values) or evaluate(right, structure, values)
        case Iff(left, right):
            return evaluate(left, structure, values) == evaluate(right, structure, values)
        case ForAll(variable, body):
            for element in _elements(variable, structure):
                if not evaluate(body, structure, {**values, variable: element}):
                    return False
            return True
        case Exists(variable, body):
            for element in _elements(variable, structure):
                if evaluate(body, structure, {**values, variable: element}):
                    return True
            return False
    assert_never(formula)


def value_of(term: Term, structure: Structure, assignment: Assignment) -> Element:
    """The element that ``term`` denotes.

    Raises:
        StructureError: a symbol, an argument tuple or a variable has no value.
    """
    match term:
        case Var():
            if term not in assignment:
                raise StructureError(f"variable {term.name!r} has no value")
            return assignment[term]
        case App(function, arguments):
            values = tuple([value_of(argument, structure, assignment) for argument in arguments])
            try:
                return structure.functions[function][values]
            except KeyError:
                raise StructureError(f"the structure does not interpret {function!r} at {values}") from None
    assert_never(term)


def _elements(variable: Var, structure: Structure) -> range:
    try:
        return range(structure.domains[variable.sort])
    except KeyError:
        raise StructureError(f"the structure has no domain for sort {variable.sort!r}") from None
