"""What occurs in a formula, gathered in one pass and remembered: symbols, ground terms, sorts of variables."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, TypeAlias

import msgspec

from proof_r1_formal.logic.syntax import (
    ENTITY,
    App,
    Atom,
    Binary,
    Eq,
    Formula,
    Not,
    Quantified,
    Term,
    Var,
    once,
)

Use: TypeAlias = tuple[Literal["predicate", "function", "constant"], int]
"""A way to use a name: its role, and the number of its arguments."""


class Symbols(msgspec.Struct, frozen=True, gc=False):
    """What occurs in a formula, in order of first occurrence.

    Attributes:
        uses: each name with its kind and arity, as keys; one that is used in two ways is there twice.
        ground_terms: the terms without variables, each once, arguments before what they are arguments of.
        sorts: sorts of quantified variables, and of terms that name theirs.
        one_sort: whether the default sort is the only one.
    """

    uses: Mapping[tuple[str, Use], None]
    ground_terms: tuple[App, ...]
    sorts: frozenset[str]
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

    pending = [formula]
    while pending:
        part = pending.pop()
        if isinstance(part, Atom):
            uses[_use(part.predicate, "predicate", len(part.arguments))] = None
            for argument in part.arguments:
                _visit(argument, uses, ground, sorts)
        elif isinstance(part, Binary):
            pending += (part.right, part.left)
        elif isinstance(part, Not):
            pending.append(part.body)
        elif isinstance(part, Quantified):
            sorts.add(part.variable.sort)
            pending.append(part.body)
        elif isinstance(part, Eq):
            _visit(part.left, uses, ground, sorts)
            _visit(part.right, uses, ground, sorts)
    if sorts <= _DEFAULT:
        return Symbols(uses, tuple(ground), _DEFAULT if sorts else _NONE, True)
    return Symbols(uses, tuple(ground), frozenset(sorts), False)


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
