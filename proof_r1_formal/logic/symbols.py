"""What occurs in a formula, gathered in one pass and remembered: symbols, ground terms, sorts of variables."""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

import msgspec

from proof_r1_formal.logic.syntax import (
    ENTITY,
    App,
    Atom,
    Binary,
    Binder,
    Eq,
    Formula,
    Not,
    once,
)

Use: TypeAlias = tuple[Literal["predicate", "function", "constant"], int]
"""A way to use a name: its role, and the number of its arguments."""


class Symbols(msgspec.Struct, frozen=True, gc=False):
    """What occurs in a formula, in order of first occurrence.

    Attributes:
        roles: each name with its first use.
        others: other uses of these names, as in ``Tiger(Tiger)``; mostly there are none.
        ground_terms: the terms without variables, each once, arguments before what they are arguments of.
        sorts: those of quantified variables and of terms that name theirs, without the default sort.
    """

    roles: dict[str, Use]
    others: tuple[tuple[str, Use], ...]
    ground_terms: tuple[App, ...]
    sorts: frozenset[str]

    @property
    def uses(self) -> tuple[tuple[str, Use], ...]:
        """Each name with its kind and arity; one that is used in two ways is there twice."""
        return (*self.roles.items(), *self.others)

    @property
    def functions(self) -> frozenset[str]:
        """The names of functions and constants."""
        return frozenset([name for name, (kind, _) in self.uses if kind != "predicate"])


_NO_SORTS: Final[frozenset[str]] = frozenset()


@once
def symbols(formula: Formula) -> Symbols:
    """What occurs in the formula."""
    core = formula
    while isinstance(core, Not) or (isinstance(core, Binder) and core.variable.sort == ENTITY):
        core = core.body
    if core is not formula:
        return symbols(core)
    roles: dict[str, Any] = {}  # Any: compiled, a pair of known types would be unpacked and packed again
    others: list[tuple[str, Use]] = []
    ground: list[App] = []
    sorts: list[str] = []
    pending: list[Formula] = [core]
    while pending:
        part = pending.pop()
        if isinstance(part, Atom):
            use: Any = ("predicate", len(part.arguments))
            if roles.setdefault(part.predicate, use) != use:
                others.append((part.predicate, use))
            for argument in part.arguments:
                if isinstance(argument, App):
                    _visit(argument, roles, others, ground, sorts)
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
                    _visit(side, roles, others, ground, sorts)
    terms = tuple(dict.fromkeys(ground)) if len(ground) > 1 else tuple(ground)
    others_ = tuple(dict.fromkeys(others)) if others else ()
    return Symbols(roles, others_, terms, frozenset(sorts) - {ENTITY} if sorts else _NO_SORTS)


def _visit(
    term: App, roles: dict[str, Any], others: list[tuple[str, Use]], ground: list[App], sorts: list[str]
) -> None:
    """Enter the symbols of a term that is not a variable."""
    use: Any = ("function" if term.arguments else "constant", len(term.arguments))
    if roles.setdefault(term.function, use) != use:
        others.append((term.function, use))
    if term.sort is not None:
        sorts.append(term.sort)
    for argument in term.arguments:
        if isinstance(argument, App):
            _visit(argument, roles, others, ground, sorts)
    if not term.free:
        ground.append(term)
