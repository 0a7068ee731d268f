"""What occurs in a formula, gathered in one pass and remembered: symbols, ground terms, sorts of variables."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from proof_r1_formal.logic.syntax import (
    ENTITY,
    App,
    Atom,
    Bottom,
    Eq,
    Exists,
    ForAll,
    Formula,
    Not,
    Term,
    Top,
    Var,
    once,
)

Use: TypeAlias = tuple[Literal["predicate", "function", "constant"], int]
"""A way to use a name: its role, and the number of its arguments."""


class Symbols(NamedTuple):
    """What occurs in a formula, in order of first occurrence.

    Attributes:
        uses: each name with its kind and arity; one that is used in two ways is there twice.
        functions: names of functions and constants.
        ground_terms: the terms without variables, each once, arguments before what they are arguments of.
        sorts: sorts of quantified variables, and of terms that name theirs.
        equality: whether there is an equation.
        one_sort: whether the default sort is the only one.
    """

    uses: tuple[tuple[str, Use], ...]
    functions: frozenset[str]
    ground_terms: tuple[App, ...]
    sorts: frozenset[str]
    equality: bool
    one_sort: bool


@once
def symbols(formula: Formula) -> Symbols:
    """What occurs in the formula."""
    uses: dict[tuple[str, Use], None] = {}
    ground: dict[App, None] = {}
    sorts: set[str] = set()
    equality = False

    pending = [formula]
    while pending:
        part = pending.pop()
        match part:
            case Atom(predicate, arguments):
                uses[predicate, ("predicate", len(arguments))] = None
                for argument in arguments:
                    _visit(argument, uses, ground, sorts)
            case Not(body):
                pending.append(body)
            case ForAll(variable, body) | Exists(variable, body):
                sorts.add(variable.sort)
                pending.append(body)
            case Eq(left, right):
                equality = True
                _visit(left, uses, ground, sorts)
                _visit(right, uses, ground, sorts)
            case Top() | Bottom():
                pass
            case _:
                pending += (part.right, part.left)
    functions = frozenset([name for name, (kind, _) in uses if kind != "predicate"])
    return Symbols(tuple(uses), functions, tuple(ground), frozenset(sorts), equality, sorts <= {ENTITY})


def _visit(term: Term, uses: dict[tuple[str, Use], None], ground: dict[App, None], sorts: set[str]) -> bool:
    """Enter a term; whether it is ground."""
    if isinstance(term, Var):
        return False
    uses[term.function, ("function" if term.arguments else "constant", len(term.arguments))] = None
    if term.sort is not None:
        sorts.add(term.sort)
    ground_arguments = [_visit(argument, uses, ground, sorts) for argument in term.arguments]
    is_ground = all(ground_arguments)
    if is_ground:
        ground[term] = None
    return is_ground
