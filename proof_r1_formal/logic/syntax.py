"""The abstract syntax of many-sorted first-order logic with equality.

Nodes are frozen and *interned* (hash-consed): building a node that exists gives the same object, so equality is
identity, hashing is free, and nodes are good dictionary keys. Binary connectives stay binary, as written; flattened
views are in ``logic.transform``. Names are arbitrary non-empty strings; ``logic.show`` quotes those that need it.

Variables carry a sort. Sorts of predicates, functions and constants follow from their uses (``logic.signature``),
unless a term names its own, as those do in the formulas of a problem with several sorts. Domains are non-empty.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar, dataclass_transform
from weakref import WeakValueDictionary

ENTITY = "Entity"
"""The default sort."""

_T = TypeVar("_T")
_INTERNED: WeakValueDictionary[tuple[Any, ...], Any] = WeakValueDictionary()
_LOCK = threading.Lock()


class _Interned(type):
    """Metaclass that gives one object per class and field values."""

    def __call__(cls: type[_T], *fields: Any) -> _T:
        key = (cls, *fields)
        node = _INTERNED.get(key)
        if node is None:
            with _LOCK:
                node = _INTERNED.get(key)
                if node is None:
                    node = type.__call__(cls, *fields)
                    _INTERNED[key] = node
        return node  # type: ignore[no-any-return]


class _Node(metaclass=_Interned):
    """Base of terms and formulas: copies and pickles give the interned object back."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, field) for field in self.__match_args__)  # type: ignore[attr-defined]

    def __copy__(self: _T) -> _T:
        return self

    def __deepcopy__(self: _T, memo: object) -> _T:
        return self


@dataclass_transform(frozen_default=True, eq_default=False)
def _node(cls: type[_T]) -> type[_T]:
    return dataclass(frozen=True, eq=False, slots=True, weakref_slot=True)(cls)


# -- terms ------------------------------------------------------------------------------------------------------------


@_node
class Var(_Node):
    """A variable of a sort: ``Var("x", ENTITY)``."""

    name: str
    sort: str


@_node
class App(_Node):
    """A function applied to terms; a constant is an application to no terms: ``App("socrates", ())``.

    Its ``sort`` is given only where it shall not follow from the formula around it (``SignatureBuilder.sorted``).
    """

    function: str
    arguments: tuple[Term, ...]
    sort: str | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return App, (self.function, self.arguments, self.sort)[: 2 if self.sort is None else 3]

    def on(self, arguments: tuple[Term, ...], *, function: str | None = None) -> App:
        """The term with other arguments, and another function if one is named."""
        function = self.function if function is None else function
        return App(function, arguments) if self.sort is None else App(function, arguments, self.sort)


Term: TypeAlias = Var | App


# -- formulas ---------------------------------------------------------------------------------------------------------


@_node
class Top(_Node):
    """⊤, true in every structure."""


@_node
class Bottom(_Node):
    """⊥, false in every structure."""


@_node
class Atom(_Node):
    """A predicate applied to terms; a proposition is a predicate applied to none."""

    predicate: str
    arguments: tuple[Term, ...]


@_node
class Eq(_Node):
    """``left = right``."""

    left: Term
    right: Term


@_node
class Not(_Node):
    """¬body."""

    body: Formula


@_node
class And(_Node):
    """left ∧ right."""

    left: Formula
    right: Formula


@_node
class Or(_Node):
    """left ∨ right."""

    left: Formula
    right: Formula


@_node
class Xor(_Node):
    """left ⊕ right, exactly one of the two."""

    left: Formula
    right: Formula


@_node
class Implies(_Node):
    """left → right."""

    left: Formula
    right: Formula


@_node
class Iff(_Node):
    """left ↔ right."""

    left: Formula
    right: Formula


@_node
class ForAll(_Node):
    """∀variable body."""

    variable: Var
    body: Formula


@_node
class Exists(_Node):
    """∃variable body."""

    variable: Var
    body: Formula


Connective: TypeAlias = And | Or | Xor | Implies | Iff
Quantified: TypeAlias = ForAll | Exists
Formula: TypeAlias = Top | Bottom | Atom | Eq | Not | Connective | Quantified

TOP = Top()
BOTTOM = Bottom()


# -- short constructors -----------------------------------------------------------------------------------------------


def var(name: str, sort: str = ENTITY) -> Var:
    """A variable, of the default sort unless told otherwise."""
    return Var(name, sort)


def const(name: str) -> App:
    """A constant."""
    return App(name, ())


def atom(predicate: str, *arguments: Term) -> Atom:
    """``predicate(arguments…)``."""
    return Atom(predicate, arguments)


def conjunction(formulas: tuple[Formula, ...]) -> Formula:
    """The left-nested ∧ of the formulas; ⊤ of none."""
    if not formulas:
        return TOP
    result = formulas[0]
    for formula in formulas[1:]:
        result = And(result, formula)
    return result


def disjunction(formulas: tuple[Formula, ...]) -> Formula:
    """The left-nested ∨ of the formulas; ⊥ of none."""
    if not formulas:
        return BOTTOM
    result = formulas[0]
    for formula in formulas[1:]:
        result = Or(result, formula)
    return result
