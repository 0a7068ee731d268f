"""The contents of a formula, gathered in one pass and remembered: symbols, ground terms, sorts of variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

import msgspec

from proof_r1_formal.kernel.syntax import (
    ENTITY,
    App,
    Atom,
    Binary,
    Binder,
    Eq,
    Formula,
    Not,
)

Use: TypeAlias = tuple[Literal["predicate", "function", "constant"], int]
"""A way to use a name: its role, and the number of its arguments."""


class Symbols(msgspec.Struct, frozen=True, gc=False):
    """The contents of a formula, in order of first occurrence.

    Attributes:
        uses: each name with its kind and arity, as keys; one that is used in two ways is there twice.
        ground_terms: the terms without variables, each once, arguments before what they are arguments of.
        sorts: those of quantified variables and of terms that name theirs, without the default sort.
    """

    uses: Mapping[tuple[str, Use], None]
    ground_terms: tuple[App, ...]
    sorts: frozenset[str]

    @property
    def functions(self) -> frozenset[str]:
        """The names of functions and constants."""
        return frozenset([name for name, (kind, _) in self.uses if kind != "predicate"])


_CONSTANT: Final[Use] = ("constant", 0)
_NO_SORTS: Final[frozenset[str]] = frozenset()


def symbols(formula: Formula) -> Symbols:
    """The contents of the formula."""
    known: Symbols | None = formula.memo.get("symbols")  # not by ``once``, to save a call: it is asked often
    if known is None:
        known = formula.memo["symbols"] = _symbols(formula)
    return known


def _symbols(formula: Formula) -> Symbols:
    core = formula
    while isinstance(core, Not) or (isinstance(core, Binder) and core.variable.sort == ENTITY):
        core = core.body
    if core is not formula:
        return symbols(core)
    uses: dict[tuple[str, Use], None] = {}
    ground: list[App] = []
    sorts: list[str] = []
    pending: list[Formula] = [core]
    while pending:
        part = pending.pop()
        if isinstance(part, Atom):
            uses[part.predicate, ("predicate", len(part.arguments))] = None
            for argument in part.arguments:
                if isinstance(argument, App):
                    if argument.arguments or argument.sort is not None:
                        _visit(argument, uses, ground, sorts)
                    else:
                        uses[argument.function, _CONSTANT] = None
                        ground.append(argument)
        elif isinstance(part, Binary):
            pending += (part.right, part.left)
        elif isinstance(part, Not):
            pending.append(part.body)
        elif isinstance(part, Binder):
            sorts.append(part.variable.sort)
            pending.append(part.body)
        elif isinstance(part, Eq):
            for side in (part.left, part.right):
                if isinstance(side, App):
                    _visit(side, uses, ground, sorts)
    terms = tuple(dict.fromkeys(ground)) if len(ground) > 1 else tuple(ground)
    return Symbols(uses, terms, frozenset(sorts) - {ENTITY} if sorts else _NO_SORTS)


def _visit(term: App, uses: dict[tuple[str, Use], None], ground: list[App], sorts: list[str]) -> None:
    """Enter the symbols of a term that is not a variable."""
    uses[term.function, ("function" if term.arguments else "constant", len(term.arguments))] = None
    if term.sort is not None:
        sorts.append(term.sort)
    for argument in term.arguments:
        if isinstance(argument, App):
            _visit(argument, uses, ground, sorts)
    if not term.free:
        ground.append(term)
