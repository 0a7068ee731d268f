"""What occurs in a formula, gathered in one pass and remembered: symbols, ground terms, sorts of variables."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, TypeAlias

import msgspec

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


class Symbols(msgspec.Struct, frozen=True, gc=False):
    """What occurs in a formula, in order of first occurrence.

    Attributes:
        uses: each name with its kind and arity; one that is used in two ways is there twice.
        ground_terms: the terms without variables, each once, arguments before what they are arguments of.
        sorts: sorts of quantified variables, and of terms that name theirs.
        equality: whether there is an equation.
        one_sort: whether the default sort is the only one.
    """

    uses: tuple[tuple[str, Use], ...]
    ground_terms: tuple[App, ...]
    sorts: frozenset[str]
    equality: bool
    one_sort: bool

    @property
    def functions(self) -> frozenset[str]:
        """The names of functions and constants."""
        return frozenset([name for name, (kind, _) in self.uses if kind != "predicate"])


_DEFAULT = frozenset((ENTITY,))
_NONE: frozenset[str] = frozenset()


@lru_cache(maxsize=1 << 14)
def _use(name: str, kind: Literal["predicate", "function", "constant"], arity: int) -> tuple[str, Use]:
    """A name and its use, one object for all formulas."""
    return name, (kind, arity)


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
                uses[_use(predicate, "predicate", len(arguments))] = None
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
    if sorts <= _DEFAULT:
        return Symbols(tuple(uses), tuple(ground), _DEFAULT if sorts else _NONE, equality, True)
    return Symbols(tuple(uses), tuple(ground), frozenset(sorts), equality, False)


def _visit(term: Term, uses: dict[tuple[str, Use], None], ground: dict[App, None], sorts: set[str]) -> bool:
    """Enter a term; whether it is ground."""
    if isinstance(term, Var):
        return False
    uses[_use(term.function, "function" if term.arguments else "constant", len(term.arguments))] = None
    if term.sort is not None:
        sorts.add(term.sort)
    ground_arguments = [_visit(argument, uses, ground, sorts) for argument in term.arguments]
    is_ground = all(ground_arguments)
    if is_ground:
        ground[term] = None
    return is_ground
